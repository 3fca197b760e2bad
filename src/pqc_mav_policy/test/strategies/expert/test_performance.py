# SPDX-License-Identifier: Apache-2.0
"""The table of measured performance: what is read, what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pqc_mav_policy.strategies.expert.performance import (
    COLUMNS,
    DEFAULT_FILE,
    Performance,
    PerformanceError,
    load,
    save,
)

HEAD = ",".join(COLUMNS)
GOOD = "cs-a-b-c,1.5,4.2,,0.01,bench,false"


def written(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_and_json_say_the_same(tmp_path: Path) -> None:
    row = Performance("cs-a-b-c", 1.5, 4.2, None, 0.01, "bench", False)
    assert load(written(tmp_path, f"{HEAD}\n{GOOD}\n"))["cs-a-b-c"] == row
    content = json.dumps([dict(zip(COLUMNS, ("cs-a-b-c", 1.5, 4.2, None, 0.01, "bench", False), strict=True))])
    assert load(written(tmp_path, content, "table.json"))["cs-a-b-c"] == row


def test_a_figure_may_be_nothing(tmp_path: Path) -> None:
    assert load(written(tmp_path, f"{HEAD}\ncs-a,1.5,0,,0,bench,false\n"))["cs-a"].power_w == 0.0


def test_what_is_saved_is_read_back_and_nothing_else_is_left(tmp_path: Path) -> None:
    rows = list(load(DEFAULT_FILE).values())
    save(tmp_path / "out.csv", rows)
    assert list(load(tmp_path / "out.csv").values()) == rows
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_bytes().count(b"\r") == 0


def test_sources_are_named_once() -> None:
    assert load(DEFAULT_FILE).sources == ("published: [rpi4-results] Tables 4, 7, 8 (Raspberry Pi 4, Lightweight)",)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected the columns"),
        (f"{HEAD}\n", "lists no suite"),
        ("suite,handshake_ms\na,1\n", "expected the columns"),
        (f"{HEAD}\n{GOOD}\n{GOOD}\n", "row 2: cs-a-b-c is listed twice"),
        (f"{HEAD}\ncs-a,,4.2,,,bench,false\n", "row 1: handshake_ms is missing"),
        (f"{HEAD}\ncs-a,-1,4.2,,,bench,false\n", "handshake_ms is -1"),
        (f"{HEAD}\ncs-a,nan,4.2,,,bench,false\n", "handshake_ms is nan"),
        (f"{HEAD}\ncs-a,fast,4.2,,,bench,false\n", "could not convert"),
        (f"{HEAD}\ncs-a,1,4.2,,2,bench,false\n", "loss is 2"),
        (f"{HEAD}\ncs-a,1,4.2,,,,false\n", "must be named"),
        (f"{HEAD}\ncs-a,1,4.2,,,bench,maybe\n", "simulated must be"),
        (f"{HEAD}\ncs-a,1,4.2\n", "row 1"),
        (f"{HEAD}\n{GOOD},more\n", "row 1"),
        pytest.param(f"{HEAD}\n{'x' * 200_000}\n", "not valid CSV: field larger", id="a long field"),
    ],
)
def test_bad_csv_is_refused_with_file_and_row(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(PerformanceError, match=complaint) as caught:
        load(written(tmp_path, text))
    assert "table.csv" in str(caught.value)


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"suite": "a"}]', "[]", pytest.param("[" * 100_000, id="deep")])
def test_bad_json_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(PerformanceError, match=r"table\.json"):
        load(written(tmp_path, text, "table.json"))


def test_missing_binary_and_huge_files_and_what_is_no_file_are_refused(tmp_path: Path) -> None:
    """Of a pipe nobody would see the end: a running policy reads what its parameter is set to."""
    os.mkfifo(tmp_path / "pipe.csv")
    for name in ("pipe.csv", "."):
        with pytest.raises(PerformanceError, match="is not a file"):
            load(tmp_path / name)
    with pytest.raises(PerformanceError, match="Cannot read"):
        load(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PerformanceError, match="Cannot read"):
        load(tmp_path / "binary.csv")
    with pytest.raises(PerformanceError, match="larger than"):
        load(written(tmp_path, " " * (4 * 2**20 + 1)))
