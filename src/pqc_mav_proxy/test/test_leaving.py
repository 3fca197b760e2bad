# SPDX-License-Identifier: Apache-2.0
"""A replaced publisher stays until its last message has been heard, and not indefinitely."""

from __future__ import annotations

from typing import Any

import pytest

from pqc_mav_proxy.leaving import LEAST_S, MOST_S, Leaving


class Publisher:
    topic_name = "/gcs/pqc_proxy/status"

    def __init__(self, acknowledged: bool, matched: int) -> None:
        self.acknowledged, self.matched = acknowledged, matched

    def wait_for_all_acked(self, timeout: Any) -> bool:
        assert timeout.nanoseconds == 0, "nothing waits"
        return self.acknowledged

    def get_subscription_count(self) -> int:
        return self.matched


class Node:
    def __init__(self) -> None:
        self.now_s = 100.0
        self.destroyed: list[Publisher] = []
        self.leaving = Leaving(self, lambda: self.now_s)

    def count_subscribers(self, topic: str) -> int:
        assert topic == Publisher.topic_name
        return 2

    def destroy_lifecycle_publisher(self, publisher: Publisher) -> None:
        self.destroyed.append(publisher)

    def looks_after(self, seconds: float) -> bool:
        self.now_s += seconds
        return self.leaving.look()


def test_it_stays_a_while_even_when_everybody_has_acknowledged() -> None:
    node, publisher = Node(), Publisher(True, 2)
    node.leaving.add(publisher)
    assert not node.looks_after(LEAST_S - 0.1) and not node.destroyed
    assert node.looks_after(0.2) and node.destroyed == [publisher]
    assert not node.looks_after(1.0) and node.destroyed == [publisher]


@pytest.mark.parametrize("before", [(False, 2), (True, 1)], ids=["not acknowledged", "not matched with all"])
def test_it_stays_until_the_last_one_has_heard_it(before: tuple[bool, int]) -> None:
    node, publisher = Node(), Publisher(*before)
    node.leaving.add(publisher)
    assert not node.looks_after(LEAST_S + 1.0)
    publisher.acknowledged, publisher.matched = True, 2
    assert node.looks_after(0.1) and node.destroyed == [publisher]


def test_who_never_listens_keeps_it_for_a_while_only() -> None:
    node, publisher = Node(), Publisher(False, 2)
    node.leaving.add(publisher)
    assert not node.looks_after(MOST_S - 0.1) and not node.destroyed
    assert node.looks_after(0.2) and node.destroyed == [publisher]
