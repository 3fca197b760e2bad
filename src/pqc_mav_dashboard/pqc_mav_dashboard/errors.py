# SPDX-License-Identifier: Apache-2.0
"""What the server refuses: a code for programs, a status, a sentence for people, and how often it happened."""

from collections import Counter
from typing import Any

# code -> HTTP status
STATUS = {
    "wrong_host": 421,
    "wrong_origin": 403,
    "wrong_user": 403,
    "no_token": 401,
    "wrong_token": 403,
    "too_many_attempts": 429,
    "too_many_actions": 429,
    "too_many_viewers": 503,
    "too_long": 413,
    "bad_request": 400,
    "not_found": 404,
    "wrong_method": 405,
    "no_such_action": 404,
    "not_possible": 409,
    "engine": 409,
}


class RefusalError(Exception):
    """One refusal. `code` is a key of STATUS."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence

    @property
    def status(self) -> int:
        """HTTP status."""
        return STATUS[self.code]

    def as_json(self) -> dict[str, Any]:
        """As the page and scripts get it."""
        return {"ok": False, "error": {"code": self.code, "text": self.sentence}}


class Refused:
    """Counts refusals by code since start."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def count(self, refusal: RefusalError) -> RefusalError:
        """Counts it and gives it back."""
        self.counts[refusal.code] += 1
        return refusal
