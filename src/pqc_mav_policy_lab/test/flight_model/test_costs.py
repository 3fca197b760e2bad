# SPDX-License-Identifier: Apache-2.0
"""Costs: the published arithmetic, and the benchmark's file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scenes import CATALOGUE, DEFAULT, suite

from pqc_mav_common import packed
from pqc_mav_policy_lab.flight_model.costs import CostError, measured_costs, published_costs


def test_energy_of_a_rekey_follows_the_published_method() -> None:
    """[rpi5-report] section 24: 12.7 ms cost 0.051 J, 505 ms cost 2.016 J, at 3.99 W."""
    costs = published_costs(CATALOGUE)
    for name in (DEFAULT, suite("MC-8192-AG-MD-87")):
        assert costs.handshake_energy_j(name) == pytest.approx(3.99 * costs.compute_s[name])
    assert round(3.99 * 0.0127, 3) == 0.051
    assert costs.compute_s[suite("MC-8192-AG-MD-87")] == pytest.approx(0.5236, abs=1e-3)  # the sum of X21


def test_every_suite_of_the_registry_has_a_cost() -> None:
    costs = published_costs(CATALOGUE)
    assert set(costs.compute_s) == set(CATALOGUE) and min(costs.compute_s.values()) > 0
    assert "published" in costs.source


def engine_json(folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / "engine.json.gz"
    text = json.dumps({"handshake": {"environment": {"machine": "a machine"}, "rows": rows}})
    path.write_bytes(packed.pack(text.encode(), path))
    return path


def test_measured_costs_leave_out_the_rows_with_the_key_pool(tmp_path: Path) -> None:
    rows = [
        {"suite": name, "pool": pool, "handshake_us": 100.0 if pool else 2500.0}
        for name in CATALOGUE
        for pool in (False, True)
    ]
    costs = measured_costs(engine_json(tmp_path, rows), CATALOGUE)
    assert costs.compute_s[DEFAULT] == pytest.approx(0.0025) and "a machine" in costs.source


def test_unusable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CostError, match="Cannot read"):
        measured_costs(tmp_path / "no.json", CATALOGUE)
    broken = tmp_path / "broken.json"
    broken.write_text("[]")
    with pytest.raises(CostError, match="not a result"):
        measured_costs(broken, CATALOGUE)
    row = {"suite": DEFAULT, "pool": False, "handshake_us": 1.0}
    with pytest.raises(CostError, match="lacks 71 core suites"):
        measured_costs(engine_json(tmp_path, [row]), CATALOGUE)
