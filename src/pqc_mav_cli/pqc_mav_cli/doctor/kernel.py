# SPDX-License-Identifier: Apache-2.0
"""`pqcmav doctor --security`: swap, core dumps, and what the kernel's settings let programs and the network do."""

from collections.abc import Callable
from dataclasses import dataclass

from pqc_mav_cli.doctor.finding import Finding, ok, warn
from pqc_mav_cli.doctor.tree import Tree

_CONF = "net/ipv4/conf"


@dataclass(frozen=True)
class Setting:
    """A sysctl that should be at least, or at most, a value; `danger` completes "is N: ..."."""

    name: str
    good: Callable[[int], bool]
    wanted: int
    danger: str


# Kernel documentation: admin-guide/sysctl/{kernel,fs}.rst, admin-guide/LSM/Yama.rst, networking/ip-sysctl.rst.
SETTINGS = (
    Setting("kernel.yama.ptrace_scope", lambda n: n >= 1, 1, "programs may read the memory of others of the same user"),
    Setting("kernel.randomize_va_space", lambda n: n >= 2, 2, "addresses in memory can be guessed"),
    Setting("kernel.unprivileged_bpf_disabled", lambda n: n >= 1, 2, "every user may load programs into the kernel"),
    Setting("fs.suid_dumpable", lambda n: n != 1, 0, "programs that changed their user leave core dumps"),
    Setting("fs.protected_symlinks", lambda n: n == 1, 1, "a link in /tmp can lead a program to another file"),
    Setting("fs.protected_hardlinks", lambda n: n == 1, 1, "users may link to files that they cannot read"),
)
# Of each network interface. The kernel takes the greater of 'all' and the interface's own for these, but for
# accept_source_route, which both have to allow.
INTERFACE_SETTINGS = (
    Setting("route_localnet", lambda n: n == 0, 0, "the network reaches 127.0.0.1, where MAVLink is in plaintext"),
    Setting("rp_filter", lambda n: n >= 1, 2, "packets are let in whose sender cannot be where they come from"),
    Setting("accept_redirects", lambda n: n == 0, 0, "a neighbour on the network can lead the tunnel's packets away"),
    Setting("accept_source_route", lambda n: n == 0, 0, "a sender chooses the way of its packets and of the answers"),
)


def _number(tree: Tree, path: str) -> int | None:
    text = tree.text(f"/proc/sys/{path}").strip()
    return int(text) if text.lstrip("-").isdigit() else None


def settings(tree: Tree) -> list[Finding]:
    """The sysctls: one line for each that is not as it should be, or one for all."""
    found, good = [], 0
    for each in SETTINGS:
        value = _number(tree, each.name.replace(".", "/"))
        if value is None or each.good(value):
            good += value is not None
            continue
        found.append(warn("sysctl", f"{each.name} is {value}: {each.danger}", f"sysctl {each.name}={each.wanted}"))
    # In a network namespace of its own this is what the end gets.
    names = [name for name in tree.names(f"/proc/sys/{_CONF}") if name not in ("all", "default")]
    for each in INTERFACE_SETTINGS:
        every = _number(tree, f"{_CONF}/all/{each.name}")
        bad = []
        for name in names:
            own = _number(tree, f"{_CONF}/{name}/{each.name}")
            if own is None or every is None or (name == "lo" and each.name != "route_localnet"):
                continue
            value = min(every, own) if each.name == "accept_source_route" else max(every, own)
            bad += [] if each.good(value) else [name]
        if bad:
            cure = " ".join(f"net.ipv4.conf.{name}.{each.name}={each.wanted}" for name in ("all", *bad))
            found.append(warn("sysctl", f"{each.name} of {', '.join(bad)}: {each.danger}", f"sysctl {cure}"))
        good += bool(names) and not bad
    if not found:
        return [ok("sysctl", f"{good} settings of the kernel are as they should be")] if good else []
    return found


def encrypted(tree: Tree, device: str) -> bool:
    """Whether a swap device keeps nothing that can be read when the machine is off."""
    name = device.rsplit("/", 1)[-1]
    return name.startswith("zram") or tree.text(f"/sys/block/{name}/dm/uuid").startswith("CRYPT-")


def open_swap(tree: Tree) -> list[str]:
    """The devices and files in /proc/swaps that are neither encrypted nor in memory."""
    lines = tree.text("/proc/swaps").splitlines()[1:]
    # A device by another name (/dev/mapper/x) leads to /dev/dm-N.
    devices = [line.split()[0] for line in lines if line.strip()]
    return [device for device in devices if not encrypted(tree, str(tree.at(device).resolve()))]


def swap(tree: Tree) -> Finding:
    """Where the memory of programs may end up."""
    if devices := open_swap(tree):
        return warn(
            "swap",
            f"{', '.join(devices)} is not encrypted: keys in memory may be written there, and stay",
            "swapoff -a, encrypt it, or start the end by the shipped unit, which has MemorySwapMax=0",
        )
    there = len(tree.text("/proc/swaps").splitlines()) > 1
    return ok("swap", "encrypted, or in memory" if there else "none: no key in memory reaches a disk by it")


def core_pattern(tree: Tree) -> Finding:
    """Where core dumps go. The ends and 'pqcmav keys' forbid theirs."""
    pattern = tree.text("/proc/sys/kernel/core_pattern").strip()
    if pattern.startswith("|"):
        program = pattern[1:].split()[0] if pattern[1:].split() else "?"
        where = f"{program} gets the dumps of all programs, even of those with a limit of 0"
        return ok("core dumps", f"{where}; an end that runs forbids its own")
    return ok("core dumps", f"go to '{pattern or 'core'}'; an end that runs forbids its own")


def checks(tree: Tree) -> list[Finding]:
    """All of the above."""
    return [swap(tree), core_pattern(tree), *settings(tree)]
