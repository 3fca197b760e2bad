# SPDX-License-Identifier: Apache-2.0
import asyncio
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from endings import wait_until_gone
from programs import python_process

from pqc_mav_bringup.description import BringupError, Process
from pqc_mav_bringup.prepare import prepare
from pqc_mav_bringup.respawn import ExitCode, Respawn
from pqc_mav_bringup.supervisor import Supervisor
from pqc_mav_common.siblings import MARK

DEADLINE_S = 30.0
EAGER = Respawn(delay_s=0.01, quick=1, factor=2.0, max_delay_s=0.05, never_first=frozenset())
SLEEP = "import time;print('ready');time.sleep(60)"


class Session:
    """Runs a supervisor and reacts to its output lines."""

    def __init__(self, *processes: Process) -> None:
        self.lines: list[tuple[str, str]] = []
        self.reactions: list[Callable[[str, str], None]] = []
        self.supervisor = Supervisor(prepare(processes), self._on_line, patience_s=0.6)

    def _on_line(self, label: str, text: str) -> None:
        self.lines.append((label, text))
        for reaction in self.reactions:
            reaction(label, text)

    def on(self, count: int, text: str, act: Callable[[], None]) -> None:
        """Does `act` once when `text` was printed for the `count`-th time."""

        def react(_label: str, _text: str) -> None:
            if _text == text and sum(1 for _, line in self.lines if line == text) == count:
                act()

        self.reactions.append(react)

    def run(self) -> ExitCode:
        return asyncio.run(asyncio.wait_for(self.supervisor.run(), DEADLINE_S))

    def texts(self) -> list[str]:
        return [text for _, text in self.lines]


def test_everything_ends_by_itself() -> None:
    session = Session(python_process("a", "print('1')"), python_process("b", "print('2')", Respawn()))
    assert session.run() is ExitCode.OK
    assert sorted(session.lines) == [("a", "1"), ("b", "2")]


def test_a_crash_is_respawned_with_growing_delay(tmp_path: Path) -> None:
    marker = tmp_path / "starts"
    count = f"open('{marker}','a').write('x');n=len(open('{marker}').read())"
    code = f"{count};print('life', n);raise SystemExit(9 if n<6 else 0)"
    session = Session(python_process("a", code, EAGER))
    assert session.run() is ExitCode.OK
    assert [text for text in session.texts() if text.startswith("life")] == [f"life {n}" for n in range(1, 7)]
    waits = [text.rpartition(" in ")[2] for text in session.texts() if "starting it again" in text]
    assert waits == ["0.01 s", "0.02 s", "0.04 s", "0.05 s", "0.05 s"]


def test_what_is_killed_is_back_within_a_second_the_first_times() -> None:
    policy = Respawn()
    assert policy.delay_s < 0.5 and policy.quick >= 3  # a Python needs the rest of the second to start
    code = "import os;os.kill(os.getpid(), 9)"
    session = Session(python_process("a", code, policy))
    waits: list[str] = []

    def note(_label: str, text: str) -> None:
        if "starting it again" in text:
            waits.append(text.rpartition(" in ")[2])
        if len(waits) == policy.quick + 1:
            session.supervisor.stop()

    session.reactions.append(note)
    session.run()
    assert waits == [f"{policy.delay_s:g} s"] * policy.quick + [f"{policy.delay_s * policy.factor:g} s"]


def test_the_first_deaths_are_answered_within_a_second_and_a_long_life_forgets_them(tmp_path: Path) -> None:
    """The fifth life lasts; the wait after it is that of a first death."""
    marker = tmp_path / "starts"
    count = f"open('{marker}','a').write('x');n=len(open('{marker}').read())"
    code = f"import time;{count};time.sleep(1.2 if n==5 else 0);raise SystemExit(9 if n<7 else 0)"
    policy = Respawn(delay_s=0.01, max_delay_s=0.05, settled_s=1.0, never_first=frozenset())
    session = Session(python_process("a", code, policy))
    assert session.run() is ExitCode.OK
    waits = [text.rpartition(" in ")[2] for text in session.texts() if "starting it again" in text]
    assert waits == ["0.01 s", "0.01 s", "0.01 s", "0.02 s", "0.01 s", "0.01 s"]


def test_death_by_signal_is_named() -> None:
    session = Session(python_process("a", "import os;os.kill(os.getpid(), 11)", EAGER))
    session.reactions.append(lambda _l, text: session.supervisor.stop() if "SIGSEGV" in text else None)
    assert session.run() is ExitCode.OK
    assert any("ended with signal SIGSEGV; starting it again" in text for text in session.texts())


@pytest.mark.parametrize(
    ("code", "expected", "extra"),
    [(2, ExitCode.CONFIG, False), (3, ExitCode.FAILED, False), (1, ExitCode.FAILED, True)],
)
def test_a_refusal_ends_the_system(code: int, expected: ExitCode, extra: bool) -> None:
    """Codes 2 and 3 of a proxy come with its own error line; nothing is added to it."""
    session = Session(
        python_process("bad", f"print('pqc_proxy: error: why');raise SystemExit({code})", Respawn()),
        python_process("good", SLEEP, Respawn()),
    )
    assert session.run() is expected
    said = [text for label, text in session.lines if label == "bad"]
    assert said == ["pqc_proxy: error: why"] + ([f"ended with exit code {code}"] if extra else [])


def test_the_rest_goes_on_without_what_is_not_vital() -> None:
    session = Session(
        python_process("recorder", "print('error: why');raise SystemExit(2)", Respawn(vital=False)),
        python_process("link", SLEEP, Respawn()),
    )
    seen = {"ready", "ended with exit code 2; the rest goes on without it"}
    session.reactions.append(lambda *_: session.supervisor.stop() if seen <= set(session.texts()) else None)
    assert session.run() is ExitCode.OK
    assert "error: why" in session.texts()


def test_a_refusal_is_the_only_thing_said_while_the_others_are_still_starting() -> None:
    """Programs without handlers, as Python has none while it imports."""
    session = Session(
        python_process("bad", "import sys;sys.stdin.read();print('error: why');raise SystemExit(2)", Respawn()),
        *(python_process(label, SLEEP, Respawn()) for label in ("importing", "too")),
    )
    assert session.run() is ExitCode.CONFIG
    assert set(session.texts()) <= {"ready", "error: why"}


def test_a_refused_port_is_no_reason_to_give_up_after_a_good_start(tmp_path: Path) -> None:
    marker = tmp_path / "starts"
    code = f"open('{marker}','a').write('x');n=len(open('{marker}').read());raise SystemExit([9,3,3,0][n-1])"
    session = Session(python_process("a", code, Respawn(delay_s=0.01, never_first=frozenset({3}))))
    assert session.run() is ExitCode.OK
    assert marker.read_text() == "xxxx"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_everything_and_are_passed_on(number: signal.Signals) -> None:
    tell = (
        "import signal,time,sys\n"
        "def end(n, f):\n    print('got', signal.Signals(n).name); sys.exit(0)\n"
        "signal.signal(signal.SIGINT, end); signal.signal(signal.SIGTERM, end)\n"
        "print('ready')\ntime.sleep(60)\n"
    )
    session = Session(python_process("a", tell, Respawn()), python_process("b", tell, Respawn()))
    session.on(2, "ready", lambda: os.kill(os.getpid(), number))
    assert session.run() is ExitCode.OK
    assert session.texts().count("got SIGTERM") == 2


STUBBORN = (
    "import signal,time,os\n"
    "signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "print('pid', os.getpid())\nprint('ready')\ntime.sleep(60)\n"
)


def test_what_does_not_end_is_killed_and_that_is_a_failure() -> None:
    session = Session(python_process("a", STUBBORN, Respawn()))
    session.on(1, "ready", lambda: os.kill(os.getpid(), signal.SIGINT))
    assert session.run() is ExitCode.FAILED
    assert session.texts()[-1] == "did not end when asked and was killed"
    wait_until_gone(int(session.texts()[0].split()[1]))


def test_a_second_signal_does_not_wait_for_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pqc_mav_bringup.supervisor.HURRIED_S", 0.1)
    patient = (
        "import signal,time\nsignal.signal(signal.SIGTERM, lambda *_: print('asked'))\nprint('ready')\ntime.sleep(60)\n"
    )
    session = Session()
    session.supervisor = Supervisor(
        prepare([python_process("a", patient, Respawn())]), session._on_line, patience_s=DEADLINE_S * 2
    )
    session.on(1, "ready", lambda: os.kill(os.getpid(), signal.SIGINT))
    session.on(1, "asked", lambda: os.kill(os.getpid(), signal.SIGINT))
    began = time.monotonic()
    assert session.run() is ExitCode.FAILED
    assert time.monotonic() - began < DEADLINE_S
    assert session.texts()[-1] == "did not end when asked and was killed"


def test_all_bear_one_mark_and_each_its_own_environment() -> None:
    show = f"import os; print(os.environ['{MARK}'], os.environ.get('WISH'))"
    processes = [python_process("a", show), replace(python_process("b", show), environment={"WISH": "b"})]
    session = Session(*processes)
    assert session.run() is ExitCode.OK
    said = {label: text.split() for label, text in session.lines}
    assert said["a"][0] == said["b"][0] and (said["a"][1], said["b"][1]) == ("None", "b")
    again = Session(*processes)
    again.run()
    assert again.texts()[0].split()[0] != said["a"][0]


def test_what_cannot_be_started_again_ends_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "dies-once"
    program.write_text('#!/bin/sh\nrm "$0"\nexit 9\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    brief = replace(python_process("brief", "", EAGER), executable=program.name, arguments=())
    session = Session(python_process("sleeper", SLEEP), brief)
    refused = "cannot be started: No such file or directory"
    session.on(3, refused, session.supervisor.stop)
    assert session.run() is ExitCode.OK
    said = [text for label, text in session.lines if label == "brief"]
    assert said[0].startswith("ended with exit code 9; starting it again") and said.count(refused) == 3


def test_a_missing_program_is_known_before_anything_starts() -> None:
    missing = Process("x", "p", "no-such-program-here", "", "", "", {}, (), None, "get it there")
    with pytest.raises(BringupError, match="get it there"):
        Session(missing)
