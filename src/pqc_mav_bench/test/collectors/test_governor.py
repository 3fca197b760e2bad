# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os

import pytest

from pqc_mav_bench.collectors.governor import GovernorPin, governor


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
    (found[0] / "cpufreq/scaling_governor").write_text("ondemand")
    pin.restore()
    assert governor(found[0]) == "ondemand"  # what somebody else chose since stays


def test_a_machine_without_governors_is_not_pinned(tmp_path):
    assert not GovernorPin(tmp_path).pin()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_what_is_not_allowed_is_left(tmp_path):
    found = cores(tmp_path, "schedutil")
    (found[0] / "cpufreq/scaling_governor").chmod(0o444)
    assert not GovernorPin(tmp_path).pin()
    assert governor(found[0]) == "schedutil"


def test_a_governor_that_the_kernel_refuses_does_not_count_as_pinned(tmp_path, monkeypatch):
    found = cores(tmp_path, "schedutil")
    monkeypatch.setattr("pqc_mav_bench.collectors.governor._write", lambda _core, _name: False)
    pin = GovernorPin(tmp_path)
    assert not pin.pin()
    pin.restore()
    assert governor(found[0]) == "schedutil"
