# SPDX-License-Identifier: Apache-2.0
"""The simulated vehicle on a UDP socket: the loop around `autopilot.Autopilot`, and what it reports at the end.

Each turn waits for a datagram or the next deadline, hands frames in, packs what is due and sends it. Turns are at least
3 ms apart unless something arrives, which keeps the load at a few per cent of a core without moving any deadline.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.autopilot import COMPONENT_ID, Autopilot, AutopilotConfig
from pqc_mav_sim.endpoint import Endpoint
from pqc_mav_sim.loss_meter import LossMeter
from pqc_mav_sim.udp_link import UdpLink

TURN_S = 0.003
MAX_WAIT_S = 0.05
MAX_SENDERS = 64


class Vehicle:
    """Run it in a thread of its own (`start`, `stop`) or in the caller's (`run`). `snapshot` may be called any time."""

    def __init__(self, config: AutopilotConfig, bind: Endpoint, peer: Endpoint | None = None) -> None:
        self.config = config
        self.link = UdpLink(bind, peer)
        self.started = time.monotonic()
        self.autopilot = Autopilot(config, self.started, unix_offset=time.time() - self.started)
        self.sent: Counter[str] = Counter()
        self.telemetry_sent = 0
        self._mav = mavlink.MAVLink(None, srcSystem=config.sysid, srcComponent=COMPONENT_ID)
        self._uplink: dict[tuple[int, int], LossMeter] = {}
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._first_sent: float | None = None
        self._last_sent = 0.0
        self._cpu_start = time.process_time()

    def start(self) -> Vehicle:
        """Run in a background thread."""
        self._thread = threading.Thread(target=self.run, name="vehicle", daemon=True)
        self._thread.start()
        return self

    def request_stop(self) -> None:
        """Ask `run` to return. In a handler of signals, by `call_in_handler`."""
        self._stop.set()

    def stop(self) -> dict[str, Any]:
        """End the background thread, close the socket and return the final summary."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self.link.close()
        return self.snapshot()

    def run(self, duration_s: float | None = None) -> None:
        """Run until `request_stop` or for a duration in seconds."""
        end = None if duration_s is None else time.monotonic() + duration_s
        turn = 0.0
        while not self._stop.is_set():
            now = time.monotonic()
            if end is not None and now >= end:
                return
            wake = max(self.autopilot.next_deadline(now), turn + TURN_S)
            readable = self.link.wait(min(wake - now, MAX_WAIT_S))
            turn = time.monotonic()
            with self._lock:
                if readable:
                    self._receive()
                self._turn()

    def _receive(self) -> None:
        for parsed in self.link.receive(time.monotonic()):
            now = time.monotonic()
            for frame in (*parsed.frames, *parsed.unknown):
                self._meter(frame.sysid, frame.compid, frame.seq, now)
            for frame in parsed.frames:
                self.autopilot.receive(frame, now)

    def _turn(self) -> None:
        now = time.monotonic()
        for message in self.autopilot.tick(now):
            self._send(message)
        due = self.autopilot.due(now)
        if not self.link.has_peer:
            return
        for msg_id in due:
            # built one by one at their own time, so that a time stamp is the time of sending
            self.telemetry_sent += self._send(self.autopilot.telemetry.build(msg_id, time.monotonic()))

    def _meter(self, sysid: int, compid: int, seq: int, t: float) -> None:
        meter = self._uplink.get((sysid, compid))
        if meter is None:
            if len(self._uplink) >= MAX_SENDERS:
                return
            meter = self._uplink[sysid, compid] = LossMeter()
        meter.record(seq, t)

    def _send(self, message: mavlink.MAVLink_message) -> bool:
        if not self.link.send(message.pack(self._mav)):
            return False
        # a message that was never sent leaves no gap in the numbering
        self._mav.seq = (self._mav.seq + 1) % 256
        self.sent[message.get_type()] += 1
        self._last_sent = time.monotonic()
        if self._first_sent is None:
            self._first_sent = self._last_sent
        return True

    def snapshot(self) -> dict[str, Any]:
        """Return everything worth knowing, ready for JSON: link counts, flight, battery, temperatures, cost."""
        with self._lock:
            return self._summary()

    def _summary(self) -> dict[str, Any]:
        now = time.monotonic()
        pilot, stats = self.autopilot, self.link.stats
        flight, battery, thermal = pilot.plant.flight, pilot.plant.battery, pilot.plant.thermal
        elapsed = now - self.started
        sending = self._last_sent - self._first_sent if self._first_sent is not None else 0.0
        return {
            "elapsed_s": round(elapsed, 3),
            "sysid": self.config.sysid,
            "peer": self.link.peer,
            "target_rate_hz": self.config.rate_hz,
            "stream_rate_hz": round(pilot.scheduler.total_hz, 3),
            "telemetry_rate_hz": round(self.telemetry_sent / sending, 2) if sending > 0.0 else 0.0,
            "sent": sum(self.sent.values()),
            "telemetry_sent": self.telemetry_sent,
            "telemetry_skipped": pilot.scheduler.skipped,
            "sent_by_type": dict(self.sent),
            "bytes_sent": stats.bytes_sent,
            "send_failed": stats.send_failed,
            "received": sum(pilot.received.values()),
            "received_by_type": dict(pilot.received),
            "ignored_by_type": dict(pilot.ignored),
            "datagrams_received": stats.datagrams_received,
            "foreign_datagrams": stats.foreign_datagrams,
            "receive_failed": stats.receive_failed,
            "frame_errors": dict(stats.errors),
            "uplink": {f"{s}:{c}": meter.stats.to_dict() for (s, c), meter in self._uplink.items()},
            "uplink_latency": pilot.uplink_latency.to_dict() if self.config.shared_clock else None,
            "gcs": pilot.gcs.status(now, flight.config.link_loss_s),
            "gcs_losses": pilot.gcs.losses,
            "profile_step": pilot.profile.step_name,
            "mode": flight.mode.name,
            "armed": flight.armed,
            "landed": flight.landed.name,
            "altitude_m": round(flight.airframe.motion.altitude, 2),
            "max_altitude_m": round(pilot.plant.max_altitude, 2),
            "distance_m": round(pilot.plant.distance, 1),
            "battery_v": round(battery.voltage, 3),
            "battery_a": round(battery.current, 3),
            "battery_percent": battery.remaining_percent,
            "battery_mah": round(battery.consumed_ah * 1000.0, 1),
            "battery_c": round(thermal.battery_c, 2),
            "motors_c": round(thermal.motors_c, 2),
            "avionics_c": round(thermal.avionics_c, 2),
            "time_jumps": pilot.plant.time_jumps,
            "cpu_s": round(time.process_time() - self._cpu_start, 3),
            "cpu_percent": round(100.0 * (time.process_time() - self._cpu_start) / max(elapsed, 1e-9), 2),
        }
