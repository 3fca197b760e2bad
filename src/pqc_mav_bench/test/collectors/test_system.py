# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import time

import pytest

from pqc_mav_bench.collectors.system import Sample, SystemCollector, summarise, temperature_c
from pqc_mav_bench.schema.run import categories


def sample(at: float, busy: float, **changes: object) -> Sample:
    return Sample(at_s=at, busy_s=(busy, 0.0), memory_mib=100.0 + at, **changes)


def test_means_peaks_and_spread_follow_from_the_samples():
    steps = [sample(0, 0), sample(1, 0.5), sample(2, 1.5), sample(3, 1.5)]
    figures = summarise(steps)
    assert figures["cpu_mean_percent"] == pytest.approx(25.0)
    assert (figures["cpu_peak_percent"], figures["cpu_min_percent"]) == (50.0, 0.0)
    assert figures["core_mean_percent"] == pytest.approx([50.0, 0.0])
    assert figures["cpu_std_percent"] == pytest.approx(20.412, abs=1e-3)
    assert (figures["memory_mean_mib"], figures["memory_peak_mib"]) == (101.5, 103.0)
    assert figures["temperature_mean_c"] is None


def test_our_processes_are_shares_of_one_core():
    first = sample(0, 0, process_s={"tunnel": 10.0, "bench": 1.0}, rss_mib={"tunnel": 70.0})
    last = sample(2, 1, process_s={"tunnel": 10.5}, rss_mib={"tunnel": 72.0, "load": 31.0})
    figures = summarise([first, last])
    assert figures["tunnel_cpu_percent"] == pytest.approx(25.0)
    assert figures["bench_cpu_percent"] is None
    assert (figures["tunnel_rss_mib"], figures["load_rss_mib"]) == (72.0, 31.0)


def test_one_sample_is_no_measurement():
    assert summarise([sample(0, 0)]) == {"samples": 1}


def test_the_processor_zone_is_preferred(tmp_path):
    for number, (kind, value) in enumerate([("wifi", "90000"), ("cpu-thermal", "45500"), ("broken", "x")]):
        zone = tmp_path / f"thermal_zone{number}"
        zone.mkdir()
        (zone / "type").write_text(kind + "\n")
        (zone / "temp").write_text(value + "\n")
    assert temperature_c(tmp_path) == 45.5
    assert temperature_c(tmp_path / "none") is None


def test_the_collector_measures_this_process():
    collector = SystemCollector(lambda: {"bench": os.getpid()}, interval_s=0.05)
    collector.begin()
    end = time.monotonic() + 0.4
    while time.monotonic() < end:
        sum(range(1000))
    figures = collector.end()
    assert figures["samples"] >= 3
    assert figures["bench_cpu_percent"] > 0
    categories()["system_drone"](**figures)
    assert collector.end() == {}
