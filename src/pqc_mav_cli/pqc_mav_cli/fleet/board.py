# SPDX-License-Identifier: Apache-2.0
"""`pqcmav dashboard --fleet`: all stations of a registry on one page, as a source of the dashboard."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from nats.errors import Error as NatsError

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.fleet.book import Book
from pqc_mav_cli.fleet.heard import Heard
from pqc_mav_cli.fleet.store import always
from pqc_mav_cli.fleet.view import View, opened
from pqc_mav_dashboard.errors import RefusalError
from pqc_mav_dashboard.event_log import EventLog
from pqc_mav_dashboard.picture import Picture
from pqc_mav_dashboard.source import ACTIONS, Source
from pqc_mav_dashboard.suites import known_suites

_LOOK_S = 1.0  # so soon a lost connection is known
_FIRST_S = 2.0
_EVENTS = 5000
SHOWS_ONLY = "The registry only shows: ask at the drone's ground station."
ABSENT = "A registry has what the ground stations know of the tunnels, and nothing of the aircraft."


class Board(Source):
    """What the operator may read. Loss of the registry changes no link: the page says that it is away."""

    def __init__(self, root: Path, url: str) -> None:
        """Raises CliError where no operator's key can be read, or no station has one."""
        self._root, self._url = root, url
        self._book = Book(root)
        self._stations = self._book.stations()
        self._written = self._stamp()
        self._heard = Heard()
        self._new: dict[str, tuple[bytes, float, float]] = {}
        self._through = asyncio.Event()
        self._numbers: dict[str, tuple[str, int]] = {}
        self._log = EventLog(_EVENTS)
        self._problem = self._unread = ""
        self._watching: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begins to watch, so that the first picture is no empty one."""
        self._through.clear()
        self._watching = asyncio.create_task(self._watch())
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._through.wait(), _FIRST_S)

    async def stop(self) -> None:
        """Ends it."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
            self._watching = None

    async def picture(self, drones: frozenset[str], *, whole: bool = False) -> Picture:
        """Everything, whatever is asked for: it is here already."""
        self._read_again()
        await self._open()
        book = self._book
        picture = self._heard.picture(self._stations, book.drones(), book.gone(), time.time(), time.monotonic())
        picture.notes += [each for each in (self._problem, self._unread) if each]
        picture.absent = ABSENT
        return picture

    async def handshakes(self, drone: str) -> list[dict[str, Any]]:
        """Those that the newest events told of."""
        told = [each for each in self._log.after(0)[1] if each["event"] == "handshake" and each["drone_id"] == drone]
        return sorted(told, key=lambda each: -each["time"])

    def events(self, after: int) -> tuple[int, list[dict[str, Any]]]:
        """The stations' own; some are of the time before anybody looked."""
        return self._log.after(after)

    async def suites(self) -> list[dict[str, Any]]:
        """As this version knows them."""
        return known_suites()

    def actions(self, drone: str, picture: Picture) -> Mapping[str, str]:
        """None."""
        return dict.fromkeys(ACTIONS, SHOWS_ONLY)

    async def act(self, action: str, drone: str, arguments: Mapping[str, str]) -> str:
        """Raises RefusalError."""
        raise RefusalError("not_possible", SHOWS_ONLY)

    def _stamp(self) -> int:
        """When the book or the set of stations was changed."""
        folder = self._root / "fleet"
        stamps = [path.stat().st_mtime_ns for path in (folder / "book.json", folder / "stations") if path.exists()]
        return max(stamps, default=0)

    def _read_again(self) -> None:
        try:
            if (stamp := self._stamp()) != self._written:
                self._book, self._written = Book(self._root), stamp
                self._stations = self._book.stations()
            self._unread = ""
        except (CliError, OSError) as error:
            self._unread = str(error)

    async def _watch(self) -> None:
        def told(problem: str) -> None:
            self._problem = problem

        async for registry in always(self._url, told):
            try:
                async with aclosing(registry.watch("view.*", _LOOK_S)) as views:
                    async for each in views:
                        self._problem = ""
                        if each:
                            self._new[each[0].removeprefix("view.")] = (each[1], time.time(), time.monotonic())
                        else:
                            self._through.set()
            except (NatsError, TimeoutError) as error:
                self._problem = f"The registry cannot be watched: {str(error) or type(error).__name__}."

    async def _open(self) -> None:
        """What has come. Only as often as somebody asks: with thousands of drones it takes a while."""
        new, self._new = self._new, {}
        for gcs_id in self._stations:
            if gcs_id in new:
                value, time_s, clock_s = new[gcs_id]
                view = await asyncio.to_thread(opened, self._book.operator, gcs_id, value, self._book.least())
                if view and self._heard.take(gcs_id, view, time_s, clock_s):
                    self._note(gcs_id, view)

    def _note(self, gcs_id: str, view: View) -> None:
        boot, newest = self._numbers.get(gcs_id, ("", -1))
        newest = newest if boot == view.boot else -1
        for number, event in view.events:
            if number > newest:
                newest = number
                self._log.add(gcs_id, event)
        self._numbers[gcs_id] = (view.boot, newest)
