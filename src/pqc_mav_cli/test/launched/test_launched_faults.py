# SPDX-License-Identifier: Apache-2.0
"""Launched nodes that are killed come back as they were meant to be; those that must not start say why."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

pytest.importorskip("launch_ros.actions", reason="launch is not installed; test_up.py kills the same processes")

from commands import DEADLINE_S
from launching import ARRANGEMENTS, launched, process_of, tap
from test_up import Ends

from pqc_mav_bringup.executables import TUNNELD
from pqc_mav_common.local_socket import DAEMON
from pqc_mav_common.testing import until
from pqc_mav_common.testing_onlooker import Onlooker
from pqc_mav_common.testing_traffic import Traffic


@pytest.fixture
def ends(tmp_path: Path, keys: Path) -> Ends:
    return Ends(tmp_path, keys)


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_what_is_killed_comes_back_active(ends: Ends, arrangement: dict[str, str]) -> None:
    with (
        launched("gcs", config=ends.write("gcs"), **arrangement) as ground,
        launched("drone", config=ends.write("drone"), tap=tap(), **arrangement) as air,
        Onlooker() as graph,
        Traffic(ends.ground).start(ends.plain) as traffic,
    ):
        traffic.flows()
        for running, executable, node in (
            (air, "pqc_proxy", "/drone/pqc_proxy"),
            (ground, "pqc_proxy", "/gcs/pqc_proxy"),
            (air, "pqc_onboard.py", "/drone/pqc_policy"),
        ):
            lines = len(running.lines)
            killed = process_of(running, executable)
            assert killed is not None
            killed.send_signal(signal.SIGKILL)
            running.wait_for("ended with signal SIGKILL; starting it again in 0.3 s", lines)
            until(lambda r=running, e=executable, k=killed: process_of(r, e) not in (None, k), "another process")
            until(lambda n=node: graph.state(n) == "active", f"{node} active again")
            traffic.flows()
        if arrangement["tunnel"] == DAEMON:
            for running in (air, ground):
                lines = len(running.lines)
                killed = process_of(running, TUNNELD)
                assert killed is not None
                killed.send_signal(signal.SIGKILL)
                running.wait_for("pqcmav-tunneld is there again", lines)
                traffic.flows()


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_without_autostart_the_nodes_wait_for_a_manager(ends: Ends, arrangement: dict[str, str]) -> None:
    onboard = {"config": ends.write("drone"), "tap": tap(), "autostart": "false", **arrangement}
    with (
        launched("gcs", config=ends.write("gcs"), autostart="false", **arrangement) as ground,
        launched("drone", **onboard) as air,
        Onlooker() as graph,
    ):
        nodes = ("/gcs/pqc_proxy", "/drone/pqc_proxy", "/drone/pqc_battery", "/drone/pqc_policy")
        for node in nodes:
            assert graph.state(node) == "unconfigured"
        for node in nodes:
            assert graph.change(node, "configure", "activate")
        air.wait_for("-> UP")
        ground.wait_for("-> UP")


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize(
    ("file", "arguments", "sentence"),
    [
        ("drone", {"config": "/no/such.yaml"}, "There is no configuration file '/no/such.yaml'."),
        ("gcs", {"drones": "d7"}, "'drones' does not name 'd1'"),
        ("drone", {"suite": "cs-nonsense"}, "cs-nonsense"),
        ("drone", {"mavlink": "mavros", "gcs_url": "udp://@127.0.0.1:14590"}, "gcs_url"),
    ],
)
def test_what_must_not_start_ends_the_launch_with_a_sentence(
    ends: Ends, file: str, arguments: dict[str, str], sentence: str, arrangement: dict[str, str]
) -> None:
    given = {"config": ends.write(file), **arrangement, **arguments}
    alone = {"detect": "false", **({"sensing": "false", "policy": "false"} if file == "drone" else {})}
    with launched(file, **given, **alone) as running:
        assert running.process.wait(DEADLINE_S) != 0
        running.wait_for(sentence)
        assert not any("starting it again" in line for line in running.lines)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"keys": "/nowhere"}, "There is no key file /nowhere"), ({"dscp": 64}, "between 0 and 63")],
)
def test_a_daemon_that_would_refuse_its_configuration_is_not_started(
    ends: Ends, changes: dict[str, object], sentence: str
) -> None:
    with launched("gcs", config=ends.write("gcs", **changes), detect="false", proxy="py", tunnel=DAEMON) as running:
        assert running.process.wait(DEADLINE_S) == 1, "as launch ends for every error"
        running.wait_for(sentence)
        assert sum(sentence in line for line in running.lines) == 1
        assert not any("process started" in line for line in running.lines)
