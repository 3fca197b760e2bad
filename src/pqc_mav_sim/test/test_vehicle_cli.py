# SPDX-License-Identifier: Apache-2.0
"""`pqcmav-sim-vehicle` as a process: signals."""

from __future__ import annotations

import subprocess
import sys

DEADLINE_S = 60.0
# The second signal comes where the handler of the first has just taken the lock that its own needs.
IN_THE_LOCK = """
import signal, sys
from pqc_mav_sim import vehicle_cli
class Vehicle(vehicle_cli.Vehicle):
    def run(self, duration_s=None):
        with self._stop._cond:
            signal.raise_signal(signal.SIGTERM)
        super().run(10.0)
        sys.exit(0 if self._stop.is_set() else "not stopped")
vehicle_cli.Vehicle = Vehicle
sys.exit(vehicle_cli.main(["--bind", "127.0.0.1:0"]))
"""


def test_a_signal_that_comes_while_its_lock_is_held_stops_too() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", IN_THE_LOCK], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert ended.returncode == 0, ended.stderr
