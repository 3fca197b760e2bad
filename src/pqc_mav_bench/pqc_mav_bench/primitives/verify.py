# SPDX-License-Identifier: Apache-2.0
"""Verifies a result of the primitive benchmark: hash, structure, and every figure from the samples beside it.

Needs nothing but the file, and the table where it was kept beside it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pqc_mav_bench.canonical import sha256
from pqc_mav_bench.models import BaseModel, ConfigDict, Field, ValidationError
from pqc_mav_bench.primitives.result import RESULT, TABLE, table
from pqc_mav_bench.primitives.samples import describe
from pqc_mav_bench.store import MANIFEST, read_json
from pqc_mav_bench.verify import Problem

#: Samples are kept with six digits, and figures were computed before they were cut.
_RTOL = 1e-4
_MEASURED = "measured"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class OperationRow(_Strict):
    """One operation: its samples [us] and what follows from them."""

    kind: Literal["KEM", "SIG", "AEAD", "overhead"]
    algorithm: str
    token: str | None
    operation: str
    payload_bytes: int | None
    inner: int = Field(ge=1)
    n: int = Field(ge=1)
    median_us: float
    ci_low_us: float
    ci_high_us: float
    mean_us: float
    std_us: float = Field(ge=0)
    min_us: float = Field(gt=0)
    p5_us: float
    p95_us: float
    max_us: float
    cycles_median: float | None
    energy_uj: float | None
    samples_us: list[float]

    @property
    def label(self) -> str:
        """The operation for a reader."""
        size = "" if self.payload_bytes is None else f" of {self.payload_bytes} B"
        return f"{self.algorithm} {self.operation}{size}"


class Method(_Strict):
    """How it was measured."""

    n: int = Field(ge=1)
    block: int
    warm_up_per_block: int
    order: str
    seed: int
    shortest_sample_us: float
    outliers: str
    interval: str
    signed_message_bytes: int


class Result(_Strict):
    """The whole file. `source` came later than the first files that are kept."""

    result_version: Literal["1.0"]
    started_at: str
    duration_s: float
    environment: dict[str, Any]
    source: dict[str, Any] = Field(default_factory=dict)
    clock_mhz: dict[str, Any]
    governor: str | None
    method: Method
    cycles_status: str
    energy_status: str
    idle_w: float | None
    operations: list[OperationRow]
    sha256: str


@dataclass(frozen=True)
class PrimitivesVerdict:
    """What a verification looked at and found."""

    file: Path
    operations: int
    samples: int
    problems: tuple[Problem, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.problems


def result_in(place: Path) -> Path | None:
    """The result that a path means: the file itself, or that in a folder which is no campaign; None for neither."""
    if place.name == RESULT and place.is_file():
        return place
    inside = place / RESULT
    return inside if inside.is_file() and not (place / MANIFEST).is_file() else None


def verify_primitives(path: Path) -> PrimitivesVerdict:
    """Everything in a result. Raises StoreError where it cannot be read."""
    document = read_json(path)
    if not isinstance(document, dict):
        return PrimitivesVerdict(path, 0, 0, (Problem("schema", path.name, "it holds no JSON object"),))
    problems: list[Problem] = []
    if document.get("sha256") != sha256({name: value for name, value in document.items() if name != "sha256"}):
        problems.append(Problem("hash", path.name, "the content does not have the SHA-256 it claims; it was changed"))
    try:
        result = Result.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        problems.append(Problem("schema", path.name, f"{place}: {first['msg']}"))
        return PrimitivesVerdict(path, 0, 0, tuple(problems))
    problems += [Problem("figures", path.name, said) for row in result.operations for said in _figures(row, result)]
    problems += [Problem("operations", path.name, said) for said in _operations(result)]
    kept = path.with_name(TABLE)
    if kept.is_file() and result.operations and kept.read_text(encoding="utf-8") != table(document):
        problems.append(Problem("table", TABLE, "the table is not what the result gives"))
    samples = sum(len(row.samples_us) for row in result.operations)
    return PrimitivesVerdict(path, len(result.operations), samples, tuple(problems))


def _figures(row: OperationRow, result: Result) -> Iterator[str]:
    if len(row.samples_us) != row.n or row.n != result.method.n:
        yield f"{row.label}: {len(row.samples_us)} samples, n {row.n}, and the method says {result.method.n}"
    if not row.samples_us or min(row.samples_us) <= 0:
        yield f"{row.label}: a sample is missing, or not above 0"
        return
    again = describe(row.samples_us)
    slack = _RTOL * float(again["median"])
    for name, value in again.items():
        if name == "n":
            continue
        stored = float(getattr(row, f"{name}_us"))
        if not math.isclose(stored, float(value), rel_tol=_RTOL, abs_tol=slack):
            yield f"{row.label}: {name}_us is {stored:g}, but the samples give {float(value):g}"


def _operations(result: Result) -> Iterator[str]:
    """Each once, and with cycles and energy where the file says that they were measured, and nowhere else."""
    if not result.operations:
        yield "there is no operation"
    labels = [row.label for row in result.operations]
    for label in sorted({each for each in labels if labels.count(each) > 1}):
        yield f"{label} is there more than once"
    for name, status in (("cycles_median", result.cycles_status), ("energy_uj", result.energy_status)):
        measured = status.startswith(_MEASURED)
        if any((getattr(row, name) is not None) != measured for row in result.operations):
            yield f"{name} does not fit to what the file says of it ('{status}')"
