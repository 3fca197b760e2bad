# SPDX-License-Identifier: Apache-2.0
"""Traffic counts what is lost, with no proxy between its ends and with one that loses some."""

from __future__ import annotations

import socket
import threading

import pytest

from pqc_mav_common import testing_traffic
from pqc_mav_common.testing import until
from pqc_mav_common.testing_traffic import HOST, Traffic


def test_nothing_is_lost_where_nothing_loses() -> None:
    with Traffic(period_s=0.001) as traffic:
        traffic.start(traffic.ground_port).flows()
        until(lambda: traffic.sent > 20, "more traffic")
        assert traffic.lost() == (0, 0)
        assert traffic.up == traffic.down == list(range(1, traffic.sent + 1))


def test_what_is_lost_is_counted_each_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing_traffic, "LATE_S", 0.3)

    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as entry,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as exit_,
        Traffic(period_s=0.001) as traffic,
    ):
        entry.bind((HOST, 0))
        entry.settimeout(10.0)

        def relay() -> None:
            """Take ten; lose the first, and every answer."""
            for number in range(10):
                packet = entry.recv(64)
                if number:
                    exit_.sendto(packet, (HOST, traffic.ground_port))

        relaying = threading.Thread(target=relay)
        relaying.start()
        traffic.start(entry.getsockname()[1])
        relaying.join()
        until(lambda: traffic.up[-1:] == [10], "the tenth", 10.0)
        assert traffic.lost() == (traffic.sent - 9, traffic.sent)
