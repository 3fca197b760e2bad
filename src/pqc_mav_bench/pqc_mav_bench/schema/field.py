# SPDX-License-Identifier: Apache-2.0
"""How a metric is declared: one `metric(...)` line gives its meaning, unit and side; documents come from it.

A metric may be null; then the run's `metric_status` says why. Where a category is measured in the same way on both
sides, the category says the side and its fields inherit it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, get_args

from pqc_mav_bench.models import BaseModel, ConfigDict, Field


class Side(str, Enum):
    """Where a value is measured."""

    DRONE = "drone"
    GCS = "gcs"
    BOTH = "both"  # computed from what both sides measured
    CONTROLLER = "controller"  # the campaign's own bookkeeping
    CATEGORY = "category"  # as the category says


def metric(meaning: str, unit: str = "", side: Side = Side.CATEGORY, *, zero: str = "", source: str = "") -> Any:
    """A field of a category.

    Args:
        meaning: one phrase for a reader.
        unit: UCUM-like ("ms", "B", "count", "1" for ratios); "" for texts and flags.
        side: who measures it.
        zero: why zero is the normal value (then a zero is noted as `zero_by_nature`).
        source: where it comes from when the name does not say.
    """
    extra: dict[str, Any] = {"unit": unit, "side": side.value}
    if zero:
        extra["zero"] = zero
    if source:
        extra["source"] = source
    return Field(default=None, description=meaning, json_schema_extra=extra)


class Category(BaseModel):
    """Base of the 18 categories."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True, allow_inf_nan=False)

    letter: ClassVar[str]
    title: ClassVar[str]
    side: ClassVar[Side] = Side.DRONE


@dataclass(frozen=True)
class MetricField:
    """One field as the documents show it; `path` is `category.field`, the column of the tidy table."""

    path: str
    letter: str
    category: str
    name: str
    kind: str
    unit: str
    side: Side
    meaning: str
    zero: str
    source: str

    @property
    def numeric(self) -> bool:
        """Whether the tidy table holds it as a number (flags as 0 and 1)."""
        return self.kind in ("number", "integer", "flag")

    @property
    def flat(self) -> bool:
        """Whether the tidy table has a column for it at all."""
        return self.numeric or self.kind == "text"


_KINDS: dict[type, str] = {float: "number", int: "integer", bool: "flag", str: "text"}


def _kind(info: Any) -> str:
    inner = next((part for part in get_args(info.annotation) if part is not type(None)), info.annotation)
    return _KINDS.get(inner, "structure") if isinstance(inner, type) else "structure"


def fields_of(name: str, category: type[Category]) -> Iterator[MetricField]:
    """The fields of a category that the run model holds under `name`."""
    for field, info in category.model_fields.items():
        extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
        side = Side(str(extra.get("side", Side.CATEGORY.value)))
        yield MetricField(
            path=f"{name}.{field}",
            letter=category.letter,
            category=name,
            name=field,
            kind=_kind(info),
            unit=str(extra.get("unit", "")),
            side=category.side if side is Side.CATEGORY else side,
            meaning=info.description or "",
            zero=str(extra.get("zero", "")),
            source=str(extra.get("source", "")),
        )
