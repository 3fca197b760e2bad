# SPDX-License-Identifier: Apache-2.0
"""`status` and `rekey` against a running pair."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import COMMAND, DEADLINE_S, Running, pqcmav, refused
from terminal import Terminal
from test_up import Ends

from pqc_mav_common.testing import until


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory, keys: Path) -> Iterator[Ends]:
    ends = Ends(tmp_path_factory.mktemp("ends"), keys)
    gcs = Running("up", "gcs", "--config", str(ends.write("gcs", drones=["d1", "d2"])), "--namespace", "t/gcs")
    drone = Running("up", "drone", "--config", str(ends.write("drone")), "--namespace", "t/drone")
    try:
        drone.wait_for("-> UP")
        gcs.wait_for("-> UP")
        yield ends
    finally:
        drone.kill()
        gcs.kill()


def test_once_shows_both_ends_and_tells_that_one_drone_is_missing(pair: Ends) -> None:
    ended = pqcmav("status", "--once", "--namespace", "t/gcs")
    assert ended.returncode == 1  # d2 is not connected
    rows = [line.split() for line in ended.stdout.splitlines()[1:3]]
    assert [row[:3] for row in rows] == [["t/gcs", "d1", "UP"], ["t/gcs", "d2", "DOWN"]]
    assert "ML-768-AG-MD-65" in ended.stdout


def test_json(pair: Ends) -> None:
    ended = pqcmav("status", "--json", "--namespace", "t/drone")
    (entry,) = json.loads(ended.stdout)
    assert ended.returncode == 0
    assert entry["status"]["state"] == "UP" and entry["status"]["drone_id"] == "d1"
    assert entry["stats"]["control"] > 0 and entry["links"]["local"]["rtt_ms"] > 0
    assert entry["key_age_s"] > 0


def test_rekey_and_its_refusals(pair: Ends) -> None:
    ended = pqcmav("rekey", "--namespace", "t/drone", "--suite", "ML-512-AS-MD-44", "--timeout", "30")
    assert ended.returncode == 1 and "mldsa44" in ended.stderr  # no key of that algorithm was made
    ended = pqcmav("rekey", "--namespace", "t/drone", "--suite", "cs-mlkem768-ascon128a-mldsa65")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("ML-768-AS-MD-65 (cs-mlkem768-ascon128a-mldsa65), epoch ")
    ended = pqcmav("rekey", "--namespace", "t/drone", "--ratchet")
    assert ended.returncode == 0 and ended.stdout.startswith("ML-768-AS-MD-65"), ended.stderr
    line = refused(1, "rekey", "--namespace", "t/drone", "--ratchet", "--suite", "cs-mlkem768-aesgcm-mldsa65")
    assert "keeps the suite" in line
    assert "There is no suite" in refused(2, "rekey", "--namespace", "t/drone", "--suite", "cs-nonsense")
    assert "'t drone' is no namespace of ROS" in refused(2, "rekey", "--namespace", "t drone")
    assert "2 drones" in refused(1, "rekey", "--on", "gcs", "--namespace", "t/gcs")
    ended = pqcmav("rekey", "--on", "gcs", "--namespace", "t/gcs", "--drone", "d1", "--timeout", "30")
    assert ended.returncode == 0, ended.stderr


def test_the_proxies_have_control_sockets_and_ros_is_asked_on_demand(pair: Ends) -> None:
    def sessions(*options: str) -> dict[tuple[str, str], str]:
        told = json.loads(pqcmav("status", "--json", *options).stdout)
        return {(each["node"], each["drone_id"]): each["status"]["session_id"] for each in told}

    by_socket = sessions()
    by_ros = until(lambda: found if len(found := sessions("--ros")) == 3 else None, "all tunnels through ROS")
    assert by_socket.keys() == {("drone-d1", "d1"), ("gcs", "d1"), ("gcs", "d2")}
    assert by_ros.keys() == {("/t/drone/pqc_proxy", "d1"), ("/t/gcs/pqc_proxy", "d1"), ("/t/gcs/pqc_proxy", "d2")}
    assert set(by_socket.values()) == set(by_ros.values())
    assert pqcmav("reload", "--on", "gcs").returncode == 0


def test_nobody_there() -> None:
    line = refused(1, "status", "--once", "--namespace", "no/such", "--timeout", "0.5")
    assert "ROS_DOMAIN_ID" in line
    assert "/no/such/pqc_proxy/rekey" in refused(1, "rekey", "--namespace", "no/such", "--timeout", "0.5")


def test_the_live_view_follows_the_size_of_its_terminal_and_leaves_the_last_state(pair: Ends) -> None:
    with Terminal("status", "--namespace", "t/gcs") as terminal:
        terminal.wait_for("epoch, key age")
        terminal.resize(60, 12)
        terminal.wait_for("A wider terminal adds")
        terminal.resize(160, 30)
        terminal.wait_for("127.0.0.1:")
        terminal.signal(signal.SIGINT)
        assert terminal.wait() == 0
    left = terminal.text.rpartition("\x1b[?1049l")[2]  # the terminal's own screen is back
    assert "t/gcs" in left and "127.0.0.1:" in left


def test_watched_as_json_there_is_a_line_each_second(pair: Ends) -> None:
    assert "contradict" in refused(2, "status", "--once", "--watch")
    line = [*COMMAND, "status", "--json", "--watch", "--namespace", "t/drone"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        seen = [json.loads(running.stdout.readline()) for _ in range(2)]
        running.stdout.close()  # as 'head -2' does
        assert running.wait(DEADLINE_S) == 0
    assert all(entry["drone_id"] == "d1" and not entry["silent"] for (entry,) in seen)
