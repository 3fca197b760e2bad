# SPDX-License-Identifier: Apache-2.0
"""Publishers whose place another one has taken, and whose last message may not have been heard everywhere yet."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.duration import Duration

# An acknowledgement says that a message has come to a process, not that its program has taken it; what it has not taken
# when the publisher is destroyed can be lost.
LEAST_S = 3.0
MOST_S = 10.0  # a subscriber that is stopped, or asks for another quality of service, never gets it


def arrived(node: Any, publisher: Any) -> bool:
    """Whether each subscriber of the topic has what was published.

    A reliable message is sent again only as long as its publisher is there. A subscriber that has not been matched with
    this publisher yet counts as one that lacks it: nobody waits for its acknowledgement.
    """
    acknowledged = bool(publisher.wait_for_all_acked(Duration(seconds=0)))
    return acknowledged and publisher.get_subscription_count() >= node.count_subscribers(publisher.topic_name)


class Leaving:
    """They stay for LEAST_S, and until everybody has heard them, for MOST_S at most."""

    def __init__(self, node: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self._node = node
        self._clock = clock
        self._there: list[tuple[Any, float]] = []

    def add(self, publisher: Any) -> None:
        """Has published for the last time."""
        self._there.append((publisher, self._clock()))

    def look(self) -> bool:
        """Destroys those that need not stay any longer, and says whether there was one; waits for nothing."""
        before = len(self._there)
        for publisher, since_s in list(self._there):
            stayed_s = self._clock() - since_s
            if stayed_s >= MOST_S or (stayed_s >= LEAST_S and arrived(self._node, publisher)):
                self._there.remove((publisher, since_s))
                self._node.destroy_lifecycle_publisher(publisher)
        return len(self._there) < before
