# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from pqc_mav_bench.launch_system import BENCHMARK, BenchmarkSession
from pqc_mav_bringup.description import complete, resolve


@pytest.fixture
def start(tmp_path):
    sessions = []

    def started(**given):
        values = complete(BENCHMARK, {"root": str(tmp_path / "root"), "suites": "ML-512-AG-FA-512", **given})
        sessions.append(BenchmarkSession(values))
        return {process.label: process for process in resolve(BENCHMARK, sessions[-1].values)}

    yield started
    for session in sessions:
        folder = session._session._ends.folder
        session.close()
        assert not folder.exists()


def test_it_waits_under_a_name_one_can_type(start, tmp_path):
    processes = start(power="no")
    controller = processes["bench/drone/bench_controller"]
    assert f"{controller.namespace}/{controller.node}" == "/bench/drone/bench_controller"
    assert controller.parameters["root"] == str(tmp_path / "root")
    assert "bench/drone/pqc_power" not in processes
    assert processes["bench/gcs/pqc_proxy"].log_level == "info"


def test_what_is_given_is_not_chosen(start):
    processes = start(space="lab/one", data_port="21000", power="yes", log_level="debug", autostart="false")
    assert processes["lab/one/gcs/pqc_proxy"].parameters["data_port"] == 21000
    assert processes["lab/one/drone/pqc_power"].log_level == "debug"
    assert all(process.parameters["autostart"] is False for process in processes.values())
