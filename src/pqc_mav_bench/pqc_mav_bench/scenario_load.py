# SPDX-License-Identifier: Apache-2.0
"""Starts and ends what a scenario puts on: its detector, or a documented load in its place."""

import subprocess
import sys

from pqc_mav_bench.errors import OptionsError
from pqc_mav_bench.scenario import Scenario
from pqc_mav_common import child

NONE, EMULATED, DETECTOR = "none", "emulated", "detector"
_READY = "ready"


class ScenarioLoad:
    """Holds the load of at most one scenario; `set` changes it, `close` ends it."""

    def __init__(self) -> None:
        self._now: tuple[Scenario, bool] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Process id of the load; 0 when there is none."""
        return 0 if self._process is None or self._process.poll() is not None else self._process.pid

    def set(self, scenario: Scenario, *, emulate: bool) -> str:
        """Puts the scenario's load on. Returns what it is. Raises OptionsError for a detector that cannot run."""
        if not scenario.has_detector:
            self.close()
            return NONE
        if self._now != (scenario, emulate) or not self.pid:
            self.close()
            start = self._emulated if emulate else self._detector
            start(scenario)
            self._now = (scenario, emulate)
        return EMULATED if emulate else DETECTOR

    def close(self) -> None:
        """Ends the load."""
        process, self._process, self._now = self._process, None, None
        if process is not None:
            child.end(process)

    def _emulated(self, scenario: Scenario) -> None:
        words = ["pqc_mav_bench.load_process", str(scenario.busy_fraction), str(scenario.memory_mib)]
        self._process = child.start([sys.executable, "-m", *words], stdin=subprocess.PIPE)

    def _detector(self, scenario: Scenario) -> None:
        words = ["pqc_mav_detect.watch", scenario.name]
        process = child.start([sys.executable, "-m", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process = process
        assert process.stdout is not None
        said = process.stdout.readline().decode(errors="replace").strip()
        if said != _READY:
            self.close()
            raise OptionsError(
                f"The detector of scenario '{scenario.name}' does not run: {said or 'no reason given'}. "
                "--emulated puts a documented load in its place."
            )
