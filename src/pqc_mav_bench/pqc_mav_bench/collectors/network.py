# SPDX-License-Identifier: Apache-2.0
"""Counters of the network interface that carries the tunnel."""

import ipaddress
import socket
from collections.abc import Mapping
from typing import Any

import psutil

LOOPBACK = "lo"


def interface_towards(host: str) -> str:
    """Name of the interface through which packets to `host` leave; "" when it cannot be told."""
    try:
        address = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
        if ipaddress.ip_address(address[4][0]).is_loopback:
            return LOOPBACK
        # Connecting a UDP socket sends nothing; it only asks the kernel for the route.
        with socket.socket(address[0], socket.SOCK_DGRAM) as probe:
            probe.connect(address[4])
            own = probe.getsockname()[0]
    except (OSError, ValueError):
        return ""
    for name, entries in psutil.net_if_addrs().items():
        if any(entry.address.partition("%")[0] == own for entry in entries):
            return LOOPBACK if name == LOOPBACK else name
    return ""


class NetworkCollector:
    """Differences of an interface's counters between `begin` and `end`."""

    def __init__(self) -> None:
        self.interface = ""
        self._first: Any = None

    def begin(self, interface: str) -> None:
        """Remembers the counters; an interface that does not exist gives no figures."""
        self.interface = interface
        self._first = self._read()

    def end(self) -> dict[str, Any]:
        """Fields of NetworkInterface for one side; only the name when there were no counters."""
        last = self._read()
        if self._first is None or last is None:
            return {"interface": self.interface or None}
        return {"interface": self.interface, **difference(self._first._asdict(), last._asdict())}

    def _read(self) -> Any:
        return psutil.net_io_counters(pernic=True).get(self.interface)


def difference(first: Mapping[str, int], last: Mapping[str, int]) -> dict[str, int]:
    """What was counted between two readings of psutil's counters."""
    delta = {name: last[name] - first[name] for name in last}
    return {
        "rx_bytes": delta["bytes_recv"],
        "tx_bytes": delta["bytes_sent"],
        "rx_packets": delta["packets_recv"],
        "tx_packets": delta["packets_sent"],
        "errors": delta["errin"] + delta["errout"],
        "drops": delta["dropin"] + delta["dropout"],
    }
