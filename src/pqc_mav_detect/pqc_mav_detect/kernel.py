# SPDX-License-Identifier: Apache-2.0
"""What the kernel counted: /proc/net/dev, snmp, netstat and snmp6 as texts into a few sums. Pure but for `Files`.

The counters are those of the network namespace and only grow. Interfaces are summed without loopback, on which nobody
attacks from outside; what snmp and netstat count is not split by interface, so loopback has a sum of its own.
"""

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from pqc_mav_detect import interfaces

FOLDER = Path("/proc/net")
WAITED = Path("/proc/self/schedstat")  # of the thread that began the process
LOOPBACK = "lo"
OF_INTERFACE = "packets "  # before the name of an interface, none of which has a space
V6 = "snmp6"  # the table of a file that has a name and a value in each line
# Name here -> what is summed: table and column.
SUMS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "icmp_echo": (("Icmp", "InEchos"),),
    "udp_no_port": (("Udp", "NoPorts"),),
    "unreachable": (("Icmp", "InDestUnreachs"),),
    "udp_bad": (("Udp", "InCsumErrors"), ("Ip", "InHdrErrors"), ("Ip", "ReasmFails")),
    "udp_overflow": (("Udp", "RcvbufErrors"),),
    "taken": (("Udp", "InDatagrams"), ("Tcp", "InSegs"), (V6, "Udp6InDatagrams")),
    # What the card or the kernel merged (GRO) is one packet for all but these, and several for the interface.
    "segments": (
        *(("IpExt", f"In{mark}Pkts") for mark in ("NoECT", "ECT0", "ECT1", "CE")),
        *((V6, f"Ip6In{mark}Pkts") for mark in ("NoECT", "ECT0", "ECT1", "CE")),
    ),
    "received": (("Ip", "InReceives"), (V6, "Ip6InReceives")),
    # A connection that a stranger began and broke off is a failed attempt, too: it counts twice, less that.
    "tcp_strange": (
        *(("Tcp", "OutRsts"), *(2 * (("TcpExt", "EmbryonicRsts"),))),
        *(("TcpExt", "SyncookiesSent"), ("TcpExt", "ListenDrops"), ("TcpExt", "TCPReqQFullDrop")),
    ),
    # The other attempts are this host's own; if it asked itself, it also sent the reset.
    "tcp_failed": (("Tcp", "AttemptFails"),),
}
_OF_V6 = [(name, [column for table, column in parts if table == V6]) for name, parts in SUMS.items()]
# Columns of /proc/net/dev behind the name.
_BYTES, _PACKETS, _DROPPED = 0, 1, 3


def parse_dev(text: str, names: Collection[str] = (), without: Collection[str] = ()) -> dict[str, int]:
    """What came on the interfaces of these names, or on all but loopback and those `without` which all are counted;
    packets of each, and of loopback."""
    found = {"packets": 0, "bytes": 0, "dropped": 0, "loopback": 0}
    for line in text.splitlines()[2:]:
        name, colon, rest = line.partition(":")
        name = name.strip()
        fields = rest.split()
        if not colon or len(fields) <= _DROPPED:
            continue
        if name == LOOPBACK:
            found["loopback"] += int(fields[_PACKETS])
        if name in names if names else name != LOOPBACK and name not in without:
            found["bytes"] += int(fields[_BYTES])
            found["packets"] += int(fields[_PACKETS])
            found[OF_INTERFACE + name] = int(fields[_PACKETS])
            found["dropped"] += int(fields[_DROPPED])
    return found


def sums(snmp: str, netstat: str, snmp6: str = "") -> dict[str, int]:
    """What is summed of the tables; what this kernel does not count is 0."""
    found = dict.fromkeys(SUMS, 0)
    for text in (snmp, netstat):
        lines = text.splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=False):
            wanted = _wanted(names)
            cells = values.split() if wanted else []
            if cells and cells[0] == names[: names.find(":") + 1]:
                for name, column in wanted:
                    if column < len(cells):
                        found[name] += int(cells[column])
    words = snmp6.split()
    of_v6 = dict(zip(words[::2], words[1::2], strict=False))
    for name, columns in _OF_V6:
        found[name] += sum(int(of_v6.get(column, 0)) for column in columns)
    return found


@lru_cache(maxsize=64)
def _wanted(names: str) -> tuple[tuple[str, int], ...]:
    """(sum, column) of what a line of names announces for the line of values after it. The kernel's never change."""
    table, colon, _ = names.partition(":")
    columns = {column: number for number, column in enumerate(names.split())} if colon else {}
    parts = ((name, part) for name, parts in SUMS.items() for part in parts)
    return tuple((name, columns[part]) for name, (of, part) in parts if of == table and part in columns)


def waited_ns(schedstat: str) -> int:
    """How long a thread was ready to run and waited for a processor: the second figure of /proc/self/schedstat."""
    fields = schedstat.split()
    return int(fields[1]) if len(fields) > 1 else 0


class Files:
    """Reads the files again and again through descriptors that stay open, and what this process waited.

    `names`: of the interfaces that count; without, all but loopback, and each packet once.
    """

    _NAMES = ("dev", "snmp", "netstat")
    _MOST = 1 << 16
    _LOOK_EVERY = 50  # readings

    def __init__(
        self,
        names: Collection[str] = (),
        folder: Path = FOLDER,
        waited: Path = WAITED,
        sysfs: Path = interfaces.FOLDER,
    ) -> None:
        self._names = tuple(names)
        self._sysfs = sysfs
        self._twice: frozenset[str] | None = None
        self._readings = 0
        self._waited: int | None = None
        with suppress(OSError):  # some kernels do not count it
            self._waited = os.open(waited, os.O_RDONLY | os.O_CLOEXEC)
        self._open: list[int] = []
        for name in self._NAMES:
            with suppress(OSError):
                self._open.append(os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC))
        self.missing = len(self._open) < len(self._NAMES)
        if not self.missing:
            with suppress(OSError):  # without IPv6 there is none
                self._open.append(os.open(folder / V6, os.O_RDONLY | os.O_CLOEXEC))

    def absent(self) -> list[str]:
        """Which of the interfaces that count are not there now."""
        there = {line.partition(":")[0].strip() for line in self._text(0).splitlines()} if self._open else set()
        return [name for name in self._names if name not in there]

    def read(self, *, packets: bool = True) -> dict[str, int]:
        """The counters now; empty where the kernel shows none, after `close`, and if other interfaces count from now
        on; the host's without `packets`."""
        if len(self._open) < len(self._NAMES):
            return {}
        if not packets:
            return {"waited_ns": self._wait()}
        try:
            dev, snmp, netstat = (self._text(number) for number in range(len(self._NAMES)))
            snmp6 = self._text(len(self._NAMES)) if len(self._open) > len(self._NAMES) else ""
        except OSError:
            return {}
        if self._changed(dev):
            return {}
        found = parse_dev(dev, self._names, self._twice or ())
        return {**found, **sums(snmp, netstat, snmp6), "waited_ns": self._wait()}

    def _changed(self, dev: str) -> bool:
        """Looks now and then which interfaces count what others have counted."""
        self._readings += 1
        if self._names or self._readings % self._LOOK_EVERY != 1:
            return False
        names = [line.partition(":")[0].strip() for line in dev.splitlines()[2:]]
        before, self._twice = self._twice, interfaces.counted_twice(names, self._sysfs)
        return before is not None and before != self._twice

    def _text(self, number: int) -> str:
        """Up to `_MOST` bytes. The kernel hands out at most a page at a time, which some 30 interfaces fill."""
        text = b""
        while len(text) < self._MOST and (more := os.pread(self._open[number], self._MOST - len(text), len(text))):
            text += more
        return text.decode("ascii", "replace")

    def _wait(self) -> int:
        if self._waited is None:
            return 0
        try:
            return waited_ns(os.pread(self._waited, self._MOST, 0).decode("ascii", "replace"))
        except OSError:
            return 0

    def close(self) -> None:
        """Close the files."""
        while self._open:
            os.close(self._open.pop())
        if self._waited is not None:
            os.close(self._waited)
            self._waited = None
