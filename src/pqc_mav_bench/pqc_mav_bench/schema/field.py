# SPDX-License-Identifier: Apache-2.0
"""The metrics of a run, out of the table metrics.csv: a row gives a field's type, unit, side and meaning.

A metric may be null; then the run's `metric_status` says why. The table is what readers see, too (docs/metrics.csv).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar

from pqc_mav_bench.models import BaseModel, ConfigDict, Field

TABLE = "metrics.csv"
#: Types of the table and what holds them.
_TYPES: dict[str, Any] = {
    "number": float,
    "integer": int,
    "flag": bool,
    "text": str,
    "numbers": list[float],
    "counts": dict[str, int],
    "samples": dict[str, list[float | None]],
}


class Side(str, Enum):
    """Where a value is measured."""

    DRONE = "drone"
    GCS = "gcs"
    BOTH = "both"  # computed from what both sides measured
    CONTROLLER = "controller"  # the campaign's own bookkeeping


class Category(BaseModel):
    """Base of the 18 categories."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True, allow_inf_nan=False)

    letter: ClassVar[str]

    if TYPE_CHECKING:  # the table has the names

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


@dataclass(frozen=True)
class MetricField:
    """One field as the documents show it; `path` is `category.field`, the column of the tidy table.

    `unit` is UCUM-like ("ms", "B", "count", "1" for ratios), "" for texts and flags. `zero` says why zero is the
    normal value; a zero is noted as `zero_by_nature` then.
    """

    path: str
    kind: str
    unit: str
    side: Side
    meaning: str
    zero: str

    @property
    def category(self) -> str:
        """The name under which a run holds its category."""
        return self.path.partition(".")[0]

    @property
    def name(self) -> str:
        """The field's own."""
        return self.path.partition(".")[2]

    @property
    def numeric(self) -> bool:
        """Whether the tidy table holds it as a number (flags as 0 and 1)."""
        return self.kind in ("number", "integer", "flag")

    @property
    def flat(self) -> bool:
        """Whether the tidy table has a column for it at all."""
        return self.numeric or self.kind == "text"


def read(lines: Iterable[str]) -> list[MetricField]:
    """The fields of a table, in its order."""
    rows = list(csv.reader(lines))[1:]
    return [MetricField(path, kind, unit, Side(side), meaning, zero) for path, kind, unit, side, meaning, zero in rows]


@cache
def fields() -> tuple[MetricField, ...]:
    """Every metric of every category, in order."""
    return tuple(read((files(__package__) / TABLE).read_text(encoding="utf-8").splitlines()))


def category(name: str, letter: str, about: str, of: Iterable[MetricField]) -> type[Category]:
    """The model `name` of some fields."""
    members: dict[str, Any] = {"__annotations__": {}, "__module__": __name__, "__doc__": f"{letter}: {about}"}
    for each in of:
        extra: dict[str, Any] = {"unit": each.unit, "side": each.side.value}
        if each.zero:
            extra["zero"] = each.zero
        members["__annotations__"][each.name] = _TYPES[each.kind] | None
        members[each.name] = Field(default=None, description=each.meaning, json_schema_extra=extra)
    metaclass: Any = type(Category)
    made: type[Category] = metaclass(name, (Category,), members)
    made.letter = letter
    return made
