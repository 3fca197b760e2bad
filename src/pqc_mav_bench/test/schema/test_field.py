# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import ClassVar

from pqc_mav_bench.schema.field import Category, Side, fields_of, metric


class Sample(Category):
    """Z: a category of the test."""

    letter: ClassVar[str] = "Z"
    title: ClassVar[str] = "Sample"
    side: ClassVar[Side] = Side.GCS

    speed: float | None = metric("how fast", "m/s", Side.DRONE, zero="it stands")
    wheels: int | None = metric("how many", "count")
    loud: bool | None = metric("noise")
    name: str | None = metric("what it is called")
    parts: dict[str, int] | None = metric("parts by kind", "count")


def test_kinds_units_and_sides_come_from_the_declaration():
    speed, wheels, loud, name, parts = fields_of("sample", Sample)
    assert (speed.path, speed.letter, speed.unit, speed.side, speed.zero) == (
        "sample.speed", "Z", "m/s", Side.DRONE, "it stands",
    )  # fmt: skip
    assert wheels.side is Side.GCS
    assert [field.kind for field in (speed, wheels, loud, name, parts)] == [
        "number", "integer", "flag", "text", "structure",
    ]  # fmt: skip
    assert [field.numeric for field in (speed, wheels, loud, name, parts)] == [True, True, True, False, False]
    assert [field.flat for field in (speed, wheels, loud, name, parts)] == [True, True, True, True, False]
