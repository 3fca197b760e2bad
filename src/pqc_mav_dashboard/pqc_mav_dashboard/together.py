# SPDX-License-Identifier: Apache-2.0
"""What is live: control sockets first, ROS topics for what they do not have (senses, policy, other machines)."""

import asyncio
from collections.abc import Mapping
from typing import Any

from pqc_mav_dashboard.picture import Picture
from pqc_mav_dashboard.ros_source import QUIET, RosSource
from pqc_mav_dashboard.socket_source import SocketSource
from pqc_mav_dashboard.source import Source
from pqc_mav_dashboard.suites import known_suites


class Live(Source):
    """Both sources as one. Without ROS it is the sockets, and says that ROS is absent."""

    def __init__(self, sockets: SocketSource, ros: RosSource) -> None:
        self._sockets = sockets
        self._ros = ros

    async def start(self) -> None:
        """Starts both."""
        await asyncio.gather(self._sockets.start(), self._ros.start())

    async def stop(self) -> None:
        """Stops both."""
        await asyncio.gather(self._sockets.stop(), self._ros.stop())

    async def picture(self, drones: frozenset[str], *, whole: bool = False) -> Picture:
        """Ends from sockets, other ends and everything else from topics."""
        picture = await self._sockets.picture(drones, whole=whole)
        covered = {(end.role, end.drone) for end in self._sockets.ends()}
        await self._ros.keep(covered)
        others = [
            end
            for end in self._ros.topics.ends()
            if (end.role, end.drone) not in covered and (whole or end.drone in drones)
        ]
        picture.ends += others
        if others and not any(end for end in picture.ends if end not in others):
            picture.notes = [note for note in picture.notes if "has a control socket" not in note]
        if self._ros.problem:
            picture.notes.append(self._ros.problem)
        picture.absent = self._ros.absent
        known = {end.drone for end in picture.ends}
        alone = self._alone()
        for drone in known | drones if whole else drones:
            if senses := self._ros.topics.senses_of(drone, alone):
                picture.senses[drone] = senses
        if not picture.absent and not any(picture.senses.values()):
            picture.absent = QUIET
        return picture

    async def handshakes(self, drone: str) -> list[dict[str, Any]]:
        """Of both; an end that has a socket is not told twice."""
        found = await self._sockets.handshakes(drone)
        roles = {each["role"] for each in found}
        found += [each for each in self._ros.topics.handshakes(drone) if each["role"] not in roles]
        return sorted(found, key=lambda each: -each["time"])

    def events(self, after: int) -> tuple[int, list[dict[str, Any]]]:
        """One log for both."""
        return self._sockets.events(after)

    async def suites(self) -> list[dict[str, Any]]:
        """As an engine here has them, else as this version knows them."""
        return await self._sockets.suites() or known_suites()

    def actions(self, drone: str, picture: Picture) -> dict[str, str]:
        """By socket where that is possible, else by ROS."""
        by_socket, by_ros = (
            self._sockets.actions(drone, picture),
            self._ros.actions(drone, self._alone()),
        )
        return {name: "" if not why or not by_ros[name] else by_ros[name] for name, why in by_socket.items()}

    async def act(self, action: str, drone: str, arguments: Mapping[str, str]) -> str:
        """The same."""
        here = await self._sockets.picture(frozenset({drone}))
        if not self._sockets.actions(drone, here).get(action, " "):
            return await self._sockets.act(action, drone, arguments)
        return await self._ros.act(action, drone, arguments, self._alone())

    def _alone(self) -> bool:
        """Whether there is one drone and no other, so that senses without a tunnel's name are its own."""
        return len({end.drone for end in (*self._sockets.ends(), *self._ros.topics.ends())}) == 1
