# SPDX-License-Identifier: Apache-2.0
import asyncio
import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from endings import gone, wait_until_gone

from pqc_mav_bringup.child import MAX_LINE, Child

DEADLINE_S = 20.0
QUICK_S = 0.2


def run(code: str, *, stop: bool = False) -> tuple[int, bool, list[str], int]:
    """Runs Python code; with `stop`, stops it once it printed "ready"."""

    async def body() -> tuple[int, bool, list[str], int]:
        lines: list[str] = []
        seen = asyncio.Event()

        def on_line(line: str) -> None:
            lines.append(line)
            if line == "ready":
                seen.set()

        child = Child("c", [sys.executable, "-u", "-c", code], on_line)
        if stop:
            await asyncio.wait_for(seen.wait(), DEADLINE_S)
            await asyncio.wait_for(child.stop(QUICK_S), DEADLINE_S)
        exit_code = await asyncio.wait_for(child.wait(), DEADLINE_S)
        return exit_code, child.killed, lines, child.pid

    return asyncio.run(body())


def test_output_lines_of_both_streams_and_the_exit_code() -> None:
    code, killed, lines, _ = run(
        "import sys; print('a'); print('b', file=sys.stderr); sys.stdout.write('c'); sys.exit(7)"
    )
    assert (code, killed, lines) == (7, False, ["a", "b", "c"])


def test_what_cannot_be_watched_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def refuse(pid: int) -> int:
        started.append(pid)
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    with pytest.raises(OSError, match="Too many open files"):
        Child("c", [sys.executable, "-c", f"import time;{SLEEP}"], print)
    assert [gone(pid) for pid in started] == [True]


def test_endless_lines_are_shown_in_pieces() -> None:
    _, _, lines, _ = run(f"print('x' * {3 * MAX_LINE})")
    assert sum(map(len, lines)) == 3 * MAX_LINE and len(lines) > 1


SLEEP = "print('ready');time.sleep(60)"


@pytest.mark.parametrize(("ignored", "expected"), [("SIGINT", signal.SIGTERM), ("SIGTERM", signal.SIGKILL)])
def test_it_is_asked_to_end_and_killed_when_it_does_not(ignored: str, expected: signal.Signals) -> None:
    code, killed, _, _ = run(f"import signal,time;signal.signal(signal.{ignored}, signal.SIG_IGN);{SLEEP}", stop=True)
    assert code == -expected and killed == (expected == signal.SIGKILL)


def test_a_python_that_is_still_starting_ends_without_a_word() -> None:
    """It has no handlers yet; of SIGINT it would print a traceback."""
    code, _, lines, _ = run(f"import time;{SLEEP}", stop=True)
    assert (code, lines) == (-signal.SIGTERM, ["ready"])


GRANDCHILD = (
    "import subprocess,sys,time;p=subprocess.Popen([sys.executable,'-c','import time;time.sleep(60)']);print(p.pid);"
)


def test_what_it_leaves_behind_is_removed() -> None:
    _, _, lines, _ = run(GRANDCHILD)
    wait_until_gone(int(lines[0]))


def test_a_stop_reaches_its_own_children() -> None:
    _, _, lines, _ = run(GRANDCHILD + "print('ready');time.sleep(60)", stop=True)
    wait_until_gone(int(lines[0]))


def test_it_dies_with_its_parent(tmp_path: Path) -> None:
    """The parent is killed, so that it cannot do anything about its child."""
    parent = (
        "import asyncio,sys,os\n"
        "from pqc_mav_bringup.child import Child\n"
        "async def main():\n"
        "    child = Child('c', [sys.executable, '-c', 'import time;time.sleep(60)'], print)\n"
        "    print(child.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    process = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    assert not gone(child)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(DEADLINE_S)
    wait_until_gone(child)
