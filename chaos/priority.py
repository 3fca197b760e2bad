# SPDX-License-Identifier: Apache-2.0
"""Real-time priorities for what is measured, so that other work on the machine does not take its time."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

# Of many drones and one gcs. Handshakes come after packets, as niceness has it otherwise.
OF_GCS, OF_TRAFFIC = 4, 3
THREADS_OF_GCS = {"pqc-data": OF_GCS, "pqc-handshake": 2, "pqc-keypool": 1}


def prefer(pid: int, priority: int) -> bool:
    """Give a process a real-time priority (1 is the least); what it starts from now on inherits it. False where that is
    not allowed.
    """
    try:
        os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(priority))
    except PermissionError:
        return False
    return True


def prefer_threads(pid: int, priorities: Mapping[str, int]) -> None:
    """Give threads that run already their own priorities, by the beginning of their names."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            name = (task / "comm").read_text(encoding="utf-8").strip()
            for start, priority in priorities.items():
                if name.startswith(start):
                    os.sched_setscheduler(int(task.name), os.SCHED_RR, os.sched_param(priority))
