# SPDX-License-Identifier: Apache-2.0
"""`pqcmav logs`: what the processes of `pqcmav up` said, also after they have ended."""

import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from pqc_mav_cli.errors import CliError, ExitCode

LOOK_S = 0.25


def logs(
    system: Annotated[
        str, typer.Argument(help="drone, gcs or demo. Default: all there are, in the order of time.")
    ] = "",
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many of the newest lines.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")] = False,
    problems: Annotated[bool, typer.Option("--problems", help="Only warnings and errors.")] = False,
) -> None:
    """Show what the ends of the tunnel said that 'pqcmav up' runs or ran here.

    It keeps the newest 4 to 8 MiB of each. What a systemd unit said is in the journal: 'journalctl -u pqcmav-drone', or
    'journalctl -u pqcmav-tunneld@drone'.
    """
    files = _files(system)
    tails = [Tail(path) for path in files]
    newest: deque[str] = deque(maxlen=lines)
    for line in sorted((line for path in files for line in _lines_of(path)), key=_moment):
        if not problems or is_problem(line):
            newest.append(line)
    try:
        for line in newest:
            print(line)
        sys.stdout.flush()
        while follow:
            time.sleep(LOOK_S)
            for line in (line for tail in tails for line in tail.lines() if not problems or is_problem(line)):
                print(line, flush=True)
    except KeyboardInterrupt:
        return


def is_problem(line: str) -> bool:
    """Whether a node said it as a warning or an error, or the supervisor that a process ended."""
    said = line.partition(" | ")[2]
    return said.startswith(("[WARN]", "[ERROR]", "[FATAL]", "ended with", "did not end"))


def _files(system: str) -> list[Path]:
    from pqc_mav_bringup.log_file import SUFFIX, VARIABLE, folder
    from pqc_mav_bringup.systems import SYSTEMS

    if system and system not in SYSTEMS:
        raise CliError(f"There are no logs of '{system}'; there may be some of {', '.join(SYSTEMS)}.", ExitCode.USAGE)
    where = folder()
    if where is None:
        raise CliError(f"{VARIABLE} is empty, so 'pqcmav up' keeps no logs.", ExitCode.USAGE)
    files = [where / f"{name}{SUFFIX}" for name in ([system] if system else SYSTEMS)]
    found = [path for path in files if any(each.exists() for each in _parts(path))]
    if not found:
        raise CliError(f"No logs in {where}: 'pqcmav up {system or 'drone'}' writes them; those of units: journalctl.")
    return found


def _parts(path: Path) -> tuple[Path, Path]:
    from pqc_mav_bringup.log_file import OLDER

    return path.with_name(path.name + OLDER), path


def _lines_of(path: Path) -> Iterator[str]:
    """Of the older file and of the one that is being written, in which the last line may be half of one."""
    for part in _parts(path):
        try:
            yield from part.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue


def _moment(line: str) -> str:
    return " ".join(line.split(" ", 2)[:2])


class Tail:
    """What is appended to a log from now on; one that is renamed because it is full goes on in a new file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._number, self._position = 0, 0
        if path.exists():
            status = path.stat()
            self._number, self._position = status.st_ino, status.st_size

    def lines(self) -> list[str]:
        """The whole lines that have come since the last call."""
        found: list[str] = []
        for part in _parts(self._path):
            try:
                with part.open("rb") as file:
                    number = os.fstat(file.fileno()).st_ino
                    if number != self._number and part != self._path:
                        continue  # older than what was read last
                    if number != self._number:
                        self._number, self._position = number, 0
                    file.seek(self._position)
                    whole, cut, _ = file.read().rpartition(b"\n")
            except OSError:
                continue
            self._position += len(whole) + len(cut)
            found += whole.decode(errors="replace").splitlines()
        return found
