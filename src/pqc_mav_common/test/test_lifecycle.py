# SPDX-License-Identifier: Apache-2.0
"""Managed nodes: brought up in order, re-read at configure, refused with a sentence, and asked from outside."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import LoggerLevel
from rcl_interfaces.srv import GetLoggerLevels, SetLoggerLevels
from rclpy.clock import ClockType
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import String

from pqc_mav_common import qos
from pqc_mav_common.errors import ProcessError
from pqc_mav_common.executors import one_thread
from pqc_mav_common.lifecycle import SUCCESS, Entities, ManagedNode, bring_up, serving
from pqc_mav_common.parameters import ParameterError, ParameterSpec
from pqc_mav_common.process import wait_until
from pqc_mav_common.testing import until
from pqc_mav_common.testing_onlooker import Onlooker

CLERK = "/clerk"
SPECS = (
    ParameterSpec("topic", "words", "What it listens to."),
    ParameterSpec("pace", 1, "How fast it writes.", 0, 9, live=True),
    ParameterSpec("kind", "good", "How it is.", choices=("good", "bad", "broken")),
)
DIARY: list[str] = []


class Clerk(ManagedNode):
    """Writes down what is asked of it."""

    def __init__(self, name: str = "clerk", siblings: tuple[str, ...] = (), **arguments: Any) -> None:
        super().__init__(name, **arguments)
        self.take_parameters(SPECS, siblings)
        self.ticked = threading.Event()
        self.heard: list[Any] = []

    def offer(self) -> None:
        self.said = self.create_lifecycle_publisher(String, "~/said", 10)
        self.every(0.02, self.ticked.set)

    def take_live(self, name: str, value: Any) -> bool:
        DIARY.append(f"{name} {value}")
        return self.active

    def why_not(self, name: str, value: Any) -> str:
        return "Nobody writes that fast." if (name, value) == ("pace", 8) else ""

    def set_up(self) -> None:
        self.create_subscription(String, self.values["topic"], self.heard.append, qos_profile_sensor_data)
        DIARY.append(f"{self.get_name()} listens to {self.values['topic']}")

    def begin(self) -> None:
        if self.values["kind"] == "bad":
            raise ProcessError("It is bad.")
        if self.values["kind"] == "broken":
            raise RuntimeError("nobody foresaw this")
        self.said.publish(String(data="begun"))
        DIARY.append(f"{self.get_name()} begins")

    def end(self) -> None:
        DIARY.append(f"{self.get_name()} ends")


@pytest.fixture
def ros() -> Iterator[None]:
    DIARY.clear()
    rclpy.init(args=[])
    yield
    rclpy.try_shutdown()


def clerk(*arguments: str, name: str = "clerk") -> Clerk:
    given = [word for argument in arguments for word in ("-p", argument)]
    return Clerk(name, cli_args=["--ros-args", *given] if given else [], use_global_arguments=False)


def test_nodes_of_a_process_come_up_in_order_and_all_stop_before_one_is_destroyed(ros: None) -> None:
    makers = [
        partial(clerk, name="first"),
        partial(clerk, "autostart:=false", name="idle"),
        partial(clerk, name="last"),
    ]
    with serving(one_thread(), makers) as (first, idle, last):
        assert first.active and last.active and not idle.active
        assert first.ticked.wait(30) and not idle.ticked.is_set()
    assert [entry for entry in DIARY if entry.startswith(("first", "last")) and "ends" not in entry] == [
        "first listens to words",
        "first begins",
        "last listens to words",
        "last begins",
    ]
    assert DIARY[-3:] == ["last ends", "idle ends", "first ends"]


def test_a_manager_outside_takes_it_through_its_states(ros: None, capfd: pytest.CaptureFixture[str]) -> None:
    """On the executor of events, which onboard nodes have, and with what was set in between."""
    with serving(one_thread(), [partial(clerk, "autostart:=false")]) as (node,), Onlooker() as onlooker:
        assert onlooker.state(CLERK) == "unconfigured"
        assert onlooker.change(CLERK, "configure") and onlooker.state(CLERK) == "inactive" and not node.ticked.wait(0.2)
        assert onlooker.change(CLERK, "activate") and onlooker.state(CLERK) == "active" and node.ticked.wait(30)
        topics = {subscription.topic_name for subscription in node.subscriptions}
        assert "/words" in topics
        assert onlooker.put(CLERK, "topic", "numbers").successful
        assert onlooker.put(CLERK, "pace", 3).successful and "pace 3" in DIARY
        assert not onlooker.put(CLERK, "pace", 10).successful and "pace 10" not in DIARY
        refused = onlooker.put(CLERK, "pace", 8)
        assert (refused.successful, refused.reason) == (False, "Nobody writes that fast.") and "pace 8" not in DIARY
        assert onlooker.change(CLERK, "deactivate") and not node.active
        assert onlooker.put(CLERK, "pace", 4).successful
        node.ticked.clear()
        assert not node.ticked.wait(0.2), "its timers rest"
        assert onlooker.change(CLERK, "activate") and node.values["topic"] == "words", "not configured again yet"
        assert onlooker.change(CLERK, "deactivate", "cleanup")
        assert "/words" not in {subscription.topic_name for subscription in node.subscriptions}
        assert onlooker.change(CLERK, "configure", "activate")
        assert "/numbers" in {subscription.topic_name for subscription in node.subscriptions}
        talker = onlooker.node.create_publisher(String, "numbers", 10)
        until(lambda: talker.publish(String(data="one")) or node.heard, "what was said on the new topic")
    said = capfd.readouterr().err
    assert "Deactivated: it publishes nothing until it is activated again." in said
    assert "'topic' is set to \"numbers\"; it counts from the next configure on." in said
    assert "'pace' is set to 3; it counts from now on." in said
    assert "'pace' is set to 4; it counts from the next configure on." in said


def test_a_transition_that_its_state_does_not_have_is_refused(ros: None, capfd: pytest.CaptureFixture[str]) -> None:
    """By its number, as managers ask: rclpy's own answer is none, and the node is silent from then on."""
    request = ChangeState.Request()
    request.transition.id = Transition.TRANSITION_CONFIGURE
    with serving(one_thread(), [clerk]) as (node,), Onlooker() as onlooker:
        answer = onlooker.ask(ChangeState, f"{CLERK}/change_state", request)
        until(answer.done, "an answer")
        assert not answer.result().success and node.active
        assert onlooker.change(CLERK, "deactivate", "activate")
    assert "No transition 1 of a node that is active; there are: deactivate (4)" in capfd.readouterr().err


def test_a_refusal_is_a_sentence_and_can_be_put_right(ros: None, capfd: pytest.CaptureFixture[str]) -> None:
    with serving(one_thread(), [partial(clerk, "autostart:=false", "kind:=bad")]) as (node,), Onlooker() as onlooker:
        assert onlooker.change(CLERK, "configure") and not onlooker.change(CLERK, "activate")
        assert onlooker.state(CLERK) == "inactive"
        assert str(node.failure) == "It is bad." and "It is bad." in capfd.readouterr().err
        refused = onlooker.put(CLERK, "kind", "worse")
        assert not refused.successful and "it must be one of: good, bad, broken" in refused.reason
        assert onlooker.put(CLERK, "kind", "broken").successful and onlooker.change(CLERK, "cleanup")
        assert onlooker.change(CLERK, "configure") and not onlooker.change(CLERK, "activate")
        assert onlooker.state(CLERK) == "unconfigured", "a fault of ours leads back to the start"
        assert "unexpected: RuntimeError: nobody foresaw this" in capfd.readouterr().err
        assert onlooker.put(CLERK, "kind", "good").successful
        assert onlooker.change(CLERK, "configure", "activate") and node.failure is None
        assert not onlooker.put(CLERK, "autostart", True).successful


def test_what_brings_a_process_up_hands_the_sentence_on(ros: None, capfd: pytest.CaptureFixture[str]) -> None:
    node = clerk("kind:=bad")
    try:
        with pytest.raises(ProcessError, match=r"^It is bad\.$"):
            bring_up(node)
        assert "It is bad" not in capfd.readouterr().err, "the process prints it"
        assert not node.said.is_activated
    finally:
        node.destroy_node()
    with pytest.raises(ParameterError, match="Did you mean 'topic'"):
        clerk("topics:=x")


def test_the_log_level_changes_at_run_time(ros: None) -> None:
    with serving(one_thread(), [clerk]), Onlooker() as onlooker:
        level = LoggerLevel(name="clerk", level=LoggerLevel.LOG_LEVEL_DEBUG)
        answer = onlooker.call(SetLoggerLevels, "/clerk/set_logger_levels", SetLoggerLevels.Request(levels=[level]))
        assert answer.results[0].successful
        asked_for = GetLoggerLevels.Request(names=["clerk"])
        (now,) = onlooker.call(GetLoggerLevels, "/clerk/get_logger_levels", asked_for).levels
        assert now.level == LoggerLevel.LOG_LEVEL_DEBUG


def test_a_node_publishes_and_ticks_from_configure_to_cleanup(ros: None) -> None:
    """Configured twice: the QoS that the first publisher left in the parameters is no bar to the second."""
    node = clerk()
    try:
        before = set(map(id, [*node.publishers, *node.timers]))

        def made() -> list[Any]:
            return [each for each in [*node.publishers, *node.timers] if id(each) not in before]

        for _ in range(2):
            assert node.trigger_configure() == SUCCESS
            assert [each.topic_name for each in made() if hasattr(each, "topic_name")] == ["/clerk/said"]
            assert len(made()) == 2 and not node.said.is_activated
            assert node.trigger_activate() == node.trigger_deactivate() == node.trigger_cleanup() == SUCCESS
            assert made() == []
        assert node.trigger_configure() == node.trigger_shutdown() == SUCCESS
        assert made() == []
    finally:
        node.destroy_node()


def test_only_what_came_later_is_destroyed(ros: None) -> None:
    node = clerk()
    node.offer()
    try:
        services = len(list(node.services))
        made = Entities(node)
        node.create_lifecycle_publisher(String, "later", 1)
        node.create_publisher(String, "later", 1)
        node.create_timer(1.0, lambda: None)
        assert len(list(node.publishers)) > 2
        made.destroy()
        assert [each.topic_name for each in node.publishers if each.topic_name == "/later"] == []
        assert node.said in node.publishers and len(list(node.services)) == services
    finally:
        node.destroy_node()


def test_parameters_override_the_qos_of_a_publisher_and_of_the_one_that_replaces_it(ros: None) -> None:
    node = clerk("qos_overrides./said.publisher.depth:=7")
    try:
        for topic, depths in (("said", (7, 7)), ("shown", (1, 4))):
            first = node.create_lifecycle_publisher(String, topic, qos.latched(1))
            second = node.replace_publisher(first, String, topic, qos.latched(4))
            assert (first.qos_profile.depth, second.qos_profile.depth) == depths
        assert node.get_parameter("qos_overrides./shown.publisher.reliability").value == "reliable"
    finally:
        node.destroy_node()


@pytest.mark.parametrize(("simulated", "kind"), [("false", ClockType.STEADY_TIME), ("true", ClockType.ROS_TIME)])
def test_no_timer_stands_still_because_the_clock_is_set_back(ros: None, simulated: str, kind: ClockType) -> None:
    node = clerk(f"use_sim_time:={simulated}")
    try:
        assert node.every(1.0, lambda: None).clock.clock_type is kind
    finally:
        node.destroy_node()


def test_a_finalized_node_leaves(ros: None) -> None:
    with serving(one_thread(), [partial(clerk, "autostart:=false")]) as nodes, Onlooker() as onlooker:
        waiting = threading.Thread(target=wait_until, args=(threading.Event(), nodes), daemon=True)
        waiting.start()
        assert onlooker.change(CLERK, "configure") and waiting.is_alive()
        assert onlooker.change(CLERK, "shutdown")
        waiting.join(30)
        assert not waiting.is_alive()
