# SPDX-License-Identifier: Apache-2.0
"""Makes pictures of topics, live ones and recorded ones: which topic is about which drone, and what changed when."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pqc_mav_dashboard.picture import OLD_S, End, Picture, Sense
from pqc_mav_dashboard.views import LEVELS, PHASES, name_in
from pqc_mav_proxy.names import DROP_REASONS, state_name, was_removed

PACKAGE = "pqc_mav_interfaces/msg/"
SENSES = {
    "BatteryHealth": "battery",
    "ThermalState": "thermal",
    "PowerSample": "power",
    "SystemLoad": "load",
    "VehicleState": "vehicle",
    "PolicyDecision": "policy",
    "ThreatReport": "threat",
}
TUNNEL = ("TunnelStatus", "TunnelStats", "LinkQuality", "PathStatus", "HandshakeReport")
WANTED = frozenset(PACKAGE + name for name in (*SENSES, *TUNNEL))
HANDSHAKES = 64
Tell = Callable[[str, Mapping[str, Any]], None]


def short_type(type_name: str) -> str:
    """`pqc_mav_interfaces/msg/X` as X, also as recordings have it."""
    return type_name.rpartition("/")[2]


def is_wanted(type_name: str) -> bool:
    """Whether a topic of this type is shown; recordings may leave out the `msg`."""
    package, _, name = type_name.partition("/")
    return f"{package}/msg/{name.removeprefix('msg/')}" in WANTED


def namespace_of(topic: str, kind: str) -> str:
    """`/drone` of `/drone/battery` and of `/drone/pqc_policy/decision`."""
    levels = 2 if kind in TUNNEL or kind == "PolicyDecision" else 1
    return topic.rsplit("/", levels)[0]


def node_of(topic: str) -> str:
    """`/drone/pqc_proxy` of `/drone/pqc_proxy/status`."""
    return topic.rpartition("/")[0]


@dataclass
class _Tunnel:
    """The newest messages about one tunnel from one of its ends."""

    status: Mapping[str, Any]
    status_at_s: float
    status_age_s: float = 0.0
    was_up: bool = False
    stats: Mapping[str, Any] | None = None
    stats_at_s: float = 0.0
    sides: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    paths: dict[str, Mapping[str, Any]] = field(default_factory=dict)


class Topics:
    """Keeps the newest message of each topic. `tell` gets an event for each change worth one."""

    def __init__(self, tell: Tell = lambda _end, _event: None) -> None:
        self._tell = tell
        self._tunnels: dict[tuple[str, str], _Tunnel] = {}
        self._early: dict[tuple[str, str], _Tunnel] = {}
        self._senses: dict[tuple[str, str], Sense] = {}  # (namespace, kind)
        self._handshakes: dict[str, deque[dict[str, Any]]] = {}

    def put(self, topic: str, type_name: str, fields: Mapping[str, Any], at_s: float, time_s: float) -> None:
        """One message, by the moment it came: `at_s` on the picture's clock, `time_s` since 1970."""
        kind = short_type(type_name)
        if kind in SENSES:
            self._sense(namespace_of(topic, kind), SENSES[kind], fields, at_s, time_s)
        elif kind == "HandshakeReport":
            self._handshake(node_of(topic), fields, time_s)
        elif kind in TUNNEL:
            self._about_tunnel(kind, node_of(topic), fields, at_s, time_s)

    def proxies(self) -> dict[str, list[tuple[str, str]]]:
        """Each proxy's node with (role, drone) of its tunnels."""
        found: dict[str, list[tuple[str, str]]] = {}
        for (node, drone), tunnel in self._tunnels.items():
            found.setdefault(node, []).append((str(tunnel.status.get("role")), drone))
        return found

    def namespace_of_drone(self, drone: str, alone: bool = False) -> str:
        """Where the drone's own nodes are; "" where that is not known. `alone`: there is no other drone."""
        for (node, name), tunnel in self._tunnels.items():
            if name == drone and tunnel.status.get("role") == "drone":
                return node.rpartition("/")[0]
        spaces = {space for space, kind in self._senses if kind != "threat"}
        by_name = next((space for space in spaces if space.strip("/") == drone), "")
        return by_name or (spaces.pop() if alone and len(spaces) == 1 else "")

    def ends(self) -> list[End]:
        """All tunnels."""
        return [self._end(node, drone, tunnel) for (node, drone), tunnel in self._tunnels.items()]

    def senses_of(self, drone: str, alone: bool = False) -> dict[str, Sense]:
        """Of the drone's namespace; of threats the gravest that is new, for the ground's detector sees its whole link,
        and a flood at the ground alone."""
        space = self.namespace_of_drone(drone, alone)
        found = {kind: sense for (each, kind), sense in self._senses.items() if space and each == space}
        spaces = {space, *(node.rpartition("/")[0] for (node, name) in self._tunnels if name == drone)}
        threats = [self._senses[(each, "threat")] for each in spaces if (each, "threat") in self._senses]
        if threats:
            newest_s = max(each.at_s for each in threats)
            new = (each for each in threats if each.at_s > newest_s - OLD_S)
            found["threat"] = max(new, key=lambda each: (each.fields.get("level", 0), each.at_s))
        return found

    def picture(self, time_s: float, clock_s: float, absent: str = "") -> Picture:
        """All of it."""
        ends = self.ends()
        drones = {end.drone for end in ends}
        senses = {drone: self.senses_of(drone, len(drones) == 1) for drone in drones}
        return Picture(time_s, clock_s, ends, senses, absent=absent)

    def handshakes(self, drone: str) -> list[dict[str, Any]]:
        """Newest first."""
        found = [each for (node, name) in self._tunnels if name == drone for each in self._handshakes.get(node, ())]
        return sorted((each for each in found if each["drone_id"] == drone), key=lambda each: -each["time"])

    def _end(self, node: str, drone: str, tunnel: _Tunnel) -> End:
        sides = tunnel.sides
        link = None
        if "local" in sides:
            local = sides["local"]
            link = {
                "local": _side(local),
                "peer": _side(sides["peer"]) if "peer" in sides else None,
                "age_s": sides["peer"].get("age_s") if "peer" in sides else None,
                **{name: local.get(name) for name in ("rtt_ms", "rtt_min_ms", "clock_offset_ms")},
            }
            if local.get("radio_kbit"):
                link["radio"] = {
                    name.removeprefix("radio_"): value for name, value in local.items() if name.startswith("radio_")
                }
        heard_s = max(tunnel.status_at_s, tunnel.stats_at_s)
        status = {**tunnel.status, "paths": list(tunnel.paths.values())}
        role = str(status.get("role"))
        seen_s = heard_s - tunnel.status_at_s + tunnel.status_age_s
        return End(node, role, drone, heard_s, status, tunnel.stats, link, seen_s=seen_s, was_up=tunnel.was_up)

    def _about_tunnel(self, kind: str, node: str, fields: Mapping[str, Any], at_s: float, time_s: float) -> None:
        key = (node, str(fields.get("drone_id")))
        tunnel = self._tunnels.get(key)
        # A latched status may be older than its arrival: its stamp tells (on one machine; across machines about).
        # Of what comes all the time the arrival counts alone, as the drone's clock may be another.
        age_s = max(0.0, time_s - (fields.get("stamp_s") or time_s)) if kind == "TunnelStatus" else 0.0
        time_s -= age_s
        if kind == "TunnelStatus" and was_removed(str(fields.get("last_error"))):
            self._early.pop(key, None)
            if self._tunnels.pop(key, None) is not None:
                event = {"event": "log", "level": "info", "text": fields["last_error"], "drone_id": key[1]}
                self._tell(node, {**event, "time": time_s})
            return
        if kind == "TunnelStatus":
            status = {**fields, "state": state_name(int(fields["state"]))}
            if tunnel is None:
                tunnel = self._tunnels[key] = self._early.pop(key, _Tunnel(status, at_s))
                before = None
            else:
                before = tunnel.status.get("state")
            tunnel.status, tunnel.status_at_s, tunnel.status_age_s = status, at_s, age_s
            tunnel.was_up = tunnel.was_up or bool(status.get("suite"))
            if before != status["state"]:
                event = {"event": "state", "role": status.get("role"), "old": before, "new": status["state"]}
                event["reason"] = status.get("last_error")
                self._tell(node, {**event, "drone_id": key[1], "time": time_s})
            return
        if tunnel is None:  # figures may come before the first status
            tunnel = self._early.setdefault(key, _Tunnel({}, at_s))
        if kind == "TunnelStats":
            tunnel.stats, tunnel.stats_at_s = fields, at_s
        elif kind == "PathStatus":
            tunnel.paths[str(fields.get("name"))] = fields
        else:
            tunnel.sides[str(fields.get("side"))] = fields

    def _handshake(self, node: str, fields: Mapping[str, Any], time_s: float) -> None:
        event = handshake_view(fields, time_s, node)
        self._handshakes.setdefault(node, deque(maxlen=HANDSHAKES)).append(event)
        self._tell(node, event)

    def _sense(self, space: str, kind: str, fields: Mapping[str, Any], at_s: float, time_s: float) -> None:
        before = self._senses.get((space, kind))
        self._senses[(space, kind)] = Sense(fields, at_s)
        old = before.fields if before else {}
        text = ""
        if kind == "policy" and fields.get("action") != "HOLD":
            if (old.get("action"), old.get("guard"), old.get("to_suite")) != (
                fields.get("action"),
                fields.get("guard"),
                fields.get("to_suite"),
            ):
                text = f"policy: {fields.get('action')} by rule {fields.get('guard')}: {fields.get('reason')}"
        elif kind == "threat" and (fields.get("level") or before) and old.get("level") != fields.get("level"):
            text = f"threat: {name_in(LEVELS, fields.get('level'))} {fields.get('kind') or ''}".strip()
        elif (
            kind == "vehicle"
            and before
            and (old.get("armed"), old.get("phase"))
            != (
                fields.get("armed"),
                fields.get("phase"),
            )
        ):
            phase = name_in(PHASES, fields.get("phase"))
            text = f"flight: {phase}" + (", armed" if fields.get("armed") else "")
        if text:
            level = "warning" if kind == "threat" and fields.get("level") else "info"
            drones = {drone for (node, drone) in self._tunnels if node.rpartition("/")[0] == space}
            for drone in drones or {""}:
                self._tell(space, {"event": "log", "level": level, "text": text, "drone_id": drone, "time": time_s})


def _side(fields: Mapping[str, Any]) -> dict[str, Any]:
    """One direction as the control socket has it."""
    out = {name: fields.get(name) for name in ("packets_per_s", "gap_p95_ms", "longest_silence_ms", "jitter_ms")}
    out |= {name: fields.get(name) for name in ("loss", "blackouts")}
    out["drops"] = {reason: fields.get(f"drop_{reason}") for reason in DROP_REASONS}
    return out


_PRIMITIVES = ("kem_keygen", "kem_encaps", "kem_decaps", "sig_sign", "sig_verify", "x25519", "kdf")
_SIZES = ("public_key", "ciphertext", "signature", "drone_signature")
_SAME = (
    *("drone_id", "ok", "error", "reason", "suite", "hybrid", "epoch"),
    *("rekey", "kind", "role", "peer", "handshake_ms"),
)


def handshake_view(fields: Mapping[str, Any], time_s: float, end: str) -> dict[str, Any]:
    """A HandshakeReport as the control socket describes a handshake."""
    return {
        "event": "handshake",
        "end": end,
        "time": fields.get("stamp_s") or time_s,
        **{name: fields.get(name) for name in _SAME},
        "phases_ms": {name: fields.get(f"phase_{name}_ms") for name in ("hello", "server_hello", "finish")},
        "primitives_ms": {name: fields.get(f"{name}_ms") for name in _PRIMITIVES},
        "sizes": {
            **{name: fields.get(f"{name}_bytes") for name in _SIZES},
            "bytes_sent": fields.get("bytes_sent"),
            "bytes_received": fields.get("bytes_received"),
        },
        "keygen_pooled": fields.get("keygen_pooled"),
    }
