# SPDX-License-Identifier: Apache-2.0
"""A reading from an engine's own dictionaries: what the node has from messages, for programs without ROS. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from pqc_mav_detect.statuses import ATTACK
from pqc_mav_detect.window import LinkView, Reading, Refused

_Entry = Mapping[str, Any]


def from_engine(
    time_s: float,
    totals: Mapping[str, int],
    stats: Sequence[_Entry],
    links: Sequence[_Entry],
    statuses: Sequence[_Entry],
    kernel: Mapping[str, int],
    refused: tuple[str, float] | None = None,
) -> Reading:
    """Of `Engine.totals()`, `stats()`, `links()`, `status()` and `refused_from()`; `kernel` may be empty."""
    return Reading(
        time_s,
        totals,
        {each["drone_id"]: each["delivered"] + each["control"] for each in stats},
        kernel,
        {link["drone_id"]: _view(link, "local", time_s) for link in links},
        {link["drone_id"]: _view(link, "peer", time_s - link["age_s"]) for link in links if link["peer"]},
        frozenset(status["drone_id"] for status in statuses if status["state"] == "DOWN"),
        refused and Refused(*refused),
        any(status["peer_alarm"] >= ATTACK for status in statuses),
    )


def _view(link: _Entry, side: str, time_s: float) -> LinkView:
    report, rtt, least = link[side], link["rtt_ms"], link["rtt_min_ms"]
    drops = report["drops"]
    return LinkView(
        time_s,
        report["loss"],
        None if rtt is None or least is None else max(0.0, rtt - least),
        drops["replay"] + drops["seq_old"],
        drops["auth_fail"] + drops["decrypt_fail"],
        report["packets_per_s"],
        report["longest_silence_ms"] / 1e3,
    )
