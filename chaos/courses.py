# SPDX-License-Identifier: Apache-2.0
"""What real autopilots and their ground software sent in one flight: when, which way, and how large the datagrams were.

A file has no content, only `time_ms,way,bytes`, way 0 down to the ground and 1 up (messages.py), in order of time.
"""

import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import messages

from pqc_mav_common.atomic_file import atomic_write

FOLDER = Path(__file__).resolve().parent.parent / "bench" / "results" / "telemetry"
MADE = FOLDER.parents[2] / "build" / "telemetry"  # of a flight that is not on record
_HEAD = ("time_ms", "way", "bytes")


@dataclass(frozen=True)
class Course:
    """One way of a flight that begins anew after `span_s`: datagrams at `times_s` of `sizes` bytes."""

    span_s: float
    times_s: Sequence[float]
    sizes: Sequence[int]


def file_of(autopilot: str, folder: Path = FOLDER) -> Path:
    """Where the flight of an autopilot is, or will be."""
    return folder / f"{autopilot}.csv.gz"


def write(path: Path, datagrams: Iterable[tuple[float, int, int]]) -> None:
    """Keep a flight: (seconds, way, bytes) of each datagram."""
    rows = sorted(datagrams)
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(_HEAD)
    lines.writerows((round((at - rows[0][0]) * 1000), way, size) for at, way, size in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, gzip.compress(text.getvalue().encode(), mtime=0))


def keep(autopilot: str) -> None:
    """Put the newest flight of an autopilot on record."""
    FOLDER.mkdir(exist_ok=True)
    atomic_write(file_of(autopilot), file_of(autopilot, MADE).read_bytes())


def read(path: Path, way: int) -> Course:
    """One way of it; each datagram is as large as the laboratory's smallest message at least."""
    rows = list(csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))
    mine = [row for row in rows if int(row["way"]) == way]
    return Course(
        int(rows[-1]["time_ms"]) / 1000.0,
        [int(row["time_ms"]) / 1000.0 for row in mine],
        [max(messages.LEAST_SIZE, int(row["bytes"])) for row in mine],
    )
