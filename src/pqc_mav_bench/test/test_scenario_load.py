# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util
import time

import psutil
import pytest

from pqc_mav_bench.errors import OptionsError
from pqc_mav_bench.load_process import burn, hold
from pqc_mav_bench.scenario import SCENARIOS, Scenario
from pqc_mav_bench.scenario_load import ScenarioLoad
from pqc_mav_common.testing import until

SMALL = Scenario("small", "for the test", 0.2, 48)


@pytest.fixture
def load():
    made = ScenarioLoad()
    yield made
    made.close()


def test_the_baseline_has_no_load(load):
    assert load.set(SCENARIOS["baseline"], emulate=True) == "none"
    assert load.pid == 0


def test_a_load_takes_its_memory_and_its_share_until_another_scenario_comes(load):
    assert load.set(SMALL, emulate=True) == "emulated"
    process = psutil.Process(load.pid)
    until(lambda: process.memory_info().rss > SMALL.memory_mib << 20, "the memory")
    first = process.cpu_times().user
    until(lambda: process.cpu_times().user > first + 0.1, "the work")
    pid = load.pid
    load.set(SMALL, emulate=True)
    assert load.pid == pid
    assert load.set(SCENARIOS["baseline"], emulate=True) == "none"
    assert load.pid == 0
    assert not psutil.pid_exists(pid)


@pytest.mark.parametrize("name", ["xgboost", "tst"])
def test_the_detector_itself_runs_until_another_scenario_comes(load, name):
    if name == "tst":
        pytest.importorskip("onnxruntime", reason="the transformer needs ONNX Runtime: tools/setup.sh detect")
    assert load.set(SCENARIOS[name], emulate=False) == "detector"
    pid = load.pid
    assert psutil.Process(pid).cmdline()[-2:] == ["pqc_mav_detect.watch", name]
    assert load.set(SCENARIOS[name], emulate=False) == "detector" and load.pid == pid
    assert load.set(SCENARIOS[name], emulate=True) == "emulated" and load.pid != pid
    assert not psutil.pid_exists(pid)


def test_a_transformer_without_its_runtime_says_why(load):
    if importlib.util.find_spec("onnxruntime") is not None:
        pytest.skip("ONNX Runtime is installed")
    with pytest.raises(OptionsError, match=r"scenario 'tst' does not run: .*--emulated"):
        load.set(SCENARIOS["tst"], emulate=False)
    assert load.pid == 0


def test_a_detector_that_cannot_run_says_why(load):
    with pytest.raises(OptionsError, match="scenario 'small' does not run: usage"):
        load.set(SMALL, emulate=False)
    assert load.pid == 0


def test_held_memory_is_written_and_burning_takes_processor_time():
    held = hold(2)
    assert len(held) == 2 << 20
    assert held[4096 * 7] == 1
    began = time.thread_time()
    assert burn(0.01) != 1
    assert time.thread_time() - began >= 0.01
