# SPDX-License-Identifier: Apache-2.0
"""The evaluation: what counts as named, as late, as a false alarm, and what the page says about it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.classes import FORGERY, Level
from pqc_mav_detect.dataset import Row, write_rows
from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.evaluation import cost, page
from pqc_mav_detect.evaluation.figures import most_per_hour, quantile, wilson
from pqc_mav_detect.evaluation.run import evaluate
from pqc_mav_detect.evaluation.trials import allowed_s, binary_f1, judge, macro_f1, merged, speed
from pqc_mav_detect.evaluation.trivial import Trivial
from pqc_mav_detect.learned import NORMAL
from pqc_mav_detect.rules.detector import Rules
from pqc_mav_detect.window import Window


def recorded(run: str, episode: str, forged: float, begin_s: float, end_s: float, length_s: float = 30.0) -> list[Row]:
    """One end: `forged` packets/s between two times, which the label knows of where there is an episode."""
    found = []
    for turn in range(round(length_s * 10)):
        now_s = turn / 10
        during = begin_s <= now_s < end_s
        values = {**dict.fromkeys(CHANNELS, 0.0), "opened": 320.0, "forged": forged if during else 0.0}
        label = episode if during else ""
        found.append(Row(run, "gcs", label, label, Window(now_s, 0.1, values)))
    return found


def test_a_machine_that_stood_still_is_told_apart_and_nothing_is_left_out_of_the_first_table() -> None:
    rows = recorded("100/s forge@20", FORGERY, 20.0, 10.0, 18.0)
    rows[95] = replace(rows[95], window=replace(rows[95].window, span_s=0.7))
    found = judge([("t", rows)], Rules)
    (trial,) = found.trials
    assert found.stood == {trial.run} == {"t 100/s forge@20"}
    result = page.Result("rules", found, merged([]), merged([]), merged([]))
    kept = page.in_time_only(result)
    assert len(result.attacks.first()) == 1 and not kept.attacks.first() and not kept.attacks.runs
    assert page.without_these([result]).startswith("Without them: rules, attacks of 20/s and more")
    assert page.without_these([kept]) == "Without them each goal comes out the same."
    assert not judge([("t", recorded("100/s forge@20", FORGERY, 20.0, 10.0, 18.0))], Rules).stood


def test_disturbances_of_which_the_same_was_said_share_a_row() -> None:
    found = merged([])
    found.runs.update({f"t 100/s {name}@0 gcs": Level.NONE for name in ("gap", "download")})
    found.runs["t 100/s restart@0 gcs"] = Level.SUSPICIOUS
    text = page.disturbances([page.Result("rules", merged([]), merged([]), merged([]), found)])
    assert "| download, gap | 0/1 |" in text and "| restart | 1/1 |" in text


def test_an_attack_that_is_named_in_time() -> None:
    found = judge([("t", recorded("100/s forge@20", FORGERY, 20.0, 10.0, 18.0))], Rules)
    (trial,) = found.trials
    assert trial.kind == FORGERY and trial.delay_s is not None and trial.delay_s <= 0.4
    assert (trial.what, trial.rate, trial.group) == ("forge", "20", "forgery >= 20/s")
    assert not found.false_alarms and found.hours == pytest.approx(30 / 3600)
    assert macro_f1(found.confusion)[0] == 1.0 == binary_f1(found.confusion)


def test_an_alarm_without_an_attack_is_false_and_ends_no_other_run() -> None:
    rows = recorded("100/s normal", "", 20.0, 29.0, 30.0)
    rows += [
        Row("100/s next", "gcs", "", "", Window(30 + row.window.time_s, 0.1, row.window.values))
        for row in recorded("", "", 0.0, 0.0, 0.0)
    ]
    found = judge([("t", rows)], Rules)
    assert [(run, kind, level) for run, _, kind, level in found.false_alarms] == [
        ("t 100/s normal", FORGERY, Level.SUSPICIOUS)
    ]
    assert found.runs == {"t 100/s normal gcs": Level.ATTACK, "t 100/s next gcs": Level.NONE}


def test_a_missed_attack_has_no_delay() -> None:
    found = judge([("t", recorded("100/s forge@2", FORGERY, 0.0, 10.0, 18.0))], Rules)
    assert found.trials[0].delay_s is None
    assert found.confusion[FORGERY, NORMAL] > 0
    both = merged([found, judge([("u", recorded("100/s forge@2", FORGERY, 9.0, 10.0, 18.0))], Rules)])
    assert sorted(trial.delay_s is None for trial in both.first()) == [False, True]


def test_the_alarm_of_the_attack_before_does_not_pass_for_the_next_ones() -> None:
    first = recorded("100/s forge@20", FORGERY, 6.0, 10.0, 18.0, 19.0)
    second = [
        Row("100/s forge@6", "gcs", row.label, row.episode, Window(19.0 + row.window.time_s, 0.1, row.window.values))
        for row in recorded("", FORGERY, 6.0, 4.0, 9.0, 10.0)
    ]
    found = judge([("t", first + second)], Rules)
    assert all(trial.delay_s is not None and trial.delay_s > 0.15 for trial in found.trials)


def test_how_soon_depends_on_the_rate() -> None:
    assert [speed(FORGERY, rate) for rate in ("2", "20", "bursts")] == ["2-10/s", ">= 20/s", "changing"]
    assert [allowed_s(*each) for each in ((FORGERY, "6"), (FORGERY, "20"), ("on_path", "8"), ("blackout", "2s"))] == [
        *(5.0, 1.0),
        *(4.0, 1.0),
    ]


def test_figures() -> None:
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert most_per_hour(0, 3.0) == pytest.approx(1.0)
    assert most_per_hour(3, 1.0) == pytest.approx(7.75, abs=0.02)
    assert quantile([0.1, None, 0.3], 0.5) == 0.3 and math.isinf(quantile([0.1, None], 0.95))
    confusion = Counter({(NORMAL, NORMAL): 90, (NORMAL, FORGERY): 10, (FORGERY, FORGERY): 10})
    assert macro_f1(confusion)[1][FORGERY] == pytest.approx(2 / 3)


def test_the_trivial_rules() -> None:
    few, heavy = Trivial(few=True), Trivial(few=False)
    assert [few.take(5.0, 300.0) for _ in range(6)][-1] is False
    assert [few.take(2.0, 300.0) for _ in range(6)][-1] is True
    assert [heavy.take(5.0, 300.0) for _ in range(6)][-1] is False
    assert heavy.take(5.0, 3000.0) is True


def test_the_page_says_which_goals_are_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="no recordings for judging"):
        evaluate(tmp_path)
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(cost, "measure", lambda *_: cost.Cost(0.3, 0.3, 16.0, 12.0))
    write_rows(tmp_path / "test-unseen-1.parquet", recorded("100/s forge@60", FORGERY, 60.0, 10.0, 18.0))
    write_rows(tmp_path / "test-attacks-1.parquet", recorded("100/s forge@2", FORGERY, 0.0, 10.0, 18.0))
    write_rows(tmp_path / "test-benign-1.parquet", recorded("100/s weak_link@5%", "", 60.0, 10.0, 12.0))
    write_rows(tmp_path / "test-normal-1.parquet", recorded("100/s normal", "", 0.0, 0.0, 0.0))
    text = evaluate(tmp_path, names=["rules"])
    assert (
        "| attacks of 20/s and more: 95 % of episodes named <= 1 s | F1 .03-.97 | 100 % (1/1; 21-100 %): met |" in text
    )
    assert "| attacks of 2-10/s: 95 % <= 5 s | missed | 0 % (0/1; 0-79 %): **missed** |" in text
    assert "captures" not in text
    assert "forge@2 1/1" in text and "| weak_link | 1/1 (forgery; 1 sure) |" in text


def test_captures_are_a_goal_too_and_the_cost_of_both_that_fly_is_said() -> None:
    empty = merged([])
    made = [
        page.Result(name, empty, empty, empty, empty, cost.Cost(0.2, 0.2, memory, 12.0))
        for name, memory in (("rules", 16.0), ("xgboost", 30.0))
    ]
    assert "Rules and trees in one process: 0.40 % of a core and 34 MiB at most" in page.together(made)
    assert not page.together(made[:1])
    words = "| captures: every attack <= 1 s (floods of TCP <= 4 s), no false alarm | F1 .60-.99, 0 of slow ones |"
    found = [page.Capture("icmp-fast", 75.0, [0.1, 0.9], 0), page.Capture("tcp-slow", 75.0, [3.9], 0)]
    assert f"{words} 3/3, 0 false alarms: met | - |" in page.goals(made, found=found)
    late = page.Capture("icmp-slow", 75.0, [1.1, None], 1)
    assert f"{words} 3/5, 1 false alarms: **missed** | - |" in page.goals(made, found=[*found, late])


def test_what_a_detector_costs() -> None:
    found = cost.measure("rules")
    assert 0 < found.cpu_percent < 50 and found.idle_mib < found.memory_mib < 100


def test_a_table() -> None:
    assert page.table(["a", "b"], [[1, 2]]) == "| a | b |\n|---|---|\n| 1 | 2 |\n"
