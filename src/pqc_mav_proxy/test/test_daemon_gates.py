# SPDX-License-Identifier: Apache-2.0
"""What goes wrong between a node and its pqcmav-tunneld, seen from outside: another user, another network, its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import PROXY, Far
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces.msg import ServerStats, TunnelStatus
from pqc_mav_interfaces.srv import Rekey

from pqc_mav_common import qos
from pqc_mav_common.local_socket import ATTACH, DAEMON, ControlError
from pqc_mav_common.siblings import MARK, new_mark
from pqc_mav_common.socket_table import own_network
from pqc_mav_common.testing import until
from pqc_mav_common.testing_daemons import TUNNELD, Daemon, drone_of, needs_tunneld
from pqc_mav_common.testing_onlooker import Onlooker, diagnosed
from pqc_mav_common.testing_proxies import gcs_parameters
from pqc_mav_proxy.daemon_host import DaemonHost
from pqc_mav_proxy.guard import ELSEWHERE

NOBODY = 65534
AS_NOBODY = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
ANSWERED_S = 10.0  # a daemon that stands still is given up after some 4 s
needs_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root and setpriv")
pytestmark = needs_tunneld


@pytest.fixture
def strangers(keys: Path) -> Iterator[Daemon]:
    """A daemon of another user, in a folder where everybody may write."""
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as name:
        folder = Path(name)
        shutil.copytree(keys, folder / "keys")
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        made = Daemon(folder, gcs_parameters(folder / "keys"))
        yield made
        made.kill()


@needs_root
@pytest.mark.parametrize("tunnel", [DAEMON, ATTACH])
def test_the_daemon_of_another_user_is_never_adopted(strangers: Daemon, tunnel: str) -> None:
    can = subprocess.run([*AS_NOBODY, str(TUNNELD), "--version"], capture_output=True, check=False)
    if can.returncode != 0:
        pytest.skip(f"another user cannot run {TUNNELD}")
    environment = {MARK: new_mark()}  # of both: it is the user alone that tells them apart
    strangers.start(environment=environment, under=AS_NOBODY)
    assert strangers.ask("hello")["uid"] == NOBODY
    host = DaemonHost(strangers.config, tunnel, environment, lambda _: None)
    with pytest.raises(ControlError) as refusal:
        host.settle(1.0)
    host.stop()
    assert f"it runs as another user (uid {NOBODY})" in str(refusal.value)
    assert str(strangers.door) in str(refusal.value)
    assert host.hello() == {} and strangers.ask("hello")["state"] == "active", "left alone"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
def test_a_rekey_under_way_gets_an_answer_when_the_daemon_ends(
    daemon: Daemon, keys: Path, client: Onlooker, number: signal.Signals
) -> None:
    daemon.start()
    air = drone_of(daemon, keys)
    try:
        with Far(daemon):
            seen = client.collect(TunnelStatus, f"{PROXY}/status", qos.latched(1))
            until(lambda: seen and seen[-1].state == TunnelStatus.UP, "UP")
            air.process.send_signal(signal.SIGSTOP)  # so that the rekey takes its time
            asked = client.ask(Rekey, f"{PROXY}/rekey")
            until(lambda: "rekey" in str(daemon.running and daemon.running.lines), "the rekey under way")
            assert not asked.done()
            daemon.send(number)
            began = time.monotonic()
            until(asked.done, "an answer", ANSWERED_S)
            assert time.monotonic() - began < ANSWERED_S
            assert not asked.result().ok and asked.result().message
            if number != signal.SIGTERM:  # it says itself that it ends
                assert str(daemon.door) in asked.result().message
    finally:
        if number == signal.SIGSTOP:
            daemon.send(signal.SIGCONT)
        air.process.send_signal(signal.SIGCONT)
        air.kill()


def test_what_was_set_counts_after_a_crash_as_the_log_says(
    daemon: Daemon, client: Onlooker, capfd: pytest.CaptureFixture[str]
) -> None:
    said = ""

    def logged(words: str) -> bool:
        nonlocal said
        said += "".join(capfd.readouterr())
        return words in said

    def counts() -> object:
        return daemon.ask("config")["config"]["dscp"]

    daemon.start()
    usual = counts()
    with Far(daemon):
        assert client.put(PROXY, "dscp", 10).successful and client.put(PROXY, "shape_kbit", 64).successful
        assert counts() == usual, "from the next configure on"
        assert client.change(PROXY, "deactivate", "cleanup", "configure", "activate") and counts() == 10
        daemon.kill()
        daemon.start()
        until(lambda: daemon.ask("status")["tunnels"][0]["shape_kbit"] == 64, "what counts at once")
        until(lambda: logged("counts again from the next configure: 'dscp'."), "a word about the rest")
        assert counts() == usual
        assert client.change(PROXY, "deactivate", "cleanup", "configure", "activate") and counts() == 10
        assert said.count("counts again") == 1


@needs_root
def test_another_network_namespace_is_said(daemon: Daemon, client: Onlooker) -> None:
    apart = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$0" "$@"']
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no network namespaces here")
    daemon.start(under=apart)
    with Far(daemon):
        diagnoses = client.collect(DiagnosticArray, "/diagnostics", qos.diagnostics())
        counted = client.collect(ServerStats, f"{PROXY}/server_stats", qos.sensor())
        until(lambda: counted, "counters")
        space = counted[-1].header.frame_id
        assert space.startswith("net:[") and space != own_network()
        until(lambda: ELSEWHERE in diagnosed(diagnoses, "far/pqc_proxy: sockets")[1], "a word of the guard")
        daemon.kill()
        daemon.start()
        until(lambda: counted[-1].header.frame_id == own_network(), "the same one")
