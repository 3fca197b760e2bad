# SPDX-License-Identifier: Apache-2.0
"""Every figure of the page: its name and unit by the conventions of Prometheus, its labels and what it means."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pqc_mav_tunnel import picture_schema

PREFIX = "pqcmav_"
# Of one engine, and of one tunnel at one end of it.
ENGINE = ("engine", "role")
TUNNEL = (*ENGINE, "drone")


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
PEER_ALARM = _gauge(
    "peer_alarm_level",
    "What the other end's detector thinks, and at a drone those on its network: 0 usual, 1 suspicious, 2 an attack.",
)
BLACKLISTED = _gauge("blacklisted_suites", "Suites that automatic choices avoid, because they failed lately.")
STATION = _gauge("station", "1 for what a ground station is for the drone now, 0 for the rest.", "station", "part")
STATION_TERM = _gauge(
    "station_term", "Rises with each change of station; missing without a session or a second station."
)
STATION_PARTS = ("active", "standby", "none")
# Of one of a drone's several paths.
PATH_STATE = _gauge("path_state", "1 for the state of a path of the drone, 0 for the others.", "path", "state")
PATH_STATES = ("best", "good", "dead", "unknown", "off")
PATH: dict[str, Family] = {
    "silence_s": _gauge("path_silence_seconds", "Time since a path's last answer, while it owes one.", "path"),
    "rtt_ms": _gauge("path_round_trip_seconds", "Round trip of a path's newest PROBE.", "path", factor=1e-3),
    "loss": _gauge("path_loss_ratio", "Of a path's last 32 PROBEs, those without an answer.", "path"),
    "tx_packets": _counter("path_sent_packets", "Packets that went by a path.", "path"),
    "tx_bytes": _counter("path_sent_bytes", "The same in bytes.", "path"),
    "rx_packets": _counter("path_received_packets", "Packets that came by a path.", "path"),
    "rx_bytes": _counter("path_received_bytes", "The same in bytes.", "path"),
    "taken": _counter("path_taken", "Times that packets took a path.", "path"),
}

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


def _says(view: str, name: str) -> str:
    """What the engine's table of fields says of one, as a sentence without its unit."""
    text = next(field["text"] for field in picture_schema()[view]["fields"] if field["name"] == name)
    return _sentence(text)


def _sentence(text: str) -> str:
    text = re.sub(r" ?\[[^]]*\]| ?\(0-\d+\)", "", text)
    return f"{text[0].upper()}{text[1:]}."


def _counters(
    view: str, names: Mapping[str, str], groups: Mapping[str, Family], of: tuple[str, ...], prefix: str = ""
) -> dict[str, tuple[Family, str]]:
    """The engine's counters: the metric of each and, if it is one of a group, the value of its last label.

    One without a name here is called as in the engine, behind `prefix`.
    """
    out: dict[str, tuple[Family, str]] = {}
    for field in picture_schema()[view]["fields"]:
        name = field["name"]
        if "warning" not in field:
            continue
        group = "" if name in names else next((each for each in groups if name.startswith(each)), "")
        if group:
            out[name] = (groups[group], name.removeprefix(group))
        else:
            out[name] = (_counter(names.get(name, prefix + name), _sentence(field["text"]), of=of), "")
    return out


TUNNEL_COUNTERS = _counters(
    "stats",
    {
        "plain_rx_packets": "plain_received_datagrams", "plain_rx_bytes": "plain_received_bytes",
        "plain_tx_packets": "plain_sent_datagrams", "plain_tx_bytes": "plain_sent_bytes",
        "plain_tap_packets": "tap_datagrams", "plain_tap_dropped": "tap_drops", "plain_tap_requests": "tap_requests",
        "plain_tap_refused": "tap_refusals", "enc_tx_packets": "sent_packets", "enc_tx_bytes": "sent_bytes",
        "enc_dropped_send": "send_drops", "enc_rx_packets": "received_packets", "enc_rx_bytes": "received_bytes",
        "delivered": "delivered_packets", "control": "control_packets", "window_skipped": "skipped_packets",
    },
    {"plain_dropped_": PLAIN_DROPS, "drop_": DROPS},
    TUNNEL,
)  # fmt: skip
# Those of the whole process.
_OUTCOMES = ("gated", "retried", "completed", "ratchets", "failed", "busy")
PORT_COUNTERS = _counters(
    "server",
    {
        "enc_rx_datagrams": "port_received_datagrams", "enc_rx_bytes": "port_received_bytes",
        "delivered": "port_delivered_packets", "control": "port_control_packets", "skipped": "port_skipped_packets",
        "late": "port_late_packets", "drop_kernel": "port_kernel_drops", "drop_yield": "yielded_datagrams",
        "drop_standby": "standby_drops", "drop_copy": "planned_copies", "drop_late": "overtaken_packets",
        "restarts_told": "server_restarts_told", "keygens": "server_key_generations",
        "used_twice": "used_twice_sessions", "set_back": "set_backs", "relay_up": "relay_up_packets",
        "relay_up_bytes": "relay_up_bytes", "relay_down": "relay_down_packets", "relay_down_bytes": "relay_down_bytes",
        "relay_refused": "relay_refusals", "relay_dropped": "relay_drops",
    },
    {"drop_": PORT_DROPS, "hs_": PORT_HANDSHAKES},
    ENGINE,
    "port_",
) | {f"hs_{outcome}": (SERVER, outcome) for outcome in _OUTCOMES}  # fmt: skip
STATUS_COUNTERS = {
    name: _counter(metric, _says("status", name))
    for name, metric in {
        "handshakes_ok": "first_handshakes", "handshakes_failed": "failed_handshakes", "rekeys_ok": "rekeys"
    }.items()
}  # fmt: skip
# By class of what a shaped link sends; taken = sent + replaced + dropped + what waits.
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
def _of_link(names: Mapping[str, str], *more: str) -> dict[str, Family]:
    return {
        name: _gauge(metric, _says("link", name), *more, factor=1e-3 if name.endswith("_ms") else 1.0)
        for name, metric in names.items()
    }


LINK = _of_link(
    {
        "packets_per_s": "link_packets_per_second", "gap_p95_ms": "link_gap_p95_seconds",
        "longest_silence_ms": "link_longest_silence_seconds", "jitter_ms": "link_jitter_seconds",
        "loss": "link_loss_ratio", "blackouts": "link_blackouts",
    },
    "side",
)  # fmt: skip
LINK_OF_BOTH = _of_link(
    {
        "rtt_ms": "link_round_trip_seconds",
        "rtt_min_ms": "link_round_trip_min_seconds",
        "clock_offset_ms": "link_clock_offset_seconds",
    }
) | {"age_s": _gauge("link_report_age_seconds", "Age of what the peer reported of its side.")}  # fmt: skip
# Of the serial radio that carries a link, as the engine's table has it.
_RADIO_NAMES = {"kbit": "rate_bytes_per_second", "fill": "fill_ratio"}


def _of_radio() -> dict[str, Family]:
    out = {}
    for field in picture_schema()["link"]["fields"]:
        name = str(field["name"]).removeprefix("radio_")
        if name == field["name"]:
            continue
        metric, text = f"radio_{_RADIO_NAMES.get(name, name)}", _sentence(field["text"])
        counts = field["type"] == "uint64"
        out[name] = _counter(metric, text) if counts else _gauge(metric, text, factor=125.0 if name == "kbit" else 1.0)
    return out


RADIO = _of_radio()
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
