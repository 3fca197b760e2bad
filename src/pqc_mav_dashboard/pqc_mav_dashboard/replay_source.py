# SPDX-License-Identifier: Apache-2.0
"""A recording as if it were live: play, pause, seek, speed. What the page shows is what was known at that moment."""

import asyncio
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pqc_mav_common.errors import ExitCode, ProcessError
from pqc_mav_dashboard.errors import RefusalError
from pqc_mav_dashboard.event_log import EventLog
from pqc_mav_dashboard.history import KEPT_S, Point, append, point
from pqc_mav_dashboard.picture import Picture, fields_of
from pqc_mav_dashboard.source import ACTIONS
from pqc_mav_dashboard.suites import known_suites
from pqc_mav_dashboard.topics import Topics, is_wanted, namespace_of, short_type
from pqc_mav_recorder.file import RecordingError
from pqc_mav_recorder.reader import RecordedMessage, RecordingReader

LARGEST_MIB = 512  # of messages that are shown, in memory; more is left out, and said so
SPEEDS = (0.1, 100.0)
NO_ACTIONS = "This is a recording: nothing can be steered."
# Events come out of these.
WHOLE = ("TunnelStatus", "HandshakeReport", "VehicleState", "ThreatReport", "PolicyDecision")


@dataclass
class Track:
    """The messages of one topic, in the order of their times."""

    kind: str
    messages: list[RecordedMessage] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)


class Recording:
    """A recording in memory, as bytes; a message is decoded when it is shown."""

    def __init__(self, path: Path, largest_mib: float = LARGEST_MIB) -> None:
        """Reads it. Raises RecordingError for a file that is none, or has nothing to show."""
        self._reader = RecordingReader(path)
        self.path = path
        self.tracks: dict[str, Track] = {}
        size = 0
        self.problem = ""
        for message in self._reader.messages():
            topic = message.topic
            if not is_wanted(topic.type_name):
                continue
            size += len(message.data)
            if size > largest_mib * (1 << 20):
                self.problem = f"Only the first {largest_mib:g} MiB of messages are shown; cut the file for the rest."
                break
            track = self.tracks.setdefault(topic.name, Track(short_type(topic.type_name)))
            track.messages.append(message)
        self.problem = self.problem or self._reader.problem
        if not self.tracks:
            raise RecordingError(f"{path} holds no topics of a tunnel, its senses or its policy.")
        for track in self.tracks.values():
            track.messages.sort(key=lambda message: message.log_ns)
            track.times_s = [message.log_ns / 1e9 for message in track.messages]
        self.begin_s = min(track.times_s[0] for track in self.tracks.values())
        self.end_s = max(track.times_s[-1] for track in self.tracks.values())

    def fields(self, message: RecordedMessage) -> dict[str, Any]:
        """Decoded. Raises RecordingError where it cannot be."""
        return fields_of(self._reader.decode(message))


class Player:
    """What was known at a moment of a recording; goes forwards step by step, and anywhere by starting over."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.log = EventLog(2000)
        self._at_s = recording.begin_s
        self.topics = Topics(self.log.add)
        self.bad = 0
        self.points: dict[str, list[Point]] = {}
        self.seek(recording.begin_s)

    def seek(self, at_s: float) -> None:
        """Everything anew up to that moment: events from the begin, charts of the ten minutes before it."""
        self.log.clear()
        self.topics = Topics(self.log.add)
        self.points = {}
        recording = self._recording
        start_s = max(recording.begin_s, at_s - KEPT_S)
        self._put(self._before(start_s))
        self._at_s = start_s
        self._sample()
        self.advance(at_s)

    def advance(self, at_s: float) -> None:
        """What came since the last moment, second by second for the charts: a recording may be played fast."""
        while self._at_s < at_s:
            until_s = min(at_s, self._at_s + 1.0)
            self._put(self._between(self._at_s, until_s))
            self._at_s = until_s
            self._sample()

    def _before(self, at_s: float) -> list[tuple[float, str, RecordedMessage]]:
        """Of each topic what still counts at a moment: the newest, or all where events come out of them."""
        found: list[tuple[float, str, RecordedMessage]] = []
        for name, track in self._recording.tracks.items():
            until = bisect_right(track.times_s, at_s)
            first = 0 if track.kind in WHOLE else max(0, until - self._many(track))
            found += [(track.times_s[i], name, track.messages[i]) for i in range(first, until)]
        return sorted(found, key=lambda each: each[0])

    @staticmethod
    def _many(track: Track) -> int:
        """How many messages of a topic about several drones and sides may be the newest of one of them."""
        return 4096 if track.kind in ("TunnelStats", "LinkQuality", "PathStatus") else 1

    def _between(self, after_s: float, at_s: float) -> list[tuple[float, str, RecordedMessage]]:
        found: list[tuple[float, str, RecordedMessage]] = []
        for name, track in self._recording.tracks.items():
            first, until = bisect_right(track.times_s, after_s), bisect_right(track.times_s, at_s)
            if track.kind in ("PowerSample",):  # ten a second; only the newest is shown
                first = max(first, until - 1)
            found += [(track.times_s[i], name, track.messages[i]) for i in range(first, until)]
        return sorted(found, key=lambda each: each[0])

    def _put(self, found: list[tuple[float, str, RecordedMessage]]) -> None:
        for time_s, name, message in found:
            try:
                self.topics.put(name, message.topic.type_name, self._recording.fields(message), time_s, time_s)
            except (RecordingError, AttributeError, KeyError, TypeError, ValueError):
                self.bad += 1  # of another version

    def _sample(self) -> None:
        picture = self.picture()
        for drone, ends in picture.drones().items():
            points = self.points.setdefault(drone, [])
            append(points, point(self._at_s, self._at_s, ends, picture.senses.get(drone, {})))
            del points[: -KEPT_S - 1]

    def picture(self) -> Picture:
        """At this moment."""
        picture = self.topics.picture(self._at_s, self._at_s)
        if not any(picture.senses.values()):
            picture.absent = "The recording has none of this up to here."
        spaces = {namespace_of(name, track.kind) for name, track in self._recording.tracks.items()}
        if not picture.ends:
            picture.notes.append(f"Nothing of a tunnel is recorded up to here, only {', '.join(sorted(spaces))}.")
        if self.bad:
            picture.notes.append(f"{self.bad} messages of the recording could not be read: they have another version.")
        return picture


class ReplaySource:
    """A source out of a recording. Time goes on only while somebody looks."""

    def __init__(self, recording: Recording, clock: Callable[[], float] = time.monotonic) -> None:
        self._recording = recording
        self._clock = clock
        self._player = Player(recording)
        self._at_s = recording.begin_s
        self._shown_s = recording.begin_s
        self._playing, self._speed = True, 1.0
        self._looked_s: float | None = None
        self._sought = False
        self._busy = asyncio.Lock()

    async def start(self) -> None:
        """Goes on where it was."""
        self._looked_s = self._clock()

    async def stop(self) -> None:
        """Stands still."""
        self._looked_s = None

    async def picture(self, drones: frozenset[str], *, whole: bool = False) -> Picture:
        """At the moment that time has come to. Decoding is done in a thread: a seek may take a while."""
        self._tick()
        async with self._busy:
            target, sought = self._at_s, self._sought
            self._sought = False
            work = self._player.seek if sought or target < self._shown_s else self._player.advance
            if sought or target != self._shown_s:
                await asyncio.to_thread(work, target)
                self._shown_s = target
            return self._player.picture()

    async def handshakes(self, drone: str) -> list[dict[str, Any]]:
        """Up to the moment."""
        return self._player.topics.handshakes(drone)[:128]

    def events(self, after: int) -> tuple[int, list[dict[str, Any]]]:
        """Up to the moment."""
        return self._player.log.after(after)

    def history(self, drone: str) -> list[list[float | None]] | None:
        """Of the ten minutes before the moment."""
        return self._player.points.get(drone, [])

    async def suites(self) -> list[dict[str, Any]]:
        """For their short codes."""
        return await asyncio.to_thread(known_suites)

    def actions(self, drone: str, picture: Picture) -> dict[str, str]:
        """None."""
        return dict.fromkeys(ACTIONS, NO_ACTIONS)

    async def act(self, action: str, drone: str, arguments: Mapping[str, str]) -> str:
        """Never. Raises RefusalError."""
        raise RefusalError("not_possible", NO_ACTIONS)

    def replay(self) -> Mapping[str, Any]:
        """Where it is."""
        recording = self._recording
        return {
            "file": recording.path.name,
            "begin_s": recording.begin_s,
            "end_s": recording.end_s,
            "at_s": self._shown_s,
            "playing": self._playing,
            "speed": self._speed,
            "problem": recording.problem,
        }

    def steer(self, what: str, value: float) -> None:
        """Play, pause, seek, speed."""
        self._tick()
        recording = self._recording
        if what == "play":
            if self._at_s >= recording.end_s:
                self._at_s, self._sought = recording.begin_s, True
            self._playing = True
        elif what == "pause":
            self._playing = False
        elif what == "seek" and value == value:
            self._at_s = min(recording.end_s, max(recording.begin_s, recording.begin_s + value))
            self._sought = True
        elif what == "speed" and SPEEDS[0] <= value <= SPEEDS[1]:
            self._speed = value
        else:
            raise RefusalError("bad_request", "A recording knows play, pause, seek (seconds) and speed (0.1 to 100).")

    def _tick(self) -> None:
        now_s = self._clock()
        if self._looked_s is not None and self._playing:
            self._at_s = min(self._recording.end_s, self._at_s + (now_s - self._looked_s) * self._speed)
            if self._at_s >= self._recording.end_s:
                self._playing = False
        if self._looked_s is not None:
            self._looked_s = now_s


def load(path: Path) -> ReplaySource:
    """A source out of a file. Raises ProcessError where it is no recording."""
    try:
        return ReplaySource(Recording(path))
    except RecordingError as error:
        raise ProcessError(str(error), ExitCode.FAILED) from None
