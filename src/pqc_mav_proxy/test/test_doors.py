# SPDX-License-Identifier: Apache-2.0
"""Against control sockets of engines, of strangers, and of what is no engine at all."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pqc_mav_common.local_socket import FOLDER_VARIABLE
from pqc_mav_common.siblings import MARK
from pqc_mav_common.socket_table import BoundSocket
from pqc_mav_common.testing import until
from pqc_mav_proxy.doors import Doors

LISTED = {"protocol": "UDP", "host": "0.0.0.0", "port": 7, "inode": 9, "use": "other"}


class Fake:
    """Answers each command as it is told, and remembers what it was asked."""

    def __init__(self, path: Path, answers: dict[str, Any]) -> None:
        self.asked: list[dict[str, Any]] = []
        self._answers = answers
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as lines:
                for line in lines:
                    request = json.loads(line)
                    self.asked.append(request)
                    lines.write(json.dumps(self._answers.get(request["command"], 7)).encode() + b"\n")
                    lines.flush()


def good(system: str, sockets: Any) -> dict[str, Any]:
    return {"sockets": {"ok": True, "result": {"system": system, "sockets": sockets}}, "dangers": {"ok": True}}


@pytest.fixture
def fakes(tmp_path: Path) -> Iterator[dict[str, Fake]]:
    refusal = {"ok": False, "error": {"code": "unknown_command", "text": "There is no command 'sockets'."}}
    answers = {
        "ours": good("m", [LISTED]),
        "theirs": good("other", [LISTED]),
        "older": {"sockets": refusal},
        "odd": good("m", [{**LISTED, "host": "nowhere"}]),
        "odder": {"sockets": [7]},
    }
    with ExitStack() as stack:
        made = {name: Fake(tmp_path / f"{name}.sock", answer) for name, answer in answers.items()}
        for each in made.values():
            stack.callback(each.close)
        yield made


def test_only_engines_of_this_system_count(fakes: dict[str, Fake], tmp_path: Path) -> None:
    doors = Doors({FOLDER_VARIABLE: str(tmp_path), MARK: "m"})
    (held,) = doors.listed()[os.getpid()]
    assert isinstance(held, BoundSocket) and (str(held), held.use) == ("UDP 0.0.0.0:7", "other")
    doors.tell(["a\nhole", "\u202e" * 1000])
    told = until(lambda: [each for each in fakes["ours"].asked if each["command"] == "dangers"], "the dangers")
    lines = told[0]["lines"]
    assert lines[0] == "a\\nhole" and len(lines[1]) == 900 and lines[1].isascii()
    assert len(json.dumps(told[0])) < 4096
    assert all(each["command"] == "sockets" for name in fakes if name != "ours" for each in fakes[name].asked)
    doors.tell(["later"])
    assert len(told) == 1, "whoever was told is asked again first"


def test_nobody_is_there(tmp_path: Path) -> None:
    assert Doors({FOLDER_VARIABLE: str(tmp_path / "none")}).listed() == {}
