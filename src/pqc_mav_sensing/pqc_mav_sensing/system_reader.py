# SPDX-License-Identifier: Apache-2.0
"""Load of this computer through psutil: one look is one snapshot."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import psutil

from pqc_mav_sensing.errors import SensorError

MIB = 1 << 20
T = TypeVar("T")


@dataclass(frozen=True)
class SystemView:
    """One look; fields as in SystemLoad.msg."""

    cpu_percent: float
    core_percent: tuple[float, ...]
    load_1: float
    load_5: float
    load_15: float
    cpu_mhz: float
    memory_used_mib: float
    memory_total_mib: float
    swap_used_mib: float
    disk_used_percent: float
    disk_read_bytes: int
    disk_write_bytes: int
    interface: str
    net_rx_bytes: int
    net_tx_bytes: int
    net_rx_packets: int
    net_tx_packets: int
    net_errors: int
    net_drops: int


class SystemReader:
    """Reads; the processor's load is that since the look before."""

    def __init__(self, interface: str = "", disk: str = "/") -> None:
        self._interface = interface
        self._disk = disk
        psutil.cpu_percent(percpu=True)  # the first answer counts from nothing: it is thrown away here

    def look(self) -> SystemView:
        """Raises SensorError when the interface, the disk or /proc cannot be read."""
        cores = tuple(psutil.cpu_percent(percpu=True))
        memory, swap = psutil.virtual_memory(), _or_none(psutil.swap_memory)
        disk = _or_none(psutil.disk_io_counters)
        frequency = _or_none(psutil.cpu_freq)
        net = self._network()
        try:
            used = psutil.disk_usage(self._disk).percent
        except OSError as error:
            raise SensorError(f"cannot read the file system of {self._disk}: {error.strerror}") from None
        load_1, load_5, load_15 = os.getloadavg()
        return SystemView(
            cpu_percent=sum(cores) / len(cores) if cores else math.nan,
            core_percent=cores,
            load_1=load_1,
            load_5=load_5,
            load_15=load_15,
            cpu_mhz=frequency.current if frequency else math.nan,
            memory_used_mib=(memory.total - memory.available) / MIB,
            memory_total_mib=memory.total / MIB,
            swap_used_mib=swap.used / MIB if swap else 0.0,
            disk_used_percent=used,
            disk_read_bytes=disk.read_bytes if disk else 0,
            disk_write_bytes=disk.write_bytes if disk else 0,
            interface=self._interface,
            net_rx_bytes=net.bytes_recv,
            net_tx_bytes=net.bytes_sent,
            net_rx_packets=net.packets_recv,
            net_tx_packets=net.packets_sent,
            net_errors=net.errin + net.errout,
            net_drops=net.dropin + net.dropout,
        )

    def _network(self) -> psutil._ntuples.snetio:
        if not self._interface:
            total = psutil.net_io_counters(nowrap=True)
            if total is None:
                raise SensorError("this computer has no network interface")
            return total
        interfaces = psutil.net_io_counters(pernic=True, nowrap=True)
        if self._interface not in interfaces:
            known = ", ".join(sorted(interfaces))
            raise SensorError(f"there is no network interface '{self._interface}' now; there are: {known}")
        return interfaces[self._interface]


def _or_none(read: Callable[[], T]) -> T | None:
    """What psutil cannot find on every machine (swap, disk and clock counters in containers)."""
    try:
        return read()
    except (OSError, RuntimeError, NotImplementedError, FileNotFoundError):
        return None
