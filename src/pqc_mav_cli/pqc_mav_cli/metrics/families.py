# SPDX-License-Identifier: Apache-2.0
"""Every figure of the page: its name and unit by the conventions of Prometheus, its labels and what it means."""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "pqcmav_"
# Of one engine, of one tunnel at one end of it, and of one direction of that.
ENGINE = ("engine", "role")
TUNNEL = (*ENGINE, "drone")
SIDE = (*TUNNEL, "side")


@dataclass(frozen=True)
class Family:
    """One metric. `name` lacks the prefix and, of a counter, _total; `factor` turns the engine's unit into its own."""

    name: str
    kind: str  # "counter", "gauge", "info" or "histogram"
    labels: tuple[str, ...]
    text: str
    factor: float = 1.0


def _counter(name: str, text: str, *more: str, of: tuple[str, ...] = TUNNEL) -> Family:
    return Family(name, "counter", (*of, *more), text)


def _gauge(name: str, text: str, *more: str, of: tuple[str, ...] = TUNNEL, factor: float = 1.0) -> Family:
    return Family(name, "gauge", (*of, *more), text, factor)


UP = Family("up", "gauge", ("engine",), "1: the engine answered this scrape; 0: it did not, and has no other figures.")
SCRAPE_FAILURES = Family(
    "scrape_failures", "counter", ("engine", "reason"), "Scrapes that got no figures of an engine, by reason."
)
ENGINE_INFO = Family("engine", "info", (*ENGINE, "gcs_id", "version"), "Version and name of the engine.")
UPTIME = _gauge("uptime_seconds", "Time since the engine started.", of=ENGINE)
KEY_LIMIT = _gauge("key_limit_seconds", "key_limit_s: the age from which keys count as old.", of=ENGINE)
DANGERS = _gauge("dangers", "Ways around the tunnel that the proxy has found on its machine.", of=ENGINE)

STATE = _gauge("state", "1 for the state of the tunnel, 0 for the others.", "state")
SESSION_INFO = Family(
    "session", "info", (*TUNNEL, "suite", "hybrid", "drone_signed"), "The session in use; missing without one."
)
KEY_AGE = _gauge("key_age_seconds", "Age of the keys in use; missing without a session.")
KEY_OLD = _gauge("key_old", "1: the last full handshake is longer ago than key_limit_s.")
SILENCE = _gauge("silence_seconds", "Time since the last authenticated packet; missing without a session.")
RATCHETS = _gauge("ratchets", "Ratchets since the last full handshake.")
SHAPE_LIMIT = _gauge(
    "shape_limit_bytes_per_second", "Rate to which sending is shaped (shape_kbit); 0: it is not.", factor=125.0
)
BLACKLISTED = _gauge("blacklisted_suites", "Suites that automatic choices avoid, because they failed lately.")
STATION = _gauge("station", "1 for what a ground station is for the drone now, 0 for the rest.", "station", "part")
STATION_TERM = _gauge("station_term", "Rises with each change of ground station; missing with one station alone.")
STATION_PARTS = ("active", "standby", "none")

SEAL = _gauge("seal_mean_seconds", "Time to encrypt one packet, sampled mean since start.", factor=1e-9)
OPEN = _gauge("open_mean_seconds", "Time to decrypt one packet, sampled mean since start.", factor=1e-9)
DROPS = _counter("drops", "Encrypted datagrams of this tunnel that were dropped, by reason.", "reason")
PLAIN_DROPS = _counter("plain_drops", "Datagrams of the local application that were dropped, by reason.", "reason")
PORT_DROPS = _counter(
    "port_drops", "Datagrams at the encrypted port that were dropped, strangers' too, by reason.", "reason", of=ENGINE
)
PORT_HANDSHAKES = _counter(
    "port_handshake_datagrams", "Handshake datagrams at the encrypted port, by what became of them.", "outcome",
    of=ENGINE,
)  # fmt: skip
SERVER = _counter("server_handshakes", "Attempts at the gcs, by how far they came.", "outcome", of=ENGINE)
# A counter of a newer engine, which this table does not know yet.
OTHER = _counter("other", "Counters that have no metric of their own yet.", "counter")
OTHER_ENDPOINT = _counter("endpoint_other", "The same for those of an endpoint.", "endpoint", "counter")
OTHER_PORT = _counter(
    "port_other", "Counters of the process that have no metric of their own yet.", "counter", of=ENGINE
)

# The engine's counters of a tunnel: the metric and, where it has one, the value of its last label.
TUNNEL_COUNTERS: dict[str, tuple[Family, str]] = {
    "plain_rx_packets": (_counter("plain_received_datagrams", "Datagrams from the local application."), ""),
    "plain_rx_bytes": (_counter("plain_received_bytes", "The same in bytes."), ""),
    "plain_tx_packets": (_counter("plain_sent_datagrams", "Datagrams to the local application."), ""),
    "plain_tx_bytes": (_counter("plain_sent_bytes", "The same in bytes."), ""),
    **{
        f"plain_dropped_{reason}": (PLAIN_DROPS, reason)
        for reason in ("no_session", "no_peer", "too_big", "send", "kernel")
    },
    "plain_tap_packets": (_counter("tap_datagrams", "Copies for plain_tap."), ""),
    "plain_tap_dropped": (_counter("tap_drops", "Copies for plain_tap that the system refused."), ""),
    "plain_tap_requests": (_counter("tap_requests", "Requests of the program at plain_tap that were passed on."), ""),
    "plain_tap_refused": (_counter("tap_refusals", "Requests of the program at plain_tap that were refused."), ""),
    "enc_tx_packets": (_counter("sent_packets", "Encrypted datagrams sent."), ""),
    "enc_tx_bytes": (_counter("sent_bytes", "The same in bytes of UDP payload."), ""),
    "enc_dropped_send": (_counter("send_drops", "Encrypted datagrams that the system refused to send."), ""),
    "enc_rx_packets": (_counter("received_packets", "Encrypted datagrams received for this tunnel."), ""),
    "enc_rx_bytes": (_counter("received_bytes", "The same in bytes of UDP payload."), ""),
    "delivered": (_counter("delivered_packets", "Of these: opened and handed to the application."), ""),
    "delivered_datagrams": (
        _counter("delivered_datagrams", "Datagrams in those packets: several each, if bundled."),
        "",
    ),
    "control": (_counter("control_packets", "Of these: opened control frames."), ""),
    **{
        f"drop_{reason}": (DROPS, reason)
        for reason in ("malformed", "unknown", "seq_old", "replay", "auth_fail", "decrypt_fail")
    },
    "window_skipped": (_counter("skipped_packets", "Packets that a newer one overtook: lost, or late."), ""),
    "roams": (_counter("roams", "Changes of the peer's address."), ""),
}
# Those of the whole process.
PORT_COUNTERS: dict[str, tuple[Family, str]] = {
    "enc_rx_datagrams": (
        _counter("port_received_datagrams", "Datagrams at the encrypted port, whoever sent them.", of=ENGINE), ""
    ),
    "enc_rx_bytes": (_counter("port_received_bytes", "The same in bytes of UDP payload.", of=ENGINE), ""),
    "delivered": (_counter("port_delivered_packets", "Of these: opened and handed on.", of=ENGINE), ""),
    "delivered_datagrams": (_counter("port_delivered_datagrams", "Datagrams in those packets.", of=ENGINE), ""),
    "control": (_counter("port_control_packets", "Of these: opened control frames.", of=ENGINE), ""),
    **{
        f"drop_{reason}": (PORT_DROPS, reason)
        for reason in ("malformed", "unknown", "seq_old", "replay", "auth_fail", "decrypt_fail")
    },
    **{
        f"hs_{outcome}": (PORT_HANDSHAKES, outcome)
        for outcome in ("taken", "repeated", "malformed", "unknown", "tag", "gate", "replay", "limit")
    },
    "other_version": (
        _counter("port_other_version", "Of the malformed ones: packets of an older protocol.", of=ENGINE), ""
    ),
    "doubled": (_counter("port_doubled", "Of the replayed: those that came just before.", of=ENGINE), ""),
    "skipped": (_counter("port_skipped_packets", "Packets missing when a later one came.", of=ENGINE), ""),
    "skips": (_counter("port_skips", "How often packets were missing when a later one came.", of=ENGINE), ""),
    "late": (_counter("port_late_packets", "Of the skipped: those that came after all.", of=ENGINE), ""),
    "drop_kernel": (
        _counter("port_kernel_drops", "Datagrams at the encrypted port that the kernel had no room for.", of=ENGINE), ""
    ),
    "drop_yield": (_counter("yielded_datagrams", "Plain datagrams left out to make room for a rekey.", of=ENGINE), ""),
    "drop_standby": (
        _counter("standby_drops", "Data frames of a ground station that is not the active one.", of=ENGINE), ""
    ),
    **{
        f"hs_{outcome}": (SERVER, outcome)
        for outcome in ("gated", "retried", "completed", "ratchets", "failed", "busy")
    },
    "restarts_told": (_counter("server_restarts_told", "Drones that were told of this gcs' restart.", of=ENGINE), ""),
    "keygens": (_counter("server_key_generations", "KEM key pairs made.", of=ENGINE), ""),
}  # fmt: skip
STATUS_COUNTERS: dict[str, tuple[Family, str]] = {
    "handshakes_ok": (_counter("first_handshakes", "First handshakes completed."), ""),
    "handshakes_failed": (_counter("failed_handshakes", "Handshakes failed, rekeys included."), ""),
    "rekeys_ok": (_counter("rekeys", "Rekeys completed, ratchets included."), ""),
}
# By class of what a shaped link sends; taken = sent + replaced + dropped + what waits.
SHAPE_CLASSES = ("commands", "transfers", "streams", "rest", "rekey")
SHAPE_COUNTERS: dict[str, Family] = {
    "shape_taken": _counter("shape_taken_datagrams", "Datagrams that came to a class of a shaped link.", "class"),
    "shape_sent": _counter("shape_sent_datagrams", "Of these: left.", "class"),
    "shape_replaced": _counter("shape_replaced_datagrams", "Of these: gave way to a newer value.", "class"),
    "shape_dropped": _counter("shape_drops", "Of these: dropped, as too many or too old.", "class"),
}
# Upper edges of the engine's classes: 1, 3, 7 and so on to 8191 places.
WINDOW_PLACES = tuple(str(2**exponent - 1) for exponent in range(1, 14))
WINDOW_DEPTH = _counter(
    "late_packets", "Packets that opened behind the newest one, by how many places at most.",
    "places",
)  # fmt: skip
SHAPE_OLDEST = _gauge("shape_oldest_seconds", "How long the oldest datagram has been waiting.", "class", factor=1e-3)

ENDPOINT_GOOD = _gauge("endpoint_good", "1: this endpoint of plaintext works.", "endpoint")
ENDPOINT_COUNTERS: dict[str, Family] = {
    "rx_packets": _counter("endpoint_received_datagrams", "Datagrams from an endpoint of plaintext.", "endpoint"),
    "rx_bytes": _counter("endpoint_received_bytes", "The same in bytes.", "endpoint"),
    "tx_packets": _counter("endpoint_sent_datagrams", "Datagrams to an endpoint of plaintext.", "endpoint"),
    "tx_bytes": _counter("endpoint_sent_bytes", "The same in bytes.", "endpoint"),
    "dropped": _counter("endpoint_drops", "Datagrams that an endpoint did not take in time.", "endpoint"),
    "skipped_bytes": _counter("endpoint_skipped_bytes", "Bytes of a stream that are no MAVLink.", "endpoint"),
    "opened": _counter("endpoint_opens", "Ports opened and applications that came.", "endpoint"),
    "kernel_dropped": _counter("endpoint_kernel_drops", "Datagrams that the kernel had no room for.", "endpoint"),
    "refused": _counter("endpoint_refusals", "Applications and datagrams that were refused.", "endpoint"),
}

# How each end hears the other over its window of 5 s.
LINK: dict[str, Family] = {
    "packets_per_s": _gauge("link_packets_per_second", "Authenticated packets received.", "side"),
    "gap_p95_ms": _gauge("link_gap_p95_seconds", "95th percentile of the time between packets.", "side", factor=1e-3),
    "longest_silence_ms": _gauge("link_longest_silence_seconds", "Longest time between packets.", "side", factor=1e-3),
    "jitter_ms": _gauge("link_jitter_seconds", "Mean deviation of the time between packets.", "side", factor=1e-3),
    "loss": _gauge("link_loss_ratio", "Packets missing, of those sent.", "side"),
    "blackouts": _gauge("link_blackouts", "Silences of the window that count as an outage.", "side"),
}
LINK_OF_BOTH: dict[str, Family] = {
    "rtt_ms": _gauge("link_round_trip_seconds", "Newest round trip of a probe.", factor=1e-3),
    "rtt_min_ms": _gauge("link_round_trip_min_seconds", "Shortest round trip in this session.", factor=1e-3),
    "clock_offset_ms": _gauge("link_clock_offset_seconds", "The peer's clock minus this end's.", factor=1e-3),
    "age_s": _gauge("link_report_age_seconds", "Age of what the peer reported of its side."),
}
PEER_DROPS = _counter("peer_drops", "Datagrams that the peer dropped, as it reported, by reason.", "reason")

# What nodes beside a proxy say by ROS topics; nothing of it is shown once it is older than STALE_S.
STALE_S = 10.0
SENSE = ("namespace",)
LISTENING = Family("ros_listening", "gauge", (), "1: ROS topics of nodes beside the proxies are heard; 0: not.")
SENSE_AGE = _gauge("sense_age_seconds", "Age of the newest message of a topic.", "sense", of=SENSE)
THREAT_LEVEL = _gauge(
    "threat_level", "What the detector thinks of the traffic: 0 usual, 1 suspicious, 2 an attack, and its kind.",
    "detector", "kind", of=SENSE,
)  # fmt: skip
THREAT_PROBABILITY = _gauge("threat_probability_ratio", "How likely it is an attack.", "detector", of=SENSE)
POLICY_INFO = Family(
    "policy", "info", (*SENSE, "strategy", "mode", "action", "guard"), "The policy's newest decision, and its rule."
)
POLICY_DECISIONS = _counter("policy_decisions", "Decisions of the policy.", of=SENSE)
POLICY_OUTCOME = _gauge("policy_outcome_ok", "1: the newest rekey that the policy asked for succeeded.", of=SENSE)
BATTERY_VALID = _gauge("battery_valid", "1: the figures of the flight battery can be trusted.", of=SENSE)
BATTERY: dict[str, Family] = {
    "voltage_v": _gauge("battery_volts", "Voltage of the pack.", of=SENSE),
    "current_a": _gauge("battery_amperes", "Current drawn from the pack.", of=SENSE),
    "temperature_c": _gauge("battery_temperature_celsius", "Temperature of the pack.", of=SENSE),
    "state_of_charge": _gauge(
        "battery_charge_ratio", "Charge left, as estimated; of an unknown capacity, as the autopilot says.", of=SENSE
    ),
    "reported_remaining": _gauge("battery_reported_ratio", "Charge left, as the autopilot says.", of=SENSE),
    "endurance_s": _gauge("battery_endurance_seconds", "Time until empty at the present current.", of=SENSE),
}

HANDSHAKE_SECONDS = Family(
    "handshake_duration_seconds", "histogram", (*ENGINE, "kind"), "Handshakes that succeeded, first to last byte."
)
HANDSHAKE_ERRORS = _counter(
    "handshake_errors", "Handshakes that failed, by kind and reason.", "kind", "reason", of=ENGINE
)
HANDSHAKE_KINDS = ("first", "rekey", "ratchet", "ratchet_plain")
