# SPDX-License-Identifier: Apache-2.0
"""The picture: a whole PNG of the expected shape, drawn from the same traces every time."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import CATALOGUE, CORE

from pqc_mav_policy.settings import Settings
from pqc_mav_policy_lab.compare.comparison import compare, strategies
from pqc_mav_policy_lab.compare.plot import _runs, draw
from pqc_mav_policy_lab.flight_model.costs import published_costs
from pqc_mav_policy_lab.missions.simulated import mission


def test_stretches_of_equal_values() -> None:
    assert _runs([1, 1, 3, 3, 3, 0]) == [(0, 2, 1), (2, 5, 3), (5, 6, 0)]
    assert _runs([]) == []


def test_a_picture(tmp_path: Path) -> None:
    flown = {name: made for name, made in strategies(CATALOGUE, Settings()).items() if name in ("static", "cascade")}
    found = compare(
        [mission("hot"), mission("bad-link")],
        flown,
        catalogue=CATALOGUE,
        costs=published_costs(CATALOGUE),
        available=CORE,
        settings=Settings(),
    )
    path = tmp_path / "policy.png"
    draw(found, Settings().policy, path)
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n") and data.endswith(b"IEND\xaeB`\x82")
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert width > 1000 and height > 500
    assert [entry.name for entry in tmp_path.iterdir()] == ["policy.png"]
    with pytest.raises(OSError, match=""):
        draw(found, Settings().policy, tmp_path / "no" / "policy.png")
