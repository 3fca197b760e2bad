# SPDX-License-Identifier: Apache-2.0
"""A process that sends and counts messages on inherited UDP sockets, one per application end; obeys JSON lines.

An endpoint is an application at one end of one drone's tunnel: it sends the stream (drone, way) to `to` and expects the
stream of the other way. Commands: start (endpoints, sizes, log), snapshot, stop (quiet_s, limit_s).
"""

import array
import contextlib
import ctypes
import heapq
import json
import os
import select
import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import messages
from courses import Course, read
from tally import Tally

_PR_SET_TIMERSLACK = 29
_STDIN = 0
_BATCH = 256
_RCVBUF_BYTES = 8 << 20
_SO_RCVBUFFORCE = 33
_SO_MEMINFO = 55
_LATE_S = 0.25
_BURST_RATE, _BURST_EVERY_S = 400.0, 10.0


def kernel_drops(end: socket.socket) -> int:
    """What the kernel dropped at this socket because its receive buffer was full (the drops of /proc/net/udp)."""
    try:
        return struct.unpack("=9I", end.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, 36))[8]
    except (OSError, struct.error):
        return 0


@dataclass
class Endpoint:
    """One application end."""

    socket: socket.socket
    drone: int
    way: int
    to: tuple[str, int]
    rate: float
    start: float = 0.0
    burst: int = 0
    number: int = 0
    course: Course | None = None

    @property
    def expects(self) -> tuple[int, int]:
        """The stream that arrives here: its drone and way."""
        return (self.drone, messages.UP if self.way == messages.DOWN else messages.DOWN)

    @property
    def due(self) -> float:
        """When (s) the next message is to be sent. A burst takes the beginning of each turn."""
        if self.course:
            turns, place = divmod(self.number, len(self.course.times_s))
            return self.start + turns * self.course.span_s + self.course.times_s[place]
        if not self.burst:
            return self.start + self.number / self.rate
        burst_s = self.burst / _BURST_RATE
        turns, place = divmod(self.number, self.burst + round(self.rate * (_BURST_EVERY_S - burst_s)))
        later = place / _BURST_RATE if place < self.burst else burst_s + (place - self.burst) / self.rate
        return self.start + turns * _BURST_EVERY_S + later


class Traffic:
    """All endpoints and what came of it."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.endpoints: dict[int, Endpoint] = {}
        self.tallies: dict[tuple[int, int], Tally] = {}
        self.corrupted = self.misdelivered = self.send_errors = self.late = 0
        self._sizes: dict[tuple[int, int], Sequence[int]] = {}  # of each stream
        self._log = array.array("Q") if config.get("log") else None
        self._log_path = config.get("log")
        now = time.monotonic()
        for index, each in enumerate(config["endpoints"]):
            end = socket.socket(fileno=each["socket"])
            end.setblocking(False)
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RCVBUF_BYTES)
            # starts are spread over one period, so that endpoints do not send in step
            start = now + (index / len(config["endpoints"])) / each["rate"]
            to = ("127.0.0.1", each["to_port"])
            endpoint = Endpoint(end, each["drone"], each["way"], to, each["rate"], start, each["burst"])
            if each["course"]:
                endpoint.course = read(Path(each["course"]), endpoint.way)
            sizes = endpoint.course.sizes if endpoint.course else config["sizes"]
            self.endpoints[end.fileno()] = endpoint
            self._sizes[(endpoint.drone, endpoint.way)] = sizes
            self.tallies[(endpoint.drone, endpoint.way)] = Tally()
        self._due = [(endpoint.due, descriptor) for descriptor, endpoint in self.endpoints.items()]
        heapq.heapify(self._due)

    def send_due(self) -> float:
        """Send what is due; return the seconds until the next."""
        now = time.monotonic()
        while self._due[0][0] <= now:
            _, descriptor = self._due[0]
            endpoint = self.endpoints[descriptor]
            if now - endpoint.due > _LATE_S:
                self.late += 1  # this machine did not keep up: a figure of the run, not of the tunnel
            sizes = self._sizes[(endpoint.drone, endpoint.way)]
            size = sizes[endpoint.number % len(sizes)]
            data = messages.encode(endpoint.drone, endpoint.way, endpoint.number, time.monotonic_ns(), size)
            try:
                endpoint.socket.sendto(data, endpoint.to)
            except OSError:
                self.send_errors += 1
                self.tallies[(endpoint.drone, endpoint.way)].send_errors += 1
            self.tallies[(endpoint.drone, endpoint.way)].sent += 1
            endpoint.number += 1
            heapq.heapreplace(self._due, (endpoint.due, descriptor))
            now = time.monotonic()
        return self._due[0][0] - now

    def receive(self, descriptor: int) -> bool:
        """Take what waits on a socket; return whether anything did."""
        endpoint = self.endpoints[descriptor]
        expected = endpoint.expects
        sizes = self._sizes[expected]
        for i in range(_BATCH):
            try:
                data = endpoint.socket.recv(4096)
            except OSError:
                return i > 0
            now = time.monotonic_ns()
            message = messages.decode(data)
            if message is None or len(data) != sizes[message.number % len(sizes)]:
                self.corrupted += 1
            elif (message.drone, message.way) != expected:
                self.misdelivered += 1
            elif self.tallies[expected].arrive(message.number, now) and self._log is not None:
                self._log.extend((message.drone, message.way, message.number, message.sent_ns, now))
        return True

    def results(self) -> dict[str, Any]:
        """Everything counted so far; the longest gaps start anew."""
        streams = []
        for endpoint in self.endpoints.values():
            self.tallies[endpoint.expects].kernel_dropped = kernel_drops(endpoint.socket)
        for (drone, way), tally in sorted(self.tallies.items()):
            streams.append({"drone": drone, "way": way, **tally.to_dict()})
            tally.take_longest_gap()
        return {
            "streams": streams,
            "corrupted": self.corrupted,
            "misdelivered": self.misdelivered,
            "send_errors": self.send_errors,
            "late": self.late,
        }

    def write_log(self) -> None:
        """Write the arrival log: five u64 a message (drone, way, number, sent ns, arrived ns)."""
        if self._log is not None:
            with Path(self._log_path).open("wb") as file:
                self._log.tofile(file)


def answer(number: int, result: Any) -> None:
    """Answer a command."""
    print(json.dumps({"id": number, "ok": True, "result": result}), flush=True)


def read_command() -> dict[str, Any] | None:
    """Read one line of the input without buffering beyond it, so that the descriptor tells whether more waits."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(_STDIN, 1)
        if not byte:
            return None
        line += byte
    return json.loads(line)


def main() -> None:
    """Wait for `start`, then move messages until told to stop or the input ends."""
    command = read_command()
    if command is None:
        return
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1000)
    traffic = Traffic(command)
    poll = select.epoll()
    for descriptor in (_STDIN, *traffic.endpoints):
        poll.register(descriptor, select.EPOLLIN)
    answer(command["id"], time.monotonic_ns())
    sending = True
    stop: dict[str, Any] = {}
    quiet_at = give_up_at = 0.0
    while True:
        wait = traffic.send_due() if sending else 0.05
        # select takes microseconds, epoll only whole milliseconds
        select.select([poll], [], [], max(0.0, wait))
        for descriptor, _ in poll.poll(0):
            if descriptor != _STDIN:
                if traffic.receive(descriptor) and not sending:
                    quiet_at = time.monotonic() + stop["quiet_s"]
                continue
            command = read_command()
            if command is None:
                return
            if command["do"] == "snapshot":
                answer(command["id"], traffic.results())
            else:
                sending, stop = False, command
                quiet_at = time.monotonic() + stop["quiet_s"]
                give_up_at = time.monotonic() + stop["limit_s"]
        if not sending and time.monotonic() >= min(quiet_at, give_up_at):
            traffic.write_log()
            answer(stop["id"], traffic.results())
            return


if __name__ == "__main__":
    main()
