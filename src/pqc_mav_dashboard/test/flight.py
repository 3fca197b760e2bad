# SPDX-License-Identifier: Apache-2.0
"""A recording made for tests: two minutes of a drone whose battery empties, with a rekey and an alarm."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from pqc_mav_policy.telemetry.inputs import Battery, DecisionInput
from pqc_mav_policy.telemetry.snapshot import dump
from pqc_mav_recorder.file import RecordingFile
from pqc_mav_recorder.schema import installed_topic

BEGIN_S = 1_700_000_000
LENGTH_S = 120
REKEY_S, ALARM_S = 60, 90
GAP = (40, 60)
SUITE, STRONGER = "cs-mlkem768-aesgcm-mldsa65", "cs-mlkem1024-aesgcm-mldsa87"


def record(path: Path, seconds: int = LENGTH_S, *, senses: bool = True, late_s: float = 0.0) -> Path:
    """Writes it with the project's own recorder. `late_s`: by how much the drone's clock is behind the recorder's."""
    from pqc_mav_interfaces import msg
    from rclpy.serialization import serialize_message

    recording = RecordingFile(path, {})

    def put(topic: str, message: Any, at_s: float) -> None:
        message.header.stamp.sec = int(at_s - late_s)
        at_ns = int(at_s * 1e9)
        info = installed_topic(topic, f"pqc_mav_interfaces/msg/{type(message).__name__}")
        recording.write(info, serialize_message(message), at_ns, at_ns)

    def status(at_s: float, epoch: int, suite: str) -> None:
        common = {"drone_id": "d1", "state": 2, "suite": suite, "epoch": epoch, "hybrid": True, "handshakes_ok": 1}
        put("/drone/pqc_proxy/status", msg.TunnelStatus(role="drone", rekeys_ok=epoch, **common), at_s)
        put("/gcs/pqc_proxy/status", msg.TunnelStatus(role="gcs", rekeys_ok=epoch, **common), at_s)

    def handshake(at_s: float, kind: str, suite: str, epoch: int) -> None:
        names = {"ok": True, "kind": kind, "suite": suite, "epoch": epoch, "role": "drone", "drone_id": "d1"}
        message = msg.HandshakeReport(handshake_ms=5.0, phase_hello_ms=1.0, phase_server_hello_ms=3.0, **names)
        put("/drone/pqc_proxy/handshake", message, at_s)

    for second in range(seconds + 1):
        at_s = BEGIN_S + second
        if second == 0:
            status(at_s, 0, SUITE)
            handshake(at_s, "first", SUITE, 0)
        if second == REKEY_S:
            status(at_s, 1, STRONGER)
            handshake(at_s, "rekey", STRONGER, 1)
        for node in ("drone", "gcs"):
            rates = {"tx_bytes_per_s": 1000.0 + second, "rx_bytes_per_s": 500.0, "tx_packets_per_s": 9.0}
            put(f"/{node}/pqc_proxy/stats", msg.TunnelStats(drone_id="d1", **rates), at_s)
            unknown = {"rtt_ms": math.nan if second < 10 else 20.0 + second, "rtt_min_ms": math.nan}
            put(f"/{node}/pqc_proxy/link", msg.LinkQuality(drone_id="d1", side="local", loss=0.01, **unknown), at_s)
            put(f"/{node}/pqc_proxy/link", msg.LinkQuality(drone_id="d1", side="peer", loss=0.02, **unknown), at_s)
        if senses:
            charge = 1.0 - second / LENGTH_S
            battery = msg.BatteryHealth(valid=True, voltage_v=16.0, state_of_charge=charge, current_a=math.nan)
            put("/drone/battery", battery, at_s)
            # A circle of 60 m through home, of which GAP is not known.
            turn, lost = second * math.tau / LENGTH_S, GAP[0] <= second < GAP[1]
            place = [math.nan] * 2 if lost else [60.0 - 60.0 * math.cos(turn), 60.0 * math.sin(turn)]
            flies = {"armed": second > 5, "phase": 3 if second > 5 else 1, "relative_altitude_m": 30.0}
            put("/drone/vehicle", msg.VehicleState(valid=True, north_m=place[0], east_m=place[1], **flies), at_s)
            inputs = dump(
                replace(DecisionInput(), battery=Battery(valid=True, age_s=0.5, voltage_v=13.5, cells=4)), at_s
            )
            decision = {"strategy": "measured", "mode": "auto", "action": "HOLD", "guard": "calm", "reason": "Calm."}
            put("/drone/pqc_policy/decision", msg.PolicyDecision(inputs=inputs, **decision), at_s)
            level = 2 if second >= ALARM_S else 0
            put("/drone/threat", msg.ThreatReport(level=level, kind="replay" if level else "", source="rules"), at_s)
    return recording.finish()
