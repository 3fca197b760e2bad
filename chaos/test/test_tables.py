# SPDX-License-Identifier: Apache-2.0
"""How the laboratory's tables show a figure."""

from __future__ import annotations

import argparse
from pathlib import Path

import lab
import pytest
import tables
from verdicts import Observation

from pqc_mav_bench.analysis.statistics import shown_mean


def test_an_interval_needs_two_runs() -> None:
    assert shown_mean([3.0]) == "3.0"
    assert shown_mean([3.0, 5.0], 1) == "4.0 ± 12.7"
    assert shown_mean([3.0, 5.0], 0) == "4 ± 13"


def test_a_part_replaces_no_page_on_record(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record, own = tmp_path / "record", tmp_path / "own"
    monkeypatch.setattr(tables, "RESULTS", record)
    tables.keep(str(record), "page", "whole", {}, part=False)
    for folder in (record, own):
        tables.publish(str(folder), "page", "part", {}, part=True)
    assert [(folder / "page.md").read_text() for folder in (record, own)] == ["whole", "part"]
    assert capsys.readouterr().out.count("the page on record stays") == 1


def test_a_part_is_known_as_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    monkeypatch.setattr(lab, "need_root", lambda: "")
    monkeypatch.setattr("laboratory.Laboratory.run", lambda *_: Observation())
    lab.run(argparse.Namespace(list=False, only="loss-0,cut-30", quick=False, seed=1, output=str(tmp_path)))
    assert not list(tmp_path.iterdir())
