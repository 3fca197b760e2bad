# SPDX-License-Identifier: Apache-2.0
"""Categories G to K: packets through the tunnel, latency, and MAVLink as both ends counted it.

Directions: `down` is drone to ground (telemetry), `up` is ground to drone (commands).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pqc_mav_bench.schema.field import Category, Side, metric

_CLEAN = "nothing is dropped or lost in a clean run"
_QUIET = "this workload sends nothing that way"
_SLOW = "the link is slower than that"
_CRITICAL = "what time-critical control may take"
_IN_ORDER = "every packet came in order"
_DEPTHS = "most places of the class (1, 3, 7 and so on) and count"
_CLASSES = "upper edge of the class [ms] and count, ten classes a decade; the last is 'longer'"


class _Counters(Category):
    """Those of the drone's end, and what concerns both."""

    letter: ClassVar[str] = "G"
    title: ClassVar[str] = "DataPlane"

    plain_rx_packets: int | None = metric("datagrams taken from the local application", "count", zero=_QUIET)
    plain_rx_bytes: int | None = metric("the same in bytes", "B", zero=_QUIET)
    plain_tx_packets: int | None = metric("datagrams handed to the local application", "count", zero=_QUIET)
    plain_tx_bytes: int | None = metric("the same in bytes", "B", zero=_QUIET)
    plain_dropped_no_session: int | None = metric("dropped because there was no session", "count", zero=_CLEAN)
    plain_dropped_no_peer: int | None = metric(
        "from the air, dropped because no application is known yet", "count", zero=_CLEAN
    )
    plain_dropped_kernel: int | None = metric("dropped by the kernel's full buffer", "count", zero=_CLEAN)
    plain_dropped_too_big: int | None = metric("dropped because above the path limit", "count", zero=_CLEAN)
    plain_dropped_send: int | None = metric("not sent because the system refused", "count", zero=_CLEAN)
    enc_tx_packets: int | None = metric("encrypted datagrams sent", "count")
    enc_tx_bytes: int | None = metric("the same in bytes", "B")
    enc_rx_packets: int | None = metric("encrypted datagrams received", "count")
    enc_rx_bytes: int | None = metric("the same in bytes", "B")
    delivered: int | None = metric("of these: opened and handed on", "count", zero=_QUIET)
    control: int | None = metric("of these: control frames", "count")
    drop_malformed: int | None = metric("of these: malformed", "count", zero=_CLEAN)
    drop_unknown: int | None = metric("of these: of no live session", "count", zero=_CLEAN)
    drop_seq_old: int | None = metric("of these: below the replay window", "count", zero=_CLEAN)
    drop_replay: int | None = metric("of these: seen before", "count", zero=_CLEAN)
    drop_auth_fail: int | None = metric("of these: the tag did not verify", "count", zero=_CLEAN)
    drop_decrypt_fail: int | None = metric("of these: verified but unusable", "count", zero=_CLEAN)
    window_skipped: int | None = metric(
        "packets of the other end that a newer one overtook: lost, or late", "count", zero=_IN_ORDER
    )
    window_late: int | None = metric("of these: came late, inside the replay window", "count", zero=_IN_ORDER)
    window_missing: int | None = metric("of these: never came", "count", zero=_CLEAN)
    window_deepest: int | None = metric(
        "of those that came late: most places behind the newest, rounded up to 1, 3, 7 and so on", "1", zero=_IN_ORDER
    )
    window_classes: dict[str, int] | None = metric(
        f"all that came late, by places behind the newest: {_DEPTHS}", "count"
    )
    seal_mean_ns: float | None = metric("sealing one packet, sampled mean of this run", "ns")
    open_mean_ns: float | None = metric("opening one packet, sampled mean of this run", "ns")
    loss_ratio: float | None = metric(
        "encrypted data packets sent by one end and not received by the other, both ways", "1", Side.BOTH, zero=_CLEAN
    )


def _of_gcs() -> dict[str, Any]:
    """The counters of the other end, as members of a class."""
    out: dict[str, Any] = {"__annotations__": {}, "__module__": __name__}
    for name, field in _Counters.model_fields.items():
        extra: Any = field.json_schema_extra
        if name != "loss_ratio":
            out["__annotations__"][f"gcs_{name}"] = field.annotation
            out[f"gcs_{name}"] = metric(str(field.description), extra["unit"], Side.GCS, zero=extra.get("zero", ""))
    return out


_DATA_PLANE = "G: the proxies' own counters over the run. Received = delivered + control + the six drops."
if TYPE_CHECKING:

    class DataPlane(_Counters):  # noqa: D101 - said below
        def __getattr__(self, name: str) -> Any: ...

else:
    DataPlane = type(_Counters)("DataPlane", (_Counters,), {"__doc__": _DATA_PLANE, **_of_gcs()})


class LatencyJitter(Category):
    """H: round trips and one-way delays through the tunnel during the data time."""

    letter: ClassVar[str] = "H"
    title: ClassVar[str] = "LatencyJitter"
    side: ClassVar[Side] = Side.BOTH

    rtt_count: int | None = metric("round trips of probes inside the traffic", "count")
    rtt_mean_ms: float | None = metric("mean round trip", "ms")
    rtt_p50_ms: float | None = metric("median round trip", "ms")
    rtt_p95_ms: float | None = metric("95th percentile", "ms")
    rtt_p99_ms: float | None = metric("99th percentile", "ms")
    rtt_max_ms: float | None = metric("longest round trip", "ms")
    rtt_within_20ms_ratio: float | None = metric(f"share of round trips up to 20 ms: {_CRITICAL}", "1", zero=_SLOW)
    rtt_within_50ms_ratio: float | None = metric("share up to 50 ms: real-time control", "1", zero=_SLOW)
    rtt_within_100ms_ratio: float | None = metric("share up to 100 ms: non-critical telemetry", "1", zero=_SLOW)
    rtt_classes: dict[str, int] | None = metric(f"all round trips by class: {_CLASSES}", "count")
    owd_down_count: int | None = metric("one-way delays drone to ground", "count", Side.GCS)
    owd_down_mean_ms: float | None = metric("mean one-way delay drone to ground", "ms", Side.GCS)
    owd_down_p50_ms: float | None = metric("median", "ms", Side.GCS)
    owd_down_p95_ms: float | None = metric("95th percentile", "ms", Side.GCS)
    owd_down_p99_ms: float | None = metric("99th percentile", "ms", Side.GCS)
    owd_down_max_ms: float | None = metric("longest", "ms", Side.GCS)
    owd_down_within_100ms_ratio: float | None = metric(
        "share up to 100 ms: non-critical telemetry", "1", Side.GCS, zero=_SLOW
    )
    owd_down_classes: dict[str, int] | None = metric(f"all of them by class: {_CLASSES}", "count", Side.GCS)
    owd_up_count: int | None = metric("one-way delays ground to drone", "count", Side.DRONE)
    owd_up_mean_ms: float | None = metric("mean one-way delay ground to drone", "ms", Side.DRONE)
    owd_up_p50_ms: float | None = metric("median", "ms", Side.DRONE)
    owd_up_p95_ms: float | None = metric("95th percentile", "ms", Side.DRONE)
    owd_up_p99_ms: float | None = metric("99th percentile", "ms", Side.DRONE)
    owd_up_max_ms: float | None = metric("longest", "ms", Side.DRONE)
    owd_up_within_20ms_ratio: float | None = metric(f"share up to 20 ms: {_CRITICAL}", "1", Side.DRONE, zero=_SLOW)
    owd_up_classes: dict[str, int] | None = metric(f"all of them by class: {_CLASSES}", "count", Side.DRONE)
    owd_uncertainty_ms: float | None = metric(
        "how far one-way delays may be off because of the clocks", "ms", zero="both ends read one clock"
    )
    jitter_ms: float | None = metric(
        "mean deviation of the time between packets received, the last 5 s of the data time", "ms", Side.DRONE
    )
    gap_p95_ms: float | None = metric(
        "95th percentile of the time between packets received, the last 5 s of the data time", "ms", Side.DRONE
    )
    gcs_jitter_ms: float | None = metric(
        "mean deviation of the time between packets received, the last 5 s of the data time", "ms", Side.GCS
    )
    gcs_gap_p95_ms: float | None = metric(
        "95th percentile of the time between packets received, the last 5 s of the data time", "ms", Side.GCS
    )
    engine_rtt_ms: float | None = metric("newest round trip of the engine's own probe", "ms", Side.DRONE)
    engine_rtt_min_ms: float | None = metric("smallest of the session", "ms", Side.DRONE)
    gcs_engine_rtt_ms: float | None = metric("newest round trip of the engine's own probe", "ms", Side.GCS)
    gcs_engine_rtt_min_ms: float | None = metric("smallest of the session", "ms", Side.GCS)


class MavProxyDrone(Category):
    """I: MAVLink at the drone's end (of the simulated vehicle if there is no autopilot)."""

    letter: ClassVar[str] = "I"
    title: ClassVar[str] = "MavProxyDrone"

    simulated: bool | None = metric("the vehicle is simulated")
    sent: int | None = metric("messages sent", "count")
    sent_per_s: float | None = metric("messages sent per second", "1/s")
    sent_bytes: int | None = metric("bytes sent", "B")
    received: int | None = metric("messages received", "count")
    received_per_s: float | None = metric("messages received per second", "1/s")
    types_sent: int | None = metric("different message types sent", "count")
    types_received: int | None = metric("different message types received", "count")
    send_failed: int | None = metric("messages the system refused to send", "count", zero=_CLEAN)
    skipped: int | None = metric("messages left out because they would have been late", "count", zero=_CLEAN)
    sent_by_type: dict[str, int] | None = metric("messages sent, by type", "count")


class MavProxyGcs(Category):
    """J: MAVLink at the ground's end."""

    letter: ClassVar[str] = "J"
    title: ClassVar[str] = "MavProxyGCS"
    side: ClassVar[Side] = Side.GCS

    sent: int | None = metric("messages sent", "count")
    sent_per_s: float | None = metric("messages sent per second", "1/s")
    received: int | None = metric("messages received", "count")
    received_per_s: float | None = metric("messages received per second", "1/s")
    received_bytes: int | None = metric("bytes received", "B")
    heartbeats: int | None = metric("heartbeats of the vehicle", "count")
    types_sent: int | None = metric("different message types sent", "count")
    types_received: int | None = metric("different message types received", "count")
    send_failed: int | None = metric("messages the system refused to send", "count", zero=_CLEAN)
    skipped: int | None = metric("messages left out because they would have been late", "count", zero=_CLEAN)
    received_by_type: dict[str, int] | None = metric("messages received, by type", "count")


class MavLinkIntegrity(Category):
    """K: what one end sent against what the other received, suite change included."""

    letter: ClassVar[str] = "K"
    title: ClassVar[str] = "MavLinkIntegrity"
    side: ClassVar[Side] = Side.BOTH

    expected_down: int | None = metric("messages sent by the drone", "count")
    received_down: int | None = metric("different ones received on the ground", "count")
    lost_down: int | None = metric("expected_down - received_down", "count", zero=_CLEAN)
    sequence_gaps_down: int | None = metric("missing by sequence number on the ground", "count", zero=_CLEAN)
    duplicates_down: int | None = metric("received more than once", "count", zero=_CLEAN)
    reordered_down: int | None = metric("received late", "count", zero=_CLEAN)
    crc_errors_down: int | None = metric("frames whose checksum was wrong", "count", zero=_CLEAN)
    max_gap_down: int | None = metric("longest run of missing messages", "count", zero=_CLEAN)
    longest_silence_down_ms: float | None = metric("longest time between two messages, suite change included", "ms")
    loss_ratio_down: float | None = metric("lost_down / expected_down", "1", zero=_CLEAN)
    expected_up: int | None = metric("messages sent by the ground", "count")
    received_up: int | None = metric("different ones received by the drone", "count")
    lost_up: int | None = metric("expected_up - received_up", "count", zero=_CLEAN)
    sequence_gaps_up: int | None = metric("missing by sequence number at the drone", "count", zero=_CLEAN)
    duplicates_up: int | None = metric("received more than once", "count", zero=_CLEAN)
    crc_errors_up: int | None = metric("frames whose checksum was wrong", "count", zero=_CLEAN)
    loss_ratio_up: float | None = metric("lost_up / expected_up", "1", zero=_CLEAN)
