# SPDX-License-Identifier: Apache-2.0
"""Asking the engines: once each, at the same time, in bounded time, whatever is at the other end."""

from __future__ import annotations

import itertools
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from answers import good, serving

from pqc_mav_cli.metrics import engines
from pqc_mav_cli.metrics.engines import GONE, NONSENSE, REFUSED, SILENT, Answer, Engines
from pqc_mav_common.local_socket import LARGEST

LIMIT_S = 0.5


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as name:
        yield Path(name)


def asking(folder: Path) -> Engines:
    return Engines({"PQCMAV_RUN_DIR": str(folder)}, answer_s=LIMIT_S)


def outcome(answers: list[Answer]) -> dict[str, str]:
    return {answer.engine: answer.failure for answer in answers}


def test_each_is_asked_once(folder: Path) -> None:
    with serving(folder / "gcs.sock", good) as gcs, serving(folder / "drone-d1.sock", good) as drone:
        answers = asking(folder).ask()
    assert outcome(answers) == {"drone-d1": "", "gcs": ""}
    assert answers[0].status["uptime_s"] == 12.5 and answers[0].picture["server"] and answers[0].link["tunnels"]
    assert len(gcs) == len(drone) == 4


def test_one_that_is_gone_stays_known(folder: Path) -> None:
    asked = asking(folder)
    with serving(folder / "drone-d1.sock", good), serving(folder / "gcs.sock", good):
        asked.ask()
    with serving(folder / "gcs.sock", good):
        gone = next(answer for answer in asked.ask() if answer.engine == "drone-d1")
        assert gone == Answer("drone-d1", GONE), "and nothing of what it said before"
    assert outcome(asked.ask()) == {"drone-d1": GONE, "gcs": GONE}
    with serving(folder / "drone-d1.sock", good):
        assert outcome(asked.ask())["drone-d1"] == ""


def test_the_socket_of_a_dead_process(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "drone-d1.sock"))
    assert outcome(asking(folder).ask()) == {"drone-d1": GONE}


def test_named_sockets_are_asked_alone_whether_or_not_they_are_there(folder: Path) -> None:
    with serving(folder / "gcs.sock", good):
        asked = Engines({"PQCMAV_RUN_DIR": str(folder)}, [folder / "drone-d9.sock"], LIMIT_S)
        assert outcome(asked.ask()) == {"drone-d9": GONE}


def test_a_socket_that_is_named_twice_is_asked_once(folder: Path) -> None:
    """Two samples of one name would cost Prometheus the whole page."""
    path = folder / "gcs.sock"
    with serving(path, good) as asked:
        assert outcome(Engines({}, [path, path, path], LIMIT_S).ask()) == {"gcs": ""}
    assert len(asked) == 4


def _drip(_line: bytes) -> Iterator[bytes]:
    for _ in itertools.count():
        time.sleep(0.05)
        yield b" "


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (lambda _: b"", SILENT),
        (_drip, SILENT),
        (lambda _: b"what?\n", NONSENSE),
        (lambda _: b"[]\n", NONSENSE),
        (lambda _: b'{"v": 1, "ok": true}\n', NONSENSE),
        (lambda _: b"[" * 100_000 + b"\n", NONSENSE),
        (lambda _: b'{"ok": false, "error": {"code": "busy", "text": "Later."}}\n', REFUSED),
    ],
    ids=["silent", "drips", "words", "list", "empty", "deep", "busy"],
)
def test_one_that_answers_badly_keeps_nobody(folder: Path, answer: object, failure: str) -> None:
    with serving(folder / "drone-d1.sock", answer), serving(folder / "gcs.sock", good):  # type: ignore[arg-type]
        began_s = time.monotonic()
        assert outcome(asking(folder).ask()) == {"drone-d1": failure, "gcs": ""}
        assert time.monotonic() - began_s < 20 * LIMIT_S, "a bound at all, on a busy machine too"


def test_an_answer_without_end_is_not_read_to_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pqc_mav_common.local_socket.LARGEST", 1 << 20)
    assert LARGEST > 1 << 20
    block = b" " * (1 << 18)
    with serving(folder / "gcs.sock", lambda _: iter([block] * 16)):
        assert outcome(Engines({"PQCMAV_RUN_DIR": str(folder)}, answer_s=30).ask()) == {"gcs": GONE}


def test_a_folder_that_is_closed_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(self: Path) -> Iterator[Path]:
        raise PermissionError(13, "Permission denied", str(self))

    asked = asking(folder)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", closed)  # root may look everywhere
        assert asked.ask() == [] and str(folder) in asked.problem
    assert asked.ask() == [] and not asked.problem


def test_no_more_than_a_bound(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "ENGINES_MOST", 2)
    asked = asking(folder)
    for number in range(5):
        with serving(folder / f"drone-d{number}.sock", good):
            assert len(asked.ask()) <= 2
    assert len(asked._answered) <= 2
