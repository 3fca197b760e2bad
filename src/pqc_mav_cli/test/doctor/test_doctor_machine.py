# SPDX-License-Identifier: Apache-2.0
import resource
import socket

import pytest

from pqc_mav_cli.doctor import machine as doctor_machine
from pqc_mav_cli.doctor.finding import Level


@pytest.mark.parametrize(
    ("cpuinfo", "level", "said"),
    [
        ("flags\t: fpu aes pclmulqdq avx2\n", Level.OK, "avx2"),
        ("Features\t: fp asimd aes pmull sha2\n", Level.OK, "pmull"),
        ("Features\t: half thumb neon vfpv4\n", Level.WARN, "aes and carry-less multiply"),
        ("flags\t: fpu aes\n", Level.WARN, "without carry-less multiply"),
        ("", Level.WARN, "in software"),
    ],
)
def test_cpu(cpuinfo: str, level: Level, said: str) -> None:
    found = doctor_machine.cpu(cpuinfo, "m")
    assert found.level is level and said in found.text
    assert bool(found.remedy) == (level is Level.WARN)


@pytest.mark.parametrize(
    ("free_kib", "limit", "level"),
    [
        (4_000_000, resource.RLIM_INFINITY, Level.OK),
        (60_000, resource.RLIM_INFINITY, Level.WARN),
        (4_000_000, 100 << 20, Level.WARN),
    ],
)
def test_memory(free_kib: int, limit: int, level: Level) -> None:
    assert doctor_machine.memory(f"MemTotal: 1 kB\nMemAvailable: {free_kib} kB\n", limit).level is level


def test_socket_buffers() -> None:
    assert doctor_machine.socket_buffers("212992\n", "212992\n", privileged=False).level is Level.WARN
    assert doctor_machine.socket_buffers("212992\n", "212992\n", privileged=True).level is Level.OK
    assert doctor_machine.socket_buffers("4194304\n", "8388608\n", privileged=False).level is Level.OK


def test_clock() -> None:
    assert doctor_machine.clock("tsc\n").level is Level.OK
    assert doctor_machine.clock("arch_sys_counter").level is Level.OK
    assert doctor_machine.clock("hpet\n").level is Level.WARN


def test_a_port_in_use_is_named() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
        found = doctor_machine.ports([("plain UDP", port, "127.0.0.1")])
    assert found.level is Level.WARN and f"plain UDP {port}" in found.text
    assert doctor_machine.ports([("plain UDP", port, "127.0.0.1")]).level is Level.OK


def test_offload_and_randomness_here() -> None:
    assert doctor_machine.offload().level in (Level.OK, Level.WARN)
    assert doctor_machine.randomness().level is Level.OK
