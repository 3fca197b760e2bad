# SPDX-License-Identifier: Apache-2.0
import math
from pathlib import Path

import pytest

from pqc_mav_sim.board_thermal import BoardSpec, BoardThermal


def test_it_settles_where_power_and_cooling_meet() -> None:
    board = BoardThermal(3.0, BoardSpec(resistance_k_w=10.0, tau_s=12.0, air_c=20.0))
    board.advance(0.0)
    assert board.temperature_c == pytest.approx(50.0)
    board.power_w = 6.0
    board.advance(12.0)
    assert board.temperature_c == pytest.approx(80.0 - 30.0 / math.e)
    board.advance(1000.0)
    assert board.temperature_c == pytest.approx(80.0)


def test_steps_do_not_matter() -> None:
    fine, coarse = BoardThermal(), BoardThermal()
    for board in (fine, coarse):
        board.advance(0.0)
        board.power_w = 9.0
    for index in range(1, 101):
        fine.advance(index / 10)
    coarse.advance(10.0)
    assert fine.temperature_c == pytest.approx(coarse.temperature_c)


@pytest.mark.parametrize(("celsius", "step"), [(79.9, 0), (80.1, 1), (82.1, 2), (120.0, 4)])
def test_throttling(celsius: float, step: int) -> None:
    board = BoardThermal()
    board.temperature_c = celsius
    assert board.throttle_step == step


def test_the_tree_is_the_kernels(tmp_path: Path) -> None:
    board = BoardThermal()
    board.temperature_c = 83.25
    board.write(tmp_path)
    zone = tmp_path / "thermal_zone0"
    assert (zone / "type").read_text() == "cpu-thermal\n" and (zone / "temp").read_text() == "83250\n"
    assert (zone / "trip_point_0_type").read_text() == "passive\n"
    assert (zone / "trip_point_0_temp").read_text() == "80000\n"
    assert (tmp_path / "cooling_device0" / "cur_state").read_text() == "2\n"
    board.temperature_c = 50.0
    board.update(tmp_path)
    assert (zone / "temp").read_text() == "50000\n"
    assert not list(tmp_path.rglob("*.new"))
