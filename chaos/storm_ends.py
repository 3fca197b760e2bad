# SPDX-License-Identifier: Apache-2.0
"""The two ends of `chaos/run storms`: a gcs and a fleet of drones, each a process."""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from accounting import EndCounts, backlog_drops, summed
from children import spawn
from priority import OF_GCS, OF_TRAFFIC, THREADS_OF_GCS, prefer, prefer_threads

from pqc_mav_common import two_ends
from pqc_mav_common.child import Program, ProgramError, end
from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.local_socket import Control, Place
from pqc_mav_common.waiting import wait_until

_PROGRAM = Path(__file__).resolve().parent.parent / "build/pqc_mav_tunnel/micro_benchmarks/pqcmav-fleet"
_STARTS_PER_S = 150.0  # drones that begin in a second, which every gcs takes at its ease
CONNECT_S = 120.0
_TELL_S = 1.2  # the fleet says what happened once a second
_ANSWER_S = 30.0


def built() -> bool:
    """Whether the programs are there that this starts."""
    return _PROGRAM.exists() and shutil.which("pqcmav-tunneld") is not None


class Gcs:
    """A pqcmav-tunneld of its own folder, killed and started again."""

    def __init__(self, stack: ExitStack, keys: str, names: Sequence[str], options: argparse.Namespace) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-gcs-")))
        self.port, self.ground = free_ports(2)
        self._door, self._log, self._ahead = folder / "gcs.sock", folder / "gcs.log", options.ahead
        more = {"max_handshakes": options.max_handshakes} if options.max_handshakes else {}
        config = two_ends.gcs_config(
            keys, dict.fromkeys(names, self.ground), data_port=self.port, control_socket=str(self._door),
            data_threads=options.data_threads, **more,
        )  # fmt: skip
        self._config = two_ends.write(folder / "gcs.yaml", config)
        self.process = self._start()
        stack.callback(lambda: end(self.process))

    @property
    def pid(self) -> int:
        """Of the one that runs now."""
        return self.process.pid

    def _start(self) -> "subprocess.Popen[bytes]":
        with self._log.open("wb") as log:
            process = spawn(["pqcmav-tunneld", str(self._config)], stdout=log, stderr=subprocess.STDOUT)
        if self._ahead:
            prefer(process.pid, OF_GCS)

        def open_or_over() -> bool:
            return process.poll() is not None or bool(self._hello())

        if not wait_until(open_or_over, CONNECT_S) or process.poll() is not None:
            end(process)
            raise ProgramError(f"The gcs did not start; it said: {self._log.read_text(errors='replace')[-500:]}")
        if self._ahead:
            prefer_threads(process.pid, THREADS_OF_GCS)
        return process

    def _hello(self) -> dict[str, Any]:
        try:
            with Control(Place(self._door)) as control:
                return control.ask("hello")
        except OSError:
            return {}

    def restart(self) -> None:
        """Kill it as nobody can prevent, and start it again. Returns when it is there."""
        self.process.kill()
        self.process.wait()
        self.process = self._start()

    def counts(self) -> EndCounts:
        """All its counters."""
        with Control(Place(self._door), _ANSWER_S) as control:
            stats = control.ask("stats")
        return summed(stats["tunnels"], [stats["totals"]])

    def threads(self) -> dict[str, float]:
        """CPU seconds so far by the names of its threads, without their numbers."""
        used: dict[str, float] = defaultdict(float)
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            name = (task / "comm").read_text().strip().rstrip("0123456789")
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
            used[name] += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return dict(used)


class Fleet:
    """A pqcmav-fleet, what it says and what happened to its drones."""

    def __init__(
        self, stack: ExitStack, keys: str, drones: int, gcs: Gcs, options: argparse.Namespace, *more: str
    ) -> None:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-fleet-"))
        self._events = Path(folder) / "events"
        self.drones = drones
        command = [str(_PROGRAM), "--keys", keys, "--gcs", f"{two_ends.HOST}:{gcs.port}", "--drones", str(drones)]
        command += ["--rate", f"{options.rate:g}", "--events", str(self._events)]
        # Of an option that is given twice the last counts.
        command += ["--ground", f"{two_ends.HOST}:{gcs.ground}", "--spread", f"{drones / _STARTS_PER_S:g}", *more]
        self._backlog = backlog_drops()
        self._program = Program("fleet", command, stdin=subprocess.PIPE)
        stack.callback(lambda: end(self._program.process))
        if options.ahead:
            prefer(self._program.pid, OF_TRAFFIC)  # in the field each drone has a processor of its own

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._program.pid

    def backlog(self) -> int:
        """Packets that this machine's processors dropped since its start."""
        return backlog_drops() - self._backlog

    def say(self, word: str) -> None:
        """A command to all drones."""
        assert self._program.process.stdin is not None
        self._program.process.stdin.write(f"{word}\n".encode())
        self._program.process.stdin.flush()

    def last(self) -> dict[str, Any]:
        """Its newest figures; nothing before the first."""
        lines = self._program.lines
        return dict(json.loads(lines[-1])) if lines else {}

    def next(self) -> dict[str, Any]:
        """Figures that are newer than now."""
        before = len(self._program.lines)
        if not wait_until(lambda: len(self._program.lines) > before, _ANSWER_S):
            raise ProgramError(f"The fleet says nothing more, but said: {self._program.last_words()}")
        return self.last()

    def late_ms(self, since: int) -> float:
        """By how much it was late at most, in its lines from that one on."""
        return max((json.loads(line)["late_ms"] for line in self._program.lines[since:]), default=0.0)

    def lines(self) -> int:
        """How often it has said its figures."""
        return len(self._program.lines)

    def all_up(self, limit_s: float) -> bool:
        """Wait until every drone is connected."""

        def up() -> bool:
            if self._program.process.poll() is not None:
                raise ProgramError(f"The fleet ended; it said: {self._program.last_words()}")
            return bool(self.last().get("connected") == self.drones)

        return wait_until(up, limit_s, 0.1)

    def events(self) -> list[dict[str, Any]]:
        """What has happened to all drones."""
        time.sleep(_TELL_S)
        lines = self._events.read_text(encoding="utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]
