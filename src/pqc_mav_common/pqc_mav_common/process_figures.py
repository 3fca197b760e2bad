# SPDX-License-Identifier: Apache-2.0
"""What the kernel says about a running process: time, memory, threads, descriptors."""

from __future__ import annotations

import os
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_kib(pid: int, field: str = "VmRSS") -> int:
    """Resident memory of a process; 0 when it is gone. "RssAnon" is the part that is no page of a file."""
    return _status_field(pid, field)


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
