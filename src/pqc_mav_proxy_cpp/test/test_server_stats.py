# SPDX-License-Identifier: Apache-2.0
"""`~/server_stats` flows ten times a second while somebody listens, and rests otherwise, whichever proxy it is."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from pqc_mav_interfaces.msg import ServerStats
from proxies import DRONES, KINDS, NODE, start
from watcher import Watcher

from pqc_mav_common import qos
from pqc_mav_common.testing import until
from pqc_mav_common.testing_proxies import gcs_parameters

FLOWS, RESTS = "~/server_stats flows: somebody listens", "~/server_stats rests: nobody listens"


@pytest.mark.parametrize("kind", KINDS)
def test_it_flows_while_somebody_listens_and_its_timer_stops_when_nobody_does(kind: str, keys: Path) -> None:
    space = f"{kind}_counted"
    process = start(kind, gcs_parameters(keys, DRONES), space, "--log-level", f"{space}.{NODE}:=debug")
    try:
        for _ in range(2):
            begin = len(process.lines)
            with Watcher() as listener:
                seen = listener.collect(ServerStats, f"/{space}/{NODE}/server_stats", qos.sensor())
                process.wait_for(FLOWS, begin)
                until(lambda seen=seen: len(seen) > 30, "counters")
                stamps = [each.header.stamp.sec + each.header.stamp.nanosec / 1e9 for each in seen]
                assert 0.05 <= median(after - before for before, after in pairwise(stamps)) <= 0.25
                assert not any(RESTS in line for line in process.lines[begin:])
            process.wait_for(RESTS, begin)
    finally:
        process.kill()
