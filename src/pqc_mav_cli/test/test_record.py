# SPDX-License-Identifier: Apache-2.0
"""`pqcmav record` beside real publishers: a whole file at the end, and one made whole again."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Running, pqcmav, refused


@pytest.fixture
def publisher() -> Iterator[Any]:
    """Publishes one topic below /rec."""
    import rclpy
    from std_msgs.msg import String

    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node("publisher", context=context, namespace="/rec")
    made = node.create_publisher(String, "/rec/text", 10)
    stop = threading.Event()

    def work() -> None:
        number = 0
        while not stop.wait(0.02):
            made.publish(String(data=f"message {number}"))
            number += 1

    thread = threading.Thread(target=work)
    thread.start()
    yield made
    stop.set()
    thread.join()
    node.destroy_node()
    rclpy.shutdown(context=context)


def read(path: Path) -> list[str]:
    from pqc_mav_recorder.reader import RecordingReader

    reader = RecordingReader(path)
    found = [reader.decode(message).data for message in reader.messages()]
    assert not reader.problem, reader.problem
    return found


def begun(path: Path, running: Running) -> None:
    """Waits until messages are in the file."""
    partial = path.with_name(f"{path.name}.partial")
    while not partial.exists() or partial.stat().st_size < 600:
        assert running.process.poll() is None
        time.sleep(0.05)


def recorded(path: Path) -> Running:
    """A recording of some messages that was interrupted; it has ended."""
    running = Running("record", str(path), "--namespace", "rec")
    try:
        running.wait_for("Recording to")
        begun(path, running)
        assert running.end(signal.SIGINT) == 0
    finally:
        running.kill()
    return running


def test_recording_until_interrupted_and_salvaging_what_a_kill_left(tmp_path: Path, publisher: Any) -> None:
    whole = tmp_path / "whole.mcap"
    running = recorded(whole)
    assert any(" of 1 topic in " in line for line in running.lines), running.lines
    assert all(text.startswith("message ") for text in read(whole))

    cut = tmp_path / "cut.mcap"
    partial = tmp_path / "cut.mcap.partial"
    running = Running("record", str(cut), "--namespace", "rec")
    try:
        running.wait_for("Recording to")
        begun(cut, running)
        running.process.kill()
        running.process.wait()
    finally:
        running.kill()
    assert not cut.exists()
    assert "--salvage" in refused(1, "record", str(cut))
    ended = pqcmav("record", "--salvage", str(partial))
    assert ended.returncode == 0 and str(cut) in ended.stdout, ended.stderr
    assert read(cut)


def test_a_recording_of_nothing_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    ended = pqcmav("record", str(tmp_path / "new"), "--namespace", "nobody", "--duration", "0.5")
    assert ended.returncode == 1 and "Nothing was published on /nobody/..." in ended.stderr, ended.stderr
    assert not list(tmp_path.iterdir())


def test_a_recording_that_cannot_begin(tmp_path: Path) -> None:
    assert "Cannot write" in refused(1, "record", "/proc/no/such")
    assert "flight.mcap" in refused(1, "record", str(tmp_path / "flight.txt"))
    assert "No such file" in refused(1, "record", "--salvage", str(tmp_path / "no.mcap.partial"))
    assert not list(tmp_path.iterdir())
