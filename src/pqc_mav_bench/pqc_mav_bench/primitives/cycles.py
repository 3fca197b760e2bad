# SPDX-License-Identifier: Apache-2.0
"""Processor cycles through perf_event_open(2), of this thread alone; where the kernel has none, why."""

import ctypes
import os
import platform
import struct

_SYSCALLS = {"x86_64": 298, "aarch64": 241}
_TYPE_HARDWARE, _CONFIG_CYCLES = 0, 0
_ATTR_BYTES = 128
_EXCLUDE_KERNEL, _EXCLUDE_HV = 1 << 5, 1 << 6


class CycleCounter:
    """Counts while it is open. `status` is "" or the sentence why there is no counter; `read` is then 0."""

    def __init__(self) -> None:
        self._handle = -1
        self.status = ""
        number = _SYSCALLS.get(platform.machine())
        if number is None:
            self.status = f"perf events are not known on {platform.machine()}"
            return
        attributes = struct.pack(
            "=IIQQQQQ", _TYPE_HARDWARE, _ATTR_BYTES, _CONFIG_CYCLES, 0, 0, 0, _EXCLUDE_KERNEL | _EXCLUDE_HV
        )
        buffer = ctypes.create_string_buffer(attributes.ljust(_ATTR_BYTES, b"\0"), _ATTR_BYTES)
        libc = ctypes.CDLL(None, use_errno=True)
        self._handle = libc.syscall(number, buffer, 0, -1, -1, 0)
        if self._handle < 0:
            self.status = f"this machine gives no cycle counter ({os.strerror(ctypes.get_errno())})"

    def read(self) -> int:
        """Cycles so far."""
        return int.from_bytes(os.read(self._handle, 8), "little") if self._handle >= 0 else 0

    def close(self) -> None:
        """Gives the counter back."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
