# SPDX-License-Identifier: Apache-2.0
"""A recording on disk that survives what happens to drones: power cuts, full disks, kills. No ROS node, no clock.

While it grows the file is called `NAME.mcap.partial`. Every flush closes a compressed chunk and brings it to the disk,
so that whatever ends the process costs only what came after the last flush; the rest of the file stays readable. Only a
finished file, with its index, gets the name `NAME.mcap`.
"""

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from mcap.writer import CompressionType, Writer

SUFFIX = ".mcap"
PARTIAL = ".partial"
PROFILE = "ros2"  # https://mcap.dev/spec/registry#ros2
MESSAGE_ENCODING = "cdr"
SCHEMA_ENCODING = "ros2msg"
LIBRARY = "pqcmav flight recorder"
CHUNK_BYTES = 1 << 20


class RecordingError(Exception):
    """A recording cannot be made, continued or read: one sentence for a person."""


class _RemovedError(OSError):
    """The file has no name any more: what is written to it is lost when it is closed."""


class DiskFile:
    """An unbuffered output file: after a failure nothing is left in a buffer to be written later."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        self._offset = 0

    def write(self, data: bytes) -> int:
        """All of `data`, or OSError; then `truncate` takes back what part of it was written."""
        view = memoryview(data)
        while view:
            count = os.write(self._fd, view)
            view = view[count:]
            self._offset += count
        return len(data)

    def tell(self) -> int:
        """Bytes written."""
        return self._offset

    def flush(self) -> None:
        """Nothing waits here."""

    def sync(self) -> None:
        """To the medium itself, so that a power cut does not take it. Raises if no name leads there any more."""
        os.fsync(self._fd)
        if os.fstat(self._fd).st_nlink == 0:
            raise _RemovedError

    def truncate(self, size: int) -> None:
        """Back to the first `size` bytes."""
        os.ftruncate(self._fd, size)

    def close(self) -> None:
        """May be called more than once."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


@dataclass(frozen=True)
class TopicInfo:
    """What a channel needs to be read anywhere: message type (`package/msg/Name`) and definition with dependencies."""

    name: str
    type_name: str
    definition: str


class RecordingFile:
    """Writes one recording. Every method but `close` raises RecordingError when the disk refuses; the file is then
    cut back to its last whole chunk, keeps its `.partial` name, and takes nothing more.
    """

    def __init__(
        self,
        path: Path,
        metadata: Mapping[str, str],
        *,
        partial: Path | None = None,
        make_file: Callable[[Path], DiskFile] = DiskFile,
    ) -> None:
        """Begins a recording that will be called `path`. Raises RecordingError, even when only the name is taken."""
        self.path = path
        self.partial = partial or path.with_name(path.name + PARTIAL)
        self.messages = 0
        self.finished = False
        self._channels: dict[str, int] = {}
        self._schemas: dict[tuple[str, str], int] = {}
        self._whole_bytes = 0
        self._whole_messages = 0
        self._metadata = dict(metadata)
        self._broken: str = ""
        if path.suffix != SUFFIX:
            raise RecordingError(f"A recording is called *{SUFFIX}, not '{path.name}'.")
        try:
            if path.exists():
                raise RecordingError(f"{path} already exists; give another name or move it away.")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = make_file(self.partial)
        except FileExistsError:
            raise RecordingError(
                f"{self.partial} is left from an unfinished recording, or that recording is still running; turn it "
                f"into a complete file with 'pqcmav record --salvage {self.partial}', or give another name."
            ) from None
        except OSError as error:
            raise RecordingError(f"Cannot write {self.partial}: {error.strerror}.") from None
        # CRCs are on, so a reader notices a chunk that the medium damaged.
        output = cast("IO[bytes]", self._file)
        self._writer: Any = Writer(output, CHUNK_BYTES, CompressionType.ZSTD, enable_crcs=True)
        self._guarded(self._begin)

    @property
    def size(self) -> int:
        """Bytes of the file so far; what was not flushed yet is not in it."""
        return self._file.tell()

    def write(self, topic: TopicInfo, data: bytes, log_ns: int, publish_ns: int) -> None:
        """Adds one message as it came off the wire (CDR with its encapsulation header); times in ns since 1970."""
        self._guarded(lambda: self._write(topic, data, log_ns, publish_ns))
        self.messages += 1

    def flush(self) -> None:
        """Closes the chunk in progress and brings it to the disk."""
        self._guarded(self._flush)

    def finish(self) -> Path:
        """Writes the index and gives the file its name. Returns it."""
        if self.finished:
            return self.path
        self._guarded(self._finish)
        self.finished = True
        return self.path

    def close(self) -> None:
        """Lets go of the file. One that was not finished stays behind as `.partial`."""
        self._file.close()

    def _begin(self) -> None:
        self._writer.start(profile=PROFILE, library=LIBRARY)
        self._writer.add_metadata("pqcmav", self._metadata)
        self._mark()

    def _write(self, topic: TopicInfo, data: bytes, log_ns: int, publish_ns: int) -> None:
        channel = self._channels.get(topic.name)
        if channel is None:
            key = (topic.type_name, topic.definition)
            if key not in self._schemas:
                self._schemas[key] = self._writer.register_schema(
                    topic.type_name, SCHEMA_ENCODING, topic.definition.encode()
                )
            channel = self._writer.register_channel(topic.name, MESSAGE_ENCODING, self._schemas[key])
            self._channels[topic.name] = channel
        self._writer.add_message(channel, log_time=log_ns, data=data, publish_time=publish_ns)

    def _flush(self) -> None:
        self._writer.flush()
        self._file.sync()
        self._mark()

    def _finish(self) -> None:
        self._flush()
        self._writer.finish()
        self._file.sync()
        self._file.close()
        # A hard link fails where the name has been taken meanwhile; a rename would overwrite it.
        try:
            os.link(self.partial, self.path)
            self.partial.unlink()
        except FileExistsError as error:
            text = f"{self.path} appeared meanwhile; the complete recording is {self.partial}."
            raise RecordingError(text) from error
        except OSError:
            self.partial.rename(self.path)  # a file system without hard links, such as FAT
        _sync_folder(self.path.parent)

    def _mark(self) -> None:
        self._whole_bytes = self._file.tell()
        self._whole_messages = self.messages

    def _guarded(self, step: Callable[[], None]) -> None:
        if self._broken:
            raise RecordingError(self._broken)
        try:
            step()
        except OSError as error:
            self._broken = self._abandon(error)
            raise RecordingError(self._broken) from error

    def _abandon(self, error: OSError) -> str:
        with contextlib.suppress(OSError):  # a reader finds the end of the last whole chunk anyway
            self._file.truncate(self._whole_bytes)
        self._file.close()
        if not self._whole_messages:
            with contextlib.suppress(OSError):
                self.partial.unlink(missing_ok=True)
            return f"Cannot write {self.partial}: {error.strerror or error}."
        if isinstance(error, _RemovedError):
            return f"Recording ended: somebody removed {self.partial} while it was written."
        return (
            f"Recording ended: {error.strerror or error}. {self.partial} holds the first {self._whole_messages} "
            f"messages and can be read; 'pqcmav record --salvage {self.partial}' turns it into a complete file."
        )


def _sync_folder(folder: Path) -> None:
    """The new name survives a power cut only once its folder is on the disk, too."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # not every file system can; the content is safe either way
            os.fsync(fd)
    finally:
        os.close(fd)
