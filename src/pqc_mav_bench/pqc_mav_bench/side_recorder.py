# SPDX-License-Identifier: Apache-2.0
"""Everything measured on one side of one run; the controller has one of these, the agent has the other.

begin()            collectors reset, counters remembered
start_traffic()    generator on
(the suite change) the last of the run's good handshakes opens the data window
quiet()            the window closes, the generator falls silent
stop_traffic(n)    what the other end sent has arrived
finish()           fresh counters are there: the side's measurement as one dict
"""

import os
import threading
import time
from collections.abc import Mapping
from typing import Any

from pqc_mav_bench.collectors import counters
from pqc_mav_bench.collectors.governor import GovernorPin
from pqc_mav_bench.collectors.network import NetworkCollector, interface_towards
from pqc_mav_bench.collectors.processes import EngineProcess, engine_process
from pqc_mav_bench.collectors.proxy_watch import ProxyWatch
from pqc_mav_bench.collectors.system import SystemCollector
from pqc_mav_bench.errors import BenchError
from pqc_mav_bench.metric_mapping import is_full
from pqc_mav_bench.workload.process import WorkerProcess
from pqc_mav_bench.workload.spec import EndSpec

COUNTERS_S = 3.0  # counters come once a second


class RecorderError(BenchError):
    """This side cannot measure."""


class SideRecorder:
    """`watch`: this side's proxy; its namespace and its session say which process the engine is."""

    def __init__(self, watch: ProxyWatch, extra_pids: Mapping[str, int] | None = None) -> None:
        self.watch = watch
        self.worker = WorkerProcess()
        self.extra_pids: dict[str, int] = dict(extra_pids or {})
        self._namespace = watch.name.rpartition("/")[0]
        self._engine = EngineProcess()
        self._system = SystemCollector(self._pids)
        self._network = NetworkCollector()
        self._lock = threading.Lock()
        self._suite = ""
        self._awaited = 0  # good handshakes until the data window opens
        self._began_s = 0.0
        self._first: dict[str, Any] | None = None
        self._first_s = 0.0
        self._window: tuple[float, float] | None = None
        self._system_figures: dict[str, Any] = {}
        self._link: dict[str, Any] = {}
        self._workload: dict[str, Any] = {}
        self._traffic = False
        self._governor = GovernorPin()
        self._pinned = False
        watch.on_handshake(self._on_handshake)

    def close(self) -> None:
        """Ends the helper process."""
        self.watch.on_handshake(None)
        self._end_window()
        self._governor.restore()
        self.worker.close()

    @property
    def window(self) -> tuple[float, float] | None:
        """Begin and end of the data time (monotonic seconds); the end is 0 while it is open, None before."""
        return self._window

    def begin(self, suite: str, handshakes: int = 1) -> None:
        """A new run of so many handshakes; what an earlier one left is dropped. Raises RecorderError without a
        proxy."""
        self.abort()
        first = self.watch.counters()
        status = self.watch.status
        if first is None or status is None:
            raise RecorderError(f"Nothing is heard of the proxy {self.watch.name}: is it running?")
        self._suite, self._awaited, self._began_s, self._first = suite, handshakes, time.monotonic(), first
        self._first_s = self.watch.counters_s
        self._window, self._system_figures, self._link, self._workload = None, {}, {}, {}
        self._pinned = self._governor.pin()
        self._engine = engine_process(self._namespace, status.role, status.session_id)
        self._network.begin(interface_towards(status.peer.rpartition(":")[0].strip("[]") or "127.0.0.1"))

    def abort(self) -> None:
        """Ends the traffic of a run that will not be finished."""
        self._end_window()
        self._governor.restore()
        if self._traffic:
            self._traffic = False
            try:
                self.worker.stop()
            except BenchError:
                self.worker.close()

    def start_traffic(self, spec: EndSpec) -> None:
        """Traffic that comes from elsewhere runs already. Raises WorkerError."""
        if spec.workload.generated:
            self.worker.start(spec)
            self._traffic = True

    def begin_window(self) -> None:
        """The data time begins; happens automatically at the last of the run's good handshakes."""
        with self._lock:
            if self._window is None:
                self._window = (time.monotonic(), 0.0)
                self._system.begin()

    def quiet(self) -> int:
        """The data time is over. Returns how many were sent so far. Raises WorkerError."""
        self._end_window()
        return self.worker.quiet() if self._traffic else 0

    def stop_traffic(self, expected: int) -> int:
        """Ends the generator when the `expected` packets of the other end are there, or no more come.

        Returns how many were sent. Raises WorkerError.
        """
        if self._traffic:
            self._traffic = False
            self._workload = self.worker.stop(expected)
        return int(self._workload.get("sent", 0))

    def finish(self) -> dict[str, Any]:
        """The side's measurement, ready for JSON. Raises WorkerError and RecorderError."""
        self.stop_traffic(0)
        self._governor.restore()
        silent_s = time.monotonic()
        if not self.watch.wait_counters_after(silent_s, COUNTERS_S):
            raise RecorderError(f"The proxy {self.watch.name} sent no counters for {COUNTERS_S:g} s.")
        last = self.watch.counters()
        assert last is not None and self._first is not None
        try:
            delta: dict[str, Any] = counters.difference(self._first, last)
        except ValueError as error:
            raise RecorderError(f"{self.watch.name}: {error}.") from None
        status = self.watch.status
        return {
            "suite": status.suite,
            "epoch": status.epoch,
            "keys": [list(each) for each in self.watch.keys_since(self._began_s)],
            "counters": delta,
            "handed_bytes_per_s": self._window and self.watch.handed_bytes_per_s(*self._window),
            "counted_s": self.watch.counters_s - self._first_s,
            "handshakes": self.watch.handshakes_since(self._began_s),
            "link": {name: value for name, value in self._link.items() if value == value},  # NaN: unknown
            "system": self._system_figures,
            "network": self._network.end(),
            "workload": self._workload,
            "wall_ns": time.time_ns(),
            "monotonic_ns": time.monotonic_ns(),
        }

    def _on_handshake(self, report: Any) -> None:
        if report.ok and is_full(report.kind) and report.suite == self._suite and self._first is not None:
            self._awaited -= 1
            if self._awaited <= 0:
                self.begin_window()

    def _end_window(self) -> None:
        with self._lock:
            if self._window is not None and self._window[1] == 0.0:
                arrangement = self._engine.arrangement or None
                own = {"governor_pinned": self._pinned, "tunnel_arrangement": arrangement}
                self._system_figures = {**self._system.end(), **own}
                self._link = self.watch.link()  # the engine looks back 5 s: later it would judge the silence
                self._window = (self._window[0], time.monotonic())

    def _pids(self) -> dict[str, int]:
        found = {"tunnel": self._engine.pid, "bench": os.getpid(), "workload": self.worker.pid, **self.extra_pids}
        return {role: pid for role, pid in found.items() if pid}
