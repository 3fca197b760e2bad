# SPDX-License-Identifier: Apache-2.0
"""What ROS topics say, on the page: by a helper that is a few lines of Python, and by the real one with a real node."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from answers import samples

from pqc_mav_cli.metrics import families
from pqc_mav_cli.metrics import senses as senses_module
from pqc_mav_cli.metrics.engines import Engines
from pqc_mav_cli.metrics.exporter import Exporter
from pqc_mav_cli.metrics.figures import Figures, add_readings
from pqc_mav_cli.metrics.senses import Reading, Senses
from pqc_mav_common.testing import until

TYPE = "pqc_mav_interfaces/msg/"
THREAT = {"source": "rules", "kind": "replay", "level": 2, "probability": 0.9}
POLICY = {
    "strategy": "measured",
    "mode": "auto",
    "action": "REKEY",
    "guard": "interval",
    "sequence": 41,
    "outcome": "Rekeyed.",
    "outcome_ok": True,
}
BATTERY = {
    "valid": True,
    "voltage_v": 15.2,
    "current_a": None,
    "temperature_c": 31.0,
    "state_of_charge": 0.5,
    "reported_remaining": None,
    "endurance_s": 600.0,
}


def told(*messages: tuple[str, str, dict[str, Any]]) -> str:
    """A line as the helper writes it."""
    named = [{"topic": topic, "type": TYPE + kind, "fields": fields} for topic, kind, fields in messages]
    return json.dumps({"messages": named})


def helper(tmp_path: Path, *lines: str, ends: bool = False) -> list[str]:
    """A command that says these lines, of now, and ends when its input does."""
    script = tmp_path / "helper.py"
    script.write_text(
        "import json, sys, time\n"
        f"for line in {list(lines)!r}:\n"
        "    heard = json.loads(line)\n"
        "    for message in heard['messages']:\n"
        "        message['at_s'] = time.monotonic()\n"
        "    print(json.dumps(heard), flush=True)\n" + ("" if ends else "sys.stdin.read()\n")
    )
    return [sys.executable, str(script)]


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def heard(tmp_path: Path, said: list[str]) -> Iterator[Senses]:
    lines = told(
        ("/drone/threat", "ThreatReport", THREAT),
        ("/drone/pqc_policy/decision", "PolicyDecision", POLICY),
        ("/drone/battery", "BatteryHealth", BATTERY),
        ("/drone/thermal", "ThermalState", {}),
    )
    made = Senses(said.append, helper(tmp_path, lines))
    yield made
    made.close()


def test_the_newest_of_each_topic_is_on_the_page(heard: Senses, tmp_path: Path, said: list[str]) -> None:
    exporter = Exporter(Engines({"PQCMAV_RUN_DIR": str(tmp_path)}), said.append, heard)
    assert samples(exporter.page()[0])["pqcmav_ros_listening"] == 1, "and nothing is heard yet"
    until(lambda: len(heard.readings()) == 3, "three topics")
    found = samples(exporter.page()[0])
    where = 'namespace="/drone"'
    assert found[f'pqcmav_threat_level{{detector="rules",kind="replay",{where}}}'] == 2
    assert found[f'pqcmav_threat_probability_ratio{{detector="rules",{where}}}'] == 0.9
    info = f'pqcmav_policy_info{{action="REKEY",guard="interval",mode="auto",{where},strategy="measured"}}'
    assert found[info] == 1 and found[f"pqcmav_policy_decisions_total{{{where}}}"] == 41
    assert found[f"pqcmav_policy_outcome_ok{{{where}}}"] == 1
    assert found[f"pqcmav_battery_volts{{{where}}}"] == 15.2
    assert f"pqcmav_battery_amperes{{{where}}}" not in found, "what is not known is not 0"
    assert 0 <= found[f'pqcmav_sense_age_seconds{{{where},sense="battery"}}'] < 60
    assert not said


def test_what_was_not_heard_for_ten_minutes_is_forgotten(heard: Senses, monkeypatch: pytest.MonkeyPatch) -> None:
    until(lambda: len(heard.readings()) == 3, "three topics")
    at_s = [each for _, each in heard._newest.values()]
    for now_s, known in ((min(at_s) + 599.9, 3), (max(at_s) + 600.1, 0)):
        monkeypatch.setattr(senses_module, "time", SimpleNamespace(monotonic=lambda now_s=now_s: now_s, time=time.time))
        assert len(heard.readings()) == known


def test_a_clock_that_is_behind_makes_nothing_old(tmp_path: Path) -> None:
    """An attack at a drone without the right time is one all the same."""
    threat = THREAT | {"stamp_s": time.time() - 3600}
    made = Senses(command=helper(tmp_path, told(("/drone/threat", "ThreatReport", threat))))
    (reading,) = until(made.readings, "a reading")
    assert reading.age_s < families.STALE_S
    made.close()


def test_what_is_old_is_not_shown_as_new() -> None:
    figures = Figures()
    add_readings(figures, [Reading("/a", "battery", BATTERY, families.STALE_S + 1)])
    (only,) = figures.metrics()
    assert only.name == "pqcmav_sense_age_seconds"


def test_a_message_of_another_version_takes_nothing_with_it() -> None:
    figures = Figures()
    add_readings(figures, [Reading("/a", "battery", {"valid": True}, 0.1), Reading("/b", "threat", THREAT, 0.1)])
    names = {metric.name for metric in figures.metrics()}
    assert "pqcmav_battery_valid" not in names and "pqcmav_threat_level" in names


def test_a_request_that_ends_takes_no_helper_with_it(heard: Senses) -> None:
    """The kernel kills it with the thread that started it."""
    thread = threading.Thread(target=heard.readings)
    thread.start()
    thread.join()
    until(lambda: len(heard.readings()) == 3, "three topics")
    assert heard.listening


def test_a_helper_that_ends_is_said_and_started_again(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(senses_module, "AGAIN_S", 0.05)
    made = Senses(said.append, helper(tmp_path, ends=True))
    until(lambda: made.readings() == [] and len(said) >= 2, "said at each time")
    assert "started again" in said[0]
    made.close()


def test_without_scrapes_nobody_listens(tmp_path: Path, said: list[str]) -> None:
    made = Senses(said.append, helper(tmp_path, told(("/drone/threat", "ThreatReport", THREAT))), idle_s=1.0)
    until(made.readings, "a reading")
    process = made._process
    assert process is not None
    until(lambda: process.poll() is not None, "its end")
    assert not made.listening and not said
    until(made.readings, "and again at the next scrape")
    made.close()


def test_no_program_is_said(said: list[str], tmp_path: Path) -> None:
    made = Senses(said.append, [str(tmp_path / "none")])
    assert made.readings() == [] and "ROS topics are not heard" in said[0]
    made.close()


def test_real_topics_are_heard(said: list[str], tmp_path: Path) -> None:
    """A detector's report reaches the page, and with it the alert."""
    rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not there")
    from pqc_mav_interfaces.msg import ThreatReport

    from pqc_mav_common import qos

    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    node = rclpy.create_node("detector", namespace="metered", context=context)
    publisher = node.create_publisher(ThreatReport, "threat", qos.latched(1))
    made = Senses(said.append)
    try:
        exporter = Exporter(Engines({"PQCMAV_RUN_DIR": str(tmp_path)}), said.append, made)
        series = 'pqcmav_threat_level{detector="rules",kind="replay",namespace="/metered"}'

        def shown() -> bool:
            message = ThreatReport(source="rules", kind="replay", level=2, probability=1.0)
            message.header.stamp = node.get_clock().now().to_msg()
            publisher.publish(message)
            time.sleep(0.2)
            return samples(exporter.page()[0]).get(series) == 2

        until(shown, "the threat on the page")
    finally:
        made.close()
        node.destroy_node()
        context.try_shutdown()
