# SPDX-License-Identifier: Apache-2.0
"""The proxies' counters over a run: differences of two readings of TunnelStats."""

from collections.abc import Mapping
from typing import Any

from pqc_mav_tunnel import picture_schema

#: All that the engine's table of fields has for the message.
COUNTERS = tuple(
    field["name"] for field in picture_schema()["stats"]["fields"] if field["message"] and "warning" in field
)
#: What a reading has besides: two running means, and packets that came late by how far.
DEPTH = "window_depth"
READING = (*COUNTERS, "seal_mean_ns", "open_mean_ns", DEPTH)
#: What a difference has of the replay window.
WINDOW = ("window_late", "window_missing", "window_deepest", "window_classes")
DROPS = tuple(name for name in COUNTERS if name.startswith("drop_"))
UNSEALED = ("plain_dropped_no_session", "plain_dropped_too_big", "plain_dropped_yield")  # taken, and not sealed
SAMPLE_EVERY = 32  # the engine times each 32nd call
FEWEST_SAMPLES = 4


def _window_mean(first: tuple[float, int], last: tuple[float, int]) -> float | None:
    """Mean of the calls between two readings of (running mean, calls); None when too few of them were timed.

    The engine times the first and then each SAMPLE_EVERY-th call, so the number of timed calls is known.
    """
    timed = [-(-calls // SAMPLE_EVERY) for _, calls in (first, last)]
    if timed[1] - timed[0] < FEWEST_SAMPLES:
        return None
    mean = (last[0] * timed[1] - first[0] * timed[0]) / (timed[1] - timed[0])
    return mean if mean > 0 else None


def difference(first: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of DataPlane for one side. Raises ValueError when the counters began anew in between."""
    out: dict[str, Any] = {name: int(last[name]) - int(first[name]) for name in COUNTERS}
    if min(out.values()) < 0:
        raise ValueError("the proxy was started anew during the run")

    def sealed(reading: Mapping[str, Any]) -> int:
        return int(reading["plain_rx_packets"] - sum(reading[name] for name in UNSEALED))

    def opened(reading: Mapping[str, Any]) -> int:
        return int(reading["enc_rx_packets"] - reading["drop_malformed"] - reading["drop_unknown"])

    out |= _window(out["window_skipped"], [int(b) - int(a) for a, b in zip(first[DEPTH], last[DEPTH], strict=True)])
    out["seal_mean_ns"] = _window_mean((first["seal_mean_ns"], sealed(first)), (last["seal_mean_ns"], sealed(last)))
    out["open_mean_ns"] = _window_mean((first["open_mean_ns"], opened(first)), (last["open_mean_ns"], opened(last)))
    return out


def _window(skipped: int, late: list[int]) -> dict[str, Any]:
    """What the replay window saw. Class i of `late` holds those 2^i to 2^(i+1) - 1 places behind the newest."""
    classes = {str(2 ** (i + 1) - 1): count for i, count in enumerate(late) if count}
    return {
        "window_late": sum(late),
        # One that was overtaken before the run and came in it has no place in `skipped`.
        "window_missing": max(0, skipped - sum(late)),
        "window_deepest": max(map(int, classes), default=0),
        "window_classes": classes,
    }


def balanced(counters: Mapping[str, Any]) -> bool:
    """Whether received = delivered + control + the six drops."""
    parts = int(counters["delivered"]) + int(counters["control"]) + sum(int(counters[name]) for name in DROPS)
    return int(counters["enc_rx_packets"]) == parts
