# SPDX-License-Identifier: Apache-2.0
"""Recording: what is labelled, and that every class and every end that is reached is named."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace

import pytest
import record
import scene
import ways
from attacker_host import Attack as StrangersAttack

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.classes import CLASSES, FORGERY
from pqc_mav_detect.dataset import Row
from pqc_mav_detect.window import Window
from pqc_mav_sim.impairment.settings import Impairment


def test_every_class_has_attacks_and_every_attack_a_way() -> None:
    assert {attack.kind for attack in ways.ATTACKS} == set(CLASSES) == {attack.kind for attack in ways.UNSEEN}
    for attack in (*ways.ATTACKS, *ways.UNSEEN):
        assert bool(attack.mode) != bool(attack.grades)
        assert not attack.mode or hasattr(StrangersAttack, f"_{attack.mode}")
    for each in ways.KNOWN.values():
        for grade in each.grades:
            Impairment.from_dict(dict(grade.impair))
        assert each.ends and each.ends <= ways.BOTH
    assert not any(each.kind for each in ways.DISTURBANCES)


def test_twelve_attacks_and_more_in_four_intensities_each_and_every_disturbance() -> None:
    assert len(ways.ATTACKS) >= 12 and len(ways.RATES) == 4 and ways.RATES[0] == "2"
    for attack in ways.ATTACKS:
        assert len(attack.grades or attack.rates or ways.RATES) == 4, attack.name
    disturbances = {attack.name for attack in ways.DISTURBANCES}
    assert disturbances >= {
        "weak_link", "roaming", "rekeys", "duplicates", "reordering", "cpu_load", "download", "video",
    }  # fmt: skip


def test_no_attack_is_both_for_training_and_unseen() -> None:
    assert not {attack.mode for attack in ways.ATTACKS if attack.mode} & {attack.mode for attack in ways.UNSEEN}
    assert not set(ways.RATES) & set(ways.UNSEEN_RATES)


def test_a_label_is_what_was_done_in_that_window_at_that_end() -> None:
    windows = [Window(10.0 + turn / 10, 0.1, dict.fromkeys(CHANNELS, 0.0)) for turn in range(1, 30)]
    made = object.__new__(scene.Scene)
    made._name = "100/s"
    made._watches = {end: SimpleNamespace(take=lambda: list(windows)) for end in ("gcs", "drone")}
    rows = made._rows("forge@2", FORGERY, {110, 115}, 11.0, 12.0, frozenset({"gcs"}))
    at_gcs = [row for row in rows if row.end == "gcs"]
    assert all(not row.label and not row.episode for row in rows if row.end == "drone")
    assert 11 <= sum(row.episode == FORGERY for row in at_gcs) <= 12
    assert 2 <= sum(row.label == FORGERY for row in at_gcs) <= 4
    assert {row.run for row in rows} == {"100/s forge@2"}


def test_sets_and_names_may_be_mixed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done: list[str] = []

    class Scene:
        def __init__(self, *_: object) -> None: ...
        def __enter__(self) -> Scene:
            return self

        def __exit__(self, *_: object) -> None: ...
        def attacked(self, attacks: list[ways.Attack], _: list[str]) -> list[Row]:
            done.extend(attack.name for attack in attacks)
            return []

    monkeypatch.setattr(record, "Scene", Scene)
    parser = argparse.ArgumentParser()
    record.arguments(parser)
    given = ["--attacks", "all,roaming", "--profiles", "25", "--file", str(tmp_path / "new" / "windows.csv")]
    assert record.run(parser.parse_args(given)) == 0
    assert (tmp_path / "new" / "windows.csv").exists()
    assert done == [*(attack.name for attack in ways.ATTACKS), "roaming"]


@pytest.mark.parametrize(
    ("given", "words"), [(["--attacks", "forge,magic"], "no attack magic"), (["--profiles", "7"], "no profile 7")]
)
def test_what_does_not_exist(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: list[str], words: str
) -> None:
    parser = argparse.ArgumentParser()
    record.arguments(parser)
    assert record.run(parser.parse_args(given)) == 2
    assert words in capsys.readouterr().out
