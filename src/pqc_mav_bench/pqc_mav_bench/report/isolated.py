"""The primitive benchmark's results: every algorithm's operations alone, as the campaign's folder holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from pqc_mav_bench.report.blocks import Source


@dataclass(frozen=True)
class PrimitiveResults:
    """One row per operation, columns as the report prints them, `Kind` first (KEM, SIG, AEAD)."""

    frame: pd.DataFrame
    sources: Sequence[Source]

    def kind(self, name: str) -> pd.DataFrame:
        """The rows of one kind, without the column that says so."""
        return self.frame[self.frame["Kind"] == name].drop(columns="Kind").dropna(axis=1, how="all")


def read_primitives(run_dir: Path) -> PrimitiveResults | None:
    """The results beside a campaign, or None where it has none."""
    return None
