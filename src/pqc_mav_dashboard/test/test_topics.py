# SPDX-License-Identifier: Apache-2.0
"""Which topic is about which drone."""

from __future__ import annotations

from typing import Any

import pytest

from pqc_mav_dashboard.topics import Topics, is_wanted, namespace_of, node_of

MSG = "pqc_mav_interfaces/msg/"


def test_a_radio_is_shown_of_links_that_have_one() -> None:
    topics = Topics()
    put(topics, "/drone/pqc_proxy/status", "TunnelStatus", state=2, role="drone", drone_id="d1")
    for kbit, shown in ((None, None), (38.0, {"kbit": 38.0, "line_errors": 3})):
        fields = {"drone_id": "d1", "side": "local", "radio_kbit": kbit, "radio_line_errors": 3}
        put(topics, "/drone/pqc_proxy/link", "LinkQuality", **fields)
        (end,) = topics.ends()
        assert end.link is not None and end.link.get("radio") == shown


def test_paths_are_shown_in_their_order_with_what_they_said_last() -> None:
    topics = Topics()
    put(topics, "/drone/pqc_proxy/status", "TunnelStatus", state=2, role="drone", drone_id="d1")
    for state in ("good", "dead"):
        for name in ("lte", "radio"):
            put(topics, "/drone/pqc_proxy/paths", "PathStatus", drone_id="d1", name=name, state=state)
    (end,) = topics.ends()
    assert [(path["name"], path["state"]) for path in end.status["paths"]] == [("lte", "dead"), ("radio", "dead")]


def test_a_tunnel_was_up_from_its_first_session_on() -> None:
    topics, was_up = Topics(), []
    for suite in ("", "cs-x", ""):
        put(topics, "/drone/pqc_proxy/status", "TunnelStatus", state=1, role="drone", drone_id="d1", suite=suite)
        was_up += [end.was_up for end in topics.ends()]
    assert was_up == [False, True, True]


def put(topics: Topics, topic: str, message: str, at_s: float = 0.0, /, **fields: Any) -> None:
    topics.put(topic, MSG + message, fields, at_s, 1000.0 + at_s)


def test_types() -> None:
    assert is_wanted("pqc_mav_interfaces/msg/TunnelStatus") and is_wanted("pqc_mav_interfaces/BatteryHealth")
    assert not is_wanted("std_msgs/msg/String") and not is_wanted("pqc_mav_interfaces/msg/ServerStats")


@pytest.mark.parametrize(
    ("topic", "kind", "namespace"),
    [
        ("/drone/battery", "BatteryHealth", "/drone"),
        ("/fleet/d1/battery", "BatteryHealth", "/fleet/d1"),
        ("/drone/pqc_policy/decision", "PolicyDecision", "/drone"),
        ("/gcs/threat", "ThreatReport", "/gcs"),
    ],
)
def test_namespaces(topic: str, kind: str, namespace: str) -> None:
    assert namespace_of(topic, kind) == namespace
    assert node_of("/drone/pqc_proxy/status") == "/drone/pqc_proxy"


def test_two_drones_do_not_get_each_others_senses() -> None:
    topics = Topics()
    for drone in ("d1", "d2"):
        put(topics, f"/{drone}/pqc_proxy/status", "TunnelStatus", state=2, role="drone", drone_id=drone)
        put(topics, f"/{drone}/battery", "BatteryHealth", voltage_v=float(drone[1]))
        put(topics, "/gcs/pqc_proxy/status", "TunnelStatus", state=2, role="gcs", drone_id=drone)
    assert [topics.senses_of(drone)["battery"].fields["voltage_v"] for drone in ("d1", "d2")] == [1.0, 2.0]
    assert topics.proxies()["/gcs/pqc_proxy"] == [("gcs", "d1"), ("gcs", "d2")]


def test_a_drone_that_was_removed_is_no_silent_one() -> None:
    told: list[Any] = []
    topics = Topics(lambda _end, event: told.append(event))
    last = "REMOVED: this ground station does not serve the drone any more."
    for drone in ("d1", "d2"):
        put(topics, "/gcs/pqc_proxy/status", "TunnelStatus", state=2, role="gcs", drone_id=drone)
    for _ in range(2):
        put(topics, "/gcs/pqc_proxy/status", "TunnelStatus", state=0, role="gcs", drone_id="d2", last_error=last)
    assert [end.drone for end in topics.ends()] == ["d1"]
    assert [event["text"] for event in told if event["event"] == "log"] == [last]
    put(topics, "/gcs/pqc_proxy/status", "TunnelStatus", state=1, role="gcs", drone_id="d2")
    assert len(topics.ends()) == 2, "it was added again"


def test_senses_without_a_status_are_taken_for_an_only_drone_alone() -> None:
    topics = Topics()
    put(topics, "/drone/battery", "BatteryHealth", voltage_v=1.0)
    assert topics.senses_of("d1") == {}
    assert set(topics.senses_of("d1", alone=True)) == {"battery"}
    put(topics, "/other/battery", "BatteryHealth", voltage_v=1.0)
    assert topics.senses_of("d1", alone=True) == {}, "two computers: whose are they?"
    assert set(topics.senses_of("other")) == {"battery"}, "by its name"


def test_of_two_detectors_that_speak_the_gravest_counts() -> None:
    topics = Topics()
    put(topics, "/gcs/pqc_proxy/status", "TunnelStatus", state=2, role="gcs", drone_id="d1")
    put(topics, "/gcs/threat", "ThreatReport", level=2, kind="flood")
    assert topics.senses_of("d1")["threat"].fields["kind"] == "flood"
    put(topics, "/drone/pqc_proxy/status", "TunnelStatus", state=2, role="drone", drone_id="d1")
    put(topics, "/drone/threat", "ThreatReport", level=0, kind="")
    assert topics.senses_of("d1")["threat"].fields["kind"] == "flood", "at the ground alone"
    put(topics, "/drone/threat", "ThreatReport", 90.0, level=0, kind="")
    assert topics.senses_of("d1")["threat"].fields["kind"] == "", "the ground's says nothing any more"
    put(topics, "/gcs/threat", "ThreatReport", 180.0, level=1, kind="replay")
    assert topics.senses_of("d1")["threat"].fields["kind"] == "replay", "and now the drone's"


def test_figures_may_come_before_the_first_status() -> None:
    topics = Topics()
    put(topics, "/gcs/pqc_proxy/stats", "TunnelStats", drone_id="d1", tx_bytes_per_s=1.0)
    assert topics.ends() == []
    put(topics, "/gcs/pqc_proxy/status", "TunnelStatus", state=2, role="gcs", drone_id="d1")
    assert topics.ends()[0].stats == {"drone_id": "d1", "tx_bytes_per_s": 1.0}


def test_events_are_told_once_for_each_change() -> None:
    told: list[str] = []
    topics = Topics(lambda end, event: told.append(f"{end} {event['event']} {event.get('new') or event.get('text')}"))
    for state in (0, 2, 2):
        put(topics, "/drone/pqc_proxy/status", "TunnelStatus", state=state, role="drone", drone_id="d1")
    for level in (0, 2, 2, 0):
        put(topics, "/drone/threat", "ThreatReport", level=level, kind="replay" if level else "")
    for action in ("HOLD", "DOWN", "DOWN"):
        put(topics, "/drone/pqc_policy/decision", "PolicyDecision", action=action, guard="link", reason="loss")
    assert told == [
        "/drone/pqc_proxy state DOWN",
        "/drone/pqc_proxy state UP",
        "/drone log threat: attack replay",
        "/drone log threat: none",
        "/drone log policy: DOWN by rule link: loss",
    ]
