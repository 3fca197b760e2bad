# SPDX-License-Identifier: Apache-2.0
"""A drone whose ground station is out of reach: what its log says of the attempts, whichever proxy it is."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from pqc_mav_interfaces.msg import HandshakeReport
from proxies import KINDS, NODE, start
from watcher import Watcher

from pqc_mav_common import qos
from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import until
from pqc_mav_common.testing_proxies import drone_parameters

ATTEMPTS = 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_reason_is_logged_once_and_reported_each_time(kind: str, keys: Path, watcher: Watcher) -> None:
    space = f"{kind}_unreachable"
    process = start(kind, drone_parameters(keys, free_port(), peer="nowhere.invalid"), space)
    try:
        reports = watcher.collect(HandshakeReport, f"/{space}/{NODE}/handshake", qos.event())
        until(lambda: len(reports) >= ATTEMPTS, "several attempts")
        assert not any(each.ok for each in reports) and len({each.reason for each in reports}) == 1, reports
        assert process.end(signal.SIGTERM) == 0, process.lines
        said = [line for line in process.lines if "d1: handshake failed" in line]
        assert said == [f"WARN d1: handshake failed: {reports[0].reason}"], process.lines
        changes = [line for line in process.lines if " -> " in line]
        assert changes == ["INFO d1: DOWN -> HANDSHAKING (A handshake is running.)"], process.lines
    finally:
        process.kill()
