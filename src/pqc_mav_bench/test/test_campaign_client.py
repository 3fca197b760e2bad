# SPDX-License-Identifier: Apache-2.0
"""A campaign is asked for once, so its answer must not be lost: not by a server that is late, nor by a client."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pqc_mav_interfaces.action import RunCampaign
from rcl_interfaces.srv import ListParameters
from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from spun_nodes import spun

from pqc_mav_bench import campaign_client
from pqc_mav_bench.campaign_client import CampaignClient
from pqc_mav_bench.errors import BenchError

NAME = "/drone/bench_controller"


class Controller:
    """What the controller looks like from outside; the first `ignored` greetings meet silence."""

    def __init__(self, node: Any, ignored: int) -> None:
        self.greeted, self._ignored = 0, ignored
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.may_end.set()
        group = ReentrantCallbackGroup()
        node.create_service(ListParameters, f"{NAME}/list_parameters", self._listed, callback_group=group)
        self.server = ActionServer(node, RunCampaign, f"{NAME}/run_campaign", self._run, callback_group=group)

    def _listed(self, _request: Any, response: Any) -> Any:
        self.greeted += 1
        if self.greeted <= self._ignored:
            time.sleep(2 * campaign_client.MEET_S)  # the answer finds nobody who waits for it
        return response

    def _run(self, goal: Any) -> Any:
        self.begun.set()
        self.may_end.wait(20.0)
        goal.succeed()
        return RunCampaign.Result(ok=True, message="Complete.", run_directory="/tmp/c", passed=2)


class SlowToNote:
    """The part of a client below Python; from sending to noting takes a while, as where another thread has its turn."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name)

    def send_goal_request(self, request: Any) -> int:
        number = self._handle.send_goal_request(request)
        time.sleep(0.5)
        return int(number)


@pytest.fixture
def offered() -> Iterator[Callable[[int], tuple[Controller, CampaignClient]]]:
    """Makes a controller that ignores so many greetings, and a client of it."""
    with spun("controller", "client", threads=4) as ((theirs, ours), stack):

        def offer(ignored: int) -> tuple[Controller, CampaignClient]:
            controller = Controller(theirs, ignored)
            stack.callback(controller.server.destroy)
            return controller, CampaignClient(ours, NAME)

        yield offer


def run(client: CampaignClient, stop: threading.Event | None = None) -> campaign_client.Outcome:
    return client.run(None, None, lambda _feedback: None, stop or threading.Event())


@pytest.mark.parametrize("ignored", [0, 2])
def test_a_campaign_is_asked_for_once_the_controller_answers(offered, monkeypatch, ignored):
    monkeypatch.setattr(campaign_client, "MEET_S", 0.3)
    controller, client = offered(ignored)
    outcome = run(client)
    assert (outcome.ok, outcome.message, outcome.passed) == (True, "Complete.", 2)
    assert controller.greeted >= ignored + 1


def test_an_answer_that_is_there_before_the_question_is_noted_is_not_lost(offered, monkeypatch):
    monkeypatch.setattr(campaign_client, "ANSWER_S", 5.0)
    _, client = offered(0)
    assert client._client.wait_for_server(timeout_sec=20.0)
    client._client._client_handle = SlowToNote(client._client._client_handle)
    assert run(client).ok


def test_a_controller_that_answers_nothing_is_said_to(offered, monkeypatch):
    monkeypatch.setattr(campaign_client, "MEET_S", 0.1)
    monkeypatch.setattr(campaign_client, "SERVER_S", 1.0)
    _, client = offered(1000)
    with pytest.raises(BenchError, match="is there, but answered no question within 1 s"):
        run(client)


def test_nobody_is_asked_once_it_was_stopped(offered):
    stop = threading.Event()
    stop.set()
    _, client = offered(0)
    with pytest.raises(BenchError, match=r"Stopped before the campaign began\."):
        run(client, stop)


def test_nothing_is_waited_for_once_the_controller_is_known_to_have_ended(offered):
    """Its DDS participant may look alive for long: who asked must be out of ROS before the process ends."""
    controller, client = offered(0)
    controller.may_end.clear()
    gone = threading.Event()
    threading.Thread(target=lambda: controller.begun.wait(20.0) and gone.set(), daemon=True).start()
    with pytest.raises(BenchError, match="is lost; 'pqcmav bench resume' continues"):
        client.run(None, None, lambda _feedback: None, gone, gone)
    controller.may_end.set()
