# SPDX-License-Identifier: Apache-2.0
"""The primitive benchmark's files: written, signed and checked. Needs neither the engine nor liboqs."""

import csv
import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pqc_mav_bench.canonical import sha256
from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.json_text import as_lines, rounded
from pqc_mav_bench.primitives.samples import describe
from pqc_mav_bench.store import write_text

RESULT, TABLE = "primitives.json.gz", "primitives.csv"


def write(result: Mapping[str, Any], folder: Path) -> tuple[Path, Path]:
    """Writes primitives.json.gz and primitives.csv (without the samples). Raises StoreError."""
    write_text(folder / RESULT, as_lines(result, 2) + "\n")
    write_text(folder / TABLE, table(result))
    return folder / RESULT, folder / TABLE


def table(result: Mapping[str, Any]) -> str:
    """The operations as CSV, without the samples."""
    buffer = io.StringIO()
    rows = [{name: value for name, value in row.items() if name != "samples_us"} for row in result["operations"]]
    writer = csv.DictWriter(buffer, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def named(result: Mapping[str, Any], machine: str) -> dict[str, Any]:
    """The same result with another name for the machine, signed anew."""
    content = {name: value for name, value in result.items() if name != "sha256"}
    machine_facts = dict(content["environment"])
    machine_facts["kernel"] = str(machine_facts["kernel"]).partition("-")[0]  # what follows names the builder
    content["environment"] = {**machine_facts, "host": machine}
    return signed(content)


def signed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the digits that were measured and the SHA-256 of its canonical form."""
    kept = rounded({name: value for name, value in content.items() if name != "sha256"})
    return {**kept, "sha256": sha256(kept)}


def check(result: Mapping[str, Any]) -> None:
    """Raises StoreError when the document is not what was written, or its figures do not follow from its samples."""
    content = {name: value for name, value in result.items() if name != "sha256"}
    if result.get("sha256") != sha256(content):
        raise StoreError(
            "The primitive benchmark's result was changed: its content does not have the SHA-256 it claims."
        )
    for row in result["operations"]:
        again = describe(row["samples_us"])
        if not math.isclose(float(again["median"]), row["median_us"], rel_tol=1e-4):
            raise StoreError(f"{row['algorithm']} {row['operation']}: the median does not follow from the samples.")
