# SPDX-License-Identifier: Apache-2.0
"""What `/diagnostics` says: levels and sentences out of the engine's figures, without ROS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pqc_mav_tunnel import watched_counters

from pqc_mav_common.diagnostics import Diagnostic, Level
from pqc_mav_proxy.names import keys_are_old, plain_is_down
from pqc_mav_proxy.wording import short_code

# Counter -> what it means when it grows. A stranger can cause most of them, so they warn and never count as errors.
_WATCHED = watched_counters()
SUSPICIOUS: Mapping[str, str] = _WATCHED["link"]
STRANGERS: Mapping[str, str] = _WATCHED["server"]
SOCKET: Mapping[str, str] = _WATCHED["socket"]
MORE_ROOM = "this machine is busy or flooded, or 'socket_buffer_kib' is too small"
UNSENT = "plain_dropped_no_session"
SERVER_FIGURES = ("other_version", "restarts_told", "keygens")
STATUS_FIGURES = (
    "suite",
    "epoch",
    "peer",
    "key_age_s",
    "silence_s",
    "shape_kbit",
    "station",
    "station_role",
    "term",
)
SHAPE_CLASSES = ("commands", "transfers", "streams", "rest", "rekey")
SHAPE_FIGURES = ("taken", "sent", "replaced", "dropped", "oldest_ms")
STATS_FIGURES = (*SUSPICIOUS, "drop_unknown", "drop_seq_old", "delivered", "roams")


class Diagnoser:
    """Turns readings, taken once a second, into diagnostics; remembers the last reading to see what grew."""

    def __init__(self, role: str) -> None:
        self._role = role
        self._last: dict[str, dict[str, int]] = {}  # of "server", "data port" and each "tunnel ..."

    def tunnel(self, status: Mapping[str, Any], stats: Mapping[str, Any], link: Mapping[str, Any] | None) -> Diagnostic:
        """The state of one drone's tunnel."""
        drone = status["drone_id"]
        level, message = _state(status, self._role)
        waits = status["station_role"] == "standby"  # what its ground software says is left out on purpose
        grown = self._grown(f"tunnel {drone}", stats, SUSPICIOUS, UNSENT if waits else "")
        if grown and level is Level.OK:
            level, message = Level.WARN, f"{message}; dropped since the last report: {grown}"
        values: dict[str, object] = {"state": status["state_name"], **{key: status[key] for key in STATUS_FIGURES}}
        values["key_old"] = keys_are_old(status["last_error"])
        values |= {key: stats[key] for key in STATS_FIGURES}
        if status["shape_kbit"]:
            values |= _shaping(stats)
        values |= {f"endpoint {each['name']}": each["text"] for each in stats.get("endpoints", ())}
        if link is not None and link.get("rtt_ms") is not None:
            values["rtt_ms"] = f"{link['rtt_ms']:.3f}"
        return Diagnostic(f"tunnel {drone}", level, message, values)

    def handshake_server(self, totals: Mapping[str, Any]) -> Diagnostic:
        """Handshakes at the gcs: what strangers try there."""
        grown = self._grown("server", totals, STRANGERS)
        message = f"refused since the last report: {grown}" if grown else "no unwanted handshakes"
        values = {key: value for key, value in totals.items() if key.startswith("hs_") or key in SERVER_FIGURES}
        return Diagnostic("handshake server", Level.WARN if grown else Level.OK, message, values)

    def data_port(self, totals: Mapping[str, Any]) -> Diagnostic:
        """The port of the encrypted side: whether this machine takes what comes."""
        grown = self._grown("data port", totals, SOCKET)
        message = f"since the last report: {grown}; {MORE_ROOM}" if grown else "the kernel had room for all datagrams"
        return Diagnostic("data port", Level.WARN if grown else Level.OK, message, {key: totals[key] for key in SOCKET})

    def _grown(self, owner: str, counters: Mapping[str, Any], watched: Mapping[str, str], untold: str = "") -> str:
        """What has grown since this owner was asked for last; `untold` is remembered only."""
        now = {key: int(counters.get(key, 0)) for key in watched}
        last = self._last.get(owner, now)
        self._last[owner] = now
        told = [(key, text) for key, text in watched.items() if key != untold]
        return ", ".join(f"{now[key] - last[key]} {text}" for key, text in told if now[key] > last[key])


def _shaping(stats: Mapping[str, Any]) -> dict[str, object]:
    """One line for each class of a shaped link."""
    return {
        f"shape_{name}": " ".join(f"{figure} {stats[f'shape_{figure}'][i]}" for figure in SHAPE_FIGURES)
        for i, name in enumerate(SHAPE_CLASSES)
    }


def _part(status: Mapping[str, Any]) -> str:
    """Of several ground stations."""
    if status["station_role"] == "standby":
        return ", standby: the drone hears another ground station"
    return f", ground station {status['station']}" if status["stations"] else ""


def _state(status: Mapping[str, Any], role: str) -> tuple[Level, str]:
    state, error = status["state_name"], status["last_error"]
    if (keys_are_old(error) or plain_is_down(error)) and state in ("UP", "REKEYING", "DEGRADED"):
        return Level.WARN, error
    if state in ("UP", "REKEYING"):
        suffix = ", renewing its keys" if state == "REKEYING" else ""
        return Level.OK, f"up with {short_code(status['suite'])}, epoch {status['epoch']}{suffix}{_part(status)}"
    if state == "DEGRADED":
        return Level.WARN, f"nothing heard from the peer for {status['silence_s']:.1f} s"
    if state == "HANDSHAKING":
        return Level.WARN, f"connecting (last failure: {error})" if error else "connecting"
    if error:
        return Level.ERROR, error
    if role == "gcs":
        return Level.WARN, "the drone has not connected yet"
    return Level.ERROR, "no session"
