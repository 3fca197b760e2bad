# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading

from background import Background


class Counter(Background):
    def __init__(self) -> None:
        self.turns = 0
        self.turned = threading.Event()
        self._begin()

    def _run(self) -> None:
        while not self._over.wait(0.001):
            self.turns += 1
            self.turned.set()


def test_it_works_until_it_is_closed() -> None:
    with Counter() as counter:
        assert counter.turned.wait(10.0)
    done = counter.turns
    counter.turned.clear()
    assert not counter.turned.wait(0.05)
    assert counter.turns == done > 0
    counter.close()
