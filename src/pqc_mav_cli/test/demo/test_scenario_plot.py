# SPDX-License-Identifier: Apache-2.0
import struct
from pathlib import Path

import pytest
from scenario_flights import flown

from pqc_mav_cli.demo.scenario_plot import draw
from pqc_mav_cli.demo.scenarios import SCENARIOS
from pqc_mav_cli.errors import CliError

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.mark.parametrize("name", ["hot", "attack"])
def test_a_picture_of_the_flight(tmp_path: Path, name: str) -> None:
    path = tmp_path / "new" / "flight.png"
    draw(flown(name), path)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    assert width > 1200 and height > 1000 and len(content) > 40_000
    assert [each.name for each in path.parent.iterdir()] == ["flight.png"]


def test_a_flight_that_ended_early_is_drawn_as_far_as_it_got(tmp_path: Path) -> None:
    result = flown("hot")
    for rows in (result.trace.battery, result.trace.link, result.trace.status, result.trace.vehicle):
        rows.clear()
    draw(result, tmp_path / "flight.png")
    assert (tmp_path / "flight.png").stat().st_size > 20_000


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CliError, match="cannot be written"):
        draw(flown(next(iter(SCENARIOS))), tmp_path / "file" / "flight.png")
