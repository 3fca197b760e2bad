# SPDX-License-Identifier: Apache-2.0
"""The page docs/metrics.md, which `make docs` writes, and the JSON Schema, both made out of the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pqc_mav_bench.json_text import as_lines
from pqc_mav_bench.schema.field import MetricField, Side, fields_of
from pqc_mav_bench.schema.history import SCHEMA_VERSION
from pqc_mav_bench.schema.run import RunMetrics, StatusKind, categories

_HEAD = """\
# Metrics of a benchmark run

<!-- Made from src/pqc_mav_bench/pqc_mav_bench/schema: change the models, then run `make docs`. -->

Schema version {version}; runs of version 7.0 are read, too. A run is one `metrics.json` of {count} fields in 18
categories, A to R; flattened as `category.field` they are the columns of a campaign's `tidy.csv` and `tidy.parquet`,
one row per run (structures are in the JSON only). `pqcmav bench schema` prints the JSON Schema.

* A value that is null, a zero that is normal, and a value that is modelled, emulated or anomalous each have an entry in
  `metric_status` that says why: {statuses}.
* A figure has one name from the ROS message to the report. Its unit is the suffix or in brackets (`1`: a ratio or plain
  number); without either it is a text. The side that measures is in brackets, too, if it is not the category's.
* The ground's value never overwrites the drone's: "and `gcs_`" stands for a second field. `engine_` is what the
  engine's own probes measured, not the traffic. `down` is drone to ground, `up` ground to drone.
* Every good handshake of a run counts, also the first, which changes the suite: a session is up and traffic flows then,
  too. It cannot decide a comparison: of 30, the 95 % interval of the median reaches from the 10th to the 21st. To leave
  it out, drop `number` 1 of `handshakes.csv`.
* `findings` names what the sanity checks found; `integrity.sha256` is the SHA-256 of the canonical JSON (sorted keys,
  no spaces, UTF-8) of the file without that one value.
"""


def json_schema() -> str:
    """The JSON Schema of a metrics file."""
    schema = RunMetrics.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"PQC-MAV run metrics {SCHEMA_VERSION}"
    sides = {kind.__name__: kind.side.value for kind in categories().values()}
    for name, definition in schema["$defs"].items():
        found = definition.get("properties", {})
        definition["properties"] = {field: _plain(entry, sides.get(name, "")) for field, entry in found.items()}
    return as_lines(schema, 4) + "\n"


def _plain(entry: dict[str, Any], side: str) -> dict[str, Any]:
    """A metric's schema without what says nothing: pydantic's title, the default null, "T or null" in two schemas."""
    kinds = [option.get("type") for option in entry.get("anyOf", ())]
    if len(kinds) == 2 and kinds[1] == "null" and set(entry["anyOf"][0]) == {"type"}:
        entry = {"type": kinds, **{name: value for name, value in entry.items() if name != "anyOf"}}
    if entry.get("side") == Side.CATEGORY.value:
        entry = {**entry, "side": side}
    silent = {"title": entry.get("title"), "default": None}
    return {name: value for name, value in entry.items() if name not in silent or value != silent[name]}


def _is_twin(field: MetricField, found: Mapping[str, MetricField]) -> bool:
    """Whether the ground's field says of itself what the drone's says."""
    other = found.get(field.name.removeprefix("gcs_"))
    return other is not None and other is not field and (other.meaning, other.unit) == (field.meaning, field.unit)


def _side(field: MetricField, found: Mapping[str, MetricField]) -> str:
    """The side that measures a field, and whether the ground's of that name says the same of itself."""
    twin = found.get(f"gcs_{field.name}")
    return field.side.value + (" and `gcs_`" if twin is not None and _is_twin(twin, found) else "")


def _unit(field: MetricField) -> str:
    """The unit, unless the suffix says it."""
    unit = field.unit or {"text": "", "flag": "flag"}.get(field.kind, "1")
    return "" if field.name.endswith(f"_{unit.lower()}") or (unit, field.name[-6:]) == ("B", "_bytes") else unit


def page() -> str:
    """The whole text of docs/metrics.md."""
    every = [(name, kind, list(fields_of(name, kind))) for name, kind in categories().items()]
    statuses = ", ".join(f"`{kind.value}`" for kind in StatusKind)
    lines = [_HEAD.format(version=SCHEMA_VERSION, count=sum(len(f) for _, _, f in every), statuses=statuses)]
    for name, kind, fields in every:
        about = " ".join((kind.__doc__ or "").split()).partition(": ")[2]
        found = {field.name: field for field in fields}
        shown = [(field, _side(field, found)) for field in fields if not _is_twin(field, found)]
        usual = Counter(side for _, side in shown).most_common(1)[0][0]
        lines += [f"## {kind.letter} {kind.title}", "", f"`{name}` ({usual}): {about}", ""]
        for field, side in shown:
            of = ", ".join(filter(None, (_unit(field), "" if side == usual else side)))
            lines.append(f"* `{field.name}`{f' ({of})' if of else ''}: {field.meaning}")
        lines.append("")
    return "\n".join(lines)
