# SPDX-License-Identifier: Apache-2.0
"""Signals that come while a proxy starts, whichever it is."""

from __future__ import annotations

import re
import signal
import time
from pathlib import Path

import pytest
from proxies import KINDS, LIMIT_S, start

from pqc_mav_common.testing import Running, until
from pqc_mav_common.testing_proxies import gcs_parameters


def minds(process: Running) -> bool:
    """Whether the process blocks or handles SIGTERM by now."""
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    masks = [int(mask, 16) for mask in re.findall(r"Sig(?:Blk|Cgt):\s*(\w+)", status)]
    # What blocks SIGUSR1, too, begins a process or a thread, and blocks all for a moment.
    return any(mask & bit(signal.SIGTERM) and not mask & bit(signal.SIGUSR1) for mask in masks)


def bit(number: signal.Signals) -> int:
    """Of a signal in a mask."""
    return 1 << (number - 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("kind", KINDS)
def test_one_in_the_midst_of_the_start_ends_it_in_order(kind: str, number: signal.Signals, keys: Path) -> None:
    """With rclcpp's own handler, 29 of 100 starts ended with an error about its context, and some waited for ever."""
    for late_s in (0.0, 0.1, 0.2, 0.4):
        process = start(kind, gcs_parameters(keys, control_socket="off"), f"{kind}_signalled")
        try:
            until(lambda process=process: minds(process), "a process that minds signals")
            time.sleep(late_s)
            process.process.send_signal(number)
            assert process.process.wait(LIMIT_S) == 0, process.lines
        finally:
            process.kill()
