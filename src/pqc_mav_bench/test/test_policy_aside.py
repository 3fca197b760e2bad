# SPDX-License-Identifier: Apache-2.0
"""A policy steps aside for a campaign, or the campaign does not begin."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from pqc_mav_interfaces.msg import PolicyDecision
from pqc_mav_interfaces.srv import SetMode
from spun_nodes import spun

from pqc_mav_bench import policy_aside
from pqc_mav_bench.errors import BenchError
from pqc_mav_bench.policy_aside import PolicyAside
from pqc_mav_bench.store import CampaignStore
from pqc_mav_common import qos

NAME = "/drone/pqc_policy"


class Policy:
    """What the policy's node looks like from outside."""

    def __init__(self, node, mode: str) -> None:
        self.mode, self.refuses = mode, ""
        self.asked: list[str] = []
        node.create_service(SetMode, f"{NAME}/set_mode", self._set)
        self._decision = node.create_publisher(PolicyDecision, f"{NAME}/decision", qos.periodic(8))
        node.create_timer(0.05, lambda: self._decision.publish(PolicyDecision(mode=self.mode)))

    def _set(self, request, response):
        self.asked.append(request.mode)
        response.ok, response.message = not self.refuses, self.refuses or "done"
        self.mode = request.mode if response.ok else self.mode
        return response


@pytest.fixture
def nodes() -> Iterator[tuple]:
    with spun("policy", "controller") as (made, _):
        yield made


@pytest.fixture
def store(tmp_path) -> CampaignStore:
    made = CampaignStore.create(tmp_path, "c")
    made.save_manifest({"campaign_id": "c"})
    return made


@pytest.mark.parametrize("before", ["auto", "manual"])
def test_it_holds_during_the_campaign_and_goes_on_as_before(nodes, store, before):
    policy = Policy(nodes[0], before)
    aside = PolicyAside(nodes[1], NAME)
    assert before in aside.step_aside(store)
    assert policy.mode == "hold"
    assert aside.go_on(store) == ""
    assert policy.mode == before
    assert aside.go_on(store) == ""
    assert policy.asked == ["hold", before], "given back once"


def test_one_that_holds_already_is_left_so(nodes, store):
    policy = Policy(nodes[0], "hold")
    aside = PolicyAside(nodes[1], NAME)
    assert aside.step_aside(store)
    aside.go_on(store)
    assert policy.mode == "hold"


def test_what_a_killed_controller_held_goes_on_after_the_resumed_campaign(nodes, store):
    policy = Policy(nodes[0], "auto")
    PolicyAside(nodes[1], NAME).step_aside(store)
    resumed = PolicyAside(nodes[1], NAME)
    assert "it was in mode auto" in resumed.step_aside(store)
    assert policy.mode == "hold"
    assert resumed.go_on(store) == ""
    assert policy.mode == "auto"
    assert set(store.manifest()) == {"campaign_id", "sha256"}


def test_one_that_refuses_stops_the_campaign_before_it_begins(nodes, store):
    policy = Policy(nodes[0], "auto")
    policy.refuses = "It is not configured."
    aside = PolicyAside(nodes[1], NAME)
    with pytest.raises(BenchError, match=r"would change suites.*It is not configured.*set its mode to hold"):
        aside.step_aside(store)
    assert aside.go_on(store) == ""
    assert policy.asked == ["hold"]


def test_without_a_policy_nothing_happens(nodes, store, monkeypatch):
    monkeypatch.setattr(policy_aside, "FOUND_S", 0.2)
    aside = PolicyAside(nodes[1], NAME)
    assert aside.step_aside(store) == ""
    assert aside.go_on(store) == ""


def test_one_that_comes_late_is_not_taken_for_none(nodes, store):
    late: list[Policy] = []
    timer = threading.Timer(2.5, lambda: late.append(Policy(nodes[0], "auto")))
    timer.start()
    assert "it was in mode auto" in PolicyAside(nodes[1], NAME).step_aside(store)
    timer.join()
    assert late[0].mode == "hold"


def test_where_none_is_named_nobody_is_waited_for(nodes, store):
    begun = time.monotonic()
    aside = PolicyAside(nodes[1], "")
    assert (aside.step_aside(store), aside.go_on(store)) == ("", "")
    assert time.monotonic() - begun < policy_aside.FOUND_S / 2
