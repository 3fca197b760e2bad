# SPDX-License-Identifier: Apache-2.0
"""The picture of the thin link: written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from test_thin_result import result, told

from pqc_mav_cli.demo.pair import Flight
from pqc_mav_cli.demo.thin_plot import draw
from pqc_mav_cli.demo.thin_result import PLAIN, SHAPED, ThinLinkResult
from pqc_mav_cli.errors import CliError


def test_it_is_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "new" / "thin.png"
    draw(result(told(SHAPED, after_ms=[40.0, 50.0])), path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_flights_that_said_nothing_are_drawn_too(tmp_path: Path) -> None:
    draw(ThinLinkResult(3.0, (Flight(PLAIN), Flight(SHAPED)), rate_kbit=64), tmp_path / "thin.png")
    assert (tmp_path / "thin.png").exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CliError, match="cannot be written"):
        draw(result(told(SHAPED, after_ms=[40.0])), tmp_path / "file" / "thin.png")
