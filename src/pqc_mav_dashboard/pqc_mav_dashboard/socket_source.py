# SPDX-License-Identifier: Apache-2.0
"""The engines of this machine through their control sockets (docs/control-socket.md). Needs no ROS."""

import asyncio
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from pqc_mav_common.errors import one_line
from pqc_mav_common.local_socket import Control, ControlError, ForbiddenError, Place, folders, names_of, places
from pqc_mav_dashboard.errors import RefusalError
from pqc_mav_dashboard.event_log import EventLog
from pqc_mav_dashboard.picture import End, Picture
from pqc_mav_dashboard.source import Source
from pqc_mav_dashboard.subscription import follow

ANSWER_S = 2.0  # for what an engine answers at once
REKEY_S = 60.0
GONE_S = 600.0  # an engine whose socket is gone was ended; for so long it is missed
NEEDS_POLICY = "This is asked of the drone's policy, a ROS node."
_COMMANDS = ("status", "stats", "link")


class SocketSource(Source):
    """Asks every engine that has a socket, or the one at `path`. Reconnects to what was restarted."""

    def __init__(self, environment: Mapping[str, str] | None = None, path: str = "", absent: str = "") -> None:
        self._absent = absent  # why there is nothing besides the tunnels
        self._environment = os.environ if environment is None else environment
        self._path = path
        self._connections: dict[Path, Control] = {}
        self._names: dict[Path, str] = {}  # two folders may have sockets of one name
        self._ends: dict[tuple[Path, str], End] = {}
        self._followers: dict[Path, asyncio.Task[None]] = {}
        self._notes: dict[str, str] = {}
        self._suites: list[dict[str, Any]] = []
        self.log = EventLog()
        # One at a time: connections are not for several threads. Rekeys have connections of their own.
        self._asking = ThreadPoolExecutor(1, "control-socket")
        self._acting = ThreadPoolExecutor(4, "action")

    async def start(self) -> None:
        """Nothing is kept open before."""

    async def stop(self) -> None:
        """Closes everything."""
        followers = list(self._followers.values())
        self._followers.clear()
        for task in followers:
            task.cancel()
        await asyncio.gather(*followers, return_exceptions=True)
        await self._in_thread(self._close)

    async def picture(self, drones: frozenset[str], *, whole: bool = False) -> Picture:
        """What all engines say, or what they say about some drones."""
        # Before they are asked: an engine that hangs takes seconds, and makes no other one old.
        time_s, now_s = time.time(), time.monotonic()
        found = await self._in_thread(self._poll, None if whole else drones)
        for place, name in found:
            task = self._followers.get(place.path)
            if task is None or task.done():
                self._followers[place.path] = asyncio.create_task(follow(place, partial(self.log.add, name)))
        ends = [end for end in self.ends() if whole or end.drone in drones]
        notes = [note for _, note in sorted(self._notes.items())]
        return Picture(time_s, now_s, ends, absent=self._absent, notes=notes)

    def ends(self) -> list[End]:
        """All that are known, also those about which the newest look was not."""
        return list(self._ends.values())

    async def handshakes(self, drone: str) -> list[dict[str, Any]]:
        """Of every end that is here."""
        found: list[dict[str, Any]] = await self._in_thread(self._handshakes, drone)
        return found

    def events(self, after: int) -> tuple[int, list[dict[str, Any]]]:
        """What the engines told since the first viewer came."""
        return self.log.after(after)

    async def suites(self) -> list[dict[str, Any]]:
        """As the first engine that answers has them; they do not change while it runs."""
        if not self._suites:
            self._suites = await self._in_thread(self._list_suites)
        return self._suites

    def actions(self, drone: str, picture: Picture) -> dict[str, str]:
        """Rekeys at either end, another station at the drone's."""
        ends = [end for end in picture.ends if end.drone == drone and end.silent_s(picture.clock_s) is None]
        on_drone = [end for end in ends if end.role == "drone"]
        many = any(end.status.get("stations") for end in on_drone)
        return {
            "rekey": "" if ends else "No engine of this machine has that drone.",
            "station": ""
            if many
            else "This drone has one ground station."
            if on_drone
            else "The drone chooses its station: ask on the drone's computer.",
            "pin": f"{NEEDS_POLICY} {self._absent}".strip(),
            "mode": f"{NEEDS_POLICY} {self._absent}".strip(),
        }

    async def act(self, action: str, drone: str, arguments: Mapping[str, str]) -> str:
        """Asks the drone's own end where it is here, else the ground's."""
        if action not in ("rekey", "station"):
            raise RefusalError("not_possible", NEEDS_POLICY)
        return await asyncio.get_running_loop().run_in_executor(self._acting, self._act, action, drone, arguments)

    # In the thread that asks.

    async def _in_thread(self, function: Any, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._asking, function, *arguments)

    def _close(self) -> None:
        for control in self._connections.values():
            control.close()
        self._connections.clear()
        self._ends.clear()
        self._notes.clear()

    def _places(self) -> list[Place]:
        if self._path:
            return [Place(Path(self._path))]
        try:
            found = places(self._environment)
        except ForbiddenError as error:
            self._notes["folder"] = str(error)
            return []
        self._notes.pop("folder", None)
        if not found:
            where = " or ".join(map(str, folders(self._environment)))
            self._notes["folder"] = f"No engine of this machine has a control socket in {where}; is one running?"
        return found

    def _poll(self, drones: frozenset[str] | None) -> list[tuple[Place, str]]:
        answered = []
        found = list(dict.fromkeys([*self._places(), *map(Place, self._connections)]))
        self._names = {place.path: name for place, name in zip(found, names_of(found), strict=True)}
        for path in {path for path, _ in self._ends} - self._names.keys():
            self._forget_ended(path)
        for place in found:
            if drones is not None and place.drone_id and place.drone_id not in drones:
                continue
            with self._noted(place):
                self._ask(place, drones)
                answered.append((place, self._names[place.path]))
        return answered

    def _forget_ended(self, path: Path) -> None:
        gone = {key: end for key, end in self._ends.items() if key[0] == path}
        if max(end.heard_s for end in gone.values()) < time.monotonic() - GONE_S:
            for key in gone:
                del self._ends[key]
            for note in (str(path), f"{path} dangers"):
                self._notes.pop(note, None)

    @contextmanager
    def _noted(self, place: Place) -> Iterator[None]:
        """Why an engine that had answered does so no more; sockets of the dead are passed over in silence."""
        name = str(place.path)
        try:
            yield
            self._notes.pop(name, None)
        except ForbiddenError as error:
            self._notes[name] = str(error)
        except (OSError, ValueError, KeyError, TypeError) as error:
            control = self._connections.pop(place.path, None)
            if control is not None:
                control.close()
            if self._path or any(path == place.path for path, _ in self._ends):
                self._notes[name] = f"{self._names[place.path]} does not answer: {one_line(error)}"

    def _ask(self, place: Place, drones: frozenset[str] | None) -> None:
        control = self._connections.get(place.path)
        if control is None:
            control = self._connections[place.path] = Control(place, ANSWER_S)
        asked: list[dict[str, str]] = [{}] if drones is None or place.drone_id else [{"drone": d} for d in drones]
        for about in asked:
            try:
                status, stats, link = control.ask_all([{"command": command, **about} for command in _COMMANDS])
            except ControlError as error:
                if error.code == "unknown_drone":
                    # The two other answers are on their way: begin anew.
                    self._connections.pop(place.path).close()
                    control = self._connections[place.path] = Control(place, ANSWER_S)
                    continue
                raise OSError(str(error)) from None
            self._take(place, status, stats, link, whole=not about)

    def _take(self, place: Place, status: Any, stats: Any, link: Any, *, whole: bool) -> None:
        now_s, name = time.monotonic(), self._names[place.path]
        here = set()
        for one, counted, quality in zip(status["tunnels"], stats["tunnels"], link["tunnels"], strict=True):
            key = (place.path, one["drone_id"])
            here.add(key)
            self._ends[key] = End(name, status["role"], one["drone_id"], now_s, one, counted, quality)
        if whole:  # a drone that was taken away is no silent one
            for key in [key for key in self._ends if key[0] == place.path and key not in here]:
                del self._ends[key]
        self._notes.pop(f"{place.path} dangers", None)
        if status["dangers"]:
            self._notes[f"{place.path} dangers"] = f"{name}: {' '.join(status['dangers'])}"

    def _handshakes(self, drone: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for path, control in list(self._connections.items()):
            if (path, drone) in self._ends:
                with self._noted(Place(path)), suppress(ControlError):
                    answer = control.ask("handshakes", drone=drone)
                    found += [{**each, "end": self._names[path]} for each in answer["handshakes"]]
        return sorted(found, key=lambda each: -each["time"])

    def _list_suites(self) -> list[dict[str, Any]]:
        for path, control in list(self._connections.items()):
            with self._noted(Place(path)), suppress(ControlError):
                answer = control.ask("suites", available=True)
                return list(answer["suites"])
        return []

    def _act(self, action: str, drone: str, arguments: Mapping[str, str]) -> str:
        ends = [(path, end) for (path, of), end in self._ends.items() if of == drone]
        if action == "station":
            ends = [each for each in ends if each[1].role == "drone"]
        if not ends:
            raise RefusalError("not_possible", f"No engine of this machine can do that for '{drone}'.")
        path, end = min(ends, key=lambda each: (each[1].role != "drone", each[1].name))
        if path not in self._connections:
            raise RefusalError("not_possible", f"The engine {end.name} does not answer.")
        try:
            with Control(Place(path), REKEY_S + 2.0) as control:
                if action == "station":
                    control.ask("station", gcs_id=arguments.get("gcs_id", ""))
                    return f"{drone} goes to {arguments.get('gcs_id') or 'its first station'} as soon as that answers."
                asked = {name: arguments[name] for name in ("suite", "kind") if arguments.get(name)}
                # An older engine has no field that is not needed here.
                answer = control.ask("rekey", drone=drone, reason="dashboard", timeout_s=REKEY_S, **asked)
                return f"{answer['suite']}, epoch {answer['epoch']}, after {answer['rekey_ms']:.1f} ms."
        except ControlError as error:
            raise RefusalError("engine", str(error)) from None
        except OSError as error:
            raise RefusalError("engine", f"No answer from {end.name}: {one_line(error)}") from None
