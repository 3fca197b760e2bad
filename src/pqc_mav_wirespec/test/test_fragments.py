# SPDX-License-Identifier: Apache-2.0
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_wirespec.encoding import frame
from pqc_mav_wirespec.fragments import Assembly, Cut, fragment_size


def message(total):
    return frame(2, random.Random(total).randbytes(total - 5))


def together(cut, indices):
    assembly = Assembly(cut.message, cut.total, cut.size)
    for index in indices:
        assembly.add(cut.fragment(index))
    return assembly


@pytest.mark.parametrize(("limit", "in_session", "size"), [(1200, False, 1150), (548, False, 498), (1200, True, 1127)])
def test_sizes(limit, in_session, size):
    assert fragment_size(5000, limit, in_session=in_session) == size
    whole = limit - (62 if in_session else 30)
    assert fragment_size(whole, limit, in_session=in_session) == whole
    assert fragment_size(whole + 1, limit, in_session=in_session) == size


@given(st.integers(6, 30_000), st.sampled_from([1150, 498, 1127, 475]), st.randoms(use_true_random=False))
def test_any_order_gives_the_message_again(total, size, order):
    cut = Cut(message(total), min(size, total))
    indices = list(range(cut.count)) * 2
    order.shuffle(indices)
    assembly = together(cut, indices)
    assert assembly.complete == message(total)
    assert assembly.rebuilt == 0


@pytest.mark.parametrize("size", [1150, 498])
@pytest.mark.parametrize("total", [1151, 2300, 4587, 5750, 5751, 7900])
def test_parity_rebuilds_any_one_of_each_group(total, size):
    cut = Cut(message(total), size)
    order = cut.order(parity=True)
    groups = -(-cut.count // 4) - (cut.count % 4 == 1)
    assert len(order) == cut.count + groups
    for lost in range(cut.count - (cut.count % 4 == 1)):
        for arrival in (order, order[::-1]):
            assembly = together(cut, [index for index in arrival if index != lost])
            assert assembly.complete == message(total)
            assert assembly.rebuilt == 1 or arrival is not order, "parity that comes first rebuilds more"


def test_two_lost_of_a_group_are_not_rebuilt():
    cut = Cut(message(4587), 1150)
    assembly = together(cut, [0, 1, 4])
    assert (assembly.complete, assembly.have) == (None, {0, 1})
    assert assembly.add(cut.fragment(2))
    assert assembly.complete == message(4587)
    assert not assembly.add(cut.fragment(3)), "it was rebuilt"


def test_long_messages_have_no_parity():
    assert Cut(message(16 * 1150 + 1), 1150).order(parity=True) == list(range(17))
    assert len(Cut(message(16 * 1150), 1150).order(parity=True)) == 20
