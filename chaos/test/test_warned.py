# SPDX-License-Identifier: Apache-2.0
"""One drone's alarm makes the next one's detector quicker, over real engines."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest
import warned

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.dataset import Row, write_rows
from pqc_mav_detect.window import Window


def test_who_was_warned_names_it_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warned, "QUIET_S", 11.0)
    timed = warned.measure((1.5, 1))
    # 6 above an allowance of 0.5/s, or half of that; a loaded machine adds to either.
    assert timed.alone[0] > 5.0 and timed.warned[0] < timed.alone[0] - 1.0
    assert 0.0 <= timed.word[0] < 15.0


def test_calm_traffic_is_judged_as_by_one_that_was_warned(tmp_path: Path) -> None:
    """4 garbage datagrams at once are an attack to a watchful detector alone."""
    values = dict.fromkeys(CHANNELS, 0.0)
    rows = [
        Row("r", "gcs", "", "", Window(0.1 * turn, 0.1, {**values, "garbage": 40.0 if turn == 50 else 0.0}))
        for turn in range(36_00)
    ]
    write_rows(tmp_path / "w.csv.gz", rows)
    found = warned.calm([tmp_path / "w.csv.gz"])
    assert (found.alone, found.warned) == (0, 1) and found.hours == pytest.approx(0.1)


def test_the_page_has_both() -> None:
    found = [warned.Timed(1.0, (12.0, 12.1, 12.2), (6.0, 6.1, 6.2), (1.0, 1.5, 2.0))]
    text = warned.page(found, warned.Calm(2.0, 0, 1), "machine", Namespace(runs=3))
    assert "| 1 | 12.1 (12.0-12.2) | 6.1 (6.0-6.2) | 1.5 (1.0-2.0) |" in text.replace("  ", " ")
    assert "2.0 h" in text and "named 0 attacks; all the time watchful, 1." in text
