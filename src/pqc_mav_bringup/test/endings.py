# SPDX-License-Identifier: Apache-2.0
"""Whether processes that somebody else has started, and was to end, are gone."""

from __future__ import annotations

import psutil

from pqc_mav_common.testing import until


def gone(pid: int) -> bool:
    """Whether a process has ended, even if nobody has asked how."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until_gone(pid: int) -> None:
    """Wait for its end."""
    until(lambda: gone(pid), f"the end of process {pid}")
