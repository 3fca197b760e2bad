# SPDX-License-Identifier: Apache-2.0
"""One run's metrics: all categories, the status of what is missing or odd, findings and the hash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from pqc_mav_bench.models import BaseModel, ConfigDict, Field, ValidationError
from pqc_mav_bench.schema.context import CryptoIdentity, Lifecycle, RunContext
from pqc_mav_bench.schema.field import Category, MetricField, fields_of
from pqc_mav_bench.schema.handshake import CryptoPrimitives, Handshake, Rekey
from pqc_mav_bench.schema.history import BEFORE, SCHEMA_VERSION, as_today
from pqc_mav_bench.schema.judgement import Validation, Workload
from pqc_mav_bench.schema.machine import ClockSync, NetworkInterface, PowerEnergy, SystemDrone, SystemGcs
from pqc_mav_bench.schema.traffic import DataPlane, LatencyJitter, MavLinkIntegrity, MavProxyDrone, MavProxyGcs


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


class RunMetrics(BaseModel):
    """Everything one run measured, as `metrics.json` holds it."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    schema_version: str = SCHEMA_VERSION
    run_context: RunContext = RunContext()
    crypto_identity: CryptoIdentity = CryptoIdentity()
    lifecycle: Lifecycle = Lifecycle()
    handshake: Handshake = Handshake()
    crypto_primitives: CryptoPrimitives = CryptoPrimitives()
    rekey: Rekey = Rekey()
    data_plane: DataPlane = DataPlane()
    latency_jitter: LatencyJitter = LatencyJitter()
    mavproxy_drone: MavProxyDrone = MavProxyDrone()
    mavproxy_gcs: MavProxyGcs = MavProxyGcs()
    mavlink_integrity: MavLinkIntegrity = MavLinkIntegrity()
    system_drone: SystemDrone = SystemDrone()
    system_gcs: SystemGcs = SystemGcs()
    power_energy: PowerEnergy = PowerEnergy()
    network: NetworkInterface = NetworkInterface()
    clock_sync: ClockSync = ClockSync()
    workload: Workload = Workload()
    validation: Validation = Validation()
    metric_status: dict[str, MetricStatus] = Field(default_factory=dict)
    findings: list[Finding] = Field(default_factory=list)
    integrity: Integrity = Integrity()

    def value(self, path: str) -> Any:
        """The value at `category.field`."""
        category, _, field = path.partition(".")
        return getattr(getattr(self, category), field)


def categories() -> dict[str, type[Category]]:
    """The 18 categories by the name under which a run holds them, in the order of their letters."""
    found: dict[str, type[Category]] = {}
    for name, info in RunMetrics.model_fields.items():
        kind = info.annotation
        if isinstance(kind, type) and issubclass(kind, Category):
            found[name] = kind
    return found


def all_fields() -> Iterator[MetricField]:
    """Every metric of every category, in order."""
    for name, category in categories().items():
        yield from fields_of(name, category)


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
            f"{at}this file is of schema version {version!r}; this release reads {BEFORE!r} and {SCHEMA_VERSION!r}. "
            "Read it with the PQC-MAV release that wrote it."
        )
    try:
        return RunMetrics.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise SchemaError(f"{at}{path}: {first['msg']} ({len(error.errors())} problems in all).") from None
