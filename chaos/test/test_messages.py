# SPDX-License-Identifier: Apache-2.0
"""Messages: what was sent is recognised, anything else is not."""

from __future__ import annotations

import messages
import pytest
from hypothesis import given
from hypothesis import strategies as st


@given(
    drone=st.integers(0, 65535),
    way=st.sampled_from([messages.DOWN, messages.UP]),
    number=st.integers(0, 2**32 - 1),
    sent=st.integers(0, 2**64 - 1),
    size=st.integers(messages.LEAST_SIZE, 2048),
)
def test_a_message_comes_back(drone: int, way: int, number: int, sent: int, size: int) -> None:
    data = messages.encode(drone, way, number, sent, size)
    assert len(data) == size
    assert messages.decode(data) == messages.Message(drone, way, number, sent)


@given(number=st.integers(0, 10_000), size=st.integers(17, 300), data=st.data())
def test_a_changed_filling_or_check_shows(number: int, size: int, data: st.DataObject) -> None:
    message = bytearray(messages.encode(1, messages.UP, number, 5, size))
    at = data.draw(st.sampled_from([3, *range(messages.LEAST_SIZE, size)]))
    message[at] ^= data.draw(st.integers(1, 255))
    assert messages.decode(bytes(message)) is None


@given(st.binary(max_size=100))
def test_random_bytes_are_survived(data: bytes) -> None:
    messages.decode(data)


def test_a_message_of_another_number_is_filled_differently() -> None:
    one, two = (messages.encode(1, 0, number, 5, 60)[16:] for number in (1, 2))
    assert one != two


def test_sizes_are_mavlinks_with_bundles() -> None:
    sizes = messages.sizes(bundle_size=900)
    assert sizes[::40] == [900] * len(sizes[::40])
    small = [size for i, size in enumerate(sizes) if i % 40]
    assert min(small) >= messages.LEAST_SIZE
    assert max(small) <= 280
    assert 40 < sum(small) / len(small) < 80
    assert sizes == messages.sizes(bundle_size=900)
    assert sizes != messages.sizes(seed=2, bundle_size=900)


@pytest.mark.parametrize("size", [0, 15, 2049])
def test_impossible_sizes_are_no_messages(size: int) -> None:
    assert messages.decode(bytes(size)) is None
