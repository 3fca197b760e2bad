# SPDX-License-Identifier: Apache-2.0
"""The token: what is let in, how often it may be guessed, how often something may be done."""

from __future__ import annotations

import pytest

from pqc_mav_dashboard import token as module
from pqc_mav_dashboard.errors import RefusalError
from pqc_mav_dashboard.token import ACTION_S, ACTIONS, EACH_S, TRIES, Token


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def code(token: Token, given: str | None) -> str:
    try:
        token.check(given)
    except RefusalError as error:
        return error.code
    return ""


def test_each_start_has_another_one_and_it_is_long() -> None:
    first, second = Token(), Token()
    assert first.value != second.value and len(first.value) >= 24


def test_only_the_token_is_let_in(clock: Clock) -> None:
    token = Token("right", clock)
    assert [code(token, given) for given in ("right", None, "", "wrong", "righ", "right ", "r\u0131ght")] == [
        *("", "no_token", "no_token"),
        *("wrong_token",) * 4,
    ]


def test_it_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def compare(given: bytes, value: bytes) -> bool:
        compared.append((given, value))
        return False

    monkeypatch.setattr(module.hmac, "compare_digest", compare)
    assert code(Token("right"), "right") == "wrong_token", "nothing else decides"
    assert compared == [(b"right", b"right")]


def test_guessing_is_slow(clock: Clock) -> None:
    token = Token("right", clock)
    assert [code(token, "wrong") for _ in range(TRIES + 1)] == ["wrong_token"] * TRIES + ["too_many_attempts"]
    assert code(token, "right") == "too_many_attempts", "or a guess could be told from a miss"
    clock.now_s += EACH_S
    assert [code(token, each) for each in ("wrong", "wrong")] == ["wrong_token", "too_many_attempts"]
    clock.now_s += EACH_S
    assert [code(token, "right") for _ in range(3)] == [""] * 3


def test_actions_are_bounded(clock: Clock) -> None:
    token = Token("right", clock)
    for _ in range(ACTIONS):
        token.spend()
    with pytest.raises(RefusalError, match="try again in 3 s"):
        token.spend()
    clock.now_s += ACTION_S
    token.spend()
