# SPDX-License-Identifier: Apache-2.0
"""The viewers and the one loop that feeds them. Without a viewer there is no loop, and no source works.

Where a history is kept on disk, the loop runs always.
"""

import asyncio
import json
import logging
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from pqc_mav_dashboard.alarms import Alarms
from pqc_mav_dashboard.conditions import condition_table
from pqc_mav_dashboard.day import KEPT_S as DAY_S
from pqc_mav_dashboard.day import STEP_S, Day
from pqc_mav_dashboard.errors import RefusalError, Refused
from pqc_mav_dashboard.history import KEPT_S, SERIES, History, Point, append, point
from pqc_mav_dashboard.picture import End, Picture
from pqc_mav_dashboard.source import Source
from pqc_mav_dashboard.views import COLUMNS, Row, Rows, drone_view

LOG = logging.getLogger(__name__)
VERSION = 1
VIEWERS = 16
LONGEST = 4096  # bytes of a viewer's message
LARGEST = 1e12  # number in it: whole ones could be too large for a float
MESSAGES_PER_S = 20
INTERVAL_S, SLOWEST_S = 1.0, 5.0
SHARE = 0.008  # of one processor, for the whole server: large fleets are looked at less often
SEND_S = 20.0  # who takes nothing for so long is let go
WHOLE_S = 5.0  # alarms of the whole fleet are looked for that often while pages show single drones
LINGER_S = 5.0  # a page that is loaded again finds everything running
SPANS_S = (KEPT_S, 3600, 6 * 3600, DAY_S)  # of the charts, where there is a history
FLEET = ""  # what a viewer looks at: the fleet, or a drone by its id


def encode(message: Mapping[str, Any]) -> str:
    """A message to viewers."""
    return json.dumps({"v": VERSION, **message}, separators=(",", ":"), allow_nan=False, default=str)


@dataclass(eq=False)
class Viewer:
    """One WebSocket and what it has been told."""

    socket: WebSocket
    look: str | None = None
    span_s: int = KEPT_S
    tick: int = -1  # the last whole state of the fleet it has
    events: int = 0
    handshakes: str = ""
    point_s: float = 0.0  # the moment of the newest point it has
    outgoing: asyncio.Queue[str] = field(default_factory=lambda: asyncio.Queue(4))
    # How often everything had to be told anew, and what of that a round has done that began afterwards.
    due: int = 1
    told: int = 0

    @property
    def fresh(self) -> bool:
        """Whether it is told everything and not only what is new."""
        return self.told != self.due


class Hub:
    """Serves viewers out of one source."""

    def __init__(
        self, source: Source, refused: Refused, interval_s: float = INTERVAL_S, day: Day | None = None
    ) -> None:
        self.source = source
        self._day = day
        self._kept_s = -math.inf  # when the last points went there
        self._refused = refused
        self._interval_s = interval_s
        self._viewers: set[Viewer] = set()
        self._loop: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()
        self._history = History()
        self._alarms = Alarms()
        self._whole_s = -math.inf
        self._rows: dict[str, Row] = {}
        self._changed: dict[str, Row] = {}
        self._gone: list[str] = []
        self._maker = Rows()
        self._tick = 0
        self._handshakes: dict[str, tuple[str, list[dict[str, Any]]]] = {}
        self.picture = Picture(time.time(), time.monotonic())

    @property
    def viewers(self) -> int:
        """How many there are."""
        return len(self._viewers)

    @property
    def working(self) -> bool:
        """Whether anything is asked at all."""
        return self._loop is not None and not self._loop.done()

    def room(self) -> None:
        """Raises RefusalError where there is none for one more."""
        if len(self._viewers) >= VIEWERS:
            raise RefusalError("too_many_viewers", f"{VIEWERS} pages are open already; close one and reload this one.")

    async def serve(self, socket: WebSocket) -> None:
        """One viewer for whom there is `room`, until it goes."""
        viewer = Viewer(socket)
        self._viewers.add(viewer)
        sending: asyncio.Task[None] | None = None
        try:
            await socket.accept()
            hello: dict[str, Any] = {"kind": "hello", "columns": COLUMNS, "series": SERIES}
            hello |= {"replay": self.source.replay() is not None, "spans_s": SPANS_S if self._day else SPANS_S[:1]}
            viewer.outgoing.put_nowait(encode(hello))
            sending = asyncio.create_task(self._send(viewer))
            self.begin()
            await self._listen(viewer)
        except (WebSocketDisconnect, RuntimeError):
            pass  # gone
        finally:
            self._viewers.discard(viewer)
            if sending is not None:
                sending.cancel()
            self._wake.set()

    def begin(self) -> None:
        """Lets the loop run, if it does not."""
        if not self.working:
            self._loop = asyncio.create_task(self._run())

    async def close(self) -> None:
        """At the server's end."""
        for viewer in list(self._viewers):
            await self._drop(viewer, 1001, "The dashboard was ended.")
        while self._loop is not None and not self._loop.done():
            self._loop.cancel()  # asyncio.wait_for loses one that comes together with what it waits for
            await asyncio.wait({self._loop}, timeout=1.0)
        if self._day is not None:
            await asyncio.to_thread(self._day.close)

    async def _listen(self, viewer: Viewer) -> None:
        began_s, count = time.monotonic(), 0
        while True:
            received = await viewer.socket.receive()
            if received["type"] != "websocket.receive":
                return
            text = received.get("text")
            now_s = time.monotonic()
            if now_s - began_s > 1:
                began_s, count = now_s, 0
            count += 1
            try:
                if count > MESSAGES_PER_S:
                    raise RefusalError("too_many_attempts", "Too many messages in a second.")
                if text is None:
                    raise RefusalError("bad_request", "Messages are text.")
                if len(text) > LONGEST:
                    raise RefusalError("too_long", f"A message has at most {LONGEST} bytes.")
                self._take(viewer, text)
            except RefusalError as error:
                self._refused.count(error)
                await self._drop(viewer, 1008, error.sentence)
                return

    def _take(self, viewer: Viewer, text: str) -> None:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or message.get("v") != VERSION:
            raise RefusalError("bad_request", f"A message is a JSON object with v: {VERSION}.")
        look, steer, value = message.get("look"), message.get("replay"), message.get("value", 0)
        if isinstance(look, str) and len(look) <= 64:
            viewer.look, viewer.tick, viewer.handshakes, viewer.events = look, -1, "", 0
            viewer.span_s = message["span_s"] if self._day and message.get("span_s") in SPANS_S else KEPT_S
            viewer.due += 1
        elif isinstance(steer, str) and isinstance(value, (int, float)) and abs(value) < LARGEST:
            self.source.steer(steer, float(value))
            for each in self._viewers:
                each.due += 1
        else:
            raise RefusalError("bad_request", "A message says what to look at ('look') or steers a recording.")
        self._wake.set()

    async def _drop(self, viewer: Viewer, code: int, sentence: str) -> None:
        self._viewers.discard(viewer)
        with suppress(RuntimeError, OSError, asyncio.TimeoutError, WebSocketDisconnect):
            await asyncio.wait_for(viewer.socket.close(code, sentence.encode()[:120].decode(errors="ignore")), 1.0)

    async def _send(self, viewer: Viewer) -> None:
        try:
            while True:
                text = await viewer.outgoing.get()
                await asyncio.wait_for(viewer.socket.send_text(text), SEND_S)
        except (asyncio.TimeoutError, RuntimeError, OSError, WebSocketDisconnect):
            await self._drop(viewer, 1008, "Nothing was taken for too long.")

    async def _run(self) -> None:
        # Who comes while the source is being stopped finds this loop still there: begin anew.
        while self._viewers or self._day:
            try:
                await self.source.start()
                await self._feed()
            finally:
                await self.source.stop()

    async def _feed(self) -> None:
        """Rounds until nobody has looked for a while."""
        empty_s: float | None = None
        used_s = time.process_time()
        while True:
            began_s = time.monotonic()
            self._wake.clear()
            if self._viewers or self._day:
                empty_s = None
                try:
                    await self._round()
                except Exception:  # a fault in one round must not leave every page without news
                    LOG.exception("A round failed.")
            elif empty_s is None:
                empty_s = began_s
            elif began_s - empty_s >= LINGER_S:
                return
            # Since this point of the round before: what viewers were sent is in it.
            used_s, cost_s = time.process_time(), time.process_time() - used_s
            wait_s = (
                min(SLOWEST_S, max(self._interval_s, cost_s / SHARE))
                if self._viewers
                else STEP_S
                if self._day
                else LINGER_S
            )
            wait_s = max(0.0, wait_s - (time.monotonic() - began_s))
            try:
                await asyncio.wait_for(self._wake.wait(), wait_s)
            except asyncio.TimeoutError:
                continue

    async def _round(self) -> None:
        looks = {viewer.look for viewer in self._viewers if viewer.look is not None}
        if not looks and not self._day:
            return
        # What is asked for from here on may have come too late for this picture, and is due in the next round.
        due = {viewer: viewer.due for viewer in self._viewers}
        fleet = FLEET in looks
        drones = frozenset(look for look in looks if look)
        now_s = time.monotonic()
        all_of_them = fleet or now_s - self._whole_s >= WHOLE_S or not looks
        self._whole_s = now_s if all_of_them else self._whole_s
        picture = await self.source.picture(drones, whole=all_of_them)
        if self.source.replay() is not None and picture.time_s < self.picture.time_s:
            self._alarms = Alarms()  # a tunnel that has been up is not yet
        self.picture = picture
        self._alarms.look(picture, whole=all_of_them)
        self._tick += 1
        if self._day and all_of_them and now_s - self._kept_s >= STEP_S - 0.5 * self._interval_s:
            self._kept_s = now_s
            made = {drone: _point(picture, drone, ends) for drone, ends in picture.drones().items()}
            await asyncio.to_thread(self._day.add, picture.time_s, made)
        if fleet:
            rows = self._maker.of(picture)
            self._changed = {drone: row for drone, row in rows.items() if self._rows.get(drone) != row}
            self._gone = [drone for drone in self._rows if drone not in rows]
            self._rows = rows
        whole = changes = ""
        known = picture.drones()
        for drone in drones:
            if self.source.history(drone) is None:
                self._history.add(drone, _point(picture, drone, known.get(drone, [])))
        for viewer in list(self._viewers):
            if viewer.look == FLEET:
                if viewer.tick == self._tick - 1 and not viewer.fresh:
                    changes = changes or await self._fleet(picture, self._changed, whole=False)
                    sent = self._offer(viewer, changes)
                else:
                    whole = whole or await self._fleet(picture, self._rows, whole=True)
                    sent = self._offer(viewer, whole)
                if sent:
                    viewer.tick, viewer.told = self._tick, due.get(viewer, 0)
            elif viewer.look:
                await self._show(viewer, viewer.look, picture, due.get(viewer, 0))

    async def _fleet(self, picture: Picture, rows: Mapping[str, Row], *, whole: bool) -> str:
        return encode(
            {
                **({"suites": await self.source.suites()} if whole else {}),
                "kind": "fleet",
                "whole": whole,
                "rows": list(rows.values()),
                "gone": [] if whole else self._gone,
                **self._common(picture),
            }
        )

    def _common(self, picture: Picture) -> dict[str, Any]:
        """What every message has."""
        return {
            "time_s": picture.time_s,
            "notes": [*picture.notes, *([self._day.problem] if self._day and self._day.problem else [])],
            "replay": self.source.replay(),
            "alarms": self._alarms.told(),
        }

    async def _show(self, viewer: Viewer, drone: str, picture: Picture, due: int) -> None:
        # The clock was set back: what the page has is of a time that has not come yet.
        fresh = viewer.fresh or picture.time_s < viewer.point_s
        shown = drone_view(drone, picture)
        number, events = self.source.events(0 if fresh else viewer.events)
        message: dict[str, Any] = {
            "kind": "drone",
            **self._common(picture),
            **shown,
            "conditions": condition_table(picture.senses.get(drone, {}).get("policy")),
            "events": [each for each in events if each.get("drone_id") in (drone, "", None)],
            "whole": fresh,
            "actions": dict(self.source.actions(drone, picture)),
        }
        own = self.source.history(drone)
        points: Sequence[Point] = self._history.of(drone) if own is None else own
        if fresh and self._day:
            points = await self._with_older(drone, points, picture.time_s - viewer.span_s, picture.time_s)
        message["points"] = points if fresh else [each for each in points if (each[0] or 0.0) > viewer.point_s]
        mark, handshakes = await self._newest_handshakes(drone, shown)
        if fresh or viewer.handshakes != mark:
            message["handshakes"] = handshakes
        if fresh:
            message["suites"] = await self.source.suites()
        if viewer.look == drone and self._offer(viewer, encode(message)):
            viewer.events, viewer.handshakes, viewer.told = number, mark, due
            viewer.point_s = (points[-1][0] or 0.0) if points else 0.0

    async def _with_older(self, drone: str, points: Sequence[Point], since_s: float, now_s: float) -> list[Point]:
        """What is on disk, up to what is in memory."""
        assert self._day is not None
        until_s = points[0][0] if points and points[0][0] else now_s
        joined = await asyncio.to_thread(self._day.of, drone, since_s, until_s)
        for made in points:
            append(joined, made, 3 * STEP_S)
        return joined

    async def _newest_handshakes(self, drone: str, shown: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        """Asked only when a counter says that there are new ones."""
        names = ("handshakes_ok", "handshakes_failed", "rekeys_ok")
        if self.source.replay() is not None:  # in memory, and time may go backwards
            found = await self.source.handshakes(drone)
            return f"{len(found)} {found[0]['time'] if found else ''}", found
        mark = json.dumps([[end["name"], *(end["status"].get(name) for name in names)] for end in shown["ends"]])
        held = self._handshakes.get(drone)
        if held is None or held[0] != mark:
            held = (mark, await self.source.handshakes(drone))
            self._handshakes = {**{name: self._handshakes[name] for name in list(self._handshakes)[-31:]}, drone: held}
        return held

    def _offer(self, viewer: Viewer, text: str) -> bool:
        """A viewer that is behind gets the next whole state instead."""
        try:
            viewer.outgoing.put_nowait(text)
        except asyncio.QueueFull:
            viewer.due += 1
            return False
        return True


def _point(picture: Picture, drone: str, ends: Sequence[End]) -> Point:
    return point(picture.time_s, picture.clock_s, ends, picture.senses.get(drone, {}))
