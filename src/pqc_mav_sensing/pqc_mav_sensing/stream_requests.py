# SPDX-License-Identifier: Apache-2.0
"""Which messages to ask the autopilot for, and when: those that sensing needs and that nobody else has asked for. Pure.

ArduPilot sends little but heartbeats until a ground station has asked for streams. Whoever flies without one that asks
would have neither a battery reading nor a phase of flight. PX4 sends its battery but every 2 s.
So each message that stays away or comes too seldom is asked for by SET_MESSAGE_INTERVAL, one at a time and from the
third time on once a minute, until it comes or the autopilot refuses. An autopilot that was restarted quickly, or that
somebody else asked for other rates, is asked again in that way.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pqc_mav_sensing.mavlink_messages import LAYOUTS
from pqc_mav_sensing.rhythm import Rhythm

# Message -> how often it is asked for [us]. Sensing calls a battery or a position older than 2 s unknown.
WANTED_US: Mapping[int, int] = {147: 500_000, 33: 250_000, 74: 250_000, 245: 500_000}
# Either of these tells the battery.
_BATTERY = frozenset({1, 147})
_COMPANIONS = {147: _BATTERY}
# Without this much of waiting in between a message was not forgotten, only late.
AFTER_S = 5.0
SELDOM_S = 1.2  # usual gap from which on a message comes too seldom: half of the 2 s and some jitter
ANSWER_S = 1.5
AGAIN_S = (5.0, 15.0, 60.0)  # after the first request that nobody answered, the second, each further one
KEPT_S = AGAIN_S[-1]  # what was accepted is not asked for again sooner than this
ACCEPTED = 0  # MAV_RESULT


@dataclass
class _Asked:
    times: int = 0
    next_s: float = -math.inf
    answer: str = ""  # to the newest; "" while there is none


class StreamRequests:
    """Times are seconds of a monotonic clock."""

    def __init__(self, after_s: float = AFTER_S, lost_s: float = 3.0) -> None:
        """Asks once the autopilot has been heard for `after_s` and a message has not; anew after a silence of the
        autopilot longer than `lost_s`, for it may have been restarted."""
        self._after_s = after_s
        self._lost_s = lost_s
        self._forget(-math.inf)

    def _forget(self, at_s: float) -> None:
        self._since_s = self._beat_s = at_s
        self._comes = {message: Rhythm() for message in (*WANTED_US, *_BATTERY)}
        self._asked = {message: _Asked() for message in WANTED_US}
        self._open: tuple[int, float] | None = None  # asked for, until when an answer counts

    def heard(self, message: int, at_s: float) -> None:
        """A good message of the vehicle's autopilot; heartbeats (0) tell that it lives."""
        if message == 0:
            if at_s - self._beat_s > self._lost_s:
                self._forget(at_s)
            self._beat_s = at_s
        elif message in self._comes:
            self._comes[message].heard(at_s)

    def answered(self, result: int, at_s: float) -> None:
        """The autopilot's COMMAND_ACK of SET_MESSAGE_INTERVAL. It does not say of which message, so only one is open
        at a time."""
        if self._open is None or at_s > self._open[1]:
            return
        asked = self._asked[self._open[0]]
        asked.answer = "accepted" if result == ACCEPTED else f"refused ({result})"
        asked.next_s = at_s + KEPT_S if result == ACCEPTED else math.inf
        self._open = None

    def due(self, now_s: float) -> tuple[int, int] | None:
        """The next message to ask for, and its interval [us]; it counts as asked for."""
        waiting = self._open is not None and now_s <= self._open[1]
        alive = now_s - self._beat_s <= self._lost_s
        if waiting or not alive or now_s - self._since_s < self._after_s:
            return None
        for message, asked in self._asked.items():
            newest = max(self._comes[each].came_s for each in _COMPANIONS.get(message, {message}))
            enough = now_s - newest < self._after_s and self._comes[message].gap_s < SELDOM_S
            if enough or now_s < asked.next_s:
                continue
            asked.next_s = now_s + AGAIN_S[min(asked.times, len(AGAIN_S) - 1)]
            asked.times, asked.answer = asked.times + 1, ""
            self._open = message, now_s + ANSWER_S
            return message, WANTED_US[message]
        return None

    @property
    def said(self) -> str:
        """What has been asked for and what came of it, for diagnostics; "" where nothing had to be."""
        asked = {LAYOUTS[message].name: each for message, each in self._asked.items() if each.times}
        return ", ".join(f"{name} {each.answer or f'not answered ({each.times})'}" for name, each in asked.items())
