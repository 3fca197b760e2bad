# SPDX-License-Identifier: Apache-2.0
"""However it ends, `pqcmav` says at most one line: full disks, closed pipes, Ctrl-C at any moment."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import COMMAND, DEADLINE_S

from pqc_mav_cli.ending import INTERRUPTED, ended

SCRIPT = str(Path(__file__).parent.parent / "scripts" / "pqcmav")
# Of each kind of output: rich's tables and help, print, a command that imports much.
TELLING = [("suites",), ("--help",), ("suites", "--json"), ("--version",), ("doctor",), ("bench", "show", "--help")]


@pytest.mark.parametrize("arguments", TELLING, ids=" ".join)
def test_a_full_disk_is_one_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S, check=False
        )
    assert done.stderr == "pqcmav: error: Cannot write the output: No space left on device.\n"
    assert done.returncode == 1


@pytest.mark.parametrize("arguments", [("demmo",), ("up", "drone", "--peer", "999.1.1.1")], ids=" ".join)
def test_a_full_disk_for_errors_leaves_the_exit_code(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *arguments], stderr=full, timeout=DEADLINE_S, check=False)
    assert done.returncode == 2


def test_closed_streams_are_no_error() -> None:
    line = " ".join([sys.executable, "-c", f"'{COMMAND[-1]}'", "suites", "<&- >&- 2>&-"])
    assert subprocess.run(line, shell=True, timeout=DEADLINE_S, check=False).returncode == 0


@pytest.mark.parametrize("arguments", [("doctor",), ("status", "--once", "--ros"), ("up", "gcs")], ids=" ".join)
def test_interrupted_at_any_moment_it_says_nothing(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """While the shell, Python, its imports and the command begin."""
    environment = {**os.environ, "HOME": str(tmp_path)}
    for step in range(24):
        with subprocess.Popen(
            [SCRIPT, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        ) as running:
            time.sleep(step * 0.04)
            os.killpg(running.pid, signal.SIGINT)
            _, said = running.communicate(timeout=DEADLINE_S)
        assert "Traceback" not in said and "KeyboardInterrupt" not in said, (step, said)
        # 1 and 2: it was done before, with nothing there to show or to start.
        assert running.returncode in (-signal.SIGINT, INTERRUPTED, 0, 1, 2), (step, said)


def test_an_extension_module_that_was_interrupted_while_it_began_is_no_fault() -> None:
    def begun() -> int:
        raise ImportError("initialization failed") from KeyboardInterrupt()

    def broken() -> int:
        raise ImportError("no such file")

    assert ended(begun) == INTERRUPTED
    with pytest.raises(ImportError, match="no such file"):
        ended(broken)


def test_an_interrupt_within_a_callback_of_the_interpreter_comes_again_without_a_word() -> None:
    """As in the middle of an import, whose locks are forgotten by such a callback."""
    program = (
        "import time, weakref\n"
        "from pqc_mav_cli.ending import ended, interrupts_raise\n"
        "def interrupted(_):\n    raise KeyboardInterrupt\n"
        "class Thing: pass\n"
        "def command():\n"
        "    interrupts_raise()\n    thing = Thing()\n    watched = weakref.ref(thing, interrupted)\n"
        "    del thing\n    time.sleep(10)\n    return 0\n"
        "raise SystemExit(ended(command))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert (done.returncode, done.stderr) == (INTERRUPTED, "")


def test_an_interrupt_is_that_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        raise KeyboardInterrupt

    assert ended(command) == INTERRUPTED and capsys.readouterr() == ("", "")


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_what_the_machine_refuses_is_one_line(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        raise OSError(number, os.strerror(number), "/some/file")

    assert ended(command) == 1
    assert capsys.readouterr().err == f"pqcmav: error: Cannot use /some/file: {os.strerror(number)}.\n"


def test_a_fault_of_ours_stays_one() -> None:
    def command() -> int:
        raise OSError(errno.EBADF, "Bad file descriptor")

    with pytest.raises(OSError, match="Bad file"):
        ended(command)
