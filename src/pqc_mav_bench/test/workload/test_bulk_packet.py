# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from pqc_mav_bench.workload.bulk_packet import HEADER_BYTES, WANT_ECHO, Kind, SequenceMeter, decode, encode


def test_a_packet_comes_back_and_has_its_size():
    data = encode(Kind.DATA, 7, 12345, -5, 256, WANT_ECHO)
    assert len(data) == 256
    packet = decode(data)
    assert (packet.kind, packet.run, packet.sequence, packet.stamp_ns, packet.flags) == (
        Kind.DATA,
        7,
        12345,
        -5,
        WANT_ECHO,
    )
    assert len(encode(Kind.HELLO, 0, 0, 0, 1)) == HEADER_BYTES


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=64))
def test_garbage_is_nobodys_packet(data):
    assert decode(data) is None or data.startswith(b"PQMB")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 300), st.integers(0, 2**32), st.integers(0, 100), st.integers(0, 60))
def test_the_meter_counts_like_a_set(count, seed, lost, repeated):
    dice = random.Random(seed)
    numbers = list(range(count))
    kept = dice.sample(numbers, max(0, count - lost)) if dice.random() < 0.5 else numbers[: max(0, count - lost)]
    sequence = kept + dice.choices(kept, k=repeated) if kept else []
    meter = SequenceMeter()
    new = sum(meter.record(number) for number in sequence)
    assert new == meter.received == len(set(sequence))
    assert meter.duplicates == len(sequence) - len(set(sequence))
    assert (meter.reordered == 0) == (kept == sorted(kept))


def test_an_absurd_number_takes_no_memory():
    meter = SequenceMeter()
    assert not meter.record(2**32 - 1)
    assert (meter.refused, len(meter._seen)) == (1, 1 << 16)
