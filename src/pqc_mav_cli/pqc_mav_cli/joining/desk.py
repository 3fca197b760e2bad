# SPDX-License-Identifier: Apache-2.0
"""The ground's side of an invitation: who is given the keys, and until when. Pure: messages and times go in.

A drone asks and the ground answers; each answer repeats the `id` of what it answers, and whatever is lost is asked
again. Before it asks for the first part of its share a drone draws a number, its `run`. The first run that asks for a
part is the only one that ever gets any, for as long as the invitation lives; another one hears so. The keys count as
handed over when that run says `stored`.

| ask | besides | answer |
|---|---|---|
| `hello` | `host` | `drone_id`, `size` and SHA-256 (`digest`) of the share, `parts` |
| `part` | `part` | that part's bytes behind the answer's line |
| `give` | `part`, `of`, `data` | nothing: public keys that the drone made, as base64 of JSON |
| `stored` | | `ok`, `text`: whether the drone is let in at the ground, and how |
| `tested` | `ok`, `text` | nothing |

A refusal has `refused`: `taken`, `over` or `bad`, and a sentence (`text`).
"""

import hashlib
import json
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.joining.share import LARGEST, ShareError, check_files

PART = 1000  # bytes of a share in one message
GRACE_S = 60.0  # after its last word, for the one drone that has begun
_RUN = re.compile(r"[0-9a-f]{32}")


class Stage(Enum):
    """How far an invitation is."""

    WAITING = "waiting"
    TAKEN = "taken"  # one run has asked for the keys
    STORED = "stored"
    TESTED = "tested"
    OVER = "over"  # nobody came in time, or the one that came fell silent


class Desk:
    """Answers one drone. `store` is told of public keys that the drone made, and does what the ground has to do."""

    def __init__(self, drone_id: str, share: bytes, until_s: float, store: Callable[[Mapping[str, str]], str]) -> None:
        self.stage = Stage.WAITING
        self.host = ""  # what the drone calls itself
        self.problem = ""  # why it is not let in, though it has stored its keys
        self.verdict = ""  # of its test of the link
        self.link_ok = False
        self.refused = 0  # messages of other runs
        self._drone_id = drone_id
        self._share = share
        self._parts = [share[at : at + PART] for at in range(0, len(share), PART)]
        self._until_s = until_s
        self._store = store
        self._run = ""
        self._heard_s = 0.0
        self._given: dict[int, bytes] = {}
        self._of = 0
        self._outcome: dict[str, Any] | None = None

    @property
    def taken(self) -> bool:
        """Did any run get a part of the keys?"""
        return bool(self._run)

    def left_s(self, now_s: float) -> float:
        """How long there is something to wait for."""
        return (self._until_s if self.stage is Stage.WAITING else self._heard_s + GRACE_S) - now_s

    def look(self, now_s: float) -> Stage:
        """The stage now; what had to come and did not ends it."""
        if self.stage in (Stage.WAITING, Stage.TAKEN) and self.left_s(now_s) <= 0:
            self.stage = Stage.OVER
        return self.stage

    def answer(self, message: bytes, now_s: float) -> bytes:
        """What the drone hears."""
        try:
            request = json.loads(message)
            run, ask, number = request["run"], request["ask"], request["id"]
            if not (isinstance(run, str) and _RUN.fullmatch(run) and isinstance(number, int)):
                raise ValueError
        except (ValueError, TypeError, KeyError, RecursionError):
            return _line({"id": 0, "refused": "bad", "text": "This is no request of this version."})
        try:
            header, body = self._answer(run, ask, request, now_s)
        except (ValueError, TypeError, KeyError, RecursionError):
            header, body = {"refused": "bad", "text": "The request has a field that cannot be."}, b""
        return _line({"id": number, **header}) + body

    def _answer(self, run: str, ask: str, request: Mapping[str, Any], now_s: float) -> tuple[dict[str, Any], bytes]:
        if self._run and run != self._run:
            self.refused += 1
            return {"refused": "taken", "text": "Another drone has taken this line; it works once."}, b""
        if self.look(now_s) is Stage.OVER:
            return {"refused": "over", "text": "The time of this line is over."}, b""
        self._heard_s = now_s
        if ask == "hello":
            self.host = plain(request["host"], 64)
            digest = hashlib.sha256(self._share).hexdigest()
            sizes = {"size": len(self._share), "parts": len(self._parts), "digest": digest}
            return {"drone_id": self._drone_id, **sizes}, b""
        if ask == "part":
            part = self._parts[_index(request["part"], len(self._parts))]
            if self.stage is Stage.WAITING:
                self._run, self.stage = run, Stage.TAKEN
            return {"part": request["part"]}, part
        if run != self._run:
            raise ValueError("nothing was taken")
        if ask == "give":
            self._take(request)
            return {}, b""
        if ask == "stored":
            return self._stored(), b""
        if ask == "tested" and self._outcome is not None:
            self.link_ok, self.verdict = request["ok"] is True, plain(request["text"], 300)
            self.stage = Stage.TESTED
            return {}, b""
        raise ValueError(ask)

    def _take(self, request: Mapping[str, Any]) -> None:
        of = request["of"]
        index = _index(request["part"], of)
        if not 0 < of <= LARGEST // PART or self._outcome is not None:
            raise ValueError(of)
        if of != self._of:
            self._given, self._of = {}, of
        self._given[index] = b64decode(request["data"], validate=True)

    def _stored(self) -> dict[str, Any]:
        """Once; asked again it says the same."""
        if self._outcome is None:
            try:
                self._outcome = {"ok": True, "text": self._store(self._public_keys())}
            except CliError as error:
                self._outcome = {"ok": False, "text": str(error)}
                self.problem = str(error)
            self.stage = Stage.STORED
        return self._outcome

    def _public_keys(self) -> Mapping[str, str]:
        if not self._of:
            return {}
        if len(self._given) != self._of:
            raise ValueError("parts are missing")
        files = json.loads(b"".join(self._given[index] for index in range(self._of)))
        if not isinstance(files, dict):
            raise ShareError("The drone sent something else than its public keys; nothing was kept.")
        check_files(files)
        if any(not (name.startswith("sig/") and name.endswith(".pub")) for name in files):
            raise ShareError("The drone sent other files than its public keys; they were not kept.")
        return dict(files)


def plain(text: object, longest: int) -> str:
    """What the other end wrote, fit for a terminal."""
    return "".join(each if each.isprintable() else "?" for each in str(text)[:longest])


def _index(value: object, count: object) -> int:
    if not isinstance(value, int) or not isinstance(count, int) or not 0 <= value < count:
        raise ValueError(value)
    return value


def _line(header: Mapping[str, Any]) -> bytes:
    return json.dumps(header).encode() + b"\n"
