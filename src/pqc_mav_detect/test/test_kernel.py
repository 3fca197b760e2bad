# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest

from pqc_mav_detect.kernel import Files, parse_dev, sums, waited_ns

DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed
    lo: 9000      90    0    1    0     0          0         0     9000      90    0    0    0     0       0          0
  eth0:5000       50    0    2    0     0          0         0     100       1    0    0    0     0       0          0
 wlan0: 700        7    0    0    0     0          0         0     100       1    0    0    0     0       0          0
"""
SNMP = """\
Ip: Forwarding DefaultTTL InReceives InHdrErrors ReasmFails
Ip: 2 64 100 3 1
Icmp: InMsgs InErrors InEchos InDestUnreachs
Icmp: 15 0 8 7
Tcp: AttemptFails OutRsts InSegs
Tcp: 4 5 700
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors
Udp: 1 11 0 0 6 0 2
"""
NETSTAT = """\
TcpExt: SyncookiesSent EmbryonicRsts ListenDrops TCPReqQFullDrop
TcpExt: 1 2 3 4
IpExt: InNoRoutes InNoECTPkts InECT1Pkts InECT0Pkts InCEPkts
IpExt: 0 900 1 20 3
"""
SNMP6 = """\
Ip6InReceives                   	40
Ip6InNoECTPkts                  	55
Ip6InECT0Pkts                   	5
Udp6InDatagrams                 	30
"""


def test_loopback_does_not_count_unless_it_is_named() -> None:
    of_each = {"packets eth0": 50, "packets wlan0": 7}
    assert parse_dev(DEV) == {"packets": 57, "bytes": 5700, "dropped": 2, "loopback": 90, **of_each}
    only_lo = {"packets": 90, "bytes": 9000, "dropped": 1, "loopback": 90, "packets lo": 90}
    assert parse_dev(DEV, ("lo",)) == only_lo
    assert parse_dev(f"{DEV}  eth1: 1 2 3\n") == parse_dev(DEV), "a line that is too short"
    assert parse_dev(DEV, without=("eth0",)) == parse_dev(DEV, ("wlan0",))
    assert parse_dev(DEV, ("tun7",)) == {"packets": 0, "bytes": 0, "dropped": 0, "loopback": 90}


def test_sums() -> None:
    assert sums(SNMP, NETSTAT, SNMP6) == {
        "icmp_echo": 8,
        "udp_no_port": 11,
        "unreachable": 7,
        "udp_bad": 6,
        "udp_overflow": 6,
        "taken": 1 + 700 + 30,
        "segments": 900 + 1 + 20 + 3 + 55 + 5,
        "received": 100 + 40,
        "tcp_strange": 5 + 1 + 2 * 2 + 3 + 4,
        "tcp_failed": 4,
    }


@pytest.mark.parametrize(
    "text",
    ["", "garbage", "Udp: NoPorts", "Udp: NoPorts\nTcp: 5\n", "Udp: A NoPorts\nUdp: 1\n", "Udp:\nUdp:\n", ":\n:\n"],
)
def test_texts_of_other_kernels_count_nothing(text: str) -> None:
    assert set(sums(text, text, "").values()) == {0}
    assert set(parse_dev(text).values()) == {0}


def test_this_kernel_has_every_file_and_its_counters_only_grow() -> None:
    files = Files()
    try:
        first, second = files.read(), files.read()
        assert first and all(second[name] >= value for name, value in first.items())
    finally:
        files.close()
    assert files.read() == {}


def test_a_kernel_without_the_files(tmp_path: Path) -> None:
    files = Files(folder=tmp_path)
    assert files.missing and files.read() == {}
    files.close()


def test_more_interfaces_than_a_page_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pread, head = os.pread, DEV.splitlines()[:2]
    monkeypatch.setattr(os, "pread", lambda file, most, offset: pread(file, min(most, 4096), offset))
    rows = [f"veth{number:03}: {'0 ' * 16}".ljust(120) for number in range(60)]
    for name, text in (("dev", "\n".join([*head, *rows, "wlan0: 700 7 0 0\n"])), ("snmp", SNMP), ("netstat", NETSTAT)):
        (tmp_path / name).write_text(text)
    files = Files(folder=tmp_path)
    found = files.read()
    files.close()
    assert (found["packets"], found["packets wlan0"], found["udp_no_port"]) == (7, 7, 11)


def test_other_interfaces_make_no_traffic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Files, "_LOOK_EVERY", 2)
    for name, text in (("dev", DEV), ("snmp", SNMP), ("netstat", NETSTAT)):
        (tmp_path / name).write_text(text)
    sysfs = tmp_path / "net"
    for name in ("lo", "eth0", "wlan0"):
        (sysfs / name).mkdir(parents=True)
    (sysfs / "eth0" / "master").mkdir()
    files = Files(folder=tmp_path, sysfs=sysfs)
    assert (files.read()["packets"], files.read()["packets"]) == (7, 7)
    (sysfs / "eth0" / "master").rmdir()
    assert files.read() == {}, "what it has counted for years is not of this window"
    assert files.read()["packets"] == 57
    files.close()


def test_an_interface_that_is_not_there_is_named(tmp_path: Path) -> None:
    for name, text in (("dev", DEV), ("snmp", SNMP), ("netstat", NETSTAT)):
        (tmp_path / name).write_text(text)
    files = Files(("wlan0", "wlan9"), folder=tmp_path)
    assert files.absent() == ["wlan9"]
    files.close()


def test_how_long_this_process_waited_for_a_processor(tmp_path: Path) -> None:
    assert waited_ns("31337 52255667 12\n") == 52255667
    assert waited_ns("5 7") == 7
    assert waited_ns("5") == waited_ns("") == 0
    files = Files(waited=tmp_path / "missing")
    assert files.read()["waited_ns"] == 0
    files.close()
    (tmp_path / "schedstat").write_text("1 2 3\n")
    files = Files(waited=tmp_path / "schedstat")
    assert files.read()["waited_ns"] == 2
    (tmp_path / "schedstat").write_text("1 7 3\n")
    assert files.read()["waited_ns"] == 7
    assert files.read(packets=False) == {"waited_ns": 7}, "where the tunnel's packets pass another kernel's counters"
    files.close()
