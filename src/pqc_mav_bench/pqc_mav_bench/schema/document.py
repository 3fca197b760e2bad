# SPDX-License-Identifier: Apache-2.0
"""JSON Schema and the page docs/metrics.md, both made out of the models.

tools/run python -m pqc_mav_bench.schema.document docs/metrics.md docs/metrics.schema.json [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pqc_mav_bench.schema.field import fields_of
from pqc_mav_bench.schema.run import SCHEMA_VERSION, RunMetrics, StatusKind, categories

_HEAD = """\
# Metrics of a benchmark run

<!-- Made from src/pqc_mav_bench/pqc_mav_bench/schema: change the models, then run
     tools/run python -m pqc_mav_bench.schema.document docs/metrics.md docs/metrics.schema.json -->

Schema version {version}; campaigns recorded under version 1 are read with these names. A run is one `metrics.json`:
{count} fields in 18 categories, A to R. The same fields, flattened as `category.field`, are the columns of a campaign's
`tidy.csv` and `tidy.parquet`, one row per run (structures such as counts by type are in the JSON only).
[metrics.schema.json](metrics.schema.json) is the JSON Schema.

* A value that is null has an entry in `metric_status` that says why; so has a zero that is normal ("zero" below) and a
  value that is modelled, emulated or anomalous. Statuses: {statuses}.
* A figure has one name from the ROS message to the report, with its unit as the suffix; where the report shows another
  unit, only the suffix differs (`seal_mean_ns`, `seal_mean_us`). Prefixes: `gcs_` is the ground's value, which never
  overwrites the drone's; `engine_` is what the engine's own probes measured, not the traffic.
* `down` is drone to ground, `up` ground to drone. Unit `1` is a plain ratio or number.
* `findings` names what the sanity checks found; `integrity.sha256` is the SHA-256 of the canonical JSON (sorted keys,
  no spaces, UTF-8) of the file without that one value.
"""


def json_schema() -> str:
    """The JSON Schema of a metrics file."""
    schema = RunMetrics.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = f"PQC-MAV run metrics {SCHEMA_VERSION}"
    for definition in schema["$defs"].values():
        for entry in definition.get("properties", {}).values():
            entry.pop("title", None)  # pydantic derives it from the name and it says nothing more
    return _lines(schema, 4) + "\n"


def _lines(value: Any, depth: int) -> str:
    """JSON that opens objects onto lines of their own down to `depth`: one line per metric, so that changes show."""
    if depth == 0 or not isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    inner = (f"{json.dumps(name)}: {_lines(value[name], depth - 1)}" for name in sorted(value))
    return "{\n" + ",\n".join(inner) + "\n}"


def page() -> str:
    """The whole text of docs/metrics.md."""
    every = [(name, kind, list(fields_of(name, kind))) for name, kind in categories().items()]
    statuses = ", ".join(f"`{kind.value}`" for kind in StatusKind)
    lines = [_HEAD.format(version=SCHEMA_VERSION, count=sum(len(f) for _, _, f in every), statuses=statuses)]
    for name, kind, fields in every:
        about = " ".join((kind.__doc__ or "").split()).partition(": ")[2]
        lines += [f"## {kind.letter} {kind.title}", "", f"`{name}`: {about}", ""]
        lines += ["| field | unit | side | meaning |", "|---|---|---|---|"]
        for field in fields:
            meaning = field.meaning + (f" (zero: {field.zero})" if field.zero else "")
            unit = field.unit or {"text": "text", "flag": "flag"}.get(field.kind, "1")
            lines.append(f"| `{field.name}` | {unit} | {field.side.value} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes both files, or compares them with `--check`. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Writes the documents of the metrics schema.")
    parser.add_argument("page", type=Path)
    parser.add_argument("schema", type=Path)
    parser.add_argument("--check", action="store_true", help="only compare; exit code 1 when one is out of date")
    given = parser.parse_args(arguments)
    for path, text in ((given.page, page()), (given.schema, json_schema())):
        if not given.check:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"error: {path} is out of date; the same command without --check renews it", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
