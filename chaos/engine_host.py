# SPDX-License-Identifier: Apache-2.0
"""A process that hosts tunnel engines for the laboratory and obeys JSON lines; it dies with its input.

Commands: start (configs), connect (config, limit_s), ports, status, stats, every_stats, shaped, totals, links, rekey
(drone_id, suite, timeout_s), handshakes, time, reading.
"""

import os
import threading
import time
from collections import deque
from typing import Any

import pqc_mav_tunnel
from children import serve

from pqc_mav_detect.kernel import Files

# Few: what this keeps must not look like a leak of the engine.
_KEPT_EVENTS = 32
_EVENT_WAIT_S = 0.5


class Hosted:
    """The engines of this process, in the order of their configurations."""

    def __init__(self) -> None:
        self.engines: list[pqc_mav_tunnel.Engine] = []
        self.handshakes: deque[dict[str, Any]] = deque(maxlen=_KEPT_EVENTS)
        self._kernel = Files()

    def obey(self, command: dict[str, Any]) -> Any:
        """Run one command on engine number `engine` (default 0)."""
        do = command["do"]
        if do == "start":
            return self._start(command["configs"])
        if do == "connect":
            return connect(command["config"], command["limit_s"])
        if do == "time":
            return time.time()
        if do == "handshakes":
            return list(self.handshakes)
        if do == "every_stats":
            return [engine.stats()[0] for engine in self.engines]
        engine = self.engines[command.get("engine", 0)]
        if do == "rekey":
            limit = command.get("timeout_s", 60.0)
            what = (command.get("suite", ""), "laboratory", limit, command.get("kind", ""))
            return engine.request_rekey(command["drone_id"], *what)
        if do == "reading":
            return {
                "time_s": time.monotonic(),
                "totals": engine.totals(),
                "stats": engine.stats(),
                "links": engine.links(),
                "statuses": engine.status(),
                "kernel": self._kernel.read(),
                "refused": engine.refused_from(),
            }
        if do == "shaped":
            of_the_link = engine.picture("stats")[0]
            return {name: sum(of_the_link[name]) for name in ("shape_replaced", "shape_dropped")}
        if do in ("ports", "status", "stats", "totals", "links"):
            return getattr(engine, do)()
        raise ValueError(f"unknown command '{do}'")

    def _start(self, configs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for config in configs:
            engine = pqc_mav_tunnel.Engine({"control_socket": "off", **config})
            engine.start()
            self.engines.append(engine)
            threading.Thread(target=self._watch, args=(engine,), daemon=True).start()
        return [engine.ports() for engine in self.engines]

    def _watch(self, engine: pqc_mav_tunnel.Engine) -> None:
        while True:
            for event in engine.wait_events(_EVENT_WAIT_S):
                if event["type"] == "handshake":
                    self.handshakes.append(event)


def connect(config: dict[str, Any], limit_s: float) -> dict[str, Any]:
    """Start an engine, stop it when its session is up: the seconds between (None = not in time), failed attempts."""
    failures: list[str] = []
    begin_ns = time.monotonic_ns()
    engine = pqc_mav_tunnel.Engine({"control_socket": "off", **config})
    engine.start()
    try:
        while time.monotonic_ns() - begin_ns < limit_s * 1e9:
            for event in engine.wait_events(_EVENT_WAIT_S):
                if event["type"] == "handshake" and not event["ok"]:
                    failures.append(event["reason"])
                elif event["type"] == "state" and event["new"] == "UP":
                    return {"seconds": (event["monotonic_ns"] - begin_ns) / 1e9, "failures": failures}
    finally:
        engine.stop()
    return {"seconds": None, "failures": failures}


if __name__ == "__main__":
    serve(Hosted().obey, in_threads=frozenset({"rekey"}))
    # Ends at once: the parent is gone, so there is no one to say goodbye to.
    os._exit(0)
