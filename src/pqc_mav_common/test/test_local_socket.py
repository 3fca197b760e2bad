# SPDX-License-Identifier: Apache-2.0
"""Talking to control sockets: where they are, whose they are, what an engine refuses. The engine here is a listener."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pqc_mav_common import local_socket
from pqc_mav_common.errors import ExitCode
from pqc_mav_common.local_socket import Control, ControlError, ForbiddenError, Place, names_of


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as name:
        monkeypatch.setenv("PQCMAV_RUN_DIR", name)
        yield Path(name)


@contextmanager
def engine(path: Path, answers: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Gives one answer to each line, in one connection; yields what was asked."""
    asked: list[dict[str, Any]] = []

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, connection.makefile("rwb") as lines:
            for answer in answers:
                asked.append(json.loads(lines.readline()))
                lines.write(json.dumps(answer).encode() + b"\n")
                lines.flush()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        serving = threading.Thread(target=serve, args=(listener,), daemon=True)
        serving.start()
        yield asked
        serving.join(10)


def test_folders_and_names() -> None:
    assert local_socket.folders({"PQCMAV_RUN_DIR": "/x", "XDG_RUNTIME_DIR": "/y"}) == [Path("/x")]
    assert local_socket.folders({"XDG_RUNTIME_DIR": "/y"}) == [Path("/run/pqcmav"), Path("/y/pqcmav")]
    assert local_socket.folders({"XDG_RUNTIME_DIR": "y"}) == [Path("/run/pqcmav")]
    place = Place(Path("/run/pqcmav/drone-a-b.sock"))
    assert (place.name, place.role, place.drone_id) == ("drone-a-b", "drone", "a-b")
    assert (Place(Path("gcs-north.sock")).role, Place(Path("gcs.sock")).role) == ("gcs", "gcs")
    grouped = Place(Path("drone-a-b@fleet.one.sock"))
    assert (grouped.name, grouped.role, grouped.drone_id) == ("drone-a-b@fleet.one", "drone", "a-b")
    assert Place(Path("gcs@fleet.one.sock")).role == "gcs"


def test_where_an_engine_may_have_its_door() -> None:
    own = {"PQCMAV_RUN_DIR": "/x"}
    assert local_socket.doors_of({"role": "drone", "drone_id": "d1"}, own) == [Path("/x/drone-d1.sock")]
    assert local_socket.doors_of({"role": "gcs"}, own) == [Path("/x/gcs.sock")]
    assert local_socket.doors_of({"role": "gcs", "gcs_id": "north"}, own) == [Path("/x/gcs-north.sock")]
    assert len(local_socket.doors_of({"role": "gcs"}, {"XDG_RUNTIME_DIR": "/y"})) == 2
    assert local_socket.doors_of({"control_socket": "/a/b"}, own) == [Path("/a/b")]
    with pytest.raises(ControlError, match="must not be 'off'"):
        local_socket.doors_of({"control_socket": "off"}, own)


def test_results_come_in_the_order_of_the_requests(folder: Path) -> None:
    path = folder / "gcs.sock"
    with engine(path, [{"ok": True, "result": {"n": n}} for n in range(2)]) as asked, Control(Place(path)) as control:
        assert control.ask_all([{"command": "status"}, {"command": "link", "drone": "d1"}]) == [{"n": 0}, {"n": 1}]
    assert asked == [{"v": 1, "command": "status"}, {"v": 1, "command": "link", "drone": "d1"}]


@pytest.mark.parametrize(("code", "exit_code"), [("refused", ExitCode.FAILED), ("unknown_drone", ExitCode.CONFIG)])
def test_a_refusal_keeps_its_code_and_sentence(folder: Path, code: str, exit_code: ExitCode) -> None:
    path = folder / "gcs.sock"
    answer = {"ok": False, "error": {"code": code, "text": "No."}}
    with engine(path, [answer]), Control(Place(path)) as control, pytest.raises(ControlError, match="No") as raised:
        control.ask("rekey", drone="d9")
    assert (raised.value.code, raised.value.exit_code) == (code, exit_code)


def test_an_engine_that_ends_is_a_connection_error(folder: Path) -> None:
    path = folder / "gcs.sock"
    with engine(path, []), Control(Place(path)) as control, pytest.raises(ConnectionError):
        control.ask("status")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every socket")
def test_a_socket_of_others_says_who_may(folder: Path) -> None:
    path = folder / "gcs.sock"
    with engine(path, []):
        path.chmod(0)
        with pytest.raises(ForbiddenError, match="alone"):
            Control(Place(path))


def test_an_answer_that_does_not_come_is_an_error(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(folder / "gcs.sock"))
        silent.listen()
        with (
            local_socket.chosen(os.environ, answer_s=0.1) as control,
            pytest.raises(OSError, match="timed out"),
        ):
            assert control is not None
            control.ask("status")


def test_names_are_unique() -> None:
    found = [Place(Path(path)) for path in ("/run/pqcmav/gcs.sock", "/run/user/1/pqcmav/gcs.sock", "/x/drone-d1.sock")]
    assert names_of(found) == ["gcs", "/run/user/1/pqcmav/gcs.sock", "drone-d1"]
