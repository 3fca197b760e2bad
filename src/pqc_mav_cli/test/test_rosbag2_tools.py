# SPDX-License-Identifier: Apache-2.0
"""The real `ros2 bag` with our recordings, and `pqcmav` with its MCAP; skipped where rosbag2 is not installed.

The recorder's own test_rosbag2.py asks the same of another program's reader.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from commands import pqcmav
from test_record import publisher, read, recorded

from pqc_mav_common import testing
from pqc_mav_recorder.file import SUFFIX
from pqc_mav_recorder.reader import RecordingReader

__all__ = ["publisher"]
pytest.importorskip("rosbag2_py", reason="rosbag2 is not installed")

FLIGHT = Path(__file__).resolve().parents[3] / "bench" / "results" / "flights" / "simulated-low-battery.mcap"
TOPIC = "/rec/text"
flown = pytest.mark.skipif(not FLIGHT.exists(), reason="bench/results is not beside the package")


def bag(*words: str) -> str:
    """What a `ros2 bag` that must succeed prints."""
    ended = subprocess.run(["ros2", "bag", *words], capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def file_of(folder: Path) -> Path:
    (file,) = folder.glob(f"*{SUFFIX}")
    return file


def counted(file: Path) -> Counter[tuple[str, str]]:
    """Messages by topic and type, each of which decodes."""
    reader = RecordingReader(file)
    found: Counter[tuple[str, str]] = Counter()
    for message in reader.messages():
        reader.decode(message)
        found[message.topic.name, message.topic.type_name] += 1
    assert reader.problem == "" and found
    return found


@flown
def test_bag_info_of_our_recording() -> None:
    said = bag("info", "--storage", "mcap", str(FLIGHT))
    for (topic, kind), count in counted(FLIGHT).items():
        assert f"Topic: {topic} | Type: {kind} | Count: {count} " in said


@flown
@pytest.mark.parametrize("preset", ["none", "fastwrite", "zstd_fast", "zstd_small"])
def test_our_recording_written_anew_by_bag_replays_the_same(tmp_path: Path, preset: str) -> None:
    anew = tmp_path / "anew"
    options = tmp_path / "options.yaml"
    kept = {"uri": anew, "storage_id": "mcap", "storage_preset_profile": preset, "all_topics": "true"}
    lines = [f"{key}: {value}" for key, value in kept.items()]
    options.write_text("output_bags:\n- " + "\n  ".join(lines) + "\n")
    bag("convert", "--input", str(FLIGHT), "mcap", "--output-options", str(options))
    assert counted(file_of(anew)) == counted(FLIGHT)
    ours, theirs = pqcmav("replay", str(FLIGHT)), pqcmav("replay", str(file_of(anew)))
    assert ours.returncode == theirs.returncode == 0, theirs.stderr
    assert ours.stdout == theirs.stdout and ours.stdout.count("\n") > 50


def test_what_bag_records_is_a_recording(tmp_path: Path, publisher: Any) -> None:
    folder = tmp_path / "bag"
    recording = testing.Running(["ros2", "bag", "record", "--storage", "mcap", "--output", str(folder), TOPIC])
    try:
        recording.wait_for("All requested topics are subscribed")
        time.sleep(1.0)
        assert recording.end(signal.SIGINT) == 0
    finally:
        recording.kill()
    assert list(counted(file_of(folder))) == [(TOPIC, "std_msgs/msg/String")]


def test_bag_plays_what_we_recorded(tmp_path: Path, publisher: Any) -> None:
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from std_msgs.msg import String

    file = tmp_path / f"flight{SUFFIX}"
    recorded(file)
    heard: list[str] = []
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("listener", context=context)
    node.create_subscription(String, "/played", lambda message: heard.append(message.data), 10)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    words = ["--storage", "mcap", "--delay", "2", "--remap", f"{TOPIC}:=/played"]
    playing = testing.Running(["ros2", "bag", "play", str(file), *words])
    try:
        while playing.process.poll() is None:
            executor.spin_once(0.1)
    finally:
        playing.kill()
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)
    assert heard and set(heard) <= set(read(file))
