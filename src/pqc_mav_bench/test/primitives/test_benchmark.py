# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import time
from collections import Counter

import pytest

from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.primitives import benchmark
from pqc_mav_bench.primitives import result as result_file
from pqc_mav_bench.primitives.cycles import CycleCounter
from pqc_mav_bench.primitives.energy import PowercapMeter, PowerSensorMeter, find_meter
from pqc_mav_bench.primitives.operations import PAYLOADS, Operation, all_operations
from pqc_mav_bench.store import read_json
from pqc_mav_sensing.errors import SensorError

TOKENS = ["mlkem512", "falcon512", "aesgcm", "ascon128a"]


def sleeper(seconds: float, label: str = "sleep") -> Operation:
    return Operation("KEM", label, label, "wait", None, lambda count: lambda: time.sleep(seconds * count))


@pytest.fixture(scope="module")
def result():
    return benchmark.measure(all_operations(only=TOKENS), 12, 1, None, lambda *_: None)


def test_the_core_set_is_every_operation_of_every_algorithm():
    counts = Counter(operation.kind for operation in all_operations())
    assert counts == {"KEM": 9 * 3, "SIG": 8 * 3, "AEAD": 3 * 2 * len(PAYLOADS), "overhead": 1}


def test_every_operation_has_its_samples_and_figures(result):
    rows = {(row["algorithm"], row["operation"], row["payload_bytes"]): row for row in result["operations"]}
    assert len(rows) == 1 + 3 + 3 + 2 * 2 * len(PAYLOADS)
    for row in rows.values():
        assert row["n"] == len(row["samples_us"]) == 12
        assert 0 < row["min_us"] <= row["ci_low_us"] <= row["median_us"] <= row["ci_high_us"] <= row["max_us"]
    assert rows["ML-KEM-512", "keygen", None]["kind"] == "KEM"
    assert rows["Ascon-128a", "decrypt", 1400]["token"] == "ascon128a"
    assert result["method"]["n"] == 12
    assert result["energy_status"] == "no sensor measures energy here"
    assert result["cycles_status"]


def test_times_are_times():
    (row,) = benchmark.measure([sleeper(0.002)], 5, 1, None, lambda *_: None)["operations"]
    assert 2000 <= row["median_us"] < 50_000


def test_what_is_written_can_be_checked(result, tmp_path):
    written, table = result_file.write(result, tmp_path)
    stored = read_json(written)
    result_file.check(stored)
    with table.open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == len(result["operations"])
    assert "samples_us" not in rows[0]
    renamed = result_file.named(stored, "some machine")
    result_file.check(renamed)
    assert renamed["environment"]["host"] == "some machine"
    stored["operations"][3]["median_us"] = 1.0
    with pytest.raises(StoreError, match="was changed"):
        result_file.check(stored)
    with pytest.raises(StoreError, match="does not follow"):
        result_file.check(result_file.named(stored, "x"))


def test_blocks_hold_every_sample_in_a_shuffled_order():
    order = benchmark.blocks(4, 25, seed=2)
    totals = Counter()
    for index, size in order:
        totals[index] += size
    assert totals == dict.fromkeys(range(4), 25)
    assert [index for index, _ in order] != sorted(index for index, _ in order)
    assert order == benchmark.blocks(4, 25, seed=2) != benchmark.blocks(4, 25, seed=3)


def test_the_processor_counter_wraps(tmp_path):
    (tmp_path / "energy_uj").write_text("900")
    (tmp_path / "max_energy_range_uj").write_text("999")
    meter = PowercapMeter(tmp_path)
    meter.begin()
    (tmp_path / "energy_uj").write_text("150")
    assert meter.end() == pytest.approx(250e-6)


def test_a_power_sensor_is_integrated():
    meter = PowerSensorMeter("test", lambda: 5.0)
    began = time.monotonic()
    meter.begin()
    time.sleep(0.05)
    joules, took = meter.end(), time.monotonic() - began
    assert 5.0 * 0.05 <= joules <= 5.0 * took + 1e-6


def test_energy_is_above_idle_and_per_operation(monkeypatch):
    monkeypatch.setattr(benchmark, "ENERGY_S", 0.1)
    row = benchmark.measure([sleeper(0.005)], 5, 1, PowerSensorMeter("test", lambda: 3.0), lambda *_: None)[
        "operations"
    ][0]
    assert 0 <= row["energy_uj"] < 3.0 * 0.02 * 1e6


def test_a_sensor_that_fails_once_gives_no_energy_at_all(monkeypatch):
    monkeypatch.setattr(benchmark, "ENERGY_S", 0.05)
    good = iter([5.0] * 3)

    def read() -> float:
        if (watts := next(good, None)) is None:
            raise SensorError("the bus is disturbed")
        return watts

    written = benchmark.measure([sleeper(0.005)], 5, 1, PowerSensorMeter("test", read, 0.001), lambda *_: None)
    assert written["energy_status"] == "the sensor failed: the bus is disturbed"
    assert written["idle_w"] is None
    assert written["operations"][0]["energy_uj"] is None
    result_file.check(written)


def test_the_first_sensor_is_taken(tmp_path):
    powercap, hwmon = tmp_path / "a", tmp_path / "b"
    assert find_meter(powercap, hwmon) is None
    for number, name in enumerate(("amdgpu", "ina219")):
        sensor = hwmon / f"hwmon{number}"
        sensor.mkdir(parents=True)
        (sensor / "name").write_text(name)
        (sensor / "power1_input").write_text(f"{1 + 4 * number}000000")
        assert getattr(find_meter(powercap, hwmon), "source", None) == ("hwmon" if number else None)
    zone = powercap / "intel-rapl:0"
    zone.mkdir(parents=True)
    (zone / "max_energy_range_uj").write_text("100")
    (zone / "energy_uj").mkdir()  # what cannot be read
    meter = find_meter(powercap, hwmon)
    assert meter.source == "hwmon"
    assert meter._read() == 5.0
    (zone / "energy_uj").rmdir()
    (zone / "energy_uj").write_text("1")
    assert find_meter(powercap, hwmon).source == "powercap"


def test_cycles_are_counted_or_the_reason_is_given():
    counter = CycleCounter()
    first = counter.read()
    sum(range(10_000))
    if counter.status:
        assert "cycle counter" in counter.status
        assert counter.read() == 0
    else:
        assert counter.read() > first
    counter.close()
