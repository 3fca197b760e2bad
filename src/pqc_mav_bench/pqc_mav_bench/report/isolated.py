# SPDX-License-Identifier: Apache-2.0
"""The primitive benchmark's results: every algorithm's operations alone, from the primitives.json.gz it wrote."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pqc_mav_bench.analysis.estimate import Estimate
from pqc_mav_bench.canonical import file_sha256
from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.primitives.result import RESULT, check
from pqc_mav_bench.report.blocks import Source
from pqc_mav_bench.source import kept_by, words
from pqc_mav_bench.store import read_json


@dataclass(frozen=True)
class PrimitiveResults:
    """One row per operation: kind (kem, sig, aead), algorithm, operation, payload_bytes, n, median_us, ci_low_us,
    ci_high_us."""

    frame: pd.DataFrame
    method: str
    sources: Sequence[Source]

    def table(self, kind: str) -> pd.DataFrame:
        """One row per algorithm (and payload size), one column per operation: the median with its 95 % interval in
        µs."""
        rows = self.frame[self.frame["kind"].str.lower() == kind]
        if not len(rows):
            return pd.DataFrame()
        key = ["algorithm", "payload_bytes"] if kind == "aead" else ["algorithm"]
        wide = rows.pivot_table(
            index=key, columns="operation", values=["median_us", "ci_low_us", "ci_high_us"], sort=False
        )
        shown = pd.DataFrame(index=wide.index)
        for operation in rows["operation"].unique():
            name = str(operation).capitalize()
            shown[f"{name} (µs)"] = wide["median_us", operation]
            shown[f"{name} 95 % low"] = wide["ci_low_us", operation]
            shown[f"{name} 95 % high"] = wide["ci_high_us", operation]
        headings = {"algorithm": "Algorithm", "payload_bytes": "Payload (B)"}
        return shown.reset_index().rename(columns=headings)

    def leading(self, kind: str) -> str:
        """The first operation of a kind: key generation, or encryption."""
        rows = self.frame[self.frame["kind"].str.lower() == kind]
        return str(rows["operation"].iloc[0]) if len(rows) else ""

    def median_us(self, algorithm: str, operation: str) -> float:
        """Median of one operation [µs], of the smallest payload; NaN where it was not timed."""
        rows = self.frame[(self.frame["algorithm"] == algorithm) & (self.frame["operation"] == operation)]
        return float(rows.sort_values("payload_bytes", kind="stable")["median_us"].iloc[0]) if len(rows) else math.nan

    def leading_estimates(self, kind: str) -> dict[str, Estimate]:
        """Each algorithm's median of the leading operation with its interval [ms]; the smallest payload of a cipher."""
        rows = self.frame[(self.frame["kind"].str.lower() == kind) & (self.frame["operation"] == self.leading(kind))]
        smallest = rows.sort_values("payload_bytes", kind="stable").drop_duplicates("algorithm")
        return {
            str(r.algorithm): Estimate(*(float(us) / 1e3 for us in (r.median_us, r.ci_low_us, r.ci_high_us)))
            for r in smallest.itertuples()
        }


def read_primitives(run_dir: Path) -> PrimitiveResults | None:
    """The results in a campaign's folder, next to it, in `primitives` next to it, where 'pqcmav bench primitives' puts
    them, or among the quick campaigns next to it; None where there are none. Raises StoreError for a changed file."""
    parent = run_dir.parent
    places = (run_dir, parent, parent / "primitives", parent / "campaign-quick" / "primitives")
    path = next((folder / RESULT for folder in places if (folder / RESULT).is_file()), None)
    if path is None:
        return None
    document = read_json(path)
    check(document)
    kept = ["kind", "algorithm", "operation", "payload_bytes", "n", "median_us", "ci_low_us", "ci_high_us"]
    try:
        frame = pd.DataFrame(document["operations"])[kept]
        method = document["method"]
        text = (
            f"n = {method['n']} per operation, {method['order']}, outliers {method['outliers']}, interval "
            f"{method['interval']}"
        )
    except KeyError as error:
        raise StoreError(f"{path} lacks {error}; it was written by another version of the benchmark.") from None
    source = Source(path.name, file_sha256(path.read_bytes()), _about(document, path))
    return PrimitiveResults(frame, text, (source,))


def _about(document: Mapping[str, Any], path: Path) -> str:
    """How the operations were measured: N, machine, command, commit."""
    machine = dict(document.get("environment") or {}).get("cpu_model") or "machine not named"
    n, found = document["method"]["n"], document.get("source") or {}
    if found:
        commit = words(found)
    else:
        kept = kept_by(path)
        commit = f"commit not recorded{f', kept since {kept[:12]}' if kept else ''}"
    return (
        f"Measured (operations alone): N = {n} of each operation; {machine}; pqcmav bench primitives --n {n}; {commit}"
    )
