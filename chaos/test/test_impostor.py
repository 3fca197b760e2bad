# SPDX-License-Identifier: Apache-2.0
"""Who has a drone's PSK and not its signing key keeps it out from no address of his, and touches no session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import contact
import impostor
import pytest
import spoiling

SCENES: dict[str, Callable[[], contact.Contact]] = {
    "lies to the gcs": lambda: spoiling.spoiling("gcs", 1.0),
    "copied proofs": impostor.copying,
    "one address": lambda: impostor.competing(impostor.ONE, proof=False),
    "two addresses": lambda: impostor.competing(impostor.TWO, proof=False),
    "six addresses": lambda: impostor.competing(impostor.MANY, proof=False),
    "with the proof": lambda: impostor.competing(impostor.MANY, proof=True),
    "its own address": lambda: impostor.competing(impostor.OWN, proof=True),
    "a session": lambda: impostor.beside(2.0),
    "lies to the drone": lambda: spoiling.spoiling("drone", 1.0),
}


@pytest.fixture(scope="module")
def runs() -> Iterator[Mapping[str, Future[contact.Contact]]]:
    """All of them, three at a time: they wait more than they compute."""
    with ThreadPoolExecutor(3) as pool:
        yield {name: pool.submit(scene) for name, scene in SCENES.items()}


@pytest.mark.parametrize("scene", SCENES)
def test_a_thief_of_the_psk(runs: Mapping[str, Future[contact.Contact]], scene: str) -> None:
    found = contact.problems([runs[scene].result()])
    # Beside others on a busy machine a drone may be late; alone it is not. Nothing else is looked at twice.
    if found and all(": up after " in each for each in found):
        found = contact.problems([SCENES[scene]()])
    assert found == []
