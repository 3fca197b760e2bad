# SPDX-License-Identifier: Apache-2.0
"""Which machine a process runs on and which clock it reads, to tell whether both ends share either."""

import hashlib
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_TIME = Path("/proc/self/ns/time")


def clock_id() -> str:
    """MACHINE.CLOCK: fingerprints of this boot and of its clock; "" where the kernel does not tell the boot.

    Equal on both sides exactly when both read the same monotonic clock. A container with a time namespace of its own
    shares the machine, and may have another clock. Says nothing else about either.
    """
    try:
        boot = _BOOT.read_bytes()
    except OSError:
        return ""
    try:
        namespace = str(_TIME.readlink()).encode()
    except OSError:  # a kernel without time namespaces has one clock
        namespace = b""
    return f"{_fingerprint(boot)}.{_fingerprint(boot + namespace)}"


def machine_of(identity: str) -> str:
    """The machine's part of a clock's identity."""
    return identity.partition(".")[0]


def _fingerprint(what: bytes) -> str:
    return hashlib.sha256(b"pqcmav-bench-clock" + what).hexdigest()[:16]
