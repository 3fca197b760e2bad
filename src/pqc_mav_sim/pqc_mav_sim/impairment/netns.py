# SPDX-License-Identifier: Apache-2.0
"""Network namespaces without names: one lives as long as its descriptor is open, so nothing is left over.

Needs root (CAP_SYS_ADMIN). Linux keeps the namespace per thread: what has to happen inside one runs in a thread of its
own that ends there.
"""

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_CLONE_NEWNET = 0x4000_0000
_libc = ctypes.CDLL(None, use_errno=True)
T = TypeVar("T")


def _check(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def enter(descriptor: int) -> None:
    """Move the calling thread into a network namespace."""
    _check(_libc.setns(descriptor, _CLONE_NEWNET), "cannot enter the network namespace")


def _in_thread(work: Callable[[], T]) -> T:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def call_in(descriptor: int, work: Callable[[], T]) -> T:
    """Run something inside of a network namespace and return its result; sockets made there stay there."""

    def inside() -> T:
        enter(descriptor)
        return work()

    return _in_thread(inside)


class Namespace:
    """A fresh network namespace; `close` releases it once nothing else is in it. Raises OSError without root."""

    def __init__(self) -> None:
        def make() -> int:
            _check(_libc.unshare(_CLONE_NEWNET), "cannot make a network namespace")
            return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)

        self.descriptor = _in_thread(make)

    def call(self, work: Callable[[], T]) -> T:
        """Run something inside and return its result; sockets made there stay there."""
        return call_in(self.descriptor, work)

    def close(self) -> None:
        """Let go of the namespace."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
