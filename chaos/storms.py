# SPDX-License-Identifier: Apache-2.0
"""`chaos/run storms`: a gcs with thousands of drones, killed and back, or cut off from all of them: when are they up
again, and what do they cost while nothing happens?

The gcs is a pqcmav-tunneld, the drones are one pqcmav-fleet, with the engine's own handshakes and packets. Both share
this machine: whether the fleet itself was late is measured, too.
"""

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
from dataclasses import replace
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import tables
from accounting import EndCounts, Way, account, summed
from children import spawn
from priority import OF_GCS, OF_TRAFFIC, THREADS_OF_GCS, prefer, prefer_threads
from storms_page import page
from storms_result import Rekeys, Run, Steady, Storm, fleet_counts, grown, judge, rekeys_of, storm_of, summary

from pqc_mav_common import two_ends
from pqc_mav_common.child import Program, ProgramError, end
from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.local_socket import Control, ControlError, Place
from pqc_mav_common.process_figures import cpu_seconds, memory_kib, pss_kib
from pqc_mav_common.waiting import wait_until

_PROGRAM = Path(__file__).resolve().parent.parent / "build/pqc_mav_tunnel/micro_benchmarks/pqcmav-fleet"
_STARTS_PER_S = 150.0  # drones that begin in a second, which every gcs takes at its ease
_CONNECT_S, _BACK_S = 120.0, 60.0
_CALM_S = 5.0  # between two storms
_SLICES = 5
_TELL_S = 1.2  # the fleet says what happened once a second
_ANSWER_S = 30.0
_NOTICED_S = 4.0  # by then all drones have noticed, and the fleet has said so
_KILL, _CUT = "gcs killed", "all cut off"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--drones", type=int, nargs="+", default=[1000, 2000, 5000], help="sizes of fleets")
    parser.add_argument("--rate", type=float, default=1.0, help="messages/s of each drone; each is answered")
    parser.add_argument("--seconds", type=float, default=30.0, help="of calm that are measured")
    parser.add_argument("--storms", type=int, default=5, help="of each kind")
    parser.add_argument("--cut", type=float, default=5.0, help="seconds for which all drones are cut off")
    parser.add_argument(
        "--rekey", type=float, default=60.0, help="interval of the flight that is about rekeys; 0: none"
    )
    parser.add_argument("--data-threads", type=int, default=1, help="of the gcs")
    parser.add_argument("--max-handshakes", type=int, help="of the gcs, where not its default")
    parser.add_argument(
        "--ahead", action="store_true", help="real-time priority for both, on a machine that has other work"
    )


def run(options: argparse.Namespace) -> int:
    """Fly fleets of all sizes, print and write; 0 when every goal was met."""
    if min(options.drones) < 1 or options.rate <= 0 or options.seconds <= 0 or options.storms < 0 or options.cut <= 0:
        print("storms: all numbers must be above 0.")
        return 2
    if not built():
        print("storms: pqcmav-fleet and pqcmav-tunneld are missing: run 'tools/setup.sh benchmarks' and use tools/run.")
        return 2
    if options.ahead and not prefer(os.getpid(), OF_GCS):
        print("storms: --ahead needs the right to real-time priority (root, or an RLIMIT_RTPRIO).")
        return 2
    machine = tables.machine()
    names = [f"drone{i:05}" for i in range(max(options.drones))]
    try:
        with tempfile.TemporaryDirectory(prefix="pqcmav-storms-") as keys:
            pqc_mav_tunnel.init_keys(keys, names)
            one = _memory_of_one(keys, names, options)
            runs = [_fly(keys, names[:drones], one, options) for drones in sorted(options.drones)]
    except (ProgramError, ControlError, OSError) as error:
        print(f"storms: {error}")
        return 1
    found = judge(runs)
    tables.publish(options.output, "storms", page(runs, found, options, machine), summary(runs, found, machine))
    return 1 if found else 0


def built() -> bool:
    """Whether the programs are there that this starts."""
    return _PROGRAM.exists() and shutil.which("pqcmav-tunneld") is not None


class _Gcs:
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

        if not wait_until(open_or_over, _CONNECT_S) or process.poll() is not None:
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


class _Fleet:
    """A pqcmav-fleet, what it says and what happened to its drones."""

    def __init__(
        self, stack: ExitStack, keys: str, drones: int, gcs: _Gcs, options: argparse.Namespace, rekey_s: float = 600.0
    ) -> None:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-fleet-"))
        self._events = Path(folder) / "events"
        self.drones = drones
        command = [str(_PROGRAM), "--keys", keys, "--gcs", f"{two_ends.HOST}:{gcs.port}", "--drones", str(drones)]
        command += ["--rate", f"{options.rate:g}", "--rekey", f"{rekey_s:g}", "--events", str(self._events)]
        command += ["--ground", f"{two_ends.HOST}:{gcs.ground}", "--spread", f"{drones / _STARTS_PER_S:g}"]
        self._program = Program("fleet", command, stdin=subprocess.PIPE)
        stack.callback(lambda: end(self._program.process))
        if options.ahead:
            prefer(self._program.pid, OF_TRAFFIC)  # in the field each drone has a processor of its own

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._program.pid

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


def _memory_of_one(keys: str, names: Sequence[str], options: argparse.Namespace) -> int:
    with ExitStack() as stack:
        gcs = _Gcs(stack, keys, names[:1], options)
        fleet = _Fleet(stack, keys, 1, gcs, options)
        _connect(fleet)
        return pss_kib(gcs.pid)


def _connect(fleet: _Fleet) -> None:
    if not fleet.all_up(_CONNECT_S):
        raise ProgramError(f"After {_CONNECT_S:g} s the fleet says: {fleet.last()}")


def _fly(keys: str, names: Sequence[str], one_kib: int, options: argparse.Namespace) -> Run:
    with ExitStack() as stack:
        gcs = _Gcs(stack, keys, names, options)
        fleet = _Fleet(stack, keys, len(names), gcs, options)
        _connect(fleet)
        steady = _steady(gcs, fleet, one_kib, options)
        storms = []
        for kind in (_KILL, _CUT):
            for _ in range(options.storms):
                time.sleep(_CALM_S)
                storms.append(_storm(kind, gcs, fleet, options))
                if not fleet.all_up(_CONNECT_S):
                    break  # the figures of this one say so
    rekeys = _rekeys(keys, names, options) if options.rekey else None
    return Run(steady, storms, rekeys)


def _steady(gcs: _Gcs, fleet: _Fleet, one_kib: int, options: argparse.Namespace) -> Steady:
    time.sleep(_CALM_S)
    began, messages, slices = fleet.next(), 0, []
    cpu, threads, own = cpu_seconds(gcs.pid), gcs.threads(), cpu_seconds(fleet.pid)
    before, used = began, cpu
    for _ in range(_SLICES):
        time.sleep(options.seconds / _SLICES)
        now, more = fleet.next(), cpu_seconds(gcs.pid)
        passed = _passed_on(now) - _passed_on(before)
        slices.append(1e6 * (more - used) / max(passed, 1))
        messages, before, used = messages + passed, now, more
    by_thread = {name: round(each - threads.get(name, 0.0), 2) for name, each in gcs.threads().items()}
    found = Steady(
        fleet.drones, before["s"] - began["s"], messages, used - cpu, slices, by_thread, cpu_seconds(fleet.pid) - own,
        pss_kib(gcs.pid), one_kib, memory_kib(fleet.pid), load=os.getloadavg()[0],
    )  # fmt: skip
    fleet.say("hush")  # what is on its way arrives
    time.sleep(1.0)
    line, ground = fleet.next(), gcs.counts()
    fleet.say("speak")
    own_counts, sink = fleet_counts(line), line["ground"]
    up = Way(own_counts.stats["plain_rx_packets"], 0, sink["received"] + sink["again"], sink["kernel_dropped"])
    down = Way(sink["answered"], sink["send_errors"], line["messages"]["received"], 0)
    found.accounts = {
        "to the ground": account(up, own_counts, ground, runs=False),
        "to the drones": account(down, ground, own_counts, runs=False),
    }
    return found


def _passed_on(line: dict[str, Any]) -> int:
    """Messages that the gcs has passed on, both ways."""
    return int(line["ground"]["received"] + line["messages"]["received"])


def _storm(kind: str, gcs: _Gcs, fleet: _Fleet, options: argparse.Namespace) -> Storm:
    said, own = fleet.lines(), cpu_seconds(fleet.pid)
    before: dict[str, int] = {}
    threads: dict[str, float] = {}
    began = time.monotonic()
    if kind == _KILL:
        gcs.restart()
    else:
        before, threads = dict(gcs.counts().totals), gcs.threads()
        began = time.monotonic()
        fleet.say("cut")
        time.sleep(options.cut)
        fleet.say("restore")
    calm = time.monotonic()
    time.sleep(max(0.0, began + _NOTICED_S - time.monotonic()))
    fleet.all_up(_BACK_S)
    by_thread = {name: round(used - threads.get(name, 0.0), 2) for name, used in gcs.threads().items()}
    own = cpu_seconds(fleet.pid) - own
    return replace(
        storm_of(kind, fleet.drones, began, calm, fleet.events()),
        fleet_late_ms=fleet.late_ms(said),
        fleet_cpu_s=own,
        gcs_cpu_s=sum(by_thread.values()),
        gcs_threads_s=by_thread,
        gcs_counts=grown(gcs.counts().totals, before),
        load=os.getloadavg()[0],
    )


def _rekeys(keys: str, names: Sequence[str], options: argparse.Namespace) -> Rekeys:
    """Of drones that connected within seconds of each other, as after a storm: the worst for what follows."""
    with ExitStack() as stack:
        gcs = _Gcs(stack, keys, names, options)
        fleet = _Fleet(stack, keys, len(names), gcs, options, options.rekey)
        _connect(fleet)
        begin = time.monotonic()
        time.sleep(3 * options.rekey)
        over = time.monotonic()
        return rekeys_of(fleet.drones, options.rekey, begin, over, fleet.events())
