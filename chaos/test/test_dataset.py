# SPDX-License-Identifier: Apache-2.0
"""The data set: seeds, and that three hours of normal traffic are kept from every training."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dataset
import pytest


def option(part: dataset.Part, name: str) -> str:
    return part.options[part.options.index(name) + 1]


def test_every_part_has_a_name_and_a_seed_of_its_own() -> None:
    made = dataset.parts()
    assert len({part.name for part in made}) == len({option(part, "--seed") for part in made}) == len(made)
    assert {part.name.split("-")[0] for part in made} == {dataset.TRAIN, dataset.TEST}


def test_each_part_has_its_place_in_the_order() -> None:
    for part in dataset.parts():
        assert sum(each in part.name for each in dataset.LONGEST) == 1, part.name


def test_what_takes_the_processors_from_others_is_recorded_alone_and_last(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    running, most, order = [0], {}, []

    def start(folder: Path, part: dataset.Part) -> Any:
        (folder / f"{part.name}.part.parquet").write_bytes(b"")
        running[0] += 1
        order.append(part.alone)
        most[part.alone] = max(most.get(part.alone, 0), running[0])
        turns = iter((None, None, 0))

        def poll() -> int | None:
            done = next(turns)
            running[0] -= done is not None
            return done

        return SimpleNamespace(poll=poll, returncode=0)

    monkeypatch.setattr(dataset, "_start", start)
    monkeypatch.setattr(dataset, "POLL_S", 0.0)
    parser = argparse.ArgumentParser()
    dataset.arguments(parser)
    assert dataset.run(parser.parse_args(["--folder", str(tmp_path), "--profiles", "25,px4", "--splits", "test"])) == 0
    assert order == sorted(order) and most[True] == 1 and most[False] > 4
    assert not list(tmp_path.glob("train-*"))


def test_a_split_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    dataset.arguments(parser)
    assert dataset.run(parser.parse_args(["--folder", str(tmp_path), "--splits", "tests"])) == 2
    assert "no split tests; there are: train, test" in capsys.readouterr().out


def test_three_hours_of_normal_traffic_are_for_judging_alone() -> None:
    minutes = [float(option(part, "--minutes")) for part in dataset.parts() if part.name.startswith("test-normal")]
    assert sum(minutes) >= 180


def test_what_is_there_is_not_recorded_again_and_what_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def start(folder: Path, part: dataset.Part) -> Any:
        bad = part.name == "train-normal-25"
        if not bad:
            (folder / f"{part.name}.part.parquet").write_bytes(b"")
        return SimpleNamespace(poll=lambda: int(bad), returncode=int(bad))

    monkeypatch.setattr(dataset, "_start", start)
    monkeypatch.setattr(dataset, "POLL_S", 0.0)
    parser = argparse.ArgumentParser()
    dataset.arguments(parser)
    options = parser.parse_args(["--folder", str(tmp_path), "--profiles", "25"])
    (tmp_path / "train-attacks-25.parquet").write_bytes(b"")
    assert dataset.run(options) == 1
    said = capsys.readouterr().out
    assert "train-normal-25 failed" in said and "recorded train-attacks-25" not in said
    assert len(list(tmp_path.glob("*.parquet"))) == len(dataset.parts(1.0, ["25"])) - 1
