# SPDX-License-Identifier: Apache-2.0
"""Our recordings in another program's reader of rosbag2, and its bags, in MCAP, in ours. Needs rosbags from PyPI."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rosbags", reason="rosbags is not installed: pip install rosbags")

from rclpy.serialization import serialize_message
from recordings import filled, message_class
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from pqc_mav_recorder.file import RecordingFile
from pqc_mav_recorder.reader import RecordingReader
from pqc_mav_recorder.schema import installed_topic

TYPES = (
    "TunnelStatus",
    "TunnelStats",
    "LinkQuality",
    "HandshakeReport",
    "BatteryHealth",
    "PolicyDecision",
    "ThreatReport",
)
BEGIN_NS = 1_700_000_000_000_000_000
TOPICS = {name: installed_topic(f"/drone/{name.lower()}", f"pqc_mav_interfaces/msg/{name}") for name in TYPES}
SENT = {name: filled(message_class(topic.type_name)) for name, topic in TOPICS.items()}


def test_ours_opens_as_a_bag(tmp_path: Path) -> None:
    recording = RecordingFile(tmp_path / "flight.mcap", {})
    for number, (name, topic) in enumerate(TOPICS.items()):
        recording.write(topic, serialize_message(SENT[name]), BEGIN_NS + number, BEGIN_NS)
    with AnyReader([recording.finish()]) as bag:
        found = {each.topic: (each.msgtype, bag.deserialize(raw, each.msgtype)) for each, _, raw in bag.messages()}
    for name, topic in TOPICS.items():
        kind, message = found[topic.name]
        assert kind == topic.type_name
        assert message.header.stamp.sec == SENT[name].header.stamp.sec
    sent, read = SENT["PolicyDecision"], found[TOPICS["PolicyDecision"].name][1]
    assert [(pair.key, pair.value) for pair in read.inputs] == [(pair.key, pair.value) for pair in sent.inputs]
    assert (read.reason, read.to_rank, read.outcome_ok) == (sent.reason, sent.to_rank, sent.outcome_ok)


@pytest.mark.parametrize("compression", [CompressionMode.NONE, CompressionMode.STORAGE])
def test_a_bag_opens_as_ours(tmp_path: Path, compression: CompressionMode) -> None:
    folder = tmp_path / "bag"
    writer = Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP)
    if compression is not CompressionMode.NONE:
        writer.set_compression(compression, CompressionFormat.ZSTD)
    with writer as bag:
        for number, (name, topic) in enumerate(TOPICS.items()):
            connection = bag.add_connection(
                topic.name, topic.type_name, msgdef=topic.definition, rihs01="RIHS01_" + "0" * 64
            )
            bag.write(connection, BEGIN_NS + number, serialize_message(SENT[name]))
    (file,) = folder.glob("*.mcap")
    reader = RecordingReader(file)
    found = {message.topic.name: (message, reader.decode(message)) for message in reader.messages()}
    assert reader.problem == "" and len(found) == len(TOPICS)
    for number, (name, topic) in enumerate(TOPICS.items()):
        message, decoded = found[topic.name]
        assert (message.topic.type_name, message.log_ns) == (topic.type_name, BEGIN_NS + number)
        assert decoded.header.stamp.sec == SENT[name].header.stamp.sec
