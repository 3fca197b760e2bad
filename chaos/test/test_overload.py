# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import socket

import mavlink_mix
import pytest
from mavlink_mix import BULK, COMMANDS, STREAMS, TRANSFERS, Sent
from overload import figures, stream_times


def test_a_message_is_mavlink_with_its_number() -> None:
    from pymavlink.dialects.v20 import common as mavlink

    message = mavlink_mix.encode(mavlink.MAVLINK_MSG_ID_ATTITUDE, 70_000)
    assert len(message) == mavlink_mix.MESSAGE_BYTES
    assert mavlink_mix.number_of(message) == 70_000
    assert message[0] == 0xFD
    assert message[1] == len(message) - 12
    assert int.from_bytes(message[7:10], "little") == mavlink.MAVLINK_MSG_ID_ATTITUDE


def test_the_mix_has_its_rates() -> None:
    mix = mavlink_mix.Mix(226.0, seed=1)
    begun = mix.begun
    while mix.next_at < begun + 50:
        mix.take()
    counts = [sum(each.kind == kind for each in mix.sent) for kind in (COMMANDS, TRANSFERS, STREAMS, BULK)]
    assert counts == [pytest.approx(50 * hz, rel=0.15) for hz in (8, 12, 190, 16)]
    assert {each.message_id for each in mix.sent if each.kind == STREAMS} == set(mavlink_mix.STREAM_IDS)


def test_figures_count_what_was_sent_in_time() -> None:
    kinds = (COMMANDS, TRANSFERS, STREAMS, BULK, STREAMS, COMMANDS)
    sent = [Sent(float(i), kind, 30) for i, kind in enumerate(kinds)] + [Sent(9.0, COMMANDS, 77)]
    arrivals = {0: 0.05, 1: 1.1, 2: 2.2, 4: 4.1}
    found = figures("shaped", sent, arrivals, 0.0, 6.0)
    assert (found.commands, found.transfers, found.streams, found.bulk) == (0.5, 1.0, 1.0, 0.0)
    assert found.command_worst_ms == pytest.approx(50)
    assert (found.stream_gap_p95_s, found.stream_age_p95_s) == (pytest.approx(1.9), pytest.approx(2.1))
    assert found.per_s == pytest.approx(4 / 6)


def test_streams_are_told_apart() -> None:
    counted = list(enumerate([Sent(0.0, STREAMS, 30), Sent(0.1, STREAMS, 33), Sent(1.0, STREAMS, 30)]))
    gaps, ages = stream_times(counted, {0: 0.2, 1: 0.3, 2: 1.5})
    assert gaps == [pytest.approx(1.3)]
    assert ages == [pytest.approx(1.5)]


def test_exchange_takes_what_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mavlink_mix, "_QUIET_S", 0.1)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as vehicle,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ground,
    ):
        ground.bind(("127.0.0.1", 0))
        mix = mavlink_mix.Mix(400.0, seed=2)
        arrivals = mavlink_mix.exchange(vehicle, ground.getsockname(), ground, mix, 0.3)
    assert sorted(arrivals) == list(range(len(mix.sent)))
    assert len(arrivals) > 40
