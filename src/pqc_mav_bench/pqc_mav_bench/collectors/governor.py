# SPDX-License-Identifier: Apache-2.0
"""Keeps the processor's clock from changing with the load while a run is measured, where that is allowed.

    python3 -m pqc_mav_bench.collectors.governor FOLDER

The kernel's frequency governor of every core is set to `performance` and set back afterwards. That needs root, and a
machine that shows governors: virtual ones show none. What is not allowed is left as it is, and the run says so.

A process of its own pins, waits for the end of its input and gives back what was there: so it does when the one that
measures is killed.
"""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path("/sys/devices/system/cpu")
PINNED = "performance"
_YES, _NO = b"pinned\n", b"not pinned\n"
_END_S = 5.0


def governor(path: Path) -> str:
    """Frequency governor in a core's folder; "" where the kernel shows none."""
    try:
        return (path / "cpufreq/scaling_governor").read_text().strip()
    except OSError:
        return ""


class GovernorPin:
    """Pins on `pin`, gives back what was there on `restore`; both may be called at any time."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._keeper: subprocess.Popen[bytes] | None = None
        self._pinned = False

    def pin(self) -> bool:
        """Returns whether every core that has a governor runs pinned now; False where none has one."""
        if self._keeper is not None and self._keeper.poll() is None:
            return self._pinned
        if not _cores(self._folder):
            return False
        # A session of its own: what ends the campaign's group does not end it.
        command = [sys.executable, "-m", "pqc_mav_bench.collectors.governor", str(self._folder)]
        self._keeper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        assert self._keeper.stdout is not None
        self._pinned = self._keeper.stdout.readline() == _YES
        return self._pinned

    def restore(self) -> None:
        """Every core gets the governor back that it had."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                keeper.communicate(timeout=_END_S)


@contextlib.contextmanager
def pinned(folder: Path) -> Iterator[bool]:
    """Pins every core of a folder for a while. Gives whether every one that has a governor runs pinned."""
    cores = _cores(folder)
    before: dict[Path, str] = {}
    try:
        for core in cores:
            was = governor(core)
            if was != PINNED and _write(core, PINNED):
                before[core] = was
        yield bool(cores) and all(governor(core) == PINNED for core in cores)
    finally:
        for core, was in before.items():
            if governor(core) == PINNED:  # what somebody else chose since stays
                _write(core, was)


def _cores(folder: Path) -> list[Path]:
    return [core for core in sorted(folder.glob("cpu[0-9]*")) if governor(core)]


def _write(core: Path, name: str) -> bool:
    with contextlib.suppress(OSError):
        (core / "cpufreq/scaling_governor").write_text(name)
        return True
    return False


def main() -> int:
    """Pins until standard input ends."""
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    with pinned(Path(sys.argv[1])) as done:
        sys.stdout.buffer.write(_YES if done else _NO)
        sys.stdout.buffer.flush()
        sys.stdin.buffer.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
