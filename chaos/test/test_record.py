# SPDX-License-Identifier: Apache-2.0
"""Recording: what is labelled, and that every class and every end that is reached is named."""

from __future__ import annotations

import argparse
from types import SimpleNamespace

import pytest
import record
from attacker_host import Attack as StrangersAttack

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.classes import CLASSES, FORGERY
from pqc_mav_detect.window import Window
from pqc_mav_sim.impairment.settings import Impairment


def test_every_class_has_an_attack_and_every_attack_a_way() -> None:
    assert {attack.kind for attack in record.ATTACKS} == set(CLASSES)
    for attack in record.ATTACKS:
        assert bool(attack.mode) != bool(attack.impair)
        assert not attack.mode or hasattr(StrangersAttack, f"_{attack.mode}")
    for each in (*record.ATTACKS, *record.DISTURBANCES):
        Impairment.from_dict(each.impair)
        assert each.ends and each.ends <= record.BOTH
    assert not any(each.kind for each in record.DISTURBANCES)


def test_a_label_is_what_was_done_in_that_window_at_that_end() -> None:
    windows = [Window(10.0 + turn / 10, 0.1, dict.fromkeys(CHANNELS, 0.0)) for turn in range(1, 30)]
    scene = object.__new__(record.Scene)
    scene._name = "100/s"
    scene._watches = {end: SimpleNamespace(take=lambda: list(windows)) for end in ("gcs", "drone")}
    rows = scene._rows("forge@2", FORGERY, {110, 115}, 11.0, 12.0, frozenset({"gcs"}))
    at_gcs = [row for row in rows if row.end == "gcs"]
    assert all(not row.label and not row.episode for row in rows if row.end == "drone")
    assert 11 <= sum(row.episode == FORGERY for row in at_gcs) <= 12
    assert 2 <= sum(row.label == FORGERY for row in at_gcs) <= 4
    assert {row.run for row in rows} == {"100/s forge@2"}


def test_an_attack_that_does_not_exist(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(record.air, "need_root", lambda: "")
    parser = argparse.ArgumentParser()
    record.arguments(parser)
    assert record.run(parser.parse_args(["--attacks", "forge,magic"])) == 2
    assert "no attack magic" in capsys.readouterr().out
