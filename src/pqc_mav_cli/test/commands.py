"""Running `pqcmav` as its users do."""

from __future__ import annotations

import subprocess
import sys
import threading

DEADLINE_S = 90.0
COMMAND = [sys.executable, "-c", "from pqc_mav_cli.app import run; run()"]
DRONES = ("d1", "d2")


def pqcmav(*arguments: str, timeout: float = DEADLINE_S) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end."""
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=timeout, check=False)


def refused(code: int, *arguments: str) -> str:
    """The command ends with `code` and one line on stderr, which is returned; nothing on stdout."""
    ended = pqcmav(*arguments)
    assert ended.returncode == code, ended.stderr
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    assert line.startswith("pqcmav: error: ")
    return line


class Running:
    """A `pqcmav` that runs until it is stopped; its output lines are collected."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line.rstrip())
                self._changed.notify_all()

    def wait_for(self, words: str) -> None:
        """Until a line contains `words`."""
        with self._changed:
            found = self._changed.wait_for(lambda: any(words in line for line in self.lines), DEADLINE_S)
        assert found, f"no {words!r} in:\n" + "\n".join(self.lines)

    def end(self, number: int) -> int:
        """Sends a signal and returns the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(DEADLINE_S)
        self._reader.join(DEADLINE_S)
        return code

    def kill(self) -> None:
        """For the end of a test, whatever happened."""
        self.process.kill()
        self.process.wait(DEADLINE_S)
