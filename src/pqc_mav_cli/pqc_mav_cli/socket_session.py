# SPDX-License-Identifier: Apache-2.0
"""What `status` shows, from the control sockets of this machine: the same views as from ROS, at once and without it."""

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.ros_session import TunnelView, Watcher, watch
from pqc_mav_common.local_socket import Control, ControlError, ForbiddenError, Place, connect_all, nothing_here, places
from pqc_mav_common.waiting import wait_until

_REQUESTS = ({"command": "status"}, {"command": "picture"})


class Record:
    """Values under the names that a ROS message has for them."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:  # for type checkers: the names are data
        raise AttributeError(name)

    def get_fields_and_field_types(self) -> dict[str, str]:
        """As messages have it, but for the types."""
        return dict.fromkeys(self.__dict__, "")


class SocketWatcher:
    """Stands in for `ros_session.Watcher`: asks whenever it is asked. `look` finds engines that came later."""

    look_s = 0.0

    def __init__(self, connections: Sequence[Control], look: Callable[[], list[Place]] = list) -> None:
        self._look = look
        self._connections: dict[Place, Control | None] = {each.place: each for each in connections}
        self._views: dict[Place, list[TunnelView]] = {}
        self._dangers: dict[Place, list[str]] = {}

    def close(self) -> None:
        """Ends the connections."""
        for each in self._connections.values():
            if each is not None:
                each.close()

    def views(self) -> list[TunnelView]:
        """All tunnels as they are now; those of an engine that is gone, or refuses, as they were.

        Raises ControlError if an engine refuses and there is nothing else to show.
        """
        refused = [each for each in self._ask_all() if not isinstance(each, (OSError, ForbiddenError))]
        if refused and not self._views:
            raise refused[-1]
        found = (view for views in self._views.values() for view in views)
        return sorted(found, key=lambda view: (view.node, view.drone_id))

    def dangers(self) -> list[str]:
        """One line for each way around the tunnel that a host has found on its machine."""
        return sorted(f"{place.name}: {danger}" for place, found in self._dangers.items() for danger in found)

    def silent(self) -> list[str]:
        """Engines that accepted a connection and say nothing."""
        return sorted({place.name for place in self._connections if place not in self._views})

    def complete(self) -> bool:
        """An answer is always whole."""
        return True

    def wait_for(self, condition: Callable[[list[TunnelView]], bool], timeout_s: float) -> bool:
        """Waits until `condition` holds for the views, at most `timeout_s`."""
        return wait_until(lambda: condition(self.views()), timeout_s)

    def _ask_all(self) -> list[OSError | ControlError]:
        """Side by side, and what came is of now when the last has ended: one that hangs makes no other look silent."""
        answered: list[Place] = []
        failures: list[OSError | ControlError] = []

        def ask(place: Place) -> None:
            try:
                self._ask(place)
                answered.append(place)
            except (OSError, ControlError) as error:
                failures.append(error)

        known = dict.fromkeys([*self._connections, *self._look()])
        threads = [threading.Thread(target=ask, args=(place,), daemon=True) for place in known]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        now_s = time.monotonic()
        for view in (view for place in answered for view in self._views[place]):
            view.stats_at_s = now_s
        return failures

    def _ask(self, place: Place) -> None:
        connection = self._connections.get(place)
        if connection is None:
            connection = self._connections[place] = Control(place)
        try:
            status, seen = connection.ask_all(_REQUESTS)
        except (OSError, ControlError):  # after a refusal there may be more in it
            connection.close()
            self._connections[place] = None
            raise
        now_s = time.monotonic()
        self._dangers[place] = status["dangers"]
        self._views[place] = [
            TunnelView(
                place.name,
                one["drone_id"],
                record(one),
                record(numbers),
                {side["side"]: record(side) for side in sides},
                {path["name"]: record(path) for path in one["paths"]},
                status_at_s=now_s,
            )
            for one, numbers, sides in zip(seen["status"], seen["stats"], seen["link"], strict=True)
        ]


def record(picture: Mapping[str, Any]) -> Record:
    """A picture, with what is not known as NaN, as messages have it."""
    return Record({name: math.nan if value is None else value for name, value in picture.items()})


@contextmanager
def here(path: str = "") -> Iterator[SocketWatcher | None]:
    """The engines of this machine, or the one at `path`; None where there is none."""
    connections = connect_all([Place(Path(path))] if path else places(os.environ))
    if path and not connections:
        raise CliError(f"Nobody answers at {path}; is the engine running?")
    watcher = SocketWatcher(connections, list if path else lambda: places(os.environ))
    try:
        yield watcher if connections else None
    finally:
        watcher.close()


@contextmanager
def tunnels(namespace: str = "", *, ros: bool = False, path: str = "") -> Iterator[SocketWatcher | Watcher]:
    """What this machine's engines say; where there are none, or for a namespace, what is heard through ROS."""
    if not (ros or namespace):
        with here(path) as watcher:
            if watcher is not None:
                yield watcher
                return
        if find_spec("rclpy") is None:
            raise nothing_here(os.environ)
    with watch(namespace) as heard:
        yield heard
