# SPDX-License-Identifier: Apache-2.0
import psutil
import pytest

from pqc_mav_sensing.errors import SensorError
from pqc_mav_sensing.system_reader import SystemReader


def test_a_look_at_this_machine() -> None:
    view = SystemReader("lo").look()
    assert len(view.core_percent) == psutil.cpu_count()
    assert all(0 <= percent <= 100 for percent in (*view.core_percent, view.cpu_percent, view.disk_used_percent))
    assert 0 < view.memory_used_mib < view.memory_total_mib
    assert view.interface == "lo" and view.net_rx_bytes == view.net_tx_bytes


def test_the_sum_of_all_interfaces() -> None:
    one, every = SystemReader("lo").look(), SystemReader().look()
    assert every.interface == "" and every.net_rx_bytes >= one.net_rx_bytes


def test_an_interface_that_is_not_there_is_named_and_may_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = SystemReader("tun7")
    with pytest.raises(SensorError, match=r"'tun7' now; there are: .*lo"):
        reader.look()
    counters = psutil.net_io_counters(pernic=True)["lo"]
    monkeypatch.setattr(psutil, "net_io_counters", lambda **_: {"tun7": counters})
    assert reader.look().interface == "tun7"


def test_a_disk_that_is_not_there() -> None:
    with pytest.raises(SensorError, match="/no/such/place"):
        SystemReader(disk="/no/such/place").look()


def test_what_a_container_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise NotImplementedError

    for name in ("swap_memory", "cpu_freq", "disk_io_counters"):
        monkeypatch.setattr(psutil, name, missing)
    view = SystemReader().look()
    assert view.cpu_mhz != view.cpu_mhz and view.swap_used_mib == 0.0 and view.disk_read_bytes == 0
