# SPDX-License-Identifier: Apache-2.0
"""A recording survives full disks, crashes and name clashes; what is read is what was written."""

from __future__ import annotations

import errno
import importlib
import shutil
import struct
import tracemalloc
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer
from mcap_ros2.decoder import DecoderFactory
from recordings import filled, message_class, plain

from pqc_mav_common import packed
from pqc_mav_recorder.file import DiskFile, RecordingError, RecordingFile, TopicInfo
from pqc_mav_recorder.reader import RecordedMessage, RecordingReader, salvage
from pqc_mav_recorder.recorder import recording_path
from pqc_mav_recorder.schema import installed_topic

TICKS = TopicInfo("/drone/ticks", "test_msgs/msg/Tick", "uint32 number\n")


def tick(number: int) -> bytes:
    return b"\x00\x01\x00\x00" + number.to_bytes(4, "little")


def write_ticks(recording: RecordingFile, first: int, last: int) -> None:
    for number in range(first, last):
        recording.write(TICKS, tick(number), log_ns=number * 1000, publish_ns=number * 1000 + 1)


def numbers(path: Path) -> list[int]:
    reader = RecordingReader(path)
    return [reader.decode(message).number for message in reader.messages()]


@pytest.mark.parametrize("package", ["pqc_mav_interfaces", "diagnostic_msgs", "sensor_msgs"])
def test_every_field_of_every_message_comes_back_by_the_embedded_definition(tmp_path: Path, package: str) -> None:
    """Read with MCAP's own reader and its ROS 2 decoder, which know nothing but the file."""
    from rclpy.serialization import serialize_message

    module = importlib.import_module(f"{package}.msg")
    sent: dict[str, Any] = {}
    recording = RecordingFile(tmp_path / "all.mcap", {"host": "test"})
    for name in dir(module):
        cls = getattr(module, name)
        if not isinstance(cls, type):
            continue
        sent[f"/drone/{name}"] = filled(message_class(f"{package}/msg/{name}"))
        info = installed_topic(f"/drone/{name}", f"{package}/msg/{name}")
        recording.write(info, serialize_message(sent[info.name]), len(sent) * 10, len(sent))
    recording.finish()
    assert len(sent) > 2
    with (tmp_path / "all.mcap").open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == "ros2"
        assert [item.metadata for item in reader.iter_metadata()] == [{"host": "test"}]
        summary = reader.get_summary()
        assert summary is not None and summary.statistics is not None
        assert summary.statistics.message_count == len(sent)
        assert {chunk.compression for chunk in summary.chunk_indexes} == {"zstd"}
        seen = 0
        for schema, channel, message, decoded in reader.iter_decoded_messages():
            seen += 1
            assert schema is not None and schema.encoding == "ros2msg" and channel.message_encoding == "cdr"
            assert plain(decoded) == plain(sent[channel.topic])
            assert message.log_time == message.publish_time * 10
        assert seen == len(sent)


def test_the_name_is_given_only_to_a_finished_file(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "flight.mcap"
    recording = RecordingFile(path, {})
    write_ticks(recording, 0, 10)
    recording.flush()
    assert not path.exists() and recording.partial.exists()
    assert recording.finish() == path
    assert recording.finish() == path  # once more changes nothing
    assert not recording.partial.exists() and numbers(path) == list(range(10))


def test_a_name_that_cannot_be_looked_at_is_refused(tmp_path: Path) -> None:
    long_one = tmp_path / f"{'x' * 300}.mcap"
    with pytest.raises(RecordingError, match="File name too long"):
        RecordingFile(long_one, {})
    with pytest.raises(RecordingError, match=r"Cannot look into .*: File name too long"):
        recording_path(tmp_path / ("x" * 300))


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"\*\.mcap"):
        RecordingFile(tmp_path / "flight.bag", {})
    path = tmp_path / "flight.mcap"
    path.write_text("mine")
    with pytest.raises(RecordingError, match="already exists"):
        RecordingFile(path, {})
    path.unlink()
    first = RecordingFile(path, {})
    with pytest.raises(RecordingError, match="--salvage"):
        RecordingFile(path, {})
    path.write_text("mine")  # somebody takes the name meanwhile
    write_ticks(first, 0, 3)
    with pytest.raises(RecordingError, match="appeared meanwhile"):
        first.finish()
    assert path.read_text() == "mine" and numbers(first.partial) == [0, 1, 2]
    with pytest.raises(RecordingError, match="Cannot write"):
        RecordingFile(path / "below" / "x.mcap", {})
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["flight.mcap", "flight.mcap.partial"]


def test_an_unfinished_file_is_read_up_to_its_last_chunk_and_salvaged(tmp_path: Path) -> None:
    recording = RecordingFile(tmp_path / "flight.mcap", {"host": "d1"})
    write_ticks(recording, 0, 10)
    recording.flush()
    write_ticks(recording, 10, 20)
    recording.flush()
    write_ticks(recording, 20, 30)
    recording.close()  # as after a kill: the third chunk was never written
    reader = RecordingReader(recording.partial)
    assert [reader.decode(message).number for message in reader.messages()] == list(range(20))
    assert "was not finished" in reader.problem and "20 messages" in reader.problem
    assert reader.metadata == {"host": "d1"}

    assert salvage(recording.partial) == (tmp_path / "flight.mcap", 20)
    with (tmp_path / "flight.mcap").open("rb") as stream:
        whole = make_reader(stream, validate_crcs=True)
        summary = whole.get_summary()
        assert summary is not None and summary.statistics is not None and summary.statistics.message_count == 20
        assert [message.log_time for _, _, message in whole.iter_messages()] == [n * 1000 for n in range(20)]
        assert [item.metadata for item in whole.iter_metadata()] == [{"host": "d1", "salvaged": "true"}]
    with pytest.raises(RecordingError, match="already exists"):
        salvage(recording.partial)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["flight.mcap", "flight.mcap.partial"]


def test_a_salvage_that_was_interrupted_can_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = RecordingFile(tmp_path / "flight.mcap", {})
    write_ticks(recording, 0, 10)
    recording.flush()
    recording.close()

    def interrupted(self: RecordingFile) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RecordingFile, "finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            salvage(recording.partial)
    assert list(tmp_path.iterdir()) == [recording.partial]
    RecordingFile(tmp_path / "flight-salvaging.mcap", {}).close()  # as a power cut leaves it
    assert salvage(recording.partial) == (tmp_path / "flight.mcap", 10)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["flight.mcap", "flight.mcap.partial"]


def test_a_recording_that_ends_while_it_is_salvaged_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = RecordingFile(tmp_path / "flight.mcap", {})
    write_ticks(recording, 0, 10)
    recording.flush()
    read = RecordingReader.messages

    def ends_meanwhile(self: RecordingReader) -> Iterator[RecordedMessage]:
        yield from read(self)
        write_ticks(recording, 10, 20)
        recording.finish()

    with monkeypatch.context() as patch:
        patch.setattr(RecordingReader, "messages", ends_meanwhile)
        with pytest.raises(RecordingError, match="appeared meanwhile and stays"):
            salvage(recording.partial)
    assert list(tmp_path.iterdir()) == [recording.path] and numbers(recording.path) == list(range(20))


def test_cut_anywhere_it_gives_whole_messages_in_order(tmp_path: Path) -> None:
    recording = RecordingFile(tmp_path / "flight.mcap", {})
    for start in range(0, 40, 10):
        write_ticks(recording, start, start + 10)
        recording.flush()
    recording.finish()
    whole = (tmp_path / "flight.mcap").read_bytes()
    cut = tmp_path / "cut.mcap"
    lengths = set()
    for size in range(8, len(whole), 7):
        cut.write_bytes(whole[:size])
        reader = RecordingReader(cut)
        read = [reader.decode(message).number for message in reader.messages()]
        assert read == list(range(len(read))) and len(read) % 10 == 0
        assert reader.problem
        lengths.add(len(read))
    assert lengths == {0, 10, 20, 30, 40}


def test_a_damaged_chunk_ends_the_reading_without_wrong_values(tmp_path: Path) -> None:
    recording = RecordingFile(tmp_path / "flight.mcap", {})
    write_ticks(recording, 0, 50)
    recording.flush()
    end = recording.size
    recording.finish()
    whole = bytearray((tmp_path / "flight.mcap").read_bytes())
    damaged = tmp_path / "damaged.mcap"
    for position in range(60, end, 3):
        data = bytearray(whole)
        data[position] ^= 0x40
        damaged.write_bytes(data)
        reader = RecordingReader(damaged)
        try:
            read = [reader.decode(message).number for message in reader.messages()]
        except RecordingError:
            continue  # the damage hit the definition
        assert read == list(range(len(read)))


def test_not_a_recording(tmp_path: Path) -> None:
    text = tmp_path / "notes.mcap"
    text.write_text("just some text")
    for path, words in ((text, "not an MCAP recording"), (tmp_path / "no.mcap", "No such file")):
        with pytest.raises(RecordingError, match=words):
            list(RecordingReader(path).messages())
        with pytest.raises(RecordingError):
            salvage(path, tmp_path / "out.mcap")
    assert not (tmp_path / "out.mcap").exists()
    empty = RecordingFile(tmp_path / "empty.mcap", {})
    empty.close()
    with pytest.raises(RecordingError, match="contains no message"):
        salvage(empty.partial)


class FullDisk(DiskFile):
    """A disk with room for so many bytes; like a real one it takes part of the write that does not fit."""

    room = 0

    def write(self, data: bytes) -> int:
        fits = max(0, self.room - self.tell())
        if len(data) > fits:
            super().write(data[:fits])
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data)


def test_a_full_disk_leaves_whole_chunks_and_says_so(tmp_path: Path) -> None:
    spare = RecordingFile(tmp_path / "measure.mcap", {})
    write_ticks(spare, 0, 10)
    spare.flush()
    one_chunk = spare.size
    spare.close()

    for extra in (1, 30, 120):
        FullDisk.room = one_chunk + extra
        path = tmp_path / f"flight{extra}.mcap"
        recording = RecordingFile(path, {}, make_file=FullDisk)
        write_ticks(recording, 0, 10)
        recording.flush()
        write_ticks(recording, 10, 20)
        with pytest.raises(RecordingError, match=r"No space left on device.*first 10 messages.*--salvage"):
            recording.flush()
        assert recording.partial.stat().st_size == one_chunk
        with pytest.raises(RecordingError, match="No space left"):
            recording.write(TICKS, tick(0), 0, 0)
        with pytest.raises(RecordingError, match="No space left"):
            recording.finish()
        recording.close()
        assert numbers(recording.partial) == list(range(10)) and not path.exists()


def test_a_disk_that_is_full_at_once_keeps_no_empty_file(tmp_path: Path) -> None:
    FullDisk.room = 3
    with pytest.raises(RecordingError, match=r"^Cannot write .*: No space left on device\.$"):
        RecordingFile(tmp_path / "flight.mcap", {}, make_file=FullDisk)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_before_the_first_chunk_promises_nothing(tmp_path: Path) -> None:
    spare = RecordingFile(tmp_path / "measure.mcap", {})
    FullDisk.room = spare.size + 1
    spare.close()
    recording = RecordingFile(tmp_path / "flight.mcap", {}, make_file=FullDisk)
    write_ticks(recording, 0, 10)
    with pytest.raises(RecordingError, match=r"^Cannot write .*: No space left on device\.$"):
        recording.flush()
    assert not recording.partial.exists()


def test_a_file_that_is_removed_while_it_is_written_is_told(tmp_path: Path) -> None:
    recording = RecordingFile(tmp_path / "folder" / "flight.mcap", {})
    write_ticks(recording, 0, 10)
    recording.flush()
    shutil.rmtree(tmp_path / "folder")
    write_ticks(recording, 10, 20)
    with pytest.raises(RecordingError, match=r"somebody removed .*flight\.mcap\.partial while it was written\.$"):
        recording.flush()


@pytest.mark.parametrize("room", [3, 150])
def test_a_salvage_on_a_full_disk_says_what_helps(tmp_path: Path, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = RecordingFile(tmp_path / "flight.mcap", {})
    write_ticks(recording, 0, 100)
    recording.flush()
    recording.close()
    FullDisk.room = room
    monkeypatch.setattr("pqc_mav_recorder.reader.RecordingFile", partial(RecordingFile, make_file=FullDisk))
    with pytest.raises(RecordingError, match=r"Cannot write .*/flight\.mcap: No space .* on another disk\.$"):
        salvage(recording.partial)
    assert list(tmp_path.iterdir()) == [recording.partial]


@pytest.mark.parametrize(
    ("compression", "lies"),
    # lz4 makes 255 bytes of one at most: less than the limit.
    [(CompressionType.ZSTD, False), (CompressionType.ZSTD, True), (CompressionType.LZ4, True)],
)
def test_a_bomb_is_not_unpacked(tmp_path: Path, compression: CompressionType, lies: bool) -> None:
    """Some kilobytes that are 64 MiB of zeros; if it lies, the chunk claims to be small, and its frame knows better."""
    path = tmp_path / "bomb.mcap"
    size = 4 * packed.ANY_RATIO_BYTES
    writer = Writer(str(path), compression=compression, chunk_size=2 * size, enable_crcs=False)
    writer.start()
    schema = writer.register_schema("x/msg/X", "ros2msg", b"string data")
    channel = writer.register_channel("/x", "cdr", schema)
    writer.add_message(channel, 1, bytes(size), 1)
    writer.finish()
    if lies:
        data = path.read_bytes()
        true = struct.pack("<Q", next(n for n in range(size, size + 200) if struct.pack("<Q", n) in data))
        path.write_bytes(data.replace(true, struct.pack("<Q", 1000)))
    reader = RecordingReader(path)
    tracemalloc.start()
    try:
        assert list(reader.messages()) == []
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "was not finished or is damaged" in reader.problem
    assert most < size / 2
