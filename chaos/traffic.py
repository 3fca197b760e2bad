# SPDX-License-Identifier: Apache-2.0
"""The parent's side of the traffic process: opens the application sockets where they belong and reads the results."""

import array
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import messages
from children import Child
from tally import Arrival

HOST = "127.0.0.1"
_FIELDS = 5


@dataclass(frozen=True)
class End:
    """An application at one end of a drone's tunnel, with its bound socket and where the tunnel listens for it.

    `burst`: messages at once, every 10 s, as when parameters are asked for. `course`: a recorded flight
    (courses.py), in place of rate and burst.
    """

    socket: socket.socket
    drone: int
    way: int
    to_port: int
    rate: float
    burst: int = 0
    course: str = ""


def application_socket(port: int = 0, host: str = HOST) -> socket.socket:
    """A UDP socket, in whichever namespace the calling thread is."""
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.bind((host, port))
    return end


class TrafficProcess:
    """Sends from construction until `stop`."""

    def __init__(self, ends: Sequence[End], log: Path | None = None, sizes: list[int] | None = None) -> None:
        self._log = log
        self._child = Child("traffic_host.py", pass_fds=[end.socket.fileno() for end in ends])
        endpoints = [{**vars(end), "socket": end.socket.fileno()} for end in ends]
        self._child.ask("start", endpoints=endpoints, sizes=sizes or messages.sizes(), log=str(log) if log else None)

    def snapshot(self) -> dict[str, Any]:
        """Counts so far; longest gaps since the last snapshot."""
        return self._child.ask("snapshot")

    def stop(self, quiet_s: float = 0.4, limit_s: float = 10.0) -> dict[str, Any]:
        """Stop sending, wait until nothing has come for `quiet_s`, and return the counts."""
        result = self._child.ask("stop", timeout_s=limit_s + 10, quiet_s=quiet_s, limit_s=limit_s)
        self._child.close()
        return result

    def close(self) -> None:
        """End it, whatever it is doing."""
        self._child.close()

    def arrivals(self) -> list[Arrival]:
        """The arrival log, in order of arrival; only after `stop`, and only with a log."""
        assert self._log is not None
        numbers = array.array("Q")
        data = self._log.read_bytes()
        numbers.frombytes(data)
        return [Arrival(*numbers[i : i + _FIELDS]) for i in range(0, len(numbers), _FIELDS)]


def total(results: dict[str, Any], key: str) -> int:
    """One count over all streams."""
    return sum(stream[key] for stream in results["streams"])
