# SPDX-License-Identifier: Apache-2.0
"""Who has a drone's PSK and not its signing key keeps it out from no single address, and touches no session."""

from __future__ import annotations

from collections.abc import Callable

import contact
import impostor
import pytest

SCENES: dict[str, Callable[[], contact.Contact]] = {
    "one address": lambda: impostor.competing(impostor.ONE, proof=False),
    "with the proof": lambda: impostor.competing(impostor.MANY, proof=True),
    "its own address": lambda: impostor.competing(impostor.OWN, proof=True),
    "a session": lambda: impostor.beside(2.0),
}


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_a_thief_of_the_psk(scene: Callable[[], contact.Contact]) -> None:
    assert contact.problems([scene()]) == []
