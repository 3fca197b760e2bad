# SPDX-License-Identifier: Apache-2.0
import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import pytest

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.joining.desk import PART, Desk, Stage, plain

A, B = "a" * 32, "b" * 32
SHARE = bytes(range(256)) * 10
PUBLIC = {"sig/mldsa65.pub": "pqcmav-key 1\nx\n"}


class Ground:
    """What the desk tells, and how the ground takes it."""

    def __init__(self, problem: str = "") -> None:
        self.stored: list[Mapping[str, str]] = []
        self.problem = problem
        self.desk = Desk("drone1", SHARE, 600.0, self._store)

    def _store(self, public: Mapping[str, str]) -> str:
        self.stored.append(public)
        if self.problem:
            raise CliError(self.problem)
        return "Served."

    def ask(self, run: str, ask: str, now_s: float = 1.0, **about: Any) -> dict[str, Any]:
        return self.whole(run, ask, now_s, **about)[0]

    def whole(self, run: str, ask: str, now_s: float = 1.0, **about: Any) -> tuple[dict[str, Any], bytes]:
        request = json.dumps({"run": run, "ask": ask, "id": 7, **about}).encode()
        head, _, body = self.desk.answer(request, now_s).partition(b"\n")
        answer = json.loads(head)
        assert answer.pop("id") == 7
        return answer, body

    def take(self, run: str = A) -> bytes:
        hello = self.ask(run, "hello", host="pi")
        return b"".join(self.whole(run, "part", part=number)[1] for number in range(hello["parts"]))


def test_one_drone_takes_stores_and_tests() -> None:
    ground = Ground()
    stages = [ground.desk.stage]
    assert ground.take() == SHARE
    stages.append(ground.desk.stage)
    assert ground.ask(A, "stored") == {"ok": True, "text": "Served."}
    stages.append(ground.desk.stage)
    assert ground.ask(A, "tested", ok=True, text="fine") == {}
    assert stages == [Stage.WAITING, Stage.TAKEN, Stage.STORED]
    assert (ground.desk.stage, ground.desk.link_ok, ground.desk.verdict) == (Stage.TESTED, True, "fine")
    assert ground.stored == [{}]


def test_what_is_asked_again_is_answered_again_and_done_once() -> None:
    ground = Ground()
    ground.take()
    assert ground.take() == SHARE
    assert ground.ask(A, "stored") == ground.ask(A, "stored")
    assert len(ground.stored) == 1
    ground.ask(A, "tested", ok=False, text="first")
    assert ground.ask(A, "stored") == {"ok": True, "text": "Served."} and len(ground.stored) == 1


def test_the_first_that_asks_for_a_part_is_the_only_one_ever() -> None:
    ground = Ground()
    ground.ask(B, "hello", host="other")
    ground.take(A)
    for ask, about in (("hello", {"host": "x"}), ("part", {"part": 0}), ("stored", {}), ("tested", {"ok": True})):
        answer, body = ground.whole(B, ask, **about)
        assert answer["refused"] == "taken" and body == b""
    assert ground.desk.refused == 4 and ground.stored == []
    ground.ask(A, "stored")
    ground.ask(A, "tested", ok=True, text="")
    assert ground.ask(B, "part", part=0)["refused"] == "taken"


def test_a_hello_takes_nothing() -> None:
    ground = Ground()
    hello, body = ground.whole(A, "hello", host="pi")
    assert body == b"" and hello["size"] == len(SHARE) and not ground.desk.taken
    assert ground.take(B) == SHARE


def test_the_ground_s_clock_ends_it() -> None:
    ground = Ground()
    assert ground.desk.look(599.9) is Stage.WAITING and ground.desk.left_s(599.0) == 1.0
    assert ground.ask(A, "hello", 600.0, host="pi")["refused"] == "over"
    assert ground.ask(A, "part", 1.0, part=0)["refused"] == "over", "what is over stays over"


def test_who_has_begun_in_time_may_finish_but_not_fall_silent() -> None:
    ground = Ground()
    ground.whole(A, "part", 599.0, part=0)
    assert ground.ask(A, "part", 640.0, part=1) == {"part": 1}
    assert ground.ask(B, "part", 641.0, part=1)["refused"] == "taken"
    assert ground.desk.look(699.9) is not Stage.OVER
    assert ground.desk.look(700.0) is Stage.OVER
    assert ground.ask(A, "stored", 700.0)["refused"] == "over" and ground.stored == []


def test_a_stranger_s_question_does_not_lengthen_it() -> None:
    ground = Ground()
    ground.whole(A, "part", 10.0, part=0)
    ground.whole(B, "part", 60.0, part=0)
    assert ground.desk.look(70.0) is Stage.OVER


@pytest.mark.parametrize("ask", ["stored", "tested", "give"])
def test_nothing_is_stored_before_anything_was_taken(ask: str) -> None:
    ground = Ground()
    assert ground.ask(A, ask, ok=True, text="", part=0, of=1, data="")["refused"] == "bad"
    assert ground.desk.stage is Stage.WAITING and ground.stored == []


@pytest.mark.parametrize(
    "message",
    [
        b"", b"\xff", b"[]", b"{}", b"7", b"[" * 5000, b'{"run": 1, "ask": "hello", "id": 1}',
        b'{"run": "AAAA", "ask": "hello", "id": 1}',
        json.dumps({"run": A, "ask": "hello", "id": 1}).encode(),
        json.dumps({"run": A, "ask": "part", "id": 1, "part": -1}).encode(),
        json.dumps({"run": A, "ask": "part", "id": 1, "part": 3}).encode(),
        json.dumps({"run": A, "ask": "part", "id": 1, "part": "0"}).encode(),
        json.dumps({"run": A, "ask": ["x"], "id": 1}).encode(),
        json.dumps({"run": A, "ask": "part", "id": "x", "part": 0}).encode(),
    ],
)  # fmt: skip
def test_nonsense_is_refused_and_takes_nothing(message: bytes) -> None:
    ground = Ground()
    head, _, body = ground.desk.answer(message, 1.0).partition(b"\n")
    assert json.loads(head)["refused"] == "bad" and body == b""
    assert not ground.desk.taken


def give(ground: Ground, files: Any, run: str = A) -> list[dict[str, Any]]:
    whole = json.dumps(files).encode()
    parts = [whole[at : at + 20] for at in range(0, len(whole), 20)]
    return [
        ground.ask(run, "give", part=number, of=len(parts), data=b64encode(part).decode())
        for number, part in reversed(list(enumerate(parts)))
    ]


def test_public_keys_come_in_any_order() -> None:
    ground = Ground()
    ground.take()
    assert give(ground, PUBLIC) == [{}] * 3 or all(answer == {} for answer in give(ground, PUBLIC))
    ground.ask(A, "stored")
    assert ground.stored == [PUBLIC]


def test_a_part_that_is_missing_is_not_stored() -> None:
    ground = Ground()
    ground.take()
    ground.ask(A, "give", part=1, of=2, data="")
    assert ground.ask(A, "stored")["refused"] == "bad" and ground.stored == []


@pytest.mark.parametrize(
    "files",
    [{"psk.key": PUBLIC["sig/mldsa65.pub"]}, {"sig/mldsa65.key": "pqcmav-key 1\n"}, {"../x.pub": "pqcmav-key 1\n"},
     {"gcs/mldsa65.pub": "pqcmav-key 1\n"}, {"sig/mldsa65.pub": "x"}, [1], 5],
)  # fmt: skip
def test_other_files_than_public_keys_are_refused(files: Any) -> None:
    ground = Ground()
    ground.take()
    give(ground, files)
    assert ground.ask(A, "stored")["ok"] is False and ground.desk.problem and ground.stored == []


def test_keys_nested_without_end_are_refused() -> None:
    ground = Ground()
    ground.take()
    ground.ask(A, "give", part=0, of=1, data=b64encode(b"[" * 20_000).decode())
    assert ground.ask(A, "stored")["refused"] == "bad" and ground.stored == []


@pytest.mark.parametrize(("part", "of"), [(0, 0), (5, 5), (-1, 3), (0, 10**9), ("0", 1), (0, "1")])
def test_parts_that_cannot_be_are_refused(part: Any, of: Any) -> None:
    ground = Ground()
    ground.take()
    assert ground.ask(A, "give", part=part, of=of, data="")["refused"] == "bad"


def test_a_ground_that_cannot_let_it_in_says_why() -> None:
    ground = Ground("The port is taken.")
    ground.take()
    assert ground.ask(A, "stored") == {"ok": False, "text": "The port is taken."}
    assert ground.desk.problem == "The port is taken." and ground.desk.stage is Stage.STORED


def test_parts_fit_a_message_and_what_a_drone_says_fits_a_terminal() -> None:
    ground = Ground()
    head, body = ground.whole(A, "part", part=0)
    assert len(body) == PART and len(json.dumps(head)) < 100
    assert plain("a\x1b[2Jb\n", 64) == "a?[2Jb?" and plain("x" * 99, 64) == "x" * 64
    ground.ask(A, "hello", host="\x1b]0;evil\x07")
    assert ground.desk.host == "?]0;evil?"
