# SPDX-License-Identifier: Apache-2.0
"""TAP and TUN devices: an interface whose wire is a file descriptor. Needs root or CAP_NET_ADMIN."""

import fcntl
import os
import struct

_TUNSETIFF = 0x4004_54CA
_IFF_TUN, _IFF_TAP = 0x0001, 0x0002
_IFF_NO_PI = 0x1000
_NAME_MAX = 15


def open_tap(name: str) -> int:
    """Make a TAP device (Ethernet frames) in the caller's network namespace; it lives as long as its descriptor.

    Raises OSError when the kernel has none or the caller may not.
    """
    return _open(name, _IFF_TAP)


def open_tun(name: str) -> int:
    """The same for a TUN device (IP packets)."""
    return _open(name, _IFF_TUN)


def _open(name: str, kind: int) -> int:
    if not 1 <= len(name.encode()) <= _NAME_MAX:
        raise ValueError(f"interface name '{name}' must have 1 to {_NAME_MAX} bytes")
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH22x", name.encode(), kind | _IFF_NO_PI))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
