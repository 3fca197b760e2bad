# SPDX-License-Identifier: Apache-2.0
"""Starts and ends the emulated load of a scenario."""

from __future__ import annotations

import subprocess
import sys

from pqc_mav_bench import child
from pqc_mav_bench.scenario import Scenario


class ScenarioLoad:
    """Holds the load of at most one scenario; `set` changes it, `close` ends it."""

    def __init__(self) -> None:
        self._scenario: Scenario | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Process id of the load; 0 when there is none."""
        return 0 if self._process is None or self._process.poll() is not None else self._process.pid

    def set(self, scenario: Scenario, *, emulate: bool) -> str:
        """Puts the scenario's load on. Returns what it is: "none" or "emulated"."""
        if not scenario.emulated or not emulate:
            self.close()
            return "none"
        if self._scenario != scenario or not self.pid:
            self.close()
            command = [
                sys.executable,
                "-m",
                "pqc_mav_bench.load_process",
                str(scenario.busy_fraction),
                str(scenario.memory_mib),
            ]
            self._process = child.start(command, stdin=subprocess.PIPE)
            self._scenario = scenario
        return "emulated"

    def close(self) -> None:
        """Ends the load."""
        process, self._process, self._scenario = self._process, None, None
        if process is not None:
            child.end(process)
