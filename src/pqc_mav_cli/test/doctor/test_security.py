# SPDX-License-Identifier: Apache-2.0
"""A machine as it should be, as files below a folder; then each thing that may be wrong with it, one at a time."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import pqcmav

from pqc_mav_cli.doctor import ends, security
from pqc_mav_cli.doctor.ends import allows_remote, settings
from pqc_mav_cli.doctor.finding import Level
from pqc_mav_cli.doctor.tree import State, Tree
from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import Running, until

USER, ALICE, OTHER = 990, 1000, 1001
PID = "/proc/4711"
UDP = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
# 0.0.0.0:46011 and 127.0.0.1:14550
SOCKETS = ("00000000:B3BB", 71), ("0100007F:38D6", 72)
LIMITS = (
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max core file size        0                    0                    bytes     \n"
    "Max locked memory         8388608              8388608              bytes     \n"
)
SYSCTLS = {
    "kernel/yama/ptrace_scope": 1, "kernel/randomize_va_space": 2, "kernel/unprivileged_bpf_disabled": 2,
    "fs/suid_dumpable": 0, "fs/protected_symlinks": 1, "fs/protected_hardlinks": 1,
    "net/ipv4/conf/all/route_localnet": 0, "net/ipv4/conf/eth0/route_localnet": 0,
    "net/ipv4/conf/all/rp_filter": 0, "net/ipv4/conf/eth0/rp_filter": 2,
    "net/ipv4/conf/all/accept_redirects": 0, "net/ipv4/conf/eth0/accept_redirects": 0,
    "net/ipv4/conf/all/accept_source_route": 1, "net/ipv4/conf/eth0/accept_source_route": 0,
}  # fmt: skip


class Machine(Tree):
    """A tree whose files belong to root, but for those in `owners`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.owners: dict[str, tuple[int, int]] = {}
        self.write(
            "/etc/passwd", "root:x:0:0::/:\npqcmav:x:990:990::/srv:\nalice:x:1000:1000::/:\nbob:x:1001:1001::/:\n"
        )
        self.write("/etc/group", "root:x:0:\npqcmav:x:990:alice\nalice:x:1000:\nbob:x:1001:\ndocker:x:500:\n")
        self.key("/etc/pqcmav/keys/psk/drone1.key")
        self.key("/etc/pqcmav/keys/sig/mldsa65.key")
        self.key("/etc/pqcmav/keys/mldsa65.pub", 0o644)
        self.write("/etc/pqcmav/tunneld/gcs.yaml", "role: gcs\nkeys: /etc/pqcmav/keys\ndrones: [drone1]\n", 0o644)
        self.write("/run/pqcmav/gcs.sock", "", 0o660)
        self.owners["/run/pqcmav/gcs.sock"] = (USER, USER)
        self.write(f"{PID}/comm", "pqcmav-tunneld\n")
        self.write(f"{PID}/cmdline", "/usr/bin/pqcmav-tunneld\0/etc/pqcmav/tunneld/gcs.yaml\0")
        self.write(f"{PID}/limits", LIMITS)
        self.write(f"{PID}/cgroup", "0::/system.slice/pqcmav-tunneld@gcs.service\n")
        self.status()
        self.thread(4711, "pqcmav-tunneld", 0)
        self.thread(4712, "pqc-data", 0)
        self.thread(4713, "pqc-handshake", 5)
        self.at(f"{PID}/root").symlink_to(root)
        self.sockets(*SOCKETS)
        for name, value in SYSCTLS.items():
            self.write(f"/proc/sys/{name}", f"{value}\n")
        self.write("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n")
        super().__init__(root)

    def write(self, path: str, text: str, mode: int = 0o600) -> None:
        self.at(path).parent.mkdir(parents=True, exist_ok=True)
        self.at(path).write_text(text)
        self.at(path).chmod(mode)

    def key(self, path: str, mode: int = 0o600) -> None:
        self.write(path, "pqcmav-key 1\n", mode)
        for each in (path, str(Path(path).parent), "/etc/pqcmav/keys"):
            self.owners[each] = (USER, USER)

    def status(self, uid: int = USER, **values: str) -> None:
        fields = {"CapEff": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2", "VmSwap": "0 kB"} | values
        self.write(f"{PID}/status", f"Uid:\t{uid}\t{uid}\n" + "".join(f"{k}:\t{v}\n" for k, v in fields.items()))

    def thread(self, tid: int, name: str, nice: int, policy: int = 0) -> None:
        fields = ["S", *["0"] * 15, str(nice), *["0"] * 21, str(policy), "0"]
        self.write(f"{PID}/task/{tid}/comm", f"{name}\n")
        self.write(f"{PID}/task/{tid}/stat", f"{tid} ({name}) {' '.join(fields)}\n")

    def sockets(self, *bound: tuple[str, int], table: str = "udp") -> None:
        """The last is in that table, the others in that of UDP."""
        for name, state, of in (("udp", "07", bound if table == "udp" else bound[:-1]), ("tcp", "0A", bound[-1:])):
            lines = (f"  1: {at} 00000000:0000 {state} 0:0 00:0 00000000 990 0 {inode} 2 0 0" for at, inode in of)
            if name in ("udp", table):
                self.write(f"{PID}/net/{name}", UDP + "\n".join(lines) + "\n")
        self.at(f"{PID}/fd").mkdir(exist_ok=True)
        for _, inode in bound:
            link = self.at(f"{PID}/fd/{inode}")
            if not link.is_symlink():
                link.symlink_to(f"socket:[{inode}]")

    def state(self, path: str | Path) -> State:
        found = super().state(path)
        uid, gid = self.owners.get(str(path), (0, 0))
        return State(found.mode, uid, gid, found.written_s, found.folder)

    def checks(self) -> list[security.Finding]:
        return security.checks(self, Path("/home/alice/.pqcmav/keys"), {}, time.time())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    tmp_path.chmod(0o755)
    os.umask(0o022)
    return Machine(tmp_path)


def test_a_machine_as_it_should_be(machine: Machine) -> None:
    found = machine.checks()
    assert [finding for finding in found if finding.level is not Level.OK] == []
    said = "\n".join(f"{finding.name}: {finding.text}" for finding in found)
    assert "keys: 3 files in /etc/pqcmav/keys: only root and pqcmav can read or change them" in said
    assert "gcs.sock: seen and steered by root, pqcmav, alice (group pqcmav) alone" in said
    assert "UDP 0.0.0.0:46011 is the tunnel's own" in said
    assert "pqcmav-tunneld (process 4711) runs as pqcmav, confined" in said
    assert "sysctl: 10 settings" in said


def age(machine: Machine, path: str, days: int) -> None:
    os.utime(machine.at(path), (0, time.time() - days * 86_400))


PSK, CONFIG = "/etc/pqcmav/keys/psk/drone1.key", "/etc/pqcmav/tunneld/gcs.yaml"
DUMPS = "may leave a core dump"


@pytest.mark.parametrize(
    ("spoil", "level", "said", "cure"),
    [
        (lambda m: m.at(PSK).chmod(0o640), Level.FAIL, "(mode 0640) can be read by alice (group pqcmav)", "chmod 600"),
        (lambda m: m.at(PSK).chmod(0o604), Level.FAIL, "drone1.key (mode 0604) can be read by every user", "chmod 600"),
        (lambda m: m.owners.update({PSK: (OTHER, 0)}), Level.FAIL, "can be read by bob", f"chown pqcmav {PSK}"),
        (
            lambda m: m.at("/etc/pqcmav/keys/mldsa65.pub").chmod(0o666),
            Level.FAIL,
            "mldsa65.pub can be changed by every user",
            "chmod go-w",
        ),
        (
            lambda m: m.at("/etc/pqcmav/keys").chmod(0o777),
            Level.FAIL,
            "/etc/pqcmav/keys can be changed by every user, and with it /etc/pqcmav/keys/mldsa65.pub",
            "chmod go-w /etc/pqcmav/keys",
        ),
        (lambda m: age(m, PSK, 400), Level.WARN, "was written 400 days ago", "pqcmav keys rotate drone1"),
        (
            lambda m: age(m, "/etc/pqcmav/keys/sig/mldsa65.key", 400),
            Level.WARN,
            "more than a year",
            "pqcmav keys rotate gcs",
        ),
        (
            lambda m: m.key("/etc/pqcmav/keys/restart.key") or age(m, "/etc/pqcmav/keys/restart.key", 400),
            Level.WARN,
            "more than a year",
            "remove it",
        ),
        (
            lambda m: m.key("/etc/pqcmav/keys/psk.key") or age(m, "/etc/pqcmav/keys/psk.key", 400),
            Level.WARN,
            "more than a year",
            "'pqcmav keys rotate DRONE'",
        ),
        (
            lambda m: m.key("/etc/pqcmav/keys/psk.key") or age(m, "/etc/pqcmav/keys/sig/mldsa65.key", 400),
            Level.WARN,
            "more than a year",
            "'pqcmav keys rotate DRONE'",
        ),
        (lambda m: age(m, PSK, -9) or age(m, "/etc/pqcmav/keys/sig/mldsa65.key", -9), Level.WARN, "future", "clock"),
        (lambda m: m.at(CONFIG).chmod(0o666), Level.FAIL, "gcs.yaml can be changed by every user", "chmod go-w"),
        (lambda m: m.owners.update({CONFIG: (ALICE, 0)}), Level.FAIL, "can be changed by alice", "chown root"),
        (
            lambda m: m.write(CONFIG, "role: gcs\nkeys: /etc/pqcmav/keys\ndrone: {d: {plain_allow_remote: true}}\n"),
            Level.WARN,
            "commands the vehicle in plaintext",
            "127.0.0.1",
        ),
        (lambda m: m.at("/run/pqcmav/gcs.sock").chmod(0o666), Level.FAIL, "lets every user steer", "chmod 0660"),
        (
            lambda m: m.write("/etc/group", "docker:x:500:bob\n") or Tree.__init__(m, m.root),
            Level.WARN,
            "bob can read every key: the group docker",
            "gpasswd -d bob docker",
        ),
        (lambda m: m.status(0), Level.WARN, "runs as root", "systemd unit"),
        (lambda m: m.status(CapEff="0000000000003000"), Level.WARN, "has capabilities", "systemd unit"),
        (lambda m: m.status(Seccomp="0"), Level.WARN, "is not confined", "systemd unit"),
        (lambda m: m.owners.update({PID: (USER, USER)}), Level.FAIL, DUMPS, "PQCMAV_CORE_DUMPS"),
        (
            lambda m: m.write(f"{PID}/limits", LIMITS.replace("size        0        ", "size        unlimited")),
            Level.FAIL,
            DUMPS,
            "PQCMAV_CORE_DUMPS",
        ),
        (lambda m: m.thread(4713, "pqc-handshake", 0), Level.WARN, "handshakes go before its packets", "lower"),
        (lambda m: m.thread(4713, "pqc-handshake", 0, 1), Level.WARN, "SCHED_FIFO", "real-time"),
        (lambda m: m.thread(4712, "pqc-data", 3), Level.WARN, "other programs go before its packets", "nice"),
        (lambda m: m.thread(4712, "pqc-data", 0, 5), Level.WARN, "other programs go before its packets", "idle"),
        (
            lambda m: m.sockets(*SOCKETS, ("00000000:38F4", 73)),
            Level.WARN,
            "hears the network at UDP 0.0.0.0:14580",
            "plain_allow_remote",
        ),
        (
            lambda m: m.sockets(*SOCKETS, ("00000000:38F4", 73), table="tcp"),
            Level.FAIL,
            "past the tunnel: TCP 0.0.0.0:14580",
            "bind it to 127.0.0.1",
        ),
        (
            lambda m: m.write("/proc/sys/net/ipv4/conf/eth0/route_localnet", "1\n"),
            Level.WARN,
            "route_localnet of eth0",
            "net.ipv4.conf.eth0.route_localnet=0",
        ),
        (
            lambda m: m.write("/proc/sys/net/ipv4/conf/eth0/accept_source_route", "1\n"),
            Level.WARN,
            "accept_source_route of eth0",
            "sysctl",
        ),
        (
            lambda m: m.write("/proc/sys/kernel/yama/ptrace_scope", "0\n"),
            Level.WARN,
            "kernel.yama.ptrace_scope is 0",
            "sysctl kernel.yama.ptrace_scope=1",
        ),
    ],
)
def test_one_thing_is_wrong(
    machine: Machine, spoil: Callable[[Machine], object], level: Level, said: str, cure: str
) -> None:
    spoil(machine)
    bad = [finding for finding in machine.checks() if finding.level is not Level.OK]
    assert any(said in finding.text and cure in finding.remedy and finding.level is level for finding in bad), bad
    # The user pqcmav, which owns keys and socket, is one more stranger to an end that runs as root.
    assert len(bad) == 1 or said == "runs as root", bad


def swap(machine: Machine, device: str) -> None:
    machine.write("/proc/swaps", f"Filename Type Size Used Priority\n{device} partition 1 0 -2\n")


def test_swap(machine: Machine) -> None:
    swap(machine, "/dev/zram0")
    machine.write("/sys/block/dm-1/dm/uuid", "CRYPT-PLAIN-swap\n")
    assert all(finding.level is Level.OK for finding in machine.checks())
    swap(machine, "/dev/dm-1")
    assert all(finding.level is Level.OK for finding in machine.checks())
    swap(machine, "/dev/sda2")
    bad = [finding.text for finding in machine.checks() if finding.level is Level.WARN]
    assert len(bad) == 2 and "/dev/sda2 is not encrypted" in bad[1]
    assert "may be swapped to a disk that is not encrypted" in bad[0]
    machine.write("/sys/fs/cgroup/system.slice/pqcmav-tunneld@gcs.service/memory.swap.max", "0\n")
    assert next(each for each in machine.checks() if each.level is not Level.OK).name == "swap"
    machine.status(VmSwap="  412 kB")
    bad = [finding.text for finding in machine.checks() if finding.level is Level.FAIL]
    assert bad == ["412 KiB of pqcmav-tunneld (process 4711) are on a disk that is not encrypted"]


def test_what_a_configuration_sets_is_found_in_either_form() -> None:
    ros = "/**:\n  pqc_proxy:\n    ros__parameters:\n      role: drone\n      local_data_port: 7  # 8\n"
    assert settings(ros + "# role: gcs\n      keys: '/etc/k'\n") == {
        "role": "drone",
        "local_data_port": "7",
        "keys": "/etc/k",
    }
    assert allows_remote(settings("drone: {d1: {plain_bind: '0.0.0.0:1', plain_allow_remote: True}}"))
    assert settings("-p\nlocal_data_port:=46100\nrole:=drone") == {"local_data_port": "46100", "role": "drone"}
    assert not allows_remote(settings("plain_allow_remote: false\nreceive_keys: x\n"))


@pytest.mark.parametrize(
    ("folder", "arguments"),
    [
        ("~/keys", ["/c.yaml"]),
        ("keys", ["./c.yaml"]),
        ("/opt/keys", ["--paused", "/c.yaml"]),
        ("/opt/keys", ["/c.yaml", CONFIG]),
        ("/opt/keys", ["--door", "/run/d", "--node", "/gcs/pqc_proxy", "--set", "suite=x", "c.yaml"]),
        ("/elsewhere", ["--set", "keys=/opt/keys", "/c.yaml"]),
    ],
)
def test_the_keys_of_an_end_are_found_by_its_command_line(machine: Machine, folder: str, arguments: list[str]) -> None:
    for home in ("/srv", "/opt"):
        machine.write(f"{home}/keys/psk.key", "pqcmav-key 1\n", 0o604)
        machine.write(f"{home}/c.yaml", f"role: drone\nkeys: {folder}\n", 0o644)
    machine.write("/c.yaml", f"role: drone\nkeys: {folder}\n", 0o644)
    machine.write(f"{PID}/cmdline", "\0".join(["/usr/bin/pqcmav-tunneld", *arguments]) + "\0")
    machine.at(f"{PID}/cwd").symlink_to("/opt")
    (bad,) = [finding for finding in machine.checks() if finding.level is Level.FAIL]
    assert "/keys/psk.key (mode 0604) can be read by every user" in bad.text
    assert ("/srv" if folder == "~/keys" else "/opt") in bad.text


@pytest.mark.parametrize("arguments", ["pqcmav-tunneld\0gcs.yaml\0", "python3\0proxy\0", "pqcmav-tunneld\0/none\0"])
def test_an_end_whose_files_are_unknown_is_named(machine: Machine, arguments: str) -> None:
    machine.write(f"{PID}/cmdline", arguments)
    machine.write(f"{PID}/comm", arguments.split("\0")[0] + "\n")
    bad = [finding.text for finding in machine.checks() if finding.level is Level.WARN]
    assert any("not all files that it reads can be seen here" in text for text in bad), bad


def test_an_end_in_a_container_is_judged_by_its_own_configuration(machine: Machine, tmp_path: Path) -> None:
    inside = f"{PID}/root"
    machine.at(inside).unlink()
    machine.write(f"{inside}/etc/pqcmav/tunneld/gcs.yaml", "role: gcs\nkeys: /inside\ndata_port: 14580\n", 0o666)
    machine.sockets(("00000000:38F4", 71))
    found = machine.checks()
    assert all(finding.level is Level.OK for finding in found), found
    assert any("UDP 0.0.0.0:14580 is the tunnel's own" in finding.text for finding in found)
    assert not any("/inside" in finding.text for finding in found)


def test_an_end_that_ends_while_it_is_looked_at(machine: Machine) -> None:
    found = ends.running(machine)
    shutil.rmtree(machine.at(PID))
    assert [each.name for each in ends.checks(machine, found, True, 0)] == ["end"]


def test_a_machine_without_keys_or_ends(tmp_path: Path) -> None:
    found = security.checks(Tree(tmp_path), Path("/k"), {})
    assert "there are none in /k or /etc/pqcmav/keys" in found[0].text
    assert any("none runs here" in finding.text for finding in found)


def test_a_daemon_that_runs_here(keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = shutil.which("pqcmav-tunneld")
    if program is None:
        pytest.skip("pqcmav-tunneld is not installed")
    port = free_port()
    file = tmp_path / "gcs.yaml"
    file.write_text(f"role: gcs\nkeys: {keys / 'gcs'}\ndrones: [d1]\ndata_port: {port}\n")
    file.chmod(0o664)
    monkeypatch.setenv("PQCMAV_RUN_DIR", str(tmp_path))
    daemon = Running([program, str(file)])
    try:
        until((tmp_path / "gcs.sock").exists, "the control socket")
        ended = pqcmav("doctor", "--security", "--json", "--keys", str(keys))
    finally:
        daemon.kill()
    said = "\n".join(f"{each['level']} {each['name']}: {each['text']}" for each in json.loads(ended.stdout))
    name = f"pqcmav-tunneld (process {daemon.process.pid})"
    assert ended.returncode == (1 if "FAIL" in said else 0)
    assert f"OK ports: {name}: UDP 0.0.0.0:{port} is the tunnel's own" in said or "may not see its sockets" in said
    assert f"files in {keys}: only " in said and f"{tmp_path}/gcs.sock" in said
    assert f"{name} may leave a core dump" not in said and f"{name}: handshakes go before" not in said
    assert str(file) in said
