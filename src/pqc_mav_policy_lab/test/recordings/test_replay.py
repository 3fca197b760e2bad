# SPDX-License-Identifier: Apache-2.0
"""Replay: the same recording and strategy give the same lines, byte for byte, and what was decided is found again."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_flights import BEGIN_NS, DECISIONS, flown, message, record
from scenes import CATALOGUE, DEFAULT

from pqc_mav_common.key_values import nested
from pqc_mav_policy.settings import STRATEGIES, Settings, make
from pqc_mav_policy_lab.recordings.replay import as_line, differs, read, replay
from pqc_mav_recorder.file import RecordingError, RecordingFile
from pqc_mav_recorder.schema import installed_topic


def lines(path: Path, strategy: str) -> str:
    source = read(path, "drone")
    begin = source.snapshots[0].now
    made = make(strategy, CATALOGUE, Settings())
    return "\n".join(as_line(decision, seen.now - begin) for seen, decision in replay(made, source.snapshots))


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("replay") / "hot.mcap", flown())


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_same_recording_same_bytes(recording: Path, strategy: str) -> None:
    first = lines(recording, strategy)
    assert first.encode() == lines(recording, strategy).encode()
    assert len(first.splitlines()) == 759


def test_the_recorded_strategy_decides_as_it_did(recording: Path) -> None:
    source = read(recording, "drone")
    cascade = make("cascade", CATALOGUE, Settings())
    pairs = list(replay(cascade, source.snapshots))
    assert not any(differs(seen, decision) for seen, decision in pairs)
    assert [decision for _, decision in pairs] == [second.decision for second in flown()]
    expert = make("expert", CATALOGUE, Settings())
    assert any(differs(seen, decision) for seen, decision in replay(expert, source.snapshots))


def test_snapshots_come_back_exactly(recording: Path) -> None:
    source = read(recording, "drone")
    assert [snapshot.inputs for snapshot in source.snapshots] == [second.inputs for second in flown()]
    assert source.topic == DECISIONS.name and source.problem == ""


def test_a_line_says_it_all(recording: Path) -> None:
    (line,) = [text for text in lines(recording, "cascade").splitlines() if "DOWN" in text]
    assert line.startswith('{"t_s":') and '"guard":"stress","priority":6,"from":"cs-' in line


def test_an_unfinished_recording_replays_up_to_its_end(recording: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.mcap.partial"
    from rclpy.serialization import serialize_message

    part = RecordingFile(tmp_path / "cut.mcap", {})
    for second in flown()[:300]:
        part.write(DECISIONS, serialize_message(message(second, "cascade")), BEGIN_NS + second.index, BEGIN_NS)
        if second.index == 199:
            part.flush()
    part.close()
    assert lines(cut, "cascade") == "\n".join(lines(recording, "cascade").splitlines()[:200])
    assert "was not finished" in read(cut, "drone").problem


def test_a_recording_from_before_0_2_0_replays_the_same(tmp_path: Path, recording: Path) -> None:
    """Its decisions carry their inputs as one text of JSON, as the definition in the file says."""
    from mcap_ros2._dynamic import serialize_dynamic

    definition = re.sub(
        r"^diagnostic_msgs/KeyValue\[\] inputs .*$", "string inputs_json", DECISIONS.definition, flags=re.M
    )
    topic = replace(DECISIONS, definition=definition)
    encode = serialize_dynamic(topic.type_name, definition)[topic.type_name]
    early = RecordingFile(tmp_path / "early.mcap", {})
    for second in flown():
        today = message(second, "cascade")
        fields = {name: getattr(today, name) for name in today.get_fields_and_field_types()}
        text = json.dumps(nested(fields.pop("inputs")), sort_keys=True, separators=(",", ":"))
        at = BEGIN_NS + second.index * 1_000_000_000
        early.write(topic, encode({**fields, "inputs_json": text}), at, at)
    path = early.finish()
    assert read(path, "drone").snapshots == read(recording, "drone").snapshots
    assert lines(path, "cascade") == lines(recording, "cascade")


def test_order_of_arrival_counts_not_order_in_the_file(tmp_path: Path, recording: Path) -> None:
    shuffled = record(tmp_path / "shuffled.mcap", sorted(flown(), key=lambda second: second.index % 7))
    assert lines(shuffled, "cascade") == lines(recording, "cascade")


def test_other_vehicles_and_other_versions(tmp_path: Path, recording: Path) -> None:
    assert read(recording, "other").snapshots == ()
    two = RecordingFile(tmp_path / "two.mcap", {})
    from rclpy.serialization import serialize_message

    second = flown()[0]
    for name in ("/drone/a/decision", "/drone/b/decision"):
        two.write(
            installed_topic(name, DECISIONS.type_name), serialize_message(message(second, "rl")), BEGIN_NS, BEGIN_NS
        )
    with pytest.raises(RecordingError, match="several policies"):
        read(two.finish(), "drone")
    other = message(second, "rl")
    other.inputs = other.inputs[:3]
    old = RecordingFile(tmp_path / "old.mcap", {})
    old.write(DECISIONS, serialize_message(other), BEGIN_NS, BEGIN_NS)
    with pytest.raises(RecordingError, match="another version"):
        read(old.finish(), "drone")


def test_by_hand_and_while_a_suite_is_pinned_nothing_differs() -> None:
    from pqc_mav_policy_lab.recordings.replay import Snapshot

    second = flown()[0]
    seen = Snapshot(0.0, second.inputs, "cascade", "manual", "REKEY", "manual", "", DEFAULT)
    assert not differs(seen, second.decision)
    assert differs(replace(seen, mode="auto"), second.decision)
    pinned = replace(second.inputs, session=replace(second.inputs.session, pinned_suite=DEFAULT))
    assert not differs(replace(seen, mode="auto", inputs=pinned), second.decision)
