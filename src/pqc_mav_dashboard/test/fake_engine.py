# SPDX-License-Identifier: Apache-2.0
"""A control socket that answers for as many drones as one likes. The figures move; what it says has the real form."""

from __future__ import annotations

import json
import socketserver
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

SUITE, CODE = "cs-mlkem768-aesgcm-mldsa65", "ML-768-AG-MD-65"


LTE = {"name": "lte", "via": "wwan0", "state": "best", "silence_s": 0.0, "rtt_ms": 61.2, "loss": 0.01, "taken": 1}
LTE |= {"tx_packets": 90_000, "tx_bytes": 12_400_000, "rx_packets": 9_000, "rx_bytes": 1_100_000, "problem": ""}
GONE = {"state": "dead", "rtt_ms": None, "loss": None, "problem": "/dev/ttyUSB0 is not there."}
PATHS = [LTE, {**LTE, "name": "radio", "via": "/dev/ttyUSB0", **GONE}]


def tunnel(number: int, moment: int, suite: str) -> dict[str, Any]:
    """Status of one drone: every tenth is down, every seventh degraded; every fourth has several paths."""
    state = "DOWN" if number % 10 == 0 else "DEGRADED" if number % 7 == 0 else "UP"
    up = state != "DOWN"
    return {
        "drone_id": f"drone{number:04}",
        "state": state,
        "suite": suite if up else "",
        "epoch": number % 256 if up else 0,
        "session_id": f"{number:016x}" if up else "",
        "key_age_s": 10.0 + moment if up else 0.0,
        "silence_s": 2.0 if state == "DEGRADED" else 0.1,
        "peer": "127.0.0.1:46012" if up else "",
        "plain_local": "127.0.0.1:14550",
        "plain_peer": "",
        "last_error": "" if up else "The drone has not come yet.",
        "hybrid": True,
        "ratchets": 0,
        "ratchet_for_s": 0.0,
        "stations": [],
        "paths": [] if number % 4 else PATHS,
        "station": "",
        "station_role": "",
        "handshakes_ok": 1,
        "handshakes_failed": 0,
        "rekeys_ok": 0,
    }


def stats(number: int, moment: int) -> dict[str, Any]:
    """Counters and rates."""
    out: dict[str, Any] = {"drone_id": f"drone{number:04}"}
    out |= {
        f"drop_{reason}": 0 for reason in ("malformed", "unknown", "seq_old", "replay", "auth_fail", "decrypt_fail")
    }
    if number % 10 == 0:
        return {
            **out,
            **dict.fromkeys(("tx_packets_per_s", "rx_packets_per_s", "tx_bytes_per_s", "rx_bytes_per_s"), 0.0),
        }
    way = {"tx_packets_per_s": 20.0, "rx_packets_per_s": 20.0}
    return {**out, **way, "tx_bytes_per_s": 2000.0 + (number + moment) % 97, "rx_bytes_per_s": 1500.0 + moment % 53}


def link(number: int, moment: int) -> dict[str, Any]:
    """Quality, with an RTT that is unknown for every fifth; every third comes by a radio."""
    side = {
        "loss": 0.001 * (number % 5),
        "gap_p95_ms": 50.0,
        "longest_silence_ms": 60.0,
        "jitter_ms": 1.0,
        "blackouts": 0,
    }
    rtt = None if number % 5 == 0 else 20.0 + (number // 5 + moment) % 30  # every value there at any moment
    radio = {"kbit": 38.0, "rssi": 140.0, "remote_rssi": 138.0, "noise": 40.0, "remote_noise": None, "fill": 0.25}
    radio |= {"line_errors": 12, "not_mine": 3, "dropped": 1234, "stuck": 0}
    return {
        **({} if number % 3 else {"radio": radio}),
        "drone_id": f"drone{number:04}",
        "local": side,
        "peer": side,
        "age_s": 0.5,
        "rtt_ms": rtt,
        "rtt_min_ms": rtt,
    }


class FakeEngine:
    """Serves `gcs.sock` in a folder."""

    def __init__(self, folder: Path, drones: int, error: str = "", suite: tuple[str, str] = (SUITE, CODE)) -> None:
        self.drones = drones
        self.suite = suite
        self.error = error
        self.closed = False
        self.asked: list[str] = []
        began_s = time.monotonic()
        engine = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                with suppress(ConnectionError):  # who asked may have gone
                    self.serve()

            def serve(self) -> None:
                for line in self.rfile:
                    if engine.closed:
                        return
                    request = json.loads(line)
                    engine.asked.append(request["command"])
                    moment = int(time.monotonic() - began_s)
                    answer = {"v": 1, "id": None, "ok": True, "result": engine.result(request, moment)}
                    self.wfile.write(json.dumps(answer).encode() + b"\n")

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True
            request_queue_size = 64

        self._server = Server(str(folder / "gcs.sock"), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def result(self, request: dict[str, Any], moment: int) -> dict[str, Any]:
        """Of one command."""
        about = request.get("drone")
        numbers = [int(about.removeprefix("drone"))] if about else range(1, self.drones + 1)
        command = request["command"]
        if command == "status":
            tunnels = [tunnel(number, moment, self.suite[0]) for number in numbers]
            if self.error:
                tunnels = [{**each, "state": "DOWN", "last_error": self.error} for each in tunnels]
            return {"role": "gcs", "dangers": [self.error] if self.error else [], "tunnels": tunnels}
        if command == "stats":
            return {"tunnels": [stats(number, moment) for number in numbers]}
        if command == "link":
            return {"tunnels": [link(number, moment) for number in numbers]}
        if command == "handshakes":
            return {"handshakes": []}
        if command == "rekey":
            return {"suite": self.suite[1], "epoch": 1, "rekey_ms": 1.0}
        if command == "suites":
            return {"suites": [{"id": self.suite[0], "short_code": self.suite[1], "available": True}]}
        return {}

    def close(self) -> None:
        """Ends it, for those who are connected as well."""
        self.closed = True
        self._server.shutdown()
        self._server.server_close()
