# SPDX-License-Identifier: Apache-2.0
"""One run's metrics: all categories, the status of what is missing or odd, findings and the hash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from pqc_mav_bench.models import BaseModel, ConfigDict, Field, ValidationError
from pqc_mav_bench.schema.field import Category, MetricField, category, fields
from pqc_mav_bench.schema.history import BEFORE, SCHEMA_VERSION, as_today

#: The categories by the name under which a run holds them, in the order of their letters: name of the model, and what
#: it is about.
_CATEGORIES = {
    "run_context": ("RunContext", "what identifies a run and the machines it ran on."),
    "crypto_identity": ("CryptoIdentity", "the algorithms of the suite."),
    "lifecycle": ("Lifecycle", "the phases of the run, on the controller's monotonic clock."),
    "handshake": (
        "Handshake",
        "the handshakes of the suite, as each end timed them: the one that brought it up, and renewals.",
    ),
    "crypto_primitives": (
        "CryptoPrimitives",
        "the primitives inside those handshakes, each at the end that ran it: medians over them.",
    ),
    "rekey": (
        "Rekey",
        "the live suite change, and the overhead Phi(R) = T_hs / (R + T_hs) of repeating it every R seconds.",
    ),
    "data_plane": (
        "DataPlane",
        "the proxies' own counters over the run. Received = delivered + control + the six drops.",
    ),
    "latency_jitter": ("LatencyJitter", "round trips and one-way delays through the tunnel during the data time."),
    "mavproxy_drone": (
        "MavProxyDrone",
        "MAVLink at the drone's end (of the simulated vehicle if there is no autopilot).",
    ),
    "mavproxy_gcs": ("MavProxyGcs", "MAVLink at the ground's end."),
    "mavlink_integrity": (
        "MavLinkIntegrity",
        "what one end sent against what the other received, suite change included.",
    ),
    "system_drone": ("SystemDrone", "load of the drone's computer."),
    "system_gcs": ("SystemGcs", "load of the ground's computer."),
    "power_energy": (
        "PowerEnergy",
        "electrical power of the drone's computer during the data time, from the sensing node.",
    ),
    "network": ("NetworkInterface", "counters of the network interface that carries the tunnel, over the whole run."),
    "clock_sync": ("ClockSync", "the exchange of time stamps before the run: delta = ((t2 - t1) + (t3 - t4)) / 2."),
    "workload": ("Workload", "what traffic was offered and what arrived. Rates are of UDP payload, without headers."),
    "validation": (
        "Validation",
        "what the sanity checks of this run said; their sentences are in `findings` of the file.",
    ),
}


class SchemaError(Exception):
    """A metrics file that does not fit the schema: one sentence."""


class StatusKind(str, Enum):
    """Why a value is missing or needs an explanation."""

    UNAVAILABLE = "unavailable"  # could not be measured here
    NOT_APPLICABLE = "not_applicable"  # has no meaning in this run
    FAILED = "failed"  # should have been measured; the run failed before or at it
    ZERO_BY_NATURE = "zero_by_nature"
    ANOMALOUS = "anomalous"
    MODELLED = "modelled"  # computed by a model, not measured
    EMULATED = "emulated"  # stands for something that was not there
    POOLED = "pooled"  # was done ahead of time, outside what was measured


class MetricStatus(BaseModel):
    """Status of one field and the reason for a reader."""

    model_config = ConfigDict(extra="forbid", use_enum_values=True)

    status: StatusKind
    reason: str = Field(min_length=1)


class Severity(str, Enum):
    """How bad a finding is: an error makes a run unusable, a warning is for the reader."""

    ERROR = "error"
    WARNING = "warning"


class Finding(BaseModel):
    """What a check found: its name, one sentence, and the fields concerned."""

    model_config = ConfigDict(extra="forbid", use_enum_values=True)

    name: str
    severity: Severity
    message: str
    fields: list[str] = Field(default_factory=list)


class Integrity(BaseModel):
    """SHA-256 over the canonical JSON of the file without `sha256` itself."""

    model_config = ConfigDict(extra="forbid")

    algorithm: str = "sha256"
    canonical: str = "JSON, keys sorted, no spaces, UTF-8, shortest numbers"
    sha256: str = ""


_MADE: dict[str, type[Category]] = {
    name: category(model, letter, about, (each for each in fields() if each.category == name))
    for letter, (name, (model, about)) in zip("ABCDEFGHIJKLMNOPQR", _CATEGORIES.items(), strict=True)
}

if TYPE_CHECKING:

    class _Figures(BaseModel):
        schema_version: str = SCHEMA_VERSION

        def __getattr__(self, name: str) -> Category: ...

else:
    _KINDS = {"schema_version": str, **_MADE}
    _EMPTY = {name: kind() for name, kind in _KINDS.items()} | {"schema_version": SCHEMA_VERSION}
    _Figures = type(BaseModel)("_Figures", (BaseModel,), {"__annotations__": _KINDS, "__module__": __name__, **_EMPTY})


class RunMetrics(_Figures):
    """Everything one run measured, as `metrics.json` holds it."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    metric_status: dict[str, MetricStatus] = Field(default_factory=dict)
    findings: list[Finding] = Field(default_factory=list)
    integrity: Integrity = Integrity()

    def value(self, path: str) -> Any:
        """The value at `category.field`."""
        category, _, field = path.partition(".")
        return getattr(getattr(self, category), field)


def categories() -> dict[str, type[Category]]:
    """The 18 categories by the name under which a run holds them, in the order of their letters."""
    return dict(_MADE)


def all_fields() -> Iterator[MetricField]:
    """Every metric of every category, in order."""
    yield from fields()


def parse_run(data: Any, where: str = "") -> RunMetrics:
    """A run out of parsed JSON, of this schema version or an older one.

    Raises SchemaError with the first thing that does not fit.
    """
    at = f"{where}: " if where else ""
    if not isinstance(data, Mapping):
        raise SchemaError(f"{at}this is not a metrics file: its top level is no JSON object.")
    version = data.get("schema_version")
    data = as_today(data)
    if data.get("schema_version") != SCHEMA_VERSION:
        raise SchemaError(
            f"{at}this file is of schema version {version!r}; this release reads "
            f"{', '.join(map(repr, BEFORE))} and {SCHEMA_VERSION!r}. "
            "Read it with the PQC-MAV release that wrote it."
        )
    try:
        return RunMetrics.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise SchemaError(f"{at}{path}: {first['msg']} ({len(error.errors())} problems in all).") from None
