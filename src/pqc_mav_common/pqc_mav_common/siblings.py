# SPDX-License-Identifier: Apache-2.0
"""The processes that were started together as one system, found by a mark in their environment.

`pqcmav up` and the launch files set the mark. A process that forbids others to look into it (the proxies do) is seen
by itself alone, or by what its control socket says; those of other users are not seen at all.
"""

import os
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pqc_mav_common.socket_table import PROC

MARK = "PQCMAV_SYSTEM"
ALLOWED = "PQCMAV_ALLOWED_ADDRESSES"  # that mavros may bind, for the process that looks after it
# Asks a process for the guard against ways around the tunnel. A proxy in Python has one, one in C++ needs it beside.
WITH_GUARD = "--guard=cpp"
MAVROS = "mavros_node"


@dataclass(frozen=True)
class Sibling:
    """A process; `ours`: started with this one, not merely a mavros that runs here too."""

    pid: int
    name: str
    ours: bool

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid})"


def new_mark() -> str:
    """A mark that no other system on this machine has, or had before."""
    return f"{os.getpid()}-{time.monotonic_ns()}"


def siblings(mark: str, known: Collection[int] = (), proc: Path = PROC) -> Iterator[Sibling]:
    """This process, those with the same mark and the `known` ones, and every mavros of this machine."""
    wanted = f"{MARK}={mark}".encode()
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        pid = int(folder.name)
        try:
            name = (folder / "comm").read_text().strip()
        except OSError:
            continue  # ended meanwhile
        ours = pid == os.getpid() or pid in known
        if mark and not ours:
            try:
                ours = wanted in (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                ours = False  # another user's, or closed to others
        if ours or name == MAVROS:
            yield Sibling(pid, _whole(name, folder), ours)


def _whole(name: str, process: Path) -> str:
    """A program's name, of which the kernel keeps 15 bytes: `component_conta` says little."""
    try:
        program = Path(os.fsdecode((process / "cmdline").read_bytes().partition(b"\0")[0])).name
    except OSError:
        return name
    return program if len(name) == 15 and program.startswith(name) else name
