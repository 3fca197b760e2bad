# SPDX-License-Identifier: Apache-2.0
from pqc_mav_sim.gcs_monitor import GcsMonitor


def test_never_heard_is_not_lost():
    monitor = GcsMonitor()
    assert not monitor.lost(1e6, 10.0)
    assert monitor.status(1e6, 10.0) == "none"


def test_losses_are_counted_once_each():
    monitor = GcsMonitor()
    for start in (0.0, 100.0):
        monitor.heartbeat(start)
        assert [monitor.lost(start + s, 10.0) for s in (5.0, 10.0, 10.1, 50.0)] == [False, False, True, True]
        assert monitor.status(start + 20.0, 10.0) == "lost"
    assert (monitor.losses, monitor.heartbeats) == (2, 2)
