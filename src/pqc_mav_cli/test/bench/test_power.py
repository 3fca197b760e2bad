# SPDX-License-Identifier: Apache-2.0
"""`pqcmav bench power` on a tree of files as the kernel's hwmon has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import pqcmav, refused

pytest.importorskip("pqc_mav_bench.store", reason="pqc_mav_bench is not installed")


def board(folder: Path, *, amperes: float, source: str = "hwmon", name: str = "ina219", shunt: int = 100_000) -> str:
    """A board that draws this; the configuration of its sensors."""
    chip = folder / "hwmon" / "hwmon0"
    chip.mkdir(parents=True, exist_ok=True)
    for file_name, value in (("in1_input", 5000), ("curr1_input", amperes * 1e3), ("power1_input", amperes * 5e6)):
        (chip / file_name).write_text(f"{value:.0f}\n")
    (chip / "name").write_text(f"{name}\n")
    (chip / "shunt_resistor").write_text(f"{shunt}\n")
    file = folder / "sensing.yaml"
    values = {"power_source": source, "hwmon_root": str(folder / "hwmon"), "trace_folder": str(folder / "kept")}
    lines = "".join(f"      {name}: {value}\n" for name, value in values.items())
    file.write_text(f"/**:\n  pqc_power:\n    ros__parameters:\n{lines}")
    return str(file)


def test_joules_only_after_a_meter_was_found_to_agree(tmp_path: Path) -> None:
    def asked(*more: str) -> tuple[int, str]:
        ended = pqcmav("bench", "power", "--seconds", "2", "--sensing-config", file, *more)
        assert ended.stderr == ""
        return ended.returncode, ended.stdout

    file = board(tmp_path, amperes=0.6)
    code, said = asked()
    assert code == 0
    assert "hwmon: 3.000 ± 0.000 W, 0.6000 ± 0.0000 A (95 %, 2 windows of 1 s)" in said
    assert "never compared with a meter" in said
    assert " J " not in said
    code, said = asked("--calibrate", "--meter-a", "0.605")
    assert (code, "another load is needed" in said) == (1, True)
    board(tmp_path, amperes=1.2)
    code, said = asked("--calibrate", "--meter-a", "1.21")
    assert (code, "agrees with a meter within 0.8 %" in said) == (0, True)
    code, said = asked()
    assert code == 0
    (joules,) = (line for line in said.splitlines() if " J in " in line)
    assert 9.0 < float(joules.split()[0]) < 12.5


def test_pairs_of_another_shunt_or_chip_do_not_count(tmp_path: Path) -> None:
    """The cure for a shunt that is off did not help: the pairs from before it went on to count."""

    def asked(*more: str) -> str:
        return pqcmav("bench", "power", "--seconds", "2", "--sensing-config", file, *more).stdout

    file = board(tmp_path, amperes=0.63)
    assert "at 0.6 A only" in asked("--calibrate", "--meter-a", "0.6")
    board(tmp_path, amperes=1.2, shunt=105_000)
    assert "at 1.2 A only" in asked("--calibrate", "--meter-a", "1.2")
    board(tmp_path, amperes=1.2, name="ina226", shunt=105_000)
    assert "never compared with a meter" in asked()


def test_calibrate_alone_says_how() -> None:
    said = pqcmav("bench", "power", "--calibrate")
    assert said.returncode == 0
    assert "--calibrate --meter-a AMPERES" in said.stdout


def test_what_measures_nothing_is_refused(tmp_path: Path) -> None:
    asked = ("bench", "power", "--seconds", "2", "--sensing-config")
    assert "it measures nothing" in refused(1, *asked, board(tmp_path, amperes=1.0, source="model"))
    gone = board(tmp_path, amperes=1.0)
    (tmp_path / "hwmon" / "hwmon0" / "power1_input").unlink()
    assert "could not be read: no hwmon device" in refused(1, *asked, gone)
    assert "--meter-a is for --calibrate" in refused(2, "bench", "power", "--meter-a", "1")
    assert "nothing.yaml" in refused(2, *asked, str(tmp_path / "nothing.yaml"))
