# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from captures import attacked, capture, more
from scenes import Scene

from pqc_mav_detect import classes
from pqc_mav_detect.capture import Slot
from pqc_mav_detect.dataset import Row, write_rows
from pqc_mav_detect.detector import Opinion
from pqc_mav_detect.detectors import NAMES, RULES, TST
from pqc_mav_detect.score import ScoreError, _judge, score

FIELDS = ("time_s", "packets", "bytes", "mavlink_packets", "label")


def written(path: Path, slots: Sequence[Slot], fields: Sequence[str] = FIELDS) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(fields)
        writer.writerows([getattr(slot, name) for name in fields] for slot in slots)
    return path


def test_a_capture_with_labels(tmp_path: Path) -> None:
    (found,) = score(written(tmp_path / "c.csv", attacked(more(50.0, 84.0))))
    assert found.labelled and found.false_alarms == 0 and found.windows == 500
    assert found.span_s == pytest.approx(49.9)
    assert len(found.delays_s) == 1 and found.delays_s[0] is not None and found.delays_s[0] <= 1.0
    (alarm,) = found.alarms
    assert alarm.kind == classes.VOLUMETRIC and "that are not MAVLink" in alarm.reason


def test_a_capture_as_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    slots = attacked(more(50.0, 84.0))
    cells = [{name: getattr(slot, name) for name in FIELDS} for slot in slots]
    parquet.write_table(pyarrow.Table.from_pylist(cells), tmp_path / "c.parquet")
    (found,), (text,) = score(tmp_path / "c.parquet"), score(written(tmp_path / "c.csv", slots))
    assert (found.windows, found.delays_s, found.false_alarms) == (text.windows, text.delays_s, text.false_alarms)
    assert [(alarm.kind, alarm.begin_s) for alarm in found.alarms] == [(classes.VOLUMETRIC, text.alarms[0].begin_s)]


def test_a_capture_without_labels_or_times(tmp_path: Path) -> None:
    (found,) = score(written(tmp_path / "c.csv", attacked(more(50.0, 84.0)), ("bytes", "mavlink_packets")))
    assert not found.labelled and 30.0 <= found.alarms[0].begin_s <= 31.0


def test_an_attack_from_the_first_window_on_needs_another_capture(tmp_path: Path) -> None:
    calm = written(tmp_path / "calm.csv", capture(60.0))
    (found,) = score(written(tmp_path / "c.csv", capture(20.0, more(50.0, 84.0), seed=2)), calm)
    assert found.delays_s == [pytest.approx(0.2, abs=0.2)]


def test_a_missed_attack_and_a_false_alarm_are_counted(tmp_path: Path) -> None:
    slots = attacked(more(50.0, 84.0))
    moved = [
        Slot(s.time_s, s.packets, s.bytes, s.mavlink_packets, "attack" if 50 <= s.time_s < 52 else "") for s in slots
    ]
    (found,) = score(written(tmp_path / "c.csv", moved))
    assert found.delays_s == [None] and found.false_alarms == 1


def test_an_alarm_that_ends_when_the_attack_begins_is_of_it() -> None:
    opinions = iter([Opinion({classes.FORGERY: 2.0}), Opinion(), Opinion()])
    steps = [(0.0, "", None), (0.1, "attack", None), (10.0, "", None)]
    found = _judge("made", steps, lambda _: next(opinions), True)
    assert [(alarm.begin_s, alarm.end_s) for alarm in found.alarms] == [(0.0, 0.1)]
    assert (found.delays_s, found.false_alarms) == ([0.0], 0)


def test_an_alarm_outlasts_a_pause_of_five_windows() -> None:
    opinions = iter([Opinion({classes.FORGERY: 2.0})] * 3)
    steps = [(0.0, "", None), (0.5, "", None), (1.1, "", None)]
    found = _judge("made", steps, lambda _: next(opinions), False)
    assert [(alarm.begin_s, alarm.end_s) for alarm in found.alarms] == [(0.0, 0.5), (1.1, 1.1)]


def test_windows_of_the_laboratory(tmp_path: Path) -> None:
    scene = Scene()
    rows = [Row("r", "gcs", "", "", window) for window in scene.run(15.0)]
    rows += [Row("r", "gcs", "forgery", "forgery", window) for window in scene.run(5.0, drop_auth_fail=50.0)]
    write_rows(tmp_path / "w.csv.gz", rows)
    (found,) = score(tmp_path / "w.csv.gz")
    assert found.name == "r gcs" and found.delays_s == [pytest.approx(0.1, abs=0.15)]
    assert {alarm.kind for alarm in found.alarms} == {classes.FORGERY}


@pytest.mark.parametrize("name", NAMES)
def test_each_detector_judges_windows_and_says_so_of_captures(tmp_path: Path, name: str) -> None:
    if name == TST:
        pytest.importorskip("onnxruntime")
    scene = Scene()
    rows = [Row("r", "gcs", "", "", window) for window in scene.run(15.0)]
    rows += [Row("r", "gcs", "forgery", "forgery", window) for window in scene.run(5.0, drop_auth_fail=500.0)]
    write_rows(tmp_path / "w.csv.gz", rows)
    (found,) = score(tmp_path / "w.csv.gz", name=name)
    assert classes.FORGERY in {alarm.kind for alarm in found.alarms} and found.false_alarms == 0
    if name != RULES:
        with pytest.raises(ScoreError, match=f"'{name}' judges by the counters of an end"):
            score(written(tmp_path / "c.csv", capture(20.0)), name=name)
        with pytest.raises(ScoreError, match=r"^[A-Z].*none\.bin"):
            score(tmp_path / "w.csv.gz", name=name, model=tmp_path / "none.bin")


@pytest.mark.parametrize("lacking", ["packets", "bytes", "mavlink_packets"])
def test_a_normal_capture_with_other_columns_is_refused_in_a_sentence(tmp_path: Path, lacking: str) -> None:
    fewer = [name for name in FIELDS if name != lacking]
    whole, part = written(tmp_path / "w.csv", capture(60.0)), written(tmp_path / "p.csv", capture(60.0), fewer)
    with pytest.raises(ScoreError, match=rf"p\.csv lacks {lacking}, which .*w\.csv has"):
        score(whole, part)
    with pytest.raises(ScoreError, match=rf"p\.csv lacks {lacking}, which .*w\.csv has"):
        score(part, whole)
    assert score(part, part)[0].alarms == []


def test_a_column_that_begins_later_is_refused_in_a_sentence(tmp_path: Path) -> None:
    late = [replace(s, mavlink_packets=None) if s.time_s < 10.0 else s for s in capture(60.0)]
    with pytest.raises(ScoreError, match="has mavlink_packets only after its calm beginning"):
        score(written(tmp_path / "c.csv", late))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n1,2\n", "none of the columns"),
        ("", "has no rows"),
        ("time_s,packets\n", "has no rows"),
        ("packets\n" + "3\n" * 90, "has nothing after its first 10 s"),
        ("packets\n3\n-5\n", "packets is '-5', which no window has"),
        ("bytes\n3\n1e308\n", "bytes is '1e308', which no window has"),
        ("time_s,packets\ninf,3\n", "time_s is 'inf', which no window has"),
        ("packets\nmany\n", "'many', which is no number"),
        ("time_s,packets\n1,1\n1,1\n", "does not grow at row 3"),
        ("packets\n1\n2\n", "2 calm windows"),
    ],
)
def test_files_that_cannot_be_judged(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(ScoreError, match=sentence):
        score(tmp_path / "c.csv")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("packets\r3\r", "cannot be read"),
        (f"packets\n{'3' * 200_000}\n", "cannot be read"),
        (
            "run,end,time_s,span_s,label,episode,opened\na,gcs,1,0.1,,,5\n",
            "is no recording of windows: it has no column 'silent'",
        ),
        (
            "run,end,time_s,span_s,label,episode,silent,opened\na,gcs,1,0.1,,,0,many\n",
            "is no recording of windows: could not convert",
        ),
    ],
)
def test_a_file_of_another_form_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "c.csv").write_bytes(text.encode())
    with pytest.raises(ScoreError, match=sentence):
        score(tmp_path / "c.csv")


def test_rows_of_another_length_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "onesec.csv"
    path.write_text("time_s,packets\n" + "".join(f"{turn},100\n" for turn in range(60)))
    with pytest.raises(ScoreError, match=r"a row each 1 s; a capture has one each 0\.1 s\.$"):
        score(path, calm_s=29.0)


def test_the_mark_with_which_a_spreadsheet_begins_a_file_hides_no_column(tmp_path: Path) -> None:
    rows = "".join(f"{turn / 10},{3}\n" for turn in range(300))
    (tmp_path / "c.csv").write_text(f"\ufefftime_s,packets\n{rows}")
    assert score(tmp_path / "c.csv")[0].span_s == pytest.approx(19.9)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ScoreError, match="cannot be read"):
        score(tmp_path / "none.csv")
    (tmp_path / "bad.csv.gz").write_bytes(b"no gzip")
    with pytest.raises(ScoreError, match="cannot be read"):
        score(tmp_path / "bad.csv.gz")
