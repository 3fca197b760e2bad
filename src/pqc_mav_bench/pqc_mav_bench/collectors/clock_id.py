# SPDX-License-Identifier: Apache-2.0
"""Which clock a process reads: equal on both sides exactly when both read the same monotonic clock."""

from __future__ import annotations

import hashlib
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def clock_id() -> str:
    """Fingerprint of this boot of this machine; "" where the kernel does not tell. Says nothing else about it."""
    try:
        return hashlib.sha256(b"pqcmav-bench-clock" + _BOOT.read_bytes()).hexdigest()[:16]
    except OSError:
        return ""
