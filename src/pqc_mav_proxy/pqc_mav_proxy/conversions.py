# SPDX-License-Identifier: Apache-2.0
"""Engine dictionaries to ROS messages: pure functions, no state.

Every function takes the dictionary the engine returns and a ready `std_msgs/Header`. A value the engine does not know
yet is None there and NaN in a float field here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pqc_mav_interfaces.msg import HandshakeReport, LinkQuality, ServerStats, SuiteInfo, TunnelStats, TunnelStatus
from std_msgs.msg import Header

from pqc_mav_proxy.names import DROP_REASONS, REMOVED, STATES

# State name -> constant, from the message, which is what others compile against.
STATE_NUMBERS: Mapping[str, int] = {name: getattr(TunnelStatus, name) for name in STATES}
_LINK_FLOATS = ("packets_per_s", "gap_p95_ms", "longest_silence_ms", "jitter_ms", "loss")
_PROBE_FLOATS = ("rtt_ms", "rtt_min_ms", "clock_offset_ms")
# HandshakeReport field -> the engine's phases it covers.
_PHASES: Mapping[str, tuple[str, ...]] = {
    "phase_hello_ms": ("hello",),
    "phase_server_hello_ms": ("server_hello",),
    "phase_finish_ms": ("finish", "server_finish"),
}
_PRIMITIVES = ("kem_keygen", "kem_encaps", "kem_decaps", "sig_sign", "sig_verify", "x25519", "kdf")
_SIZES: Mapping[str, str] = {
    "public_key_bytes": "public_key",
    "ciphertext_bytes": "ciphertext",
    "signature_bytes": "signature",
    "drone_signature_bytes": "drone_signature",
    "bytes_sent": "bytes_sent",
    "bytes_received": "bytes_received",
}


def number(value: float | None) -> float:
    """A float field: NaN for what is not known."""
    return math.nan if value is None else float(value)


def _fill(message: Any, values: Mapping[str, Any], *, skip: frozenset[str] = frozenset()) -> Any:
    """Copies the keys of `values` that are fields of `message`, each in the field's type."""
    for field, kind in message.get_fields_and_field_types().items():
        if field == "header" or field in skip or field not in values:
            continue
        value = values[field]
        setattr(message, field, number(value) if kind in ("float", "double") else value)
    return message


def status_message(status: Mapping[str, Any], role: str, header: Header) -> TunnelStatus:
    """One entry of `Engine.status()` of an engine with this role."""
    message = TunnelStatus(header=header, state=STATE_NUMBERS[status["state"]], role=role)
    return _fill(message, status, skip=frozenset({"state", "role"}))


def removed_message(drone_id: str, role: str, header: Header) -> TunnelStatus:
    """The last status of a drone that is not served any more."""
    text = f"{REMOVED}: this ground station does not serve the drone any more."
    return TunnelStatus(header=header, state=STATE_NUMBERS["DOWN"], role=role, drone_id=drone_id, last_error=text)


def stats_message(stats: Mapping[str, Any], rates: Mapping[str, float], header: Header) -> TunnelStats:
    """One entry of `Engine.stats()` with the rates over the last second."""
    return _fill(TunnelStats(header=header), {**stats, **rates})


def server_message(
    totals: Mapping[str, int], stats: Sequence[Mapping[str, Any]], refused: tuple[str, float] | None, header: Header
) -> ServerStats:
    """`Engine.totals()`, `refused_from()`, and of each entry of `Engine.stats()` what verified."""
    message = _fill(ServerStats(header=header), totals)
    if refused is not None:
        message.refused_network, message.refused_share = refused
    message.drone_ids = [entry["drone_id"] for entry in stats]
    message.opened = [entry["delivered"] + entry["control"] for entry in stats]
    return message


def link_messages(link: Mapping[str, Any], header: Header) -> list[LinkQuality]:
    """One entry of `Engine.links()`: the local view, and the peer's once it has reported."""
    messages = []
    for side in ("local", "peer"):
        view = link.get(side)
        if not view:
            continue
        message = LinkQuality(header=header, drone_id=link["drone_id"], side=side)
        message.age_s = number(link["age_s"]) if side == "peer" else 0.0
        message.blackouts = int(view["blackouts"])
        for field in _LINK_FLOATS:
            setattr(message, field, number(view[field]))
        for field in _PROBE_FLOATS:
            setattr(message, field, number(link[field]))
        drops = view.get("drops") or {}
        for reason in DROP_REASONS:
            setattr(message, f"drop_{reason}", int(drops.get(reason, 0)))
        messages.append(message)
    return messages


def handshake_message(event: Mapping[str, Any], header: Header) -> HandshakeReport:
    """One engine event of type 'handshake'."""
    message = _fill(HandshakeReport(header=header), event)
    for field, phases in _PHASES.items():
        setattr(message, field, sum(float(event["phases_ms"].get(phase) or 0.0) for phase in phases))
    for primitive in _PRIMITIVES:
        setattr(message, f"{primitive}_ms", float(event["primitives_ms"].get(primitive) or 0.0))
    for field, size in _SIZES.items():
        setattr(message, field, int(event["sizes"].get(size) or 0))
    return message


def suite_message(suite: Mapping[str, Any]) -> SuiteInfo:
    """One suite as `SuiteInfo.as_dict()` of the engine gives it."""
    return _fill(SuiteInfo(), suite)
