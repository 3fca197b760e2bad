# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pqc_mav_detect.interfaces import counted_twice


@pytest.mark.parametrize(
    ("below", "masters", "twice"),
    [
        ({"eth0": ""}, "", ""),
        ({"eth0": "", "br0": "eth0"}, "eth0", "eth0"),
        ({"eth0": "", "eth0.7": "eth0"}, "", "eth0.7"),
        ({"eth0": "", "eth1": "", "bond0": "eth0 eth1", "bond0.7": "bond0"}, "eth0 eth1", "eth0 eth1 bond0.7"),
        ({"eth0": "", "eth0.7": "eth0", "br0": "eth0.7"}, "eth0.7", "eth0.7 br0"),
        ({"veth1": "", "docker0": "veth1", "wlan0": ""}, "veth1", "veth1"),
    ],
)
def test_each_packet_counts_once(tmp_path: Path, below: Mapping[str, str], masters: str, twice: str) -> None:
    for name, lower in below.items():
        (tmp_path / name).mkdir()
        for each in lower.split():
            (tmp_path / name / f"lower_{each}").mkdir()
        if name in masters.split():
            (tmp_path / name / "master").mkdir()
    assert counted_twice(below, tmp_path) == {*twice.split()}


def test_a_machine_without_sysfs_counts_all(tmp_path: Path) -> None:
    assert counted_twice(["eth0", "br0"], tmp_path / "none") == frozenset()
