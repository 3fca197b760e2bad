# SPDX-License-Identifier: Apache-2.0
"""Where pictures come from: one interface for control sockets, ROS topics and recordings."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pqc_mav_dashboard.errors import RefusalError
from pqc_mav_dashboard.picture import Picture


class Source(Protocol):
    """A source works between `start` and `stop` alone: with the first viewer and until the last one has gone.

    All of it runs in the server's event loop and may not block it. What is live, and keeps no history, has what is said
    of that from here.
    """

    async def start(self) -> None:
        """The first viewer is there."""

    async def stop(self) -> None:
        """The last one has gone: nothing may cost anything any more."""

    async def picture(self, drones: frozenset[str], *, whole: bool = False) -> Picture:
        """At least these drones, with everything about them; all others as well for `whole`."""

    async def handshakes(self, drone: str) -> list[dict[str, Any]]:
        """Newest first, as the control socket describes them; the newest 64 of each end."""

    def events(self, after: int) -> tuple[int, list[dict[str, Any]]]:
        """Events with a number above `after`, oldest first, and the newest number."""

    def history(self, drone: str) -> list[list[float | None]] | None:
        """Points of the charts up to now (see history.py) where the source has them by itself, else None."""
        return None

    async def suites(self) -> list[dict[str, Any]]:
        """The suites a drone can change to: id, short_code, available; empty where it is not known."""

    def actions(self, drone: str, picture: Picture) -> Mapping[str, str]:
        """Each action: "" where it is possible for that drone, else why it is not."""

    async def act(self, action: str, drone: str, arguments: Mapping[str, str]) -> str:
        """Does one and says what came of it. Raises RefusalError."""

    def replay(self) -> Mapping[str, Any] | None:
        """Of a recording: file, begin_s, end_s, at_s, playing, speed, problem; None where it is live."""
        return None

    def steer(self, what: str, value: float) -> None:
        """Of a recording: play, pause, seek (seconds from its begin) or speed. Raises RefusalError where it is live."""
        raise RefusalError("bad_request", "This is no recording: time cannot be steered.")


ACTIONS: Sequence[str] = ("rekey", "pin", "mode", "station")
