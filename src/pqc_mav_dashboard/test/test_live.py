# SPDX-License-Identifier: Apache-2.0
"""The whole way: a real tunnel, its control sockets, the server, a viewer, an action."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ends import DRONE, Dashboard, Pair, look
from websockets.exceptions import ConnectionClosed

from pqc_mav_common.testing import until

GROUP = 47_125  # nobody's


@pytest.fixture(scope="module")
def dashboard(pair: Pair) -> Iterator[Dashboard]:
    made = Dashboard("--no-ros", environment=pair.environment)
    yield made
    made.kill()


def test_the_fleet(dashboard: Dashboard) -> None:
    heard = look(dashboard, "", lambda messages: len(messages) == 2)
    (row,) = heard[0]["rows"]
    assert heard[0]["whole"] and not heard[1]["whole"]
    assert (row[0], row[1], row[3], row[4]) == (DRONE, 0, "UP", "cs-mlkem768-aesgcm-mldsa65")
    assert row[14] is None and row[15] is None, "battery and phase are absent, not zero"
    assert {"id": "cs-mlkem768-aesgcm-mldsa65", "short_code": "ML-768-AG-MD-65"}.items() <= next(
        suite for suite in heard[0]["suites"] if suite["id"] == row[4]
    ).items()


def test_one_drone_and_a_rekey(dashboard: Dashboard, pair: Pair) -> None:
    def asks_and_waits(messages: list[dict[str, Any]]) -> bool:
        if len(messages) == 1:
            status, answer = dashboard.act("rekey", drone=DRONE)
            assert status == 200 and "epoch" in answer["text"], answer
        return any(event["event"] == "handshake" for message in messages for event in message["events"]) and any(
            len(message.get("handshakes", ())) >= 4 for message in messages
        )

    before = pair.status("drone")["epoch"]
    heard = look(dashboard, DRONE, asks_and_waits)
    assert [end["role"] for end in heard[0]["ends"]] == ["drone", "gcs"]
    assert heard[-1]["ends"][0]["status"]["epoch"] == before + 1
    newest = next(message["handshakes"] for message in reversed(heard) if "handshakes" in message)[0]
    assert newest["kind"] == "rekey" and newest["phases_ms"]["server_hello"] > 0
    assert heard[0]["points"][-1][5] > 0, "a round trip"
    assert all(set(sense) == {"absent"} for sense in heard[0]["senses"].values())
    assert heard[0]["actions"]["rekey"] == "" and "one ground station" in heard[0]["actions"]["station"]
    assert "ROS" in heard[0]["actions"]["pin"] and "ROS" in heard[0]["actions"]["mode"]


def test_a_drone_that_nobody_looks_at_can_be_rekeyed(dashboard: Dashboard, pair: Pair) -> None:
    before = pair.status("drone")["epoch"]
    look(dashboard, "nobody", lambda messages: len(messages) == 1)
    status, answer = dashboard.act("rekey", drone=DRONE)
    assert status == 200 and f"epoch {before + 1}" in answer["text"], answer
    status, answer = dashboard.act("rekey", drone="nobody")
    assert (status, answer["error"]["code"]) == (409, "not_possible")


def test_what_needs_ros_is_refused_without_it(dashboard: Dashboard) -> None:
    look(dashboard, DRONE, lambda messages: len(messages) == 1)
    status, answer = dashboard.act("mode", drone=DRONE, mode="hold")
    assert (status, answer["error"]["code"]) == (409, "not_possible") and "ROS" in answer["error"]["text"]


def test_the_engines_own_refusal_is_passed_on(dashboard: Dashboard) -> None:
    look(dashboard, DRONE, lambda messages: len(messages) == 1)
    status, answer = dashboard.act("rekey", drone=DRONE, suite="cs-nonsense")
    assert (status, answer["error"]["code"]) == (409, "engine") and "cs-nonsense" in answer["error"]["text"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
def test_other_users(pair: Pair) -> None:
    """A member of the sockets' group sees and steers; a stranger is told which group it is."""
    for path in pair.run_folder.glob("*.sock"):
        os.chown(path, -1, GROUP)
    pair.run_folder.chmod(0o755)
    try:
        member = Dashboard("--no-ros", environment=pair.environment, user=GROUP, groups=[GROUP])
        stranger = Dashboard("--no-ros", environment=pair.environment, user=GROUP, groups=[])
        try:
            (message,) = look(member, DRONE, lambda messages: len(messages) == 1)
            assert message["ends"][0]["state"] == "UP" and member.act("rekey", drone=DRONE)[0] == 200
            (message,) = look(stranger, "", lambda messages: len(messages) == 1)
            assert message["rows"] == [] and any(f"members of the group '{GROUP}'" in note for note in message["notes"])
        finally:
            member.kill()
            stranger.kill()
    finally:
        for path in pair.run_folder.glob("*.sock"):
            os.chown(path, -1, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_asked_with_a_page_open(pair: Pair, number: signal.Signals) -> None:
    dashboard = Dashboard(environment=pair.environment)
    children: list[int] = []
    try:

        def ends(messages: list[dict[str, Any]]) -> bool:
            if len(messages) == 2:
                children.extend(dashboard.children())
                dashboard.running.process.send_signal(number)
            return False

        with pytest.raises(ConnectionClosed):
            look(dashboard, DRONE, ends)
        assert dashboard.running.process.wait(30) == 0
        assert not any("Traceback" in line for line in dashboard.running.lines)
        until(lambda: not any(Path(f"/proc/{child}").exists() for child in children), "what it had started is gone")
    finally:
        dashboard.running.kill()


def test_nothing_is_asked_while_nobody_looks(dashboard: Dashboard) -> None:
    look(dashboard, "", lambda messages: len(messages) == 1)
    assert dashboard.health()["working"]
    until(lambda: not dashboard.health()["working"], "the source has stopped")
    status, answer = dashboard.act("rekey", drone=DRONE)
    assert (status, answer["error"]["code"]) == (409, "not_possible")


def test_an_engine_that_dies_is_silent_and_comes_back(dashboard: Dashboard, pair: Pair) -> None:
    def dies(messages: list[dict[str, Any]]) -> bool:
        if len(messages) == 1:
            pair.ends["drone"].kill()
        return bool(messages) and messages[-1]["ends"][-1]["state"] == "SILENT"

    heard = look(dashboard, DRONE, dies)
    silent = heard[-1]["ends"][-1]
    assert silent["role"] == "drone" and silent["stats"] is None and silent["silent_s"] > 3
    assert heard[-1]["rank"] == 9 and any("does not answer" in note for note in heard[-1]["notes"])
    pair.start("drone")
    pair.up()
    heard = look(dashboard, DRONE, lambda messages: bool(messages) and messages[-1]["rank"] < 2)
    assert heard[-1]["ends"][0]["role"] == "drone"
