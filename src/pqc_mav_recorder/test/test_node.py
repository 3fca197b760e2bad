# SPDX-License-Identifier: Apache-2.0
"""The recorder process among real publishers: what it finds, how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from recordings import filled, plain
from std_msgs.msg import String

from pqc_mav_common.testing import until
from pqc_mav_common.testing_onlooker import run_twice
from pqc_mav_recorder.reader import RecordingReader
from pqc_mav_recorder.topics import matching_qos, wanted

DEADLINE_S = 60.0
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SENSOR = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)


class Process:
    """A recorder; its stderr is collected."""

    def __init__(self, *parameters: str) -> None:
        arguments = [part for parameter in parameters for part in ("-p", parameter)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pqc_mav_recorder.main", "--ros-args", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, number: int = signal.SIGINT) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=DEADLINE_S)
        return self.process.returncode, out, err


@pytest.fixture
def publisher() -> Iterator[Any]:
    """A node that publishes two wanted and one unwanted topic while the test runs."""
    from pqc_mav_interfaces.msg import BatteryHealth, TunnelStatus

    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("publisher", context=context, namespace="/t1")
    status = node.create_publisher(TunnelStatus, "/t1/pqc_proxy/status", LATCHED)
    battery = node.create_publisher(BatteryHealth, "/t1/battery", SENSOR)
    other = node.create_publisher(String, "/other/text", 10)
    messages = SimpleNamespace(status=filled(TunnelStatus), battery=filled(BatteryHealth))
    status.publish(messages.status)  # once, before anybody listens
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.02):
            battery.publish(messages.battery)
            other.publish(String(data="no"))

    thread = threading.Thread(target=work)
    thread.start()
    yield SimpleNamespace(node=node, messages=messages, battery=battery)
    stop.set()
    thread.join()
    node.destroy_node()
    rclpy.shutdown(context=context)


def recorded(path: Path) -> dict[str, list[Any]]:
    reader = RecordingReader(path)
    found: dict[str, list[Any]] = {}
    for message in reader.messages():
        found.setdefault(message.topic.name, []).append(reader.decode(message))
    return found


def test_a_flight_is_recorded_until_sigint(tmp_path: Path, publisher: Any) -> None:
    path = tmp_path / "flight.mcap"
    recorder = Process(f"path:={path}", "namespaces:=['t1']", "topics:=['/absent']")
    until(lambda: publisher.battery.get_subscription_count() == 1, "the recorder subscribed")
    partial = path.with_name("flight.mcap.partial")
    until(lambda: partial.exists() and len(recorded(partial)) == 3, "three topics on the disk")
    code, out, err = recorder.end()
    assert (code, recorder.process.returncode) == (0, 0), err
    assert "messages of 3 topics" in out and str(path) in out

    found = recorded(path)
    assert set(found) == {"/t1/pqc_proxy/status", "/t1/battery", "/diagnostics"}
    (status,) = found["/t1/pqc_proxy/status"]  # latched: published before the recorder existed
    assert plain(status) == plain(publisher.messages.status)
    assert all(plain(entry) == plain(publisher.messages.battery) for entry in found["/t1/battery"])
    assert found["/diagnostics"][0].status[0].name == "flight_recorder: recording"
    reader = RecordingReader(path)
    now = time.time_ns()
    for message in reader.messages():
        assert now - 600e9 < message.publish_ns <= message.log_ns + 1e9 and message.log_ns < now
    assert reader.metadata["namespaces"] == "t1" and not reader.problem


def test_a_killed_recorder_leaves_a_readable_file(tmp_path: Path, publisher: Any) -> None:
    recorder = Process(f"path:={tmp_path}", "namespaces:=['t1']")

    def partial() -> list[Path]:
        return list(tmp_path.glob("flight_*.mcap.partial"))

    until(lambda: bool(partial()) and "/t1/battery" in recorded(partial()[0]), "a chunk on the disk")
    code, _, _ = recorder.end(signal.SIGKILL)
    assert code == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert "/t1/battery" in recorded(left) and left.name.endswith(".partial")


@pytest.mark.parametrize(
    ("parameters", "words", "code"),
    [
        ((), "The parameter 'path' is empty", 2),
        (("path:=flight.txt",), "is no folder", 2),
        (("path:=flight.mcap", "namespaces:=7"), "namespaces", 2),
        (("path:=/proc/no/such/place",), "Cannot write", 3),
        (("path:=flight.mcap", "min_free_mib:=1048576.0"), "make room", 3),
    ],
)
def test_what_cannot_be_recorded_is_refused_in_one_line(
    tmp_path: Path, parameters: tuple[str, ...], words: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    process = Process(*parameters)
    _, err = process.process.communicate(timeout=DEADLINE_S)
    (line,) = [entry for entry in err.splitlines() if entry.startswith("pqc_recorder: error: ")]
    assert process.process.returncode == code and words in line
    assert list(tmp_path.iterdir()) == []


def test_which_topics_belong_to_a_flight() -> None:
    spaces = ("/drone", "gcs/")
    chosen = ("/drone/battery", "/drone/pqc_proxy/status", "/gcs/pqc_proxy/link", "/diagnostics", "/mine")
    others = ("/drone", "/drones/x", "/rosout", "/mine/too", "/drone/_action/status", "/gcs/a/_hidden")
    assert all(wanted(topic, spaces, ("/diagnostics", "/mine")) for topic in chosen)
    assert not any(wanted(topic, spaces, ("/diagnostics", "/mine")) for topic in others)
    assert wanted("/pqc_proxy/status", ["/"]) and wanted("/status", [""]) and not wanted("/_hidden", ["/"])


def test_quality_of_service_is_what_all_publishers_can_serve() -> None:
    def publisher_info(qos: QoSProfile) -> Any:
        return SimpleNamespace(qos_profile=qos)

    latched, plain_one, sensor = publisher_info(LATCHED), publisher_info(QoSProfile(depth=1)), publisher_info(SENSOR)
    assert matching_qos([latched]).durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert matching_qos([latched, plain_one]).durability == DurabilityPolicy.VOLATILE
    assert matching_qos([plain_one]).reliability == ReliabilityPolicy.RELIABLE
    assert matching_qos([plain_one, sensor]).reliability == ReliabilityPolicy.BEST_EFFORT


def test_it_can_be_dumped_relaunched_from_that_and_leaves_the_graph(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pqc_mav_recorder.main"]
    arguments = ["-p", f"path:={tmp_path / 'flights'}/", "-p", "min_free_mib:=1"]
    (tmp_path / "flights").mkdir()
    first, again = run_twice(command, "/r", ["flight_recorder"], arguments, tmp_path)
    assert first == again
    assert "topics: []" in first and "min_free_mib: 1.0" in first
