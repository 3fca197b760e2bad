# SPDX-License-Identifier: Apache-2.0
"""A replaced publisher stays until its last message has arrived, and not indefinitely."""

from __future__ import annotations

from typing import Any

import pytest

from pqc_mav_proxy.leaving import STAY_S, Leaving


class Publisher:
    topic_name = "/gcs/pqc_proxy/status"

    def __init__(self, acknowledged: bool, matched: int) -> None:
        self.acknowledged, self.matched = acknowledged, matched
        self.waited_s: list[float] = []

    def wait_for_all_acked(self, timeout: Any) -> bool:
        self.waited_s.append(timeout.nanoseconds / 1e9)
        return self.acknowledged

    def get_subscription_count(self) -> int:
        return self.matched


class Node:
    def __init__(self, subscribers: int) -> None:
        self.subscribers = subscribers
        self.destroyed: list[Publisher] = []

    def count_subscribers(self, topic: str) -> int:
        assert topic == Publisher.topic_name
        return self.subscribers

    def destroy_lifecycle_publisher(self, publisher: Publisher) -> None:
        self.destroyed.append(publisher)


def test_it_leaves_at_once_where_everybody_has_heard_it() -> None:
    node, publisher = Node(2), Publisher(True, 2)
    Leaving(node).add(publisher, 0.5)
    assert node.destroyed == [publisher] and publisher.waited_s == [0.5]


@pytest.mark.parametrize("before", [(False, 2), (True, 1)], ids=["not acknowledged", "not matched with all"])
def test_it_stays_until_the_last_one_has_heard_it(before: tuple[bool, int]) -> None:
    node, publisher = Node(2), Publisher(*before)
    leaving = Leaving(node)
    leaving.add(publisher, 0.5)
    assert not leaving.look()
    assert not node.destroyed and publisher.waited_s == [0.5, 0.0]
    publisher.acknowledged, publisher.matched = True, 2
    assert leaving.look()
    assert not leaving.look()
    assert node.destroyed == [publisher]


def test_who_never_listens_keeps_it_for_a_while_only() -> None:
    now = [100.0]
    node, publisher = Node(1), Publisher(False, 1)
    leaving = Leaving(node, lambda: now[0])
    leaving.add(publisher, 0.5)
    now[0] += STAY_S - 0.1
    assert not leaving.look()
    assert not node.destroyed
    now[0] += 0.2
    assert leaving.look()
    assert node.destroyed == [publisher]
