# SPDX-License-Identifier: Apache-2.0
"""ROS beside the server: a real node publishes and serves, the helper hears it, the server waits for neither."""

from __future__ import annotations

import asyncio
import io
import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not there")

from pqc_mav_common import qos  # noqa: E402
from pqc_mav_dashboard import ros_helper, ros_source  # noqa: E402
from pqc_mav_dashboard.errors import RefusalError  # noqa: E402
from pqc_mav_dashboard.event_log import EventLog  # noqa: E402
from pqc_mav_dashboard.picture import End  # noqa: E402
from pqc_mav_dashboard.ros_source import RosSource  # noqa: E402
from pqc_mav_dashboard.socket_source import SocketSource  # noqa: E402
from pqc_mav_dashboard.together import Live  # noqa: E402
from pqc_mav_dashboard.views import drone_view  # noqa: E402


class Drone:
    """A node that says what a drone's computer says, and takes its policy's requests."""

    def __init__(self) -> None:
        from pqc_mav_interfaces import msg, srv

        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("double", context=self.context)
        make = self.node.create_publisher
        self.status = make(msg.TunnelStatus, "/drone/pqc_proxy/status", qos.latched(1))
        self.publishers = {
            "stats": make(msg.TunnelStats, "/drone/pqc_proxy/stats", qos.periodic(1)),
            "link": make(msg.LinkQuality, "/drone/pqc_proxy/link", qos.periodic(2)),
            "battery": make(msg.BatteryHealth, "/drone/battery", qos.sensor()),
            "decision": make(msg.PolicyDecision, "/drone/pqc_policy/decision", qos.latched(1)),
        }
        self.node.create_service(srv.SetMode, "/drone/pqc_policy/set_mode", self.set_mode)
        self.modes: list[str] = []
        self.msg = msg
        self.send_status("UP")
        self.timer = self.node.create_timer(0.2, self.send)
        from rclpy.executors import SingleThreadedExecutor

        from pqc_mav_common.executors import Spun

        self.executor = Spun(SingleThreadedExecutor(context=self.context))
        self.executor.add_node(self.node)
        self.thread = threading.Thread(target=self.executor.spin, daemon=True)
        self.thread.start()

    def send_status(self, state: str) -> None:
        message = self.msg.TunnelStatus(role="drone", drone_id="d1", state={"DOWN": 0, "UP": 2}[state], suite="cs-x")
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.status.publish(message)

    def send(self) -> None:
        self.publishers["stats"].publish(self.msg.TunnelStats(drone_id="d1", tx_bytes_per_s=125.0))
        for side in ("local", "peer"):
            quality = self.msg.LinkQuality(drone_id="d1", side=side, loss=0.25, rtt_ms=math.nan)
            self.publishers["link"].publish(quality)
        self.publishers["battery"].publish(self.msg.BatteryHealth(valid=True, voltage_v=15.0, state_of_charge=0.5))
        self.publishers["decision"].publish(self.msg.PolicyDecision(action="HOLD", mode="auto"))

    def set_mode(self, request: Any, response: Any) -> Any:
        self.modes.append(request.mode)
        response.ok, response.message = request.mode != "manual", f"Mode {request.mode}."
        return response

    def close(self) -> None:
        self.executor.shutdown()
        self.thread.join(10)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture(scope="module")
def drone(own_domain: None) -> Iterator[Drone]:
    made = Drone()
    yield made
    made.close()


async def until(condition: Callable[[], Any], what: str, step: Callable[[], Any] | None = None) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        if step is not None:
            await step()
        await asyncio.sleep(0.1)


def test_everything_is_heard_and_calls_are_answered(drone: Drone) -> None:
    async def scene() -> None:
        source = RosSource(EventLog())
        await source.start()
        try:
            await until(lambda: len(source.topics.senses_of("d1")) == 2, "battery and decision")
            (end,) = source.topics.ends()
            assert (end.name, end.role, end.status["state"]) == ("/drone/pqc_proxy", "drone", "UP")
            assert end.stats is None, "figures are for sockets first"
            await source.keep(set())
            await until(lambda: source.topics.ends()[0].link is not None, "figures once they are asked for")
            (end,) = source.topics.ends()
            assert end.link is not None and end.link["local"]["loss"] == 0.25 and end.link["rtt_ms"] is None
            assert source.actions("d1", alone=True)["mode"] == ""
            assert await source.act("mode", "d1", {"mode": "hold"}, alone=True) == "Mode hold."
            with pytest.raises(RefusalError, match="Mode manual"):
                await source.act("mode", "d1", {"mode": "manual"}, alone=True)
            with pytest.raises(RefusalError, match="no service /drone/pqc_policy/pin_suite"):
                await source.act("pin", "d1", {}, alone=True)
            assert drone.modes == ["hold", "manual"]
        finally:
            await source.stop()
        assert not source.topics.ends()

    asyncio.run(scene())


def test_without_an_engine_of_this_machine_topics_are_enough(drone: Drone, tmp_path: Any) -> None:
    async def scene() -> None:
        sockets = SocketSource({"PQCMAV_RUN_DIR": str(tmp_path)})
        live = Live(sockets, RosSource(sockets.log))
        await live.start()
        try:
            found: dict[str, Any] = {}

            async def look() -> None:
                found.update(drone_view("d1", await live.picture(frozenset({"d1"}))))

            await until(lambda: found and found["ends"] and found["ends"][0]["link"], "the tunnel by topics", look)
            assert found["senses"]["battery"]["fields"]["voltage_v"] == 15.0
            assert "absent" in found["senses"]["thermal"]
            assert found["rank"] == 4 and "25% lost" in found["trouble"]
        finally:
            await live.stop()

    asyncio.run(scene())


def test_only_of_a_latched_status_does_the_stamp_tell_the_age() -> None:
    """The drone's clock may be behind: what arrives now was then sent now, whatever it says.

    Figures are asked for after a status has come: until then one that was latched long ago is no sign of silence.
    """
    source = RosSource(EventLog())

    def hear(kind: str, topic: str) -> End:
        fields = {"drone_id": "d1", "role": "drone", "state": 2, "stamp_s": time.time() - 60}
        named = {"topic": f"/drone/{topic}", "type": f"pqc_mav_interfaces/msg/{kind}"}
        source._take({"messages": [{**named, "at_s": time.monotonic(), "fields": fields}]})
        return source.topics.ends()[0]

    for kind, topic in (("TunnelStatus", "pqc_proxy/status"), ("TunnelStats", "pqc_proxy/stats")):
        end = hear(kind, topic)
        assert time.monotonic() - end.heard_s < 30.0 and end.seen_s == pytest.approx(60.0, abs=5.0)
    hear("BatteryHealth", "battery")
    assert time.monotonic() - source.topics.senses_of("d1")["battery"].at_s < 30.0


def test_a_helper_that_dies_is_started_again_and_ends_with_the_viewers(
    drone: Drone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ros_source, "AGAIN_S", 0.2)

    async def scene() -> None:
        source = RosSource(EventLog())
        await source.start()
        first = source._process
        assert first is not None
        first.kill()
        await first.wait()
        assert "has ended" in source.problem
        await until(lambda: source._process is not first and source.topics.ends(), "again", lambda: source.keep(set()))
        second = source._process
        assert second is not None and second.returncode is None and source.problem == ""
        await source.stop()
        assert second.returncode is not None

    asyncio.run(scene())


def test_a_machine_without_ros_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(ros_source, "find_spec", lambda _name: None)

    async def scene() -> None:
        sockets = SocketSource({"PQCMAV_RUN_DIR": str(tmp_path)})
        live = Live(sockets, RosSource(sockets.log))
        await live.start()
        picture = await live.picture(frozenset({"d1"}))
        view = drone_view("d1", picture)
        assert {json.dumps(sense) for sense in view["senses"].values()} == {json.dumps({"absent": ros_source.WITHOUT})}
        assert "ROS 2 is not available" in live.actions("d1", picture)["mode"]
        await live.stop()

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("topic", "kind", "least", "most"), [("link", "LinkQuality", 2000, None), ("battery", "BatteryHealth", 1, 1)]
)
def test_a_round_of_a_thousand_drones_fits(topic: str, kind: str, least: int, most: int | None) -> None:
    """What is kept between two looks: of a stream about one thing the newest, of a fleet's all of it."""
    depths: list[int] = []

    class Node:
        def create_subscription(self, _kind: Any, _topic: str, _callback: Any, profile: Any, raw: bool) -> Any:
            depths.append(profile.depth)

    helper = ros_helper.Helper(Node(), None, io.StringIO())
    publishers = [SimpleNamespace(qos_profile=qos.periodic(2000))]
    helper._subscribe(f"/gcs/{topic}", f"pqc_mav_interfaces/msg/{kind}", kind, publishers)
    assert depths[0] >= least and (most is None or depths[0] <= most)
