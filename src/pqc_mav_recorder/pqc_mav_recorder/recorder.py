# SPDX-License-Identifier: Apache-2.0
"""The flight recorder without ROS: takes messages from any thread and writes them from its own.

The disk may stall for seconds (an SD card collecting its garbage); those who deliver messages never wait for it. What
does not fit into the queue meanwhile is dropped and counted, and reported at the end.
"""

import itertools
import queue
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path

from pqc_mav_recorder.file import PARTIAL, SUFFIX, RecordingError, RecordingFile, TopicInfo

FLUSH_S = 2.0
QUEUE_LIMIT = 20_000
MIN_FREE_MIB = 64
MIB = 1 << 20
STOP_S = 8.0  # each of two waits: a supervisor kills whatever has not ended after 20 s


_Message = tuple[TopicInfo, bytes, int, int]  # as RecordingFile.write takes it


class SteadyClock:
    """Nanoseconds since 1970 that only move forward: the wall clock as it was at the start plus monotonic time.

    A drone without a battery-backed clock steps it in flight, when GPS time arrives; a recording keeps one time line.
    """

    def __init__(
        self, wall_ns: Callable[[], int] = time.time_ns, monotonic_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._monotonic_ns = monotonic_ns
        self._offset_ns = wall_ns() - monotonic_ns()

    def now_ns(self) -> int:
        """Nanoseconds since 1970."""
        return self._monotonic_ns() + self._offset_ns


def recording_path(where: str | Path, at: datetime | None = None) -> Path:
    """The file to record to: `where` itself when it ends in .mcap, else a file named after the time in that folder.

    Raises RecordingError for what looks like a file of another kind; a folder may have such a name if it is there.
    A recorder that is started again within a second takes the next number: `flight_20260304T050607Z-2.mcap`.
    """
    path = Path(where).expanduser()
    if path.suffix == SUFFIX:
        return path
    if path.suffix and not path.is_dir() and not path.name.startswith("."):
        raise RecordingError(
            f"'{path}' is no folder, and recordings are called *{SUFFIX}; give '{path.with_suffix(SUFFIX)}' instead."
        )
    moment = at or datetime.now(timezone.utc)
    stem = f"flight_{moment.strftime('%Y%m%dT%H%M%S')}Z"
    names = itertools.chain([stem], (f"{stem}-{number}" for number in itertools.count(2)))
    files = (path / f"{name}{SUFFIX}" for name in names)
    try:
        return next(file for file in files if not (file.exists() or file.with_name(file.name + PARTIAL).exists()))
    except OSError as error:
        raise RecordingError(f"Cannot look into {path}: {error.strerror}.") from None


class Recorder:
    """Records until `stop`, or until the disk refuses or is nearly full; `problem` then says what happened."""

    def __init__(
        self,
        path: Path,
        metadata: Mapping[str, str],
        *,
        flush_s: float = FLUSH_S,
        min_free_mib: float = MIN_FREE_MIB,
        queue_limit: int = QUEUE_LIMIT,
        free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
        file: RecordingFile | None = None,
    ) -> None:
        """Begins a recording called `path`. Raises RecordingError, even when the disk merely has too little room."""
        self._flush_s = flush_s
        self._min_free = int(min_free_mib * MIB)
        self._free_bytes = free_bytes
        self._queue: queue.Queue[_Message | None] = queue.Queue(queue_limit)
        self._lock = threading.Lock()
        self._dropped = 0
        self._problem = ""
        self._ended = threading.Event()
        self._file = file if file is not None else RecordingFile(path, metadata)
        problem = self._room()
        if problem:
            self._file.close()
            self._file.partial.unlink(missing_ok=True)
            raise RecordingError(problem)
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path:
        """What the finished recording is called."""
        return self._file.path

    @property
    def messages(self) -> int:
        """Messages written so far."""
        return self._file.messages

    @property
    def size(self) -> int:
        """Bytes of the file so far."""
        return self._file.size

    @property
    def dropped(self) -> int:
        """Messages not written, because the disk was too slow or the recording had ended."""
        with self._lock:
            return self._dropped

    @property
    def problem(self) -> str:
        """Why recording ended early, as one sentence; "" while all is well."""
        with self._lock:
            return self._problem

    @property
    def ended(self) -> bool:
        """Whether recording has ended."""
        return self._ended.is_set()

    def put(self, topic: TopicInfo, data: bytes, log_ns: int, publish_ns: int) -> None:
        """Hands over one message; never waits."""
        try:
            if self._ended.is_set():
                raise queue.Full
            self._queue.put_nowait((topic, data, log_ns, publish_ns))
        except queue.Full:
            with self._lock:
                self._dropped += 1

    def stop(self) -> Path:
        """Writes what is waiting, finishes the file and returns its name. Raises RecordingError if it is incomplete."""
        if not self._ended.is_set():
            # A full queue drains while we wait; a disk that never answers must not hold the process indefinitely.
            try:
                self._queue.put(None, timeout=STOP_S)
            except queue.Full:
                self._fail(f"The disk no longer accepts the recording; {self._file.partial} ends early.")
        self._thread.join(STOP_S)
        if self._thread.is_alive():
            self._fail(f"The disk no longer accepts the recording; {self._file.partial} ends early.")
        if not self._file.finished:
            raise RecordingError(self.problem)
        return self._file.path

    def _run(self) -> None:
        try:
            self._serve()
            self._file.finish()
        except RecordingError as error:
            self._fail(str(error))
        except Exception as error:  # the caller must learn that messages are no longer written
            self._fail(f"Recording ended by a fault in the recorder ({error!r}); {self._file.partial} ends early.")
        finally:
            self._ended.set()
            self._file.close()

    def _serve(self) -> None:
        flush_at = time.monotonic() + self._flush_s
        while True:
            wait = flush_at - time.monotonic()
            try:
                item = self._queue.get(timeout=max(0.0, wait)) if wait > 0 else self._queue.get_nowait()
            except queue.Empty:
                item = None
            else:
                if item is None:
                    return
                self._file.write(*item)
            if time.monotonic() < flush_at:
                continue
            self._file.flush()
            flush_at = time.monotonic() + self._flush_s
            problem = self._room()
            if problem:
                self._fail(problem)
                return

    def _room(self) -> str:
        try:
            free = self._free_bytes(self._file.path.parent)
        except OSError:
            return ""  # unknown here; the disk itself will refuse
        if free >= self._min_free:
            return ""
        return (
            f"Only {free / MIB:.0f} MiB are free for {self._file.path}, and the recorder leaves "
            f"{self._min_free / MIB:.0f} MiB to the system; make room or lower the limit."
        )

    def _fail(self, sentence: str) -> None:
        with self._lock:
            self._problem = self._problem or sentence
