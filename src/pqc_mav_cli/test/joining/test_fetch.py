# SPDX-License-Identifier: Apache-2.0
import json
import random
import socket
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.joining import fetch
from pqc_mav_cli.joining.desk import Desk
from pqc_mav_cli.joining.line import Line

SHARE = bytes(range(256)) * 20
LINE = Line("10.0.0.1", 46021, bytes(32), bytes(48), 1_000_000)


class Wire:
    """A session that loses, doubles and delays, with a desk at its other end."""

    def __init__(self, answer: Callable[[bytes], bytes], loss: float = 0.0, state: str = "UP") -> None:
        self._answer = answer
        self._loss = loss
        self._random = random.Random(1)
        self._waiting: list[bytes] = []
        self.state = state

    def send(self, message: bytes) -> None:
        assert len(message) <= 1200
        if self._random.random() >= self._loss:
            answer = self._answer(message)
            assert len(answer) <= 1200
            self._waiting += [answer] * self._random.choice((1, 1, 2))

    def receive(self, timeout_s: float) -> bytes | None:
        if self._waiting and self._random.random() >= self._loss:
            return self._waiting.pop(0)
        if self._waiting and self._random.random() < 0.5:
            self._waiting.pop(0)
        return None

    def status(self) -> Mapping[str, Any]:
        return {"state": self.state, "last_error": ""}


@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_everything_comes_through_a_link_that_loses_and_doubles(loss: float) -> None:
    stored: list[Mapping[str, str]] = []

    def store(public: Mapping[str, str]) -> str:
        stored.append(public)
        return "Served."

    desk = Desk("d1", SHARE, 600.0, store)
    caller = fetch.Caller(Wire(lambda message: desk.answer(message, 1.0), loss))
    offer, _ = caller.ask("hello", host="pi")
    assert caller.share(offer["parts"], offer["size"], offer["digest"]) == SHARE
    public = {"sig/mldsa65.pub": "pqcmav-key 1\n" + "x" * 3000}
    caller.give(public)
    caller.ask("stored")
    caller.ask("tested", ok=True, text="fine")
    assert stored == [public] and desk.link_ok


def test_a_share_that_is_not_what_was_announced_is_refused() -> None:
    desk = Desk("d1", SHARE, 600.0, lambda _: "")
    caller = fetch.Caller(Wire(lambda message: desk.answer(message, 1.0)))
    with pytest.raises(CliError, match="not what the ground station announced"):
        caller.share(6, len(SHARE), "0" * 64)
    for parts, size in ((1, len(SHARE)), (10**9, 10**12), (0, 0), (-1, -1000), ("6", 5120)):
        with pytest.raises(CliError, match="cannot be"):
            caller.share(parts, size, "")  # type: ignore[arg-type]


def test_a_refusal_is_told_fit_for_a_terminal() -> None:
    def refuse(message: bytes) -> bytes:
        return json.dumps({"id": json.loads(message)["id"], "refused": "taken", "text": "Taken.\x1b[2J"}).encode()

    with pytest.raises(CliError, match=r"The ground station says: Taken\.\?\[2J"):
        fetch.Caller(Wire(refuse)).ask("hello", host="pi")


def test_silence_ends_it() -> None:
    with pytest.raises(CliError, match="fell silent"):
        fetch.Caller(Wire(lambda _: b"", 1.0), answer_s=0.2).ask("hello")


def test_what_is_no_answer_is_passed_over() -> None:
    answers = iter([b"", b"[]", b"[" * 1100, b'{"id": 99}', b'{"id": 1, "x": 2}\nbody'])
    assert fetch.Caller(Wire(lambda _: next(answers))).ask("hello") == ({"id": 1, "x": 2}, b"body")


WAIT = "The ground station did not answer, or fell silent. In order of likelihood"


@pytest.mark.parametrize(
    ("engine", "network", "late_s", "words"),
    [
        ("", "name", 0, "has no address here"),
        ("", "route", 0, "no route to 10.0.0.1:46021"),
        ("", "refused", -5, "this line was used, its time is over, or 'pqcmav invite' was ended"),
        ("", "refused", 5, "its time is over"),
        (WAIT, "", 200, "was over 3 min ago: ask for a new line"),
        ("", "", 90_000, "25 h ago"),
        (WAIT, "", -5, "UDP port 46021"),
        ("No answer yet from the gcs at 10.0.0.1:46021 (UDP); the drone keeps asking.", "", -5, "earlier invitation"),
        ("The gcs' signature does not verify with the public key on this drone.", "", -5, "Somebody at 10.0.0.1:46021"),
        ("The ground station is busy.", "", -5, "did not let this drone in: The ground station is busy."),
    ],
)
def test_each_cause_has_its_sentence(engine: str, network: str, late_s: float, words: str) -> None:
    assert words in fetch.why_not(LINE, engine, network, LINE.until_s + late_s)


def test_a_wrong_clock_is_said_not_to_matter() -> None:
    assert "the ground counts the time" in fetch.why_not(LINE, "", "", LINE.until_s + 1e6)


def test_the_network_says_when_nobody_listens() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    assert fetch.probe("127.0.0.1", port) == "refused"
    assert fetch.probe("no-such-host.invalid", port) == "name"


def test_who_does_not_get_in_hears_why() -> None:
    with pytest.raises(CliError, match=r"Nobody waits at 127\.0\.0\.1:9"):
        fetch.reach(Wire(lambda _: b"", state="CONNECTING"), Line("127.0.0.1", 9, bytes(32), bytes(48), 0), 0.1)


def test_reaching_ends_when_the_session_is_up() -> None:
    fetch.reach(Wire(lambda _: b""), LINE, 5.0)
