# SPDX-License-Identifier: Apache-2.0
"""Reads recordings: finished ones, those a crash left unfinished, and those of `ros2 bag record -s mcap`.

Records are read from the front, without the index, so an unfinished file gives everything up to its last whole chunk.
"""

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import zstandard
from mcap.exceptions import EndOfFile, InvalidMagic, McapError
from mcap.records import Channel, Chunk, McapRecord, Message, Metadata, Schema
from mcap.stream_reader import StreamReader, breakup_chunk
from mcap_ros2.decoder import DecoderFactory

from pqc_mav_common import packed
from pqc_mav_recorder.file import (
    MESSAGE_ENCODING,
    PARTIAL,
    SCHEMA_ENCODING,
    SUFFIX,
    RecordingError,
    RecordingFile,
    TopicInfo,
)

# A damaged length must not make the reader ask for all memory; our chunks are about 1 MiB.
RECORD_LIMIT_BYTES = 1 << 28
# zstd takes the size of its output from the damaged file, too: MemoryError.
_DAMAGE = (McapError, struct.error, zstandard.ZstdError, ValueError, EOFError, MemoryError)


class _File:
    """A file that is never asked for more than it holds, whatever lengths are written in it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = os.fstat(stream.fileno()).st_size

    def read(self, size: int) -> bytes:
        if size > self._left:
            raise EndOfFile
        self._left -= size
        return self._stream.read(size)


def _unpacked(records: Iterator[McapRecord], most_bytes: int) -> Iterator[McapRecord]:
    """The records with those of chunks in place of the chunks. Raises ValueError before they fill the memory."""
    for record in records:
        if not isinstance(record, Chunk):
            yield record
            continue
        # Of a zstd frame the library believes the size that the frame claims, whatever the chunk says.
        claimed = zstandard.frame_content_size(record.data) if record.compression == "zstd" else -1
        most_bytes -= max(record.uncompressed_size, claimed, len(record.data))
        if most_bytes < 0:
            raise ValueError("it would unpack to far more than a recording of its size holds")
        yield from breakup_chunk(_without_lz4(record), validate_crc=True)


def _without_lz4(chunk: Chunk) -> Chunk:
    """lz4 would unpack to any size; here to that which the chunk names."""
    if chunk.compression != "lz4":
        return chunk
    try:
        from lz4.frame import LZ4FrameDecompressor
    except ImportError:
        return chunk  # the library has a sentence for that
    try:
        data = LZ4FrameDecompressor().decompress(chunk.data, max_length=chunk.uncompressed_size)
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    return replace(chunk, compression="", data=data)


@dataclass(frozen=True)
class RecordedMessage:
    """One message as recorded: `data` is CDR; times in ns since 1970, `log_ns` when it was received."""

    topic: TopicInfo
    data: bytes
    log_ns: int
    publish_ns: int


class RecordingReader:
    """One recording. Iterate `messages` once; `problem` then says what was wrong with the file's end, "" = nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self.metadata: dict[str, str] = {}
        self._decoders = DecoderFactory()
        self._decoder_of: dict[tuple[str, str], Callable[[bytes], Any] | None] = {}

    def messages(self) -> Iterator[RecordedMessage]:
        """Every message in the order of the file. Raises RecordingError for a file that is not a recording at all."""
        try:
            stream = self.path.open("rb")
        except OSError as error:
            raise RecordingError(f"Cannot read {self.path}: {error.strerror}.") from None
        with stream:
            records = StreamReader(
                cast("IO[bytes]", _File(stream)),
                emit_chunks=True,
                validate_crcs=True,
                record_size_limit=RECORD_LIMIT_BYTES,
            ).records
            yield from self._read(_unpacked(records, packed.most_of(os.fstat(stream.fileno()).st_size)))

    def decode(self, message: RecordedMessage) -> Any:
        """The message as an object with its fields. Raises RecordingError when its type cannot be decoded."""
        topic = message.topic
        key = (topic.type_name, topic.definition)
        try:
            if key not in self._decoder_of:
                schema = Schema(len(self._decoder_of) + 1, topic.definition.encode(), SCHEMA_ENCODING, topic.type_name)
                self._decoder_of[key] = self._decoders.decoder_for(MESSAGE_ENCODING, schema)
            decoder = self._decoder_of[key]
            assert decoder is not None
            return decoder(message.data)
        except Exception as error:  # a false definition or message can break the decoder in any way
            text = " ".join(str(error).split())
            raise RecordingError(
                f"{self.path}: a message on {topic.name} does not match the definition of {topic.type_name} ({text})."
            ) from None

    def _read(self, records: Iterator[McapRecord]) -> Iterator[RecordedMessage]:
        schemas: dict[int, Schema] = {}
        topics: dict[int, TopicInfo] = {}
        count = 0
        while True:
            try:
                record = next(records)
            except StopIteration:
                return
            except InvalidMagic:
                if count or topics or self.metadata:
                    self.problem = f"{self.path} does not end like a recording; {count} messages were read."
                    return
                raise RecordingError(f"{self.path} is not an MCAP recording.") from None
            except _DAMAGE as error:
                self._ended_early(count, error)
                return
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel):
                topic = self._topic(record, schemas)
                if topic is not None:
                    topics[record.id] = topic
            elif isinstance(record, Metadata):
                self.metadata.update(record.metadata)
            elif isinstance(record, Message) and record.channel_id in topics:
                count += 1
                yield RecordedMessage(topics[record.channel_id], record.data, record.log_time, record.publish_time)

    def _topic(self, channel: Channel, schemas: dict[int, Schema]) -> TopicInfo | None:
        schema = schemas.get(channel.schema_id)
        if schema is None or schema.encoding != SCHEMA_ENCODING or channel.message_encoding != MESSAGE_ENCODING:
            return None
        return TopicInfo(channel.topic, schema.name, schema.data.decode())

    def _ended_early(self, count: int, error: BaseException) -> None:
        what = " ".join(str(error).split())
        detail = f" ({what})" if what else ""
        self.problem = (
            f"{self.path} was not finished or is damaged{detail}; the {count} messages before that were read."
        )


def salvage(path: Path, target: Path | None = None) -> tuple[Path, int]:
    """Makes a complete recording from what can be read of `path`. Returns its name and the number of messages.

    The unfinished file stays. Raises RecordingError when nothing can be read, the target exists or the disk is full.
    """
    if target is None:
        name = path.name.removesuffix(PARTIAL)
        name = name if name.endswith(SUFFIX) else f"{name}{SUFFIX}"
        target = path.with_name(name)
        if target == path:
            target = path.with_name(f"{path.stem}-salvaged{SUFFIX}")
    elif target.suffix != SUFFIX:
        raise RecordingError(f"A recording is called *{SUFFIX}, not '{target.name}'.")
    if target.exists():
        raise RecordingError(f"{target} already exists; give another name or move it away.")
    reader = RecordingReader(path)
    # Not the target's own partial name, which may be that of the very file that is being salvaged.
    work = target.with_name(f"{target.stem}-salvaging{SUFFIX}{PARTIAL}")
    if work.exists() and path.exists() and not work.samefile(path):
        work.unlink()  # of a salvage that a power cut ended
    output: RecordingFile | None = None
    try:
        for message in reader.messages():
            if output is None:
                output = RecordingFile(target, {**reader.metadata, "salvaged": "true"}, partial=work)
            output.write(message.topic, message.data, message.log_ns, message.publish_ns)
        if output is None:
            raise RecordingError(f"{path} contains no message that can be read.")
        output.finish()
    except BaseException as error:  # Ctrl-C as well
        if output is not None:
            output.close()
            work.unlink(missing_ok=True)
        if isinstance(error.__cause__, FileExistsError):  # such as the recording, which was running and has ended
            raise RecordingError(f"{target} appeared meanwhile and stays; nothing was salvaged.") from None
        if isinstance(error.__cause__, OSError):
            why = error.__cause__.strerror or error.__cause__
            text = f"Cannot write {target}: {why}. Make room, or name a target on another disk."
            raise RecordingError(text) from None
        raise
    return target, output.messages
