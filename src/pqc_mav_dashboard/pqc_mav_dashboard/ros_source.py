# SPDX-License-Identifier: Apache-2.0
"""ROS topics, heard by a process beside the server (ros_helper.py), which runs only while somebody looks."""

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from pqc_mav_common.child import die_with
from pqc_mav_dashboard.errors import RefusalError
from pqc_mav_dashboard.event_log import EventLog
from pqc_mav_dashboard.source import ACTIONS
from pqc_mav_dashboard.topics import Topics

LONGEST = 1 << 24  # bytes of a line: a second of a large fleet
WAIT_S, REKEY_S = 12.0, 60.0
AGAIN_S = 5.0  # after the helper has died
WITHOUT = "ROS 2 is not available on this machine, so no topics are heard."
QUIET = "No ROS topics of this drone are heard."


class RosSource:
    """Starts the helper, keeps what it hears, passes calls on."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.available = find_spec("rclpy") is not None
        self.covered: set[tuple[str, str]] = set()  # (role, drone) of ends that something quicker tells of
        self.topics = Topics(self._tell)
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._calls: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = itertools.count(1)
        self._wanted: set[str] = set()
        self._again_s = 0.0

    @property
    def absent(self) -> str:
        """Why there are no topics; "" while they are listened to."""
        return "" if self.available else WITHOUT

    @property
    def problem(self) -> str:
        """What is wrong with listening, as one sentence; "" while nothing is."""
        if self._process is None or self._process.returncode is None:
            return ""
        return "The process that listens to ROS has ended; it is started again, and says why on the server's terminal."

    async def start(self) -> None:
        """Starts listening, where ROS is there."""
        if not self.available:
            return
        self._again_s = time.monotonic() + AGAIN_S
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pqc_mav_dashboard.ros_helper"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST,
            preexec_fn=die_with(os.getpid()),
            start_new_session=True,
        )
        self._wanted = set()
        self._reading = asyncio.create_task(self._read(self._process))

    async def stop(self) -> None:
        """Ends the helper and forgets what it heard."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), 3.0)
            except asyncio.TimeoutError:
                process.kill()
                await process.wait()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            self._reading = None
        self.topics = Topics(self._tell)

    async def keep(self, covered: set[tuple[str, str]]) -> None:
        """Each round: figures are asked of proxies that are not `covered` (role, drone) by something quicker."""
        self.covered = covered
        if not self.available:
            return
        if self._process is None or self._process.returncode is not None:
            if time.monotonic() > self._again_s:
                await self.stop()
                await self.start()
            return
        wanted = {node for node, tunnels in self.topics.proxies().items() if not set(tunnels) <= covered}
        if wanted != self._wanted:
            self._wanted = wanted
            self._send({"want": sorted(wanted)})

    async def call(self, asked: Mapping[str, Any], wait_s: float = WAIT_S) -> dict[str, Any]:
        """One call of a service. Raises RefusalError where it is refused or nobody answers."""
        if self._process is None or self._process.returncode is not None:
            raise RefusalError("not_possible", self.absent or "ROS is just being started; try again in a moment.")
        number = next(self._numbers)
        future = self._calls[number] = asyncio.get_running_loop().create_future()
        try:
            self._send({**asked, "id": number, "timeout_s": wait_s})
            answer: dict[str, Any] = await asyncio.wait_for(future, wait_s + 2.0)
        except asyncio.TimeoutError:
            raise RefusalError("engine", f"No answer from {asked.get('service')}.") from None
        finally:
            self._calls.pop(number, None)
        if not answer["ok"]:
            raise RefusalError("engine", answer["text"])
        return answer

    async def act(self, action: str, drone: str, arguments: Mapping[str, str], alone: bool) -> str:
        """An action by services."""
        space = self.topics.namespace_of_drone(drone, alone)
        if action in ("pin", "mode"):
            asked: dict[str, Any] = {"call": action, "service": f"{space}/pqc_policy/set_mode"}
            if action == "pin":
                asked = {"call": action, "service": f"{space}/pqc_policy/pin_suite", "suite": ""}
            return str((await self.call({**asked, **arguments}))["text"])
        if action == "station":
            asked = {"call": "set_parameter", "name": "station", "value": arguments.get("gcs_id", "")}
            await self.call({**asked, "service": f"{space}/pqc_proxy/set_parameters"})
            return f"{drone} goes to {arguments.get('gcs_id') or 'its first station'} as soon as that answers."
        ends = sorted((e for e in self.topics.ends() if e.drone == drone), key=lambda end: end.role != "drone")
        if not ends:
            raise RefusalError("not_possible", f"No proxy of '{drone}' is heard.")
        asked = {"call": "rekey", "service": f"{ends[0].name}/rekey", "drone_id": drone, **arguments}
        return str((await self.call(asked, REKEY_S))["text"])

    def actions(self, drone: str, alone: bool) -> dict[str, str]:
        """Why not, for each action; "" where it is possible."""
        if not self.available:
            return dict.fromkeys(ACTIONS, WITHOUT)
        ends = [end for end in self.topics.ends() if end.drone == drone]
        own = [end for end in ends if end.role == "drone"]
        policy = "policy" in self.topics.senses_of(drone, alone)
        no_policy = "" if policy else "No policy of this drone is heard; it is started with 'pqcmav up drone'."
        many = any(end.status.get("stations") for end in own)
        return {
            "rekey": "" if ends else "No proxy of this drone is heard.",
            "pin": no_policy,
            "mode": no_policy,
            "station": "" if many else "This drone has one ground station, or its own end is not heard.",
        }

    def _tell(self, end: str, event: Mapping[str, Any]) -> None:
        """Into the log, but for what a control socket tells as well."""
        told = event["event"] in ("state", "handshake") and (event.get("role"), event.get("drone_id")) in self.covered
        if not told:
            self._log.add(end, event)

    def _send(self, content: Mapping[str, Any]) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(json.dumps(content).encode() + b"\n")

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        with suppress(ValueError, OSError):
            while line := await process.stdout.readline():
                self._take(json.loads(line))

    def _take(self, heard: Mapping[str, Any]) -> None:
        if "id" in heard:
            future = self._calls.get(heard["id"])
            if future is not None and not future.done():
                future.set_result(dict(heard))
            return
        now_s, clock_s = time.time(), time.monotonic()
        for message in heard["messages"]:
            at_s = message["at_s"]
            self.topics.put(message["topic"], message["type"], message["fields"], at_s, now_s - (clock_s - at_s))
