# SPDX-License-Identifier: Apache-2.0
"""Publishers whose place another one has taken, and whose last message has not arrived everywhere yet."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.duration import Duration

STAY_S = 10.0  # at most: a subscriber that is stopped, or asks for another quality of service, never gets it


def arrived(node: Any, publisher: Any, wait_s: float = 0.0) -> bool:
    """Whether each subscriber of the topic has what was published, after waiting so long at most.

    A reliable message is sent again only as long as its publisher is there. A subscriber that has not been matched with
    this publisher yet counts as one that lacks it: nobody waits for its acknowledgement.
    """
    acknowledged = bool(publisher.wait_for_all_acked(Duration(seconds=wait_s)))
    return acknowledged and publisher.get_subscription_count() >= node.count_subscribers(publisher.topic_name)


class Leaving:
    """They stay until everybody has heard them, for STAY_S at most."""

    def __init__(self, node: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self._node = node
        self._clock = clock
        self._there: list[tuple[Any, float]] = []

    def add(self, publisher: Any, wait_s: float) -> None:
        """Destroys it at once where its last message arrives within so long."""
        if arrived(self._node, publisher, wait_s):
            self._node.destroy_lifecycle_publisher(publisher)
        else:
            self._there.append((publisher, self._clock() + STAY_S))

    def look(self) -> bool:
        """Destroys those that need not stay any longer, and says whether there was one; waits for nothing."""
        before = len(self._there)
        for publisher, until_s in list(self._there):
            if self._clock() >= until_s or arrived(self._node, publisher):
                self._there.remove((publisher, until_s))
                self._node.destroy_lifecycle_publisher(publisher)
        return len(self._there) < before
