# SPDX-License-Identifier: Apache-2.0
"""The demo's ground client as a process: signals."""

from __future__ import annotations

import json
import subprocess
import sys

DEADLINE_S = 60.0
# Signals reach it where it has just taken the lock that their handlers need.
IN_THE_LOCK = """
import signal, sys
from pqc_mav_cli.demo import ground
class Client(ground.GroundClient):
    def start(self):
        with self._quiet._cond:
            signal.raise_signal(signal.SIGUSR1)
        while not self._quiet.wait(10):
            sys.exit("never quiet")
        signal.raise_signal(signal.SIGINT)
        return super().start()
ground.GroundClient = Client
sys.argv[1:] = ["127.0.0.1:0", "1", "2", "3"]
sys.exit(ground.main())
"""


def test_a_signal_that_comes_while_its_lock_is_held_counts_too() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", IN_THE_LOCK], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1])["kind"] == "summary"


AT_ONCE = """
import threading
from pqc_mav_cli.demo.ground import emit
together = threading.Barrier(8)
def say(number):
    together.wait()
    for count in range(300):
        emit("answer", number=number, count=count)
threads = [threading.Thread(target=say, args=(number,)) for number in range(8)]
[each.start() for each in threads], [each.join() for each in threads]
"""


def test_what_threads_say_at_once_stays_in_lines() -> None:
    said = subprocess.run(
        [sys.executable, "-u", "-c", AT_ONCE], capture_output=True, text=True, timeout=DEADLINE_S, check=True
    )
    lines = [json.loads(line) for line in said.stdout.splitlines()]
    assert sorted((each["number"], each["count"]) for each in lines) == [(n, c) for n in range(8) for c in range(300)]
