# SPDX-License-Identifier: Apache-2.0
"""Checks of the machine: processor, memory, kernel, ports, clock, randomness. Texts of the kernel's files are arguments
where a check only reads them, so that any machine can be judged in a test."""

import os
import platform
import resource
import socket
from collections.abc import Iterable

from pqc_mav_cli.doctor.finding import Finding, fail, ok, warn
from pqc_mav_cli.doctor.tree import Tree
from pqc_mav_cli.up_check import UDP, taken

# linux/udp.h
_SOL_UDP, _UDP_SEGMENT, _UDP_GRO = 17, 103, 104
_FAST_CLOCKS = ("tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "riscv_clocksource")
# Key generation of Classic McEliece 8192128 works on a stack of some MiB and a public key of 1.3 MiB, per handshake.
MCELIECE_MIB = 128
MIN_SOCKET_BUFFER = 4 << 20


def cpu(cpuinfo: str, machine: str) -> Finding:
    """Whether the processor has instructions for AES-GCM. `cpuinfo`: text of /proc/cpuinfo."""
    flags: set[str] = set()
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            flags |= set(value.split())
    multiply = flags & {"pclmulqdq", "pmull"}
    if "aes" in flags and multiply:
        extra = " ".join(sorted(flags & {"avx2", "vaes", "vpclmulqdq", "sha2", "sha3", "asimd"}))
        return ok("processor", f"{machine} with aes and {multiply.pop()}{f', {extra}' if extra else ''}")
    lacking = " and ".join(
        name for name, there in (("aes", "aes" in flags), ("carry-less multiply", multiply)) if not there
    )
    return warn(
        "processor",
        f"{machine} without {lacking}: AES-GCM is computed in software",
        "choose a suite with ChaCha20-Poly1305 or Ascon-128a, e.g. 'pqcmav suites --aead chacha'",
    )


def memory(meminfo: str, address_limit: int) -> Finding:
    """Whether Classic McEliece fits. `meminfo`: text of /proc/meminfo; `address_limit`: RLIMIT_AS or RLIM_INFINITY."""
    free_kib = 0
    for line in meminfo.splitlines():
        if line.startswith("MemAvailable:"):
            free_kib = int(line.split()[1])
    free_mib = free_kib // 1024
    if address_limit != resource.RLIM_INFINITY and address_limit < MCELIECE_MIB << 21:
        return warn(
            "memory", f"address space is limited to {address_limit >> 20} MiB", "raise it with 'ulimit -v unlimited'"
        )
    if free_mib < MCELIECE_MIB:
        return warn(
            "memory", f"{free_mib} MiB free: too little for Classic McEliece", "free memory, or use another KEM"
        )
    return ok("memory", f"{free_mib:,} MiB free, enough for Classic McEliece")


def offload() -> Finding:
    """Whether the kernel sends and receives UDP packets in runs (since Linux 5.0)."""
    lacking = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for name, option, value in (("GSO", _UDP_SEGMENT, 1400), ("GRO", _UDP_GRO, 1)):
            try:
                probe.setsockopt(_SOL_UDP, option, value)
            except OSError:
                lacking.append(name)
    release = platform.release()
    if lacking:
        return warn(
            "kernel",
            f"{release} without UDP {' and '.join(lacking)}: packets are sent one by one",
            "use Linux 5.0 or newer",
        )
    return ok("kernel", f"{release} with UDP GSO and GRO")


def socket_buffers(receive_max: str, send_max: str, privileged: bool) -> Finding:
    """Whether the engine gets the buffers it asks for. Texts of /proc/sys/net/core/{r,w}mem_max."""
    limits = [int(text) for text in (receive_max, send_max) if text.strip().isdigit()]
    if privileged or not limits or min(limits) >= MIN_SOCKET_BUFFER:
        return ok("socket buffers", "4 MiB available")
    return warn(
        "socket buffers",
        f"the system limits them to {min(limits) >> 10} KiB: bursts of more than some thousand packets may be lost",
        "sysctl net.core.rmem_max=4194304 net.core.wmem_max=4194304",
    )


def clock(source: str) -> Finding:
    """Whether reading the time is cheap. `source`: text of .../clocksource0/current_clocksource."""
    name = source.strip()
    if not name or name in _FAST_CLOCKS:
        return ok("clock", f"{name or 'unknown source'}; the handshake does not need the right time of day")
    return warn(
        "clock", f"{name} is slow to read: latency figures suffer", "boot with clocksource=tsc if the machine has one"
    )


def randomness() -> Finding:
    """Whether the kernel's random generator is seeded; keys come from it."""
    try:
        os.getrandom(32, os.GRND_NONBLOCK)
    except BlockingIOError:
        return fail(
            "randomness",
            "the kernel's generator is not seeded yet",
            "wait some seconds after boot, or install rng-tools",
        )
    return ok("randomness", "the kernel's generator is seeded")


def ports(wanted: Iterable[tuple[str, int, str]]) -> Finding:
    """Whether the ports of the configuration are free: (name, port, host) each."""
    wanted = list(wanted)
    used = [f"{name} {port}" for name, port, host in wanted if port and taken(UDP, host, port)]
    if used:
        return warn("ports", f"in use: {', '.join(used)}", "fine if a tunnel is running here; otherwise see 'ss -lnpu'")
    return ok("ports", f"free: {', '.join(f'{name} {port}' for name, port, _ in wanted)}")


def capture() -> Finding:
    """Whether the demo may look at the wire."""
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0).close()
    except PermissionError:
        return ok("packet capture", "not permitted: the demo skips its check of the wire (needs root or CAP_NET_RAW)")
    except OSError as error:
        return ok("packet capture", f"not possible here ({error.strerror}): the demo skips its check of the wire")
    return ok("packet capture", "permitted: the demo checks the wire for plaintext")


def privileged(status: str) -> bool:
    """Whether limits of socket buffers do not apply: CAP_NET_ADMIN, bit 12 of CapEff in /proc/self/status."""
    for line in status.splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> 12 & 1)
    return os.geteuid() == 0


def checks(wanted_ports: Iterable[tuple[str, int, str]]) -> list[Finding]:
    """All of the above on this machine."""
    clock_source = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    read = Tree().text
    limits = (read("/proc/sys/net/core/rmem_max"), read("/proc/sys/net/core/wmem_max"))
    return [
        cpu(read("/proc/cpuinfo"), platform.machine()),
        memory(read("/proc/meminfo"), resource.getrlimit(resource.RLIMIT_AS)[0]),
        offload(),
        socket_buffers(*limits, privileged(read("/proc/self/status"))),
        clock(read(clock_source)),
        randomness(),
        ports(wanted_ports),
        capture(),
    ]
