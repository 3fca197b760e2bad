# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from pqc_mav_sensing import power_trace
from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.power_trace import HEADER, PowerTrace


def test_the_file_has_its_name_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "new" / "power.csv"
    trace = PowerTrace(path)
    for index in range(5000):
        trace.add(index / 1000, 5.0, 0.8, 4.0)
    assert not path.exists() and (tmp_path / "new" / "power.csv.part").exists()
    assert trace.finish() == 5000
    lines = path.read_text().splitlines(keepends=True)
    assert lines[0] == HEADER and len(lines) == 5001
    assert lines[-1] == "4.999000,5.0000,0.80000,4.00000\n"
    assert [each.name for each in path.parent.iterdir()] == ["power.csv"]


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SensorError, match="cannot be written"):
        PowerTrace(tmp_path / "file" / "power.csv")


def test_a_disk_that_is_too_slow_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power_trace, "MOST_WAITING", 10)
    monkeypatch.setattr(power_trace, "FLUSH_S", 60.0)
    trace = PowerTrace(tmp_path / "power.csv")
    for index in range(25):
        trace.add(float(index), 5.0, 1.0, 5.0)
    with pytest.raises(SensorError, match="lacks 15 samples"):
        trace.finish()
    assert not (tmp_path / "power.csv").exists() and (tmp_path / "power.csv.part").exists()


def test_a_full_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power_trace, "FLUSH_S", 60.0)
    trace = PowerTrace(tmp_path / "power.csv")
    trace._file.close()
    trace._file = Path("/dev/full").open("w", encoding="ascii")  # noqa: SIM115
    trace.add(0.0, 5.0, 1.0, 5.0)
    with pytest.raises(SensorError, match="No space left"):
        trace.finish()
    assert not (tmp_path / "power.csv").exists()
