"""Reads the published tables shipped with the package."""

from __future__ import annotations

import csv
import hashlib
import io
from functools import cache
from importlib.resources import files

import pandas as pd

#: Documents by the number that the CSV files and notes use.
DOCUMENTS = {
    "000": "Comprehensive Benchmark Report (Raspberry Pi 5, Feb 2026)",
    "001": "PQC-MAV paper (Raspberry Pi 5)",
    "002": "Performance and Reliability Analysis (Raspberry Pi 4, Oct 2025)",
    "003": "Security vs. Endurance paper (Raspberry Pi 4)",
    "004": "Experimental Results and Performance Analysis (Raspberry Pi 4)",
}


def _bytes(name: str) -> bytes:
    path = files(__package__) / "data" / f"{name}.csv"
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise LookupError(f"there is no published table {name!r}") from None


@cache
def _table(name: str) -> pd.DataFrame:
    with (files(__package__) / "data" / f"{name}.csv").open(encoding="utf-8") as stream:
        return pd.read_csv(stream, dtype={"documents": str, "document": str})


def table(name: str) -> pd.DataFrame:
    """A fresh copy of a published table by its file name without suffix. Raises LookupError for an unknown name."""
    _bytes(name)
    return _table(name).copy()


def text_rows(name: str) -> list[dict[str, str]]:
    """The table's rows as printed text: '7.20' keeps its zero. Raises LookupError for an unknown name."""
    return list(csv.DictReader(io.StringIO(_bytes(name).decode("utf-8"))))


def sha256(name: str) -> str:
    """SHA-256 of the table's file: what a report cites as the provenance of a published figure."""
    return hashlib.sha256(_bytes(name)).hexdigest()
