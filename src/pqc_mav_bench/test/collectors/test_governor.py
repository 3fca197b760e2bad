# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from pqc_mav_bench.collectors import governor as of_governor
from pqc_mav_bench.collectors.governor import GovernorPin, governor, pinned
from pqc_mav_common.waiting import wait_until

PINNING = """
import sys, time
from pathlib import Path
from pqc_mav_bench.collectors.governor import GovernorPin
pin = GovernorPin(Path(sys.argv[1]))
print(pin.pin(), flush=True)
time.sleep(60)
"""


def cores(folder, *governors):
    for number, name in enumerate(governors):
        path = folder / f"cpu{number}/cpufreq"
        path.mkdir(parents=True)
        (path / "scaling_governor").write_text(f"{name}\n")
    (folder / "cpufreq").mkdir()
    return [folder / f"cpu{number}" for number in range(len(governors))]


def test_every_core_is_pinned_and_gets_its_own_governor_back(tmp_path):
    found = cores(tmp_path, "schedutil", "powersave", "performance")
    pin = GovernorPin(tmp_path)
    assert pin.pin()
    assert [governor(core) for core in found] == ["performance"] * 3
    assert pin.pin()  # a second run before the first was given back
    pin.restore()
    assert [governor(core) for core in found] == ["schedutil", "powersave", "performance"]
    pin.restore()
    assert pin.pin()  # and again
    pin.restore()
    assert governor(found[0]) == "schedutil"


def test_what_somebody_else_chose_since_stays(tmp_path):
    found = cores(tmp_path, "schedutil", "powersave")
    pin = GovernorPin(tmp_path)
    pin.pin()
    (found[0] / "cpufreq/scaling_governor").write_text("ondemand")
    pin.restore()
    assert [governor(core) for core in found] == ["ondemand", "powersave"]


@pytest.mark.parametrize("whom", ["the process", "its group"])
def test_who_is_killed_leaves_nothing_pinned(tmp_path, whom):
    found = cores(tmp_path, "schedutil", "powersave")
    process = subprocess.Popen(
        [sys.executable, "-c", PINNING, str(tmp_path)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "True\n"
    assert [governor(core) for core in found] == ["performance"] * 2
    (os.kill if whom == "the process" else os.killpg)(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert wait_until(lambda: [governor(core) for core in found] == ["schedutil", "powersave"], 10)


def test_a_machine_without_governors_is_not_pinned_and_costs_no_process(tmp_path, monkeypatch):
    monkeypatch.setattr(of_governor.subprocess, "Popen", pytest.fail)
    assert not GovernorPin(tmp_path).pin()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_what_is_not_allowed_is_left(tmp_path):
    found = cores(tmp_path, "schedutil")
    (found[0] / "cpufreq/scaling_governor").chmod(0o444)
    pin = GovernorPin(tmp_path)
    assert not pin.pin()
    pin.restore()
    assert governor(found[0]) == "schedutil"


def test_a_governor_that_the_kernel_refuses_does_not_count_as_pinned(tmp_path, monkeypatch):
    found = cores(tmp_path, "schedutil")
    monkeypatch.setattr(of_governor, "_write", lambda _core, _name: False)
    with pinned(tmp_path) as done:
        assert not done
    assert governor(found[0]) == "schedutil"
