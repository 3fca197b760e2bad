# SPDX-License-Identifier: Apache-2.0
"""The token without which nothing is steered: made at start, printed once, compared in constant time, few tries."""

import hmac
import secrets
import time
from collections.abc import Callable

from pqc_mav_dashboard.errors import RefusalError

HEADER = "x-pqcmav-token"
BYTES = 18  # 144 bits, 24 characters
LONGEST = 256
TRIES, EACH_S = 5, 12.0  # wrong tokens in a row, and how long it takes until one more is allowed
ACTIONS, ACTION_S = 10, 3.0


class Bucket:
    """So many at once, and one more after each `each_s`."""

    def __init__(self, size: int, each_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._size, self._each_s, self._clock = size, each_s, clock
        self._level, self._at_s = float(size), clock()

    def _fill(self) -> None:
        now_s = self._clock()
        self._level = min(float(self._size), self._level + (now_s - self._at_s) / self._each_s)
        self._at_s = now_s

    def wait_s(self) -> float:
        """Seconds until one is allowed; 0 if one is."""
        self._fill()
        return 0.0 if self._level >= 1 else (1 - self._level) * self._each_s

    def take(self) -> None:
        """One is spent."""
        self._fill()
        self._level = max(0.0, self._level - 1)


class Token:
    """Holds the token and how often it was guessed wrong; `clock` in seconds."""

    def __init__(self, value: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.value = value or secrets.token_urlsafe(BYTES)
        self._wrong = Bucket(TRIES, EACH_S, clock)
        self._actions = Bucket(ACTIONS, ACTION_S, clock)

    def check(self, given: str | None) -> None:
        """Raises RefusalError unless it is the token; after some wrong ones even then, for a while."""
        if given is None or not given:
            raise RefusalError(
                "no_token", f"Actions need the token that 'pqcmav dashboard' printed at its start, in {HEADER}."
            )
        wait_s = self._wrong.wait_s()
        if wait_s > 0:
            raise RefusalError(
                "too_many_attempts",
                f"Too many wrong tokens were tried; try again in {wait_s:.0f} s, or use 'pqcmav rekey'.",
            )
        if len(given) > LONGEST or not hmac.compare_digest(given.encode(), self.value.encode()):
            self._wrong.take()
            raise RefusalError("wrong_token", "That is not the token that 'pqcmav dashboard' printed at its start.")

    def spend(self) -> None:
        """Counts one action. Raises RefusalError for too many in a short time: each keeps a radio busy."""
        wait_s = self._actions.wait_s()
        if wait_s > 0:
            raise RefusalError("too_many_actions", f"Too many actions in a short time; try again in {wait_s:.0f} s.")
        self._actions.take()
