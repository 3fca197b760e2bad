# SPDX-License-Identifier: Apache-2.0
"""`pqcmav doctor --security`: the ends that run on this machine, by what /proc says of them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

from pqc_mav_cli.doctor.finding import Finding, fail, ok, warn
from pqc_mav_cli.doctor.tree import Tree
from pqc_mav_common.dds_sockets import split
from pqc_mav_common.socket_table import BoundSocket, bound_sockets, own_sockets

# As the engine names its threads: whichever program hosts it, one of the first name is there.
DATA_THREAD, HANDSHAKE_THREAD = "pqc-data", "pqc-handshake"
COMMAND = "pqcmav"  # the dashboard's and the metrics' process
_REAL_TIME = {1: "SCHED_FIFO", 2: "SCHED_RR", 6: "SCHED_DEADLINE"}  # sched(7)
_IDLE = 5
_SETTING = re.compile(r"\b(role|keys|data_port|local_data_port|plain_allow_remote)\s*(?::=?|=)\s*['\"]?([^\s,}'\"]+)")
_DAEMON, _WITH_A_VALUE = "pqcmav-tunneld", ("--door", "--node", "--set")  # as its main.cpp has them
_TRUE = ("true", "yes", "on", "y")  # as YAML has it, in any case
UNIT = "start it by the shipped systemd unit"


@dataclass(frozen=True)
class End:
    """A process with an engine in it, or one of ours that serves pages (`engine` false)."""

    pid: int
    name: str
    uid: int
    engine: bool
    files: tuple[str, ...] = ()  # of its configuration
    config: Mapping[str, str] = field(default_factory=dict)  # what they set
    keys: tuple[str, ...] = ()  # folders
    known: bool = True  # whether these are all

    @property
    def folder(self) -> str:
        """Its place in /proc."""
        return f"/proc/{self.pid}"

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid})"


def _status(tree: Tree, pid: int) -> dict[str, str]:
    lines = (line.partition(":") for line in tree.text(f"/proc/{pid}/status").splitlines())
    return {name: value.strip() for name, _, value in lines}


def threads(tree: Tree, end: End) -> Iterator[tuple[str, int, int]]:
    """Name, nice value and scheduling policy of each (proc_pid_stat(5))."""
    for tid in tree.names(f"{end.folder}/task"):
        text = tree.text(f"{end.folder}/task/{tid}/stat")
        name, fields = text[text.find("(") + 1 : text.rfind(")")], text[text.rfind(")") + 1 :].split()
        if len(fields) > 38:
            yield name, int(fields[16]), int(fields[38])


def settings(text: str) -> dict[str, str]:
    """Of a configuration file what matters here. Looked for, not parsed: the package of the command has no YAML, and
    the engine refuses a file that is not good.
    """
    return dict(_set_in(text))


def _set_in(text: str) -> list[tuple[str, str]]:
    lines = (line.partition(" #")[0] for line in text.splitlines() if not line.lstrip().startswith("#"))
    return [found for line in lines for found in _SETTING.findall(line)]


def allows_remote(config: Mapping[str, str]) -> bool:
    """Whether plaintext may be open to other machines."""
    return config.get("plain_allow_remote", "").lower() in _TRUE


def named_files(name: str, arguments: list[str]) -> list[str]:
    """The configuration files of a command line: of a daemon its arguments, of a ROS node those for parameters."""
    pairs = list(pairwise(arguments))
    if name != _DAEMON:
        return [path for flag, path in pairs if flag == "--params-file"]
    return [path for before, path in pairs if before not in _WITH_A_VALUE and not path.startswith("-")]


def _absolute(tree: Tree, pid: int, uid: int, path: str) -> str:
    """As the end itself finds it; empty if that cannot be seen."""
    if path == "~" or path.startswith("~/"):
        return f"{tree.home(uid)}{path[1:]}" if tree.home(uid) else ""
    if path.startswith("/"):
        return path
    try:
        return f"{tree.at(f'/proc/{pid}/cwd').readlink()}/{path}"
    except OSError:
        return ""


def _end(tree: Tree, pid: int, name: str, engine: bool) -> End:
    uid = int(_status(tree, pid).get("Uid", "0").split()[0])
    if not engine:
        return End(pid, name, uid, engine)
    arguments = tree.text(f"/proc/{pid}/cmdline").rstrip("\0").split("\0")
    files = tuple(_absolute(tree, pid, uid, path) for path in named_files(name, arguments))
    root = f"/proc/{pid}/root"
    elsewhere = tree.is_elsewhere(root)
    texts = [tree.text(f"{root}/{path}" if elsewhere else path) for path in files if path]
    found = [each for text in (*texts, "\n".join(arguments)) for each in _set_in(text)]
    if elsewhere:  # their users are those of that system
        return End(pid, name, uid, engine, config=dict(found))
    keys = tuple(_absolute(tree, pid, uid, value) for key, value in found if key == "keys")
    known = bool(keys) and all((*files, *texts, *keys))
    return End(pid, name, uid, engine, tuple(filter(None, files)), dict(found), tuple(filter(None, keys)), known)


def running(tree: Tree) -> list[End]:
    """The ends of this machine, and the processes of the command beside them."""
    found = []
    for name in tree.names("/proc"):
        if not name.isdigit():
            continue
        comm = tree.text(f"/proc/{name}/comm").strip()
        tasks = (tree.text(f"/proc/{name}/task/{tid}/comm").strip() for tid in tree.names(f"/proc/{name}/task"))
        engine = DATA_THREAD in tasks
        if not engine and comm != COMMAND:
            continue
        found.append(_end(tree, int(name), comm, engine))
    return found


def rights(tree: Tree, end: End) -> Iterator[Finding]:
    """Its user, and what it may do beyond carrying packets."""
    status = _status(tree, end.pid)
    if end.uid == 0:
        yield warn("user", f"{end} runs as root: whoever finds a fault in it has the machine", UNIT)
    elif int(status.get("CapEff", "0"), 16):
        yield warn("user", f"{end} has capabilities ({status['CapEff']}); it needs none", UNIT)
    if status.get("NoNewPrivs") == "0" or status.get("Seccomp") == "0":
        yield warn("confinement", f"{end} is not confined: it may call everything and start everything", UNIT)


def memory(tree: Tree, end: End, swap_is_open: bool) -> Iterator[Finding]:
    """Whether its keys can leave the memory by a core dump, another process or swap."""
    limits = {line[:26].strip(): line[26:].split() for line in tree.text(f"{end.folder}/limits").splitlines()}
    core = limits.get("Max core file size", ["0"])[0]
    # A process that forbids dumps has its files in /proc owned by root (proc(5), PR_SET_DUMPABLE in prctl(2)).
    dumps = tree.state(end.folder).uid == end.uid != 0
    if core != "0" or dumps:
        yield fail(
            "core dumps",
            f"{end} may leave a core dump, or be looked into by its user's programs: its keys would be in it",
            "start it again without PQCMAV_CORE_DUMPS",
        )
    swapped = _status(tree, end.pid).get("VmSwap", "0 kB").split()[0]
    if swapped != "0" and swap_is_open:
        yield fail(
            "swap", f"{swapped} KiB of {end} are on a disk that is not encrypted", "swapoff -a, then renew its keys"
        )
    elif swap_is_open and not _no_swap(tree, end):
        locked = limits.get("Max locked memory", ["0"])[0]
        yield warn(
            "swap",
            f"{end} may be swapped to a disk that is not encrypted; it locks no memory (its limit: {locked})",
            "MemorySwapMax=0 in its unit, or encrypt the swap",
        )


def _no_swap(tree: Tree, end: End) -> bool:
    """Whether its control group, or one above, forbids it swap."""
    group = next((line[3:] for line in tree.text(f"{end.folder}/cgroup").splitlines() if line.startswith("0::")), "")
    return any(
        tree.text(f"/sys/fs/cgroup{folder}/memory.swap.max").strip() == "0" for folder in [group, *tree.way_to(group)]
    )


def priorities(tree: Tree, end: End) -> Iterator[Finding]:
    """Packets first, then handshakes, which strangers can ask for."""
    found = list(threads(tree, end))
    data = [(nice, policy) for name, nice, policy in found if name == DATA_THREAD]
    handshakes = [(nice, policy) for name, nice, policy in found if name == HANDSHAKE_THREAD]
    if policy := next((policy for _, policy in handshakes if policy in _REAL_TIME), None):
        yield warn(
            "priorities",
            f"{end} computes handshakes with {_REAL_TIME[policy]}: strangers could stop the whole machine",
            "start it without real-time priority",
        )
    if any(nice > 0 or policy == _IDLE for nice, policy in data):
        yield warn(
            "priorities", f"{end}: other programs go before its packets", "start it without 'nice' or idle priority"
        )
    if data and any(nice <= max(each for each, _ in data) for nice, policy in handshakes if policy not in _REAL_TIME):
        yield warn(
            "priorities", f"{end}: handshakes go before its packets", "let it lower the priority of its own threads"
        )


def open_ports(tree: Tree, end: End, domain: int) -> Iterator[Finding]:
    """Where it hears others than this machine; the tunnel's own port is meant."""
    try:
        mine = own_sockets(tree.at(end.folder))
        beyond = [sock for sock in bound_sockets(tree.at(end.folder)) if sock.inode in mine and not sock.local]
    except OSError:
        yield warn("ports", f"{end}: this user may not see its sockets", "run this as root")
        return
    tunnel = [sock for sock in beyond if end.engine and sock.protocol == "UDP" and sock.port in tunnel_ports(end)]
    dds = split([sock for sock in beyond if sock not in tunnel], domain)
    if dds.listening:
        yield warn(
            "ports",
            f"{end}: ROS is open to the network at {_list(dds.listening)}",
            "ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST",
        )
    if dds.others and allows_remote(end.config):
        yield warn(
            "ports",
            f"{end}: plaintext is open to the network at {_list(dds.others)}, as 'plain_allow_remote' says",
            "turn it off, or let a firewall admit only who is meant",
        )
    elif any(sock.protocol == "TCP" or not end.engine for sock in dds.others):
        yield fail("ports", f"{end}: open to the network, past the tunnel: {_list(dds.others)}", "bind it to 127.0.0.1")
    elif dds.others:  # an engine binds plaintext to loopback, unless it is allowed more
        yield warn(
            "ports",
            f"{end}: hears the network at {_list(dds.others)}, which no configuration that can be read names",
            "good if it is the tunnel's own side on a port that it chose, or if 'plain_allow_remote' is off",
        )
    if tunnel:
        yield ok(
            "ports", f"{end}: {_list(tunnel)} is the tunnel's own, where others have to prove that they have a key"
        )


def tunnel_ports(end: End) -> set[int]:
    """By its configuration, or as the engine's schema has it by default."""
    from pqc_mav_cli.doctor.software import wanted_ports

    role = end.config.get("role")
    default = {name: port for name, port, _ in wanted_ports()}
    keys = {"gcs": ("data_port", "gcs UDP"), "drone": ("local_data_port", "drone UDP")}
    found = [end.config.get(key, str(default.get(name, ""))) for of, (key, name) in keys.items() if role in (of, None)]
    return {int(port) for port in found if port.isdigit()}


def _list(sockets: Iterable[BoundSocket]) -> str:
    return ", ".join(sorted(str(sock) for sock in sockets))


def checks(tree: Tree, ends: list[End], swap_is_open: bool, domain: int) -> list[Finding]:
    """All of the above, for each end; one line where none runs."""
    found: list[Finding] = []
    for end in ends:
        with suppress(FileNotFoundError):  # it ended meanwhile
            here = []
            if end.engine:
                here = [*rights(tree, end), *memory(tree, end, swap_is_open), *priorities(tree, end)]
                whole = f"{end} runs as {tree.user(end.uid)}, confined, and keeps its memory to itself"
                here = here or [ok("end", whole)]
            found += [*here, *open_ports(tree, end, domain)]
    return found or [ok("end", "none runs here: its memory, priorities and ports were not looked at")]
