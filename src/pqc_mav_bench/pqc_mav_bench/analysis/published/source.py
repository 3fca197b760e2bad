# SPDX-License-Identifier: Apache-2.0
"""The published documents, and the tables of theirs that are shipped with the package."""

import csv
import hashlib
import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import pandas as pd

from pqc_mav_common.packed import unpack


@dataclass(frozen=True)
class Document:
    """A document that describes the published system; `key` is how it is cited, as in docs/references.md."""

    key: str
    title: str
    about: str


DOCUMENTS = (
    Document(
        "rpi5-report",
        "PQC-MAV: A Complete Post-Quantum Cryptographic Tunnel for UAV–GCS Communication. Comprehensive Benchmark "
        "Report",
        "B. Güneysu, February 2026; 72 suites on a Raspberry Pi 5",
    ),
    Document(
        "pqcmav-paper",
        "PQC-MAV: A Complete Post-Quantum Cryptographic Tunnel for UAV–GCS Communication",
        "B. Güneysu, paper; 72 suites on a Raspberry Pi 5",
    ),
    Document(
        "rpi4-analysis",
        "PQC Drone–GCS Secure Proxy: Performance & Reliability Analysis",
        "October 16, 2025; 30 suites on a Raspberry Pi 4",
    ),
    Document(
        "endurance-paper",
        "Security vs. Endurance: An Adaptive Post-Quantum Framework for Power-Constrained UAVs",
        "Paper; 21 suites on a Raspberry Pi 4",
    ),
    Document(
        "rpi4-results",
        "Experimental Results and Performance Analysis",
        "Tables and trends of the 30 suites on a Raspberry Pi 4",
    ),
)


def _bytes(name: str) -> bytes:
    folder = files(__package__) / "data"
    if (plain := folder / f"{name}.csv").is_file():
        return plain.read_bytes()
    if (packed := folder / f"{name}.csv.gz").is_file():
        return unpack(packed.read_bytes())
    raise LookupError(f"there is no published table {name!r}")


@cache
def _table(name: str) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(_bytes(name)), dtype={"documents": str, "document": str})


def table(name: str) -> pd.DataFrame:
    """A fresh copy of a published table by its file name without suffix. Raises LookupError for an unknown name."""
    _bytes(name)
    return _table(name).copy()


def text_rows(name: str) -> list[dict[str, str]]:
    """The table's rows as printed text: '7.20' keeps its zero. Raises LookupError for an unknown name."""
    return list(csv.DictReader(io.StringIO(_bytes(name).decode("utf-8"))))


def sha256(name: str) -> str:
    """SHA-256 of the table, unpacked: what a report cites as the provenance of a published figure."""
    return hashlib.sha256(_bytes(name)).hexdigest()
