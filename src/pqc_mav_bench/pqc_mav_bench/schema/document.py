# SPDX-License-Identifier: Apache-2.0
"""docs/metrics.md, which `make docs` writes, and the JSON Schema, made out of the models."""

from typing import Any

from pqc_mav_bench.json_text import as_lines
from pqc_mav_bench.schema.history import SCHEMA_VERSION
from pqc_mav_bench.schema.run import RunMetrics, StatusKind, all_fields, categories

_HEAD = """\
# Metrics of a benchmark run

<!-- Made from src/pqc_mav_bench/pqc_mav_bench/schema: change metrics.csv there, then run `make docs`. -->

Schema version {version}; runs of versions 7.0 and 8.0 are read, too. A run is one `metrics.json`.
**[metrics.csv](metrics.csv)** has its {count} fields, each with unit, side, meaning, and when a zero is normal; `pqcmav
bench schema` prints the same as JSON Schema. Flattened as `category.field` they are the columns of a campaign's
`tidy.csv` and `tidy.parquet`, one row per run (structures are in the JSON only).

* A value that is null, a zero that is normal, and a value that is modelled, emulated or anomalous each have an entry in
  `metric_status` that says why: {statuses}.
* A figure has one name from the ROS message to the report, with its unit as the suffix. The side is the end that
  measures: `gcs_` is the ground's value, which never overwrites the drone's. `engine_` is what the engine's own probes
  measured, not the traffic. `down` is drone to ground, `up` ground to drone. Unit `1` is a ratio or plain number.
* Every good handshake of a run counts, also the first, which changes the suite: a session is up and traffic flows then,
  too. It cannot decide a comparison: of 30, the 95 % interval of the median reaches from the 10th to the 21st. To leave
  it out, drop `number` 1 of `handshakes.csv`.
* `findings` names what the sanity checks found; `integrity.sha256` is the SHA-256 of the canonical JSON (sorted keys,
  no spaces, UTF-8) of the file without that one value.

The categories, which `pqcmav bench schema` describes: {categories}.
"""


def json_schema() -> str:
    """The JSON Schema of a metrics file."""
    schema = RunMetrics.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"PQC-MAV run metrics {SCHEMA_VERSION}"
    for definition in schema["$defs"].values():
        found = definition.get("properties", {})
        definition["properties"] = {field: _plain(entry) for field, entry in found.items()}
    return as_lines(schema, 4) + "\n"


def _plain(entry: dict[str, Any]) -> dict[str, Any]:
    """A metric's schema without what says nothing: pydantic's title, the default null, "T or null" in two schemas."""
    kinds = [option.get("type") for option in entry.get("anyOf", ())]
    if len(kinds) == 2 and kinds[1] == "null" and set(entry["anyOf"][0]) == {"type"}:
        entry = {"type": kinds, **{name: value for name, value in entry.items() if name != "anyOf"}}
    silent = {"title": entry.get("title"), "default": None}
    return {name: value for name, value in entry.items() if name not in silent or value != silent[name]}


def page() -> str:
    """The whole text of docs/metrics.md."""
    statuses = ", ".join(f"`{kind.value}`" for kind in StatusKind)
    names = ", ".join(f"{kind.letter} `{name}`" for name, kind in categories().items())
    return _HEAD.format(version=SCHEMA_VERSION, count=len(list(all_fields())), statuses=statuses, categories=names)
