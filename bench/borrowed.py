# SPDX-License-Identifier: Apache-2.0
"""A look into a running process from outside: what waits at its UDP sockets, and the time of its threads.

The sockets are borrowed (pidfd_getfd(2), which takes the right to trace the process: a child, or root), so whoever
looks needs no help of the process and costs it nothing.
"""

import ctypes
import os
import socket
import struct
from contextlib import ExitStack
from pathlib import Path

_PIDFD_GETFD = 438  # on all architectures
_SO_MEMINFO = 55
_MEMINFO = struct.Struct("=9I")


def udp_sockets(pid: int, stack: ExitStack) -> list[socket.socket]:
    """Descriptors of this process for each UDP socket of that one; `stack` closes them. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(pid)
    stack.callback(os.close, process)
    found = []
    for entry in sorted(Path(f"/proc/{pid}/fd").iterdir(), key=lambda path: int(path.name)):
        if not str(entry.readlink()).startswith("socket:"):
            continue
        number = libc.syscall(_PIDFD_GETFD, process, int(entry.name), 0)
        if number < 0:
            error = ctypes.get_errno()
            raise OSError(error, f"cannot borrow a socket of process {pid}: {os.strerror(error)}")
        each = socket.socket(fileno=number)
        if each.type == socket.SOCK_DGRAM and each.family in (socket.AF_INET, socket.AF_INET6):
            found.append(stack.enter_context(each))
        else:
            each.close()
    return found


def waiting_bytes(borrowed: socket.socket) -> int:
    """Memory of what waits to be read, as the kernel counts it; 0 when all is read."""
    return _MEMINFO.unpack(borrowed.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size))[0]


def thread_times(pid: int, name: str) -> list[tuple[float, float]]:
    """Of each thread of that name (its first 15 characters): seconds that it ran, and that it waited for a processor.

    By the scheduler's own count (proc(5), schedstat).
    """
    tasks = sorted(Path(f"/proc/{pid}/task").iterdir(), key=lambda path: int(path.name))
    found = [(task / "schedstat").read_text().split() for task in tasks if (task / "comm").read_text().strip() == name]
    return [(int(ran) / 1e9, int(waited) / 1e9) for ran, waited, _ in found]
