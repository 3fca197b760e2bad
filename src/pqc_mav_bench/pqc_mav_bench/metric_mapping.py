# SPDX-License-Identifier: Apache-2.0
"""From what the proxies, generators and collectors say to the fields of the categories. Pure functions.

A figure of a message keeps its name. What the ground measured has the prefix `gcs_`; what the engine's own probes
measured has the prefix `engine_`, because the round trips of the traffic are another measurement.
"""

from collections.abc import Mapping
from statistics import median
from typing import Any

from pqc_mav_bench.analysis.statistics import FEWEST_FOR_AN_INTERVAL, median_interval, wilson
from pqc_mav_bench.collectors.counters import COUNTERS, UNSEALED, WINDOW
from pqc_mav_bench.options import WorkloadOptions
from pqc_mav_bench.schema.run import categories
from pqc_mav_common.delay_classes import within

Values = dict[str, Any]

#: Delays of which the share within a limit is kept [ms]: what time-critical control, real-time control and telemetry
#: may take ([rpi4-analysis] 1).
LIMITS_MS = {"rtt": (20, 50, 100), "owd_up": (20,), "owd_down": (100,)}

_PHASES = ("phase_hello_ms", "phase_server_hello_ms", "phase_finish_ms")
_TIMES = ("handshake_ms", *_PHASES, "kdf_ms")
_PRIMITIVES = (
    "kem_keygen_ms", "kem_encaps_ms", "kem_decaps_ms", "sig_sign_ms", "sig_verify_ms", "x25519_ms", "kdf_ms",
)  # fmt: skip
_SIZES = ("public_key_bytes", "ciphertext_bytes", "signature_bytes", "drone_signature_bytes")
# What never runs at an end: the proxy reports 0, which is no measurement.
_NEVER = {"drone": ("kem_keygen_ms", "kem_decaps_ms"), "gcs": ("kem_encaps_ms",)}
# What runs only where the drone signs.
_ONLY_SIGNED = {"drone": ("sig_sign_ms",), "gcs": ("sig_verify_ms",)}


def prefixed(values: Mapping[str, Any]) -> Values:
    """The same values under the ground's names."""
    return {f"gcs_{name}": value for name, value in values.items()}


def is_full(kind: str) -> bool:
    """Whether a report of this kind is of a whole handshake: a ratchet has no signature and hardly any bytes."""
    return not kind.startswith("ratchet")


def latest(handshakes: list[dict[str, Any]], suite: str) -> dict[str, Any] | None:
    """The report that counts: the last good one of a full handshake of the suite, else the last of it, else None."""
    of_suite = [report for report in handshakes if report["suite"] == suite and is_full(report["kind"])]
    good = [report for report in of_suite if report["ok"]]
    found = good or of_suite
    return found[-1] if found else None


def good(handshakes: list[dict[str, Any]], suite: str) -> list[dict[str, Any]]:
    """The good reports of full handshakes of the suite, oldest first."""
    return [each for each in handshakes if each["ok"] and each["suite"] == suite and is_full(each["kind"])]


def typical(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """The last of some good reports with each time's median over all of them, and how many had a pooled key pair.

    A key pair out of the pool has no time: that of key generation is the median of the others, None without any.
    """
    made = [each["kem_keygen_ms"] for each in reports if not each["keygen_pooled"]]
    medians = {name: median(each[name] for each in reports) for name in (*_TIMES, *_PRIMITIVES)}
    medians["kem_keygen_ms"] = median(made) if made else None
    return {**reports[-1], **medians, "pooled": len(reports) - len(made)}


def samples(reports: list[dict[str, Any]], side: str) -> dict[str, list[float | None]]:
    """Every time of some good reports by name, in their order: only those that this end runs.

    None stands for a key pair out of the pool.
    """
    idle = _idle(reports[-1], side)
    names = dict.fromkeys((*_TIMES, *(name for name in _PRIMITIVES if name not in idle)))
    return {name: [_sample(each, name) for each in reports] for name in names}


def _sample(report: Mapping[str, Any], name: str) -> float | None:
    return None if name == "kem_keygen_ms" and report["keygen_pooled"] else float(report[name])


def _idle(report: Mapping[str, Any], side: str) -> set[str]:
    """The primitives that never run at this end of such a handshake."""
    return {*_NEVER[side], *(() if report["drone_signature_bytes"] > 0 else _ONLY_SIGNED[side])}


def handshake_figures(reports: list[dict[str, Any]]) -> Values:
    """Category D of all good reports of the drone: how many, the interval of the median, and each time."""
    low, high = None, None
    if len(reports) >= FEWEST_FOR_AN_INTERVAL:
        low, high = median_interval(each["handshake_ms"] for each in reports)
    return {
        "handshakes": len(reports),
        "handshake_low_ms": low,
        "handshake_high_ms": high,
        "samples_ms": samples(reports, "drone"),
    }


def handshake_drone(report: Mapping[str, Any], attempts: int) -> Values:
    """Category D from the drone's report. A failed handshake has only what it got to."""
    same = (*_TIMES, "ok", "rekey", "kind", "epoch", "bytes_sent", "bytes_received")
    return {
        **{name: report[name] for name in same},
        "timeout": report["error"] == "timeout",
        "error": None if report["ok"] else report["error"],
        "reason": report["reason"] or None,
        "attempts": attempts,
    }


def handshake_gcs(report: Mapping[str, Any]) -> Values:
    """Category D from the ground's report."""
    return prefixed({name: report[name] for name in (*_TIMES, "ok", "bytes_sent", "bytes_received")})


def primitives(report: Mapping[str, Any], side: str) -> Values:
    """Category E from the typical report of one end; None for what that end does not run."""
    idle = _idle(report, side)
    values: Values = {name: None if name in idle else report[name] for name in _PRIMITIVES}
    if side == "gcs":
        pooled = report["pooled"]
        return {**prefixed(values), "gcs_keygen_pooled": pooled > 0, "gcs_pooled_handshakes": pooled}
    return {**values, **{name: report[name] for name in _SIZES}}


def data_plane_loss(drone: Mapping[str, Any], gcs: Mapping[str, Any]) -> float | None:
    """Share of the data packets sealed at one end that the other did not deliver, both ways; None without packets."""
    sealed = sum(side["plain_rx_packets"] - sum(side[name] for name in UNSEALED) for side in (drone, gcs))
    if sealed <= 0:
        return None
    arrived: int = drone["delivered"] + gcs["delivered"]
    return max(0.0, 1.0 - arrived / int(sealed))


def counters(values: Mapping[str, Any]) -> Values:
    """Category G of one side."""
    recorded = [name for name in COUNTERS if name in categories()["data_plane"].model_fields]
    return {name: values[name] for name in (*recorded, *WINDOW, "seal_mean_ns", "open_mean_ns")}


def link(values: Mapping[str, Any]) -> Values:
    """Category H of one side, from the proxy's own view of the link; what is not known is left out."""
    names = {
        "jitter_ms": "jitter_ms",
        "gap_p95_ms": "gap_p95_ms",
        "rtt_ms": "engine_rtt_ms",
        "rtt_min_ms": "engine_rtt_min_ms",
    }
    return {name: values[raw] for raw, name in names.items() if raw in values}


def _delays(figures: Mapping[str, Any] | None, name: str, shift_ms: float = 0.0) -> Values:
    """Figures of a generator as fields; `shift_ms` corrects one-way delays for the clocks."""
    if not figures:
        return {}
    out: Values = {f"{name}_count": figures["count"]}
    for key in ("mean", "p50", "p95", "p99", "max"):
        value = figures[f"{key}_ms"]
        out[f"{name}_{key}_ms"] = None if value is None else value + shift_ms
    # Counts cannot be shifted: on two clocks there are none of one-way delays.
    if shift_ms == 0.0 and (classes := figures.get("classes")):
        out[f"{name}_classes"] = classes
        for limit in LIMITS_MS[name]:
            out[f"{name}_within_{limit}ms_ratio"] = within(classes, limit)
    return out


def latency(drone: Mapping[str, Any], gcs: Mapping[str, Any], offset_ms: float, shared_clock: bool) -> Values:
    """Probes of category H: round trips from either end, one-way delays corrected by the clocks' offset.

    offset_ms: ground's clock minus drone's. The simulator's own delays hold only on one clock, so they are left out
    elsewhere; the bulk workload's are exact differences and can be corrected.
    """
    correctable = shared_clock or drone.get("kind") == "bulk"
    rtt = next((side["rtt"] for side in (gcs, drone) if side.get("rtt", {}).get("count")), None)
    shift = 0.0 if shared_clock else offset_ms
    return {
        **_delays(rtt, "rtt"),
        **(_delays(gcs.get("owd"), "owd_down", -shift) if correctable else {}),
        **(_delays(drone.get("owd"), "owd_up", shift) if correctable else {}),
    }


def _rates(sent: int, received: int, seconds: float) -> Values:
    return {
        "sent": sent,
        "sent_per_s": sent / seconds if seconds else None,
        "received": received,
        "received_per_s": received / seconds if seconds else None,
    }


def _mavlink(raw: Mapping[str, Any], also: tuple[str, ...], by_type: str) -> Values:
    return {
        **_rates(raw["sent"], raw["received"], raw["sent_s"]),
        "types_sent": len(raw["sent_by_type"]),
        "types_received": len(raw["received_by_type"]),
        **{name: raw[name] for name in ("send_failed", "skipped", *also)},
        by_type: dict(sorted(raw[by_type].items())),
    }


def mavlink_drone(raw: Mapping[str, Any]) -> Values:
    """Category I."""
    return _mavlink(raw, ("simulated", "sent_bytes"), "sent_by_type")


def mavlink_gcs(raw: Mapping[str, Any]) -> Values:
    """Category J."""
    return _mavlink(raw, ("received_bytes", "heartbeats"), "received_by_type")


def integrity(drone: Mapping[str, Any], gcs: Mapping[str, Any]) -> Values:
    """Category K: what was sent against what arrived."""

    def way(source: Mapping[str, Any], sink: Mapping[str, Any], name: str) -> Values:
        lost = source["sent"] - sink["received"]
        return {
            f"expected_{name}": source["sent"],
            f"received_{name}": sink["received"],
            f"lost_{name}": lost,
            f"sequence_gaps_{name}": sink["sequence_gaps"],
            f"duplicates_{name}": sink["duplicates"],
            f"crc_errors_{name}": sink["crc_errors"],
            f"loss_ratio_{name}": lost / source["sent"] if source["sent"] else None,
        }

    return {
        **way(drone, gcs, "down"),
        **way(gcs, drone, "up"),
        "reordered_down": gcs["reordered"],
        "max_gap_down": gcs["max_gap"],
        "longest_silence_down_ms": gcs["longest_silence_ms"],
    }


#: On its way from the application into the tunnel, and out of it to the other one.
_LOST_AFTER = ("plain_dropped_no_peer", "plain_dropped_send")
_LOST_BEFORE = tuple(name for name in COUNTERS if name.startswith("plain_dropped_") and name not in _LOST_AFTER)


def counted_end(side: Mapping[str, Any]) -> Values:
    """Category I or J of an end whose applications only its proxy sees: datagrams, which nobody read."""
    counts = side["counters"]
    return _rates(counts["plain_rx_packets"], counts["plain_tx_packets"], side["counted_s"])


def counted_integrity(drone: Mapping[str, Any], gcs: Mapping[str, Any]) -> Values:
    """Category K out of both proxies' counters: every loss has a counter, on the air that of the replay window.

    The applications do not fall silent for a reading, and the two proxies are read at two moments: sent less received
    would be off by what passed in between. What the window misses has the tunnel's own frames among it.
    """

    def way(source: Mapping[str, Any], sink: Mapping[str, Any], name: str) -> Values:
        lost = sum(source[each] for each in _LOST_BEFORE) + sink["window_missing"]
        lost += sum(sink[each] for each in _LOST_AFTER)
        sent = sink["plain_tx_packets"] + lost
        return {
            f"expected_{name}": sent,
            f"received_{name}": sink["plain_tx_packets"],
            f"lost_{name}": lost,
            f"loss_ratio_{name}": lost / sent if sent else None,
        }

    return {**way(drone["counters"], gcs["counters"], "down"), **way(gcs["counters"], drone["counters"], "up")}


def counted_workload(found: Mapping[str, Any], drone: Mapping[str, Any], gcs: Mapping[str, Any]) -> Values:
    """Category Q of applications that only the proxies see; `found`: their category K."""
    sent = found["expected_down"] + found["expected_up"]
    lost = found["lost_down"] + found["lost_up"]
    out: Values = {
        "workload": "external",
        "direction": "both",
        "duration_s": max(drone["counted_s"], gcs["counted_s"]),
        "sent_packets": sent,
        "received_packets": sent - lost,
        "lost_packets": lost,
    }
    if sent:
        out["loss_ratio"] = lost / sent
        out["loss_wilson_low"], out["loss_wilson_high"] = wilson(lost, sent)
    return out


def workload(options: WorkloadOptions, drone: Mapping[str, Any], gcs: Mapping[str, Any]) -> Values:
    """Category Q: both directions together."""
    sent = drone["sent"] + gcs["sent"]
    received = drone["received"] + gcs["received"]
    bulk = options.kind == "bulk"
    out: Values = {
        "workload": options.kind,
        "direction": options.direction if bulk else "both",
        "target_mbps": options.mbps if bulk else None,
        "packet_bytes": options.packet_bytes if bulk else None,
        "target_messages_per_s": None if bulk else options.messages_per_s,
        "duration_s": max(drone["sent_s"], gcs["sent_s"]),
        "sent_packets": sent,
        "received_packets": received,
        "lost_packets": sent - received,
        "duplicate_packets": drone["duplicates"] + gcs["duplicates"],
        "reordered_packets": drone["reordered"] + gcs["reordered"],
        "late_packets": drone["skipped"] + gcs["skipped"],
    }
    if 0 <= received <= sent and sent:
        out["loss_ratio"] = (sent - received) / sent
        out["loss_wilson_low"], out["loss_wilson_high"] = wilson(sent - received, sent)
    if bulk and out["duration_s"] > 0:
        flows = 2 if options.direction == "both" else 1
        megabits = 8e-6 / out["duration_s"] / flows
        out["sent_mbps"] = (drone["sent_bytes"] + gcs["sent_bytes"]) * megabits
        out["goodput_mbps"] = (drone["received_bytes"] + gcs["received_bytes"]) * megabits
        out["goodput_ratio"] = out["goodput_mbps"] / options.mbps
    return out
