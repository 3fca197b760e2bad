# SPDX-License-Identifier: Apache-2.0
"""What ROS topics say of threat, policy and battery, where ROS is there: a process beside the exporter hears them.

It begins with the first scrape, and ends where nobody has asked for a while.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from pqc_mav_common.child import end, start
from pqc_mav_dashboard.topics import namespace_of, short_type

HELPER = (sys.executable, "-m", "pqc_mav_dashboard.ros_helper")
KINDS = {"ThreatReport": "threat", "PolicyDecision": "policy", "BatteryHealth": "battery"}
AGAIN_S = 10.0  # after the helper has died
IDLE_S = 300.0  # without a scrape
FORGET_S = 600.0  # without a message: its node was ended on purpose
TOPICS_MOST = 192


@dataclass(frozen=True)
class Reading:
    """The newest message of a topic: `sense` is one of KINDS' values, `age_s` how long ago it came."""

    namespace: str
    sense: str
    fields: Mapping[str, Any]
    age_s: float


class Senses:
    """Any thread may ask for them; nobody waits for ROS."""

    def __init__(
        self, say: Callable[[str], None] = lambda _: None, command: Sequence[str] = HELPER, *, idle_s: float = IDLE_S
    ) -> None:
        """`say` is told when the process beside has died; `command` starts that one."""
        self._say = say
        self._command = list(command)
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._newest: dict[tuple[str, str], tuple[Mapping[str, Any], float]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._again_s = 0.0
        self._idle: threading.Timer | None = None

    @property
    def listening(self) -> bool:
        """Whether topics are heard."""
        return self._process is not None and self._process.poll() is None

    def readings(self) -> list[Reading]:
        """What is known now; nothing at the first time, for topics have to be found first."""
        now_s = time.monotonic()
        with self._lock:
            self._keep(now_s)
            for key in [key for key, (_, at_s) in self._newest.items() if now_s - at_s > FORGET_S]:
                del self._newest[key]
            return [
                Reading(space, sense, fields, now_s - at_s)
                for (space, sense), (fields, at_s) in sorted(self._newest.items(), key=lambda item: item[0])
            ]

    def close(self) -> None:
        """Ends the process beside."""
        with self._lock:
            self._end()

    def _keep(self, now_s: float) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = threading.Timer(self._idle_s, self.close)
        self._idle.daemon = True
        self._idle.start()
        if self.listening or now_s < self._again_s:
            return
        if self._process is not None:
            self._say("The process that listens to ROS topics has ended; it is started again.")
            self._end(keep_idle=True)
        self._again_s = now_s + AGAIN_S
        started = threading.Event()
        # The thread that starts a child is its parent to the kernel, and a request's would end too soon.
        threading.Thread(target=self._listen, args=(started,), name="senses", daemon=True).start()
        started.wait()

    def _end(self, *, keep_idle: bool = False) -> None:
        process, self._process = self._process, None
        if self._idle is not None and not keep_idle:
            self._idle.cancel()
            self._idle = None
            self._again_s = 0.0
        self._newest.clear()
        if process is None:
            return
        end(process)

    def _listen(self, started: threading.Event) -> None:
        try:
            process = self._process = start(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            self._say(f"ROS topics are not heard: {error}.")
            return
        finally:
            started.set()
        assert process.stdout is not None
        with process.stdout as lines, suppress(ValueError, OSError, KeyError, TypeError):
            for line in lines:
                heard = json.loads(line)
                with self._lock:
                    if process is self._process:
                        self._take(heard["messages"])

    def _take(self, messages: Sequence[Mapping[str, Any]]) -> None:
        for message in messages:
            kind = short_type(message["type"])
            if kind not in KINDS:
                continue
            key = namespace_of(message["topic"], kind), KINDS[kind]
            if key in self._newest or len(self._newest) < TOPICS_MOST:
                # All of it comes again and again, so the arrival counts: the drone's clock may be another.
                self._newest[key] = message["fields"], message["at_s"]


def senses_here(say: Callable[[str], None]) -> Senses | None:
    """None where ROS is not there."""
    return Senses(say) if find_spec("rclpy") is not None else None
