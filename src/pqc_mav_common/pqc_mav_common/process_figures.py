# SPDX-License-Identifier: Apache-2.0
"""What the kernel says about a running process: time, memory, threads, descriptors."""

import os
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

_ENTRY = 8  # bytes per page in /proc/PID/pagemap
_PRESENT = 1 << 63
_FRAME = (1 << 55) - 1


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_kib(pid: int, field: str = "VmRSS") -> int:
    """Resident memory of a process; 0 when it is gone. "RssAnon" is the part that is no page of a file."""
    return _status_field(pid, field)


def pss_kib(pid: int) -> int:
    """Resident memory with every shared page divided among all processes of the machine that map it; 0 when gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def pss_among_kib(pids: Sequence[int]) -> list[float]:
    """PSS of each as if these were the only processes of the machine; raises OSError where page frames are secret.

    Others that run the same programs make `pss_kib` smaller than it would be on a machine of one's own. This counts the
    page frames instead, which takes CAP_SYS_ADMIN (Documentation/admin-guide/mm/pagemap.rst of the Linux kernel).
    """
    held = [_frames(pid) for pid in pids]
    users = Counter(frame for each in held for frame in each)
    page_kib = os.sysconf("SC_PAGE_SIZE") / 1024
    return [page_kib * sum(1 / users[frame] for frame in each) for each in held]


def threads_of(pid: int) -> int:
    """Number of threads of a process; 0 when it is gone."""
    return _status_field(pid, "Threads")


def descriptors_of(pid: int) -> int:
    """Number of open descriptors of a process."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def _status_field(pid: int, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except FileNotFoundError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)


def _frames(pid: int) -> set[int]:
    """The numbers of the page frames that a process maps."""
    found: set[int] = set()
    with Path(f"/proc/{pid}/pagemap").open("rb", 0) as table:
        for first, count in _mapped_pages(Path(f"/proc/{pid}/maps").read_text().splitlines()):
            content = os.pread(table.fileno(), count * _ENTRY, first * _ENTRY)
            entries = struct.unpack(f"{len(content) // _ENTRY}Q", content)
            present = [entry & _FRAME for entry in entries if entry & _PRESENT]
            if present and not any(present):
                raise PermissionError("page frames are shown to CAP_SYS_ADMIN only")
            found.update(present)
    return found


def _mapped_pages(maps: Iterable[str]) -> Iterable[tuple[int, int]]:
    """(number of the first page, count) of every mapping of a process's own."""
    page = os.sysconf("SC_PAGE_SIZE")
    for line in maps:
        if line.endswith("[vsyscall]"):
            continue  # the kernel's, beyond the table
        begin, end = (int(number, 16) // page for number in line.split(maxsplit=1)[0].split("-"))
        yield begin, end - begin
