# SPDX-License-Identifier: Apache-2.0
"""Engines through their sockets: several, dying, silent, talking nonsense; and nothing asked before or after."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine

from pqc_mav_common import local_socket
from pqc_mav_common.free_ports import own_run_folder
from pqc_mav_dashboard import socket_source
from pqc_mav_dashboard.picture import Picture
from pqc_mav_dashboard.socket_source import SocketSource


@pytest.fixture
def folder() -> Iterator[Path]:
    with own_run_folder() as environment:
        yield Path(environment["PQCMAV_RUN_DIR"])


def looks(folder: Path, *drones: frozenset[str] | None, path: str = "") -> list[Picture]:
    """What a source says, look after look."""

    async def scene() -> list[Picture]:
        source = SocketSource({"PQCMAV_RUN_DIR": str(folder)}, path)
        await source.start()
        found = [await source.picture(each or frozenset(), whole=each is None) for each in drones]
        await source.stop()
        return found

    return asyncio.run(scene())


def listener(path: Path, answer: bytes) -> None:
    """Somebody who says the same to every line; nothing for b""."""

    def serve(server: socket.socket) -> None:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    def talk(connection: socket.socket) -> None:
        with suppress(OSError), connection, connection.makefile("rb") as lines:
            for _ in lines:
                if answer:
                    connection.sendall(answer)

    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    threading.Thread(target=serve, args=(server,), daemon=True).start()


def test_only_those_that_are_looked_at_are_asked_about(folder: Path) -> None:
    engine = FakeEngine(folder, 50)
    try:
        whole, one = looks(folder, None, frozenset({"drone0007"}))
        assert len(whole.ends) == 50 and [end.drone for end in one.ends] == ["drone0007"]
        assert engine.asked.count("status") == 2
        time.sleep(0.3)  # what was on its way at the end may still come in
        asked = len(engine.asked)
        time.sleep(0.5)
        assert len(engine.asked) == asked, "nobody asks after the end"
    finally:
        engine.close()


def test_a_folder_without_a_socket_says_so(folder: Path) -> None:
    (picture,) = looks(folder, None)
    assert picture.ends == [] and f"has a control socket in {folder}" in picture.notes[0]


def test_a_socket_of_a_dead_process_is_passed_over(folder: Path) -> None:
    engine = FakeEngine(folder, 1)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "drone-gone.sock"))
    (picture,) = looks(folder, None)
    assert len(picture.ends) == 1 and picture.notes == []
    engine.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense\n",
        b"[]\n",
        b"{}\n",
        b'{"ok": true, "result": {}}\n',
        b'{"ok": true, "result": {"role": "gcs", "dangers": [], "tunnels": [7]}}\n',
        b'{"ok": false, "error": {"code": "busy", "text": "Later."}}\n',
    ],
)
def test_an_engine_that_talks_nonsense_spoils_nothing(
    folder: Path, answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_source, "ANSWER_S", 0.3)
    engine = FakeEngine(folder, 2)
    listener(folder / "gcs-odd.sock", answer)
    first, second = looks(folder, None, None)
    assert [len(picture.ends) for picture in (first, second)] == [2, 2]
    (named,) = looks(folder, None, path=str(folder / "gcs-odd.sock"))
    assert named.ends == [] and any("gcs-odd does not answer" in note for note in named.notes)
    engine.close()


def test_engines_that_hang_make_no_other_one_old(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_source, "ANSWER_S", 0.1)
    engine = FakeEngine(folder, 1)
    listener(folder / "gcs-hangs.sock", b"")
    (picture,) = looks(folder, None)
    assert [end.heard_s >= picture.clock_s for end in picture.ends] == [True]
    engine.close()


def test_drones_that_were_taken_away_are_no_silent_ones(folder: Path) -> None:
    engine = FakeEngine(folder, 3)

    async def scene() -> tuple[Picture, Picture, list[dict[str, Any]]]:
        source = SocketSource({"PQCMAV_RUN_DIR": str(folder)})
        before = await source.picture(frozenset(), whole=True)
        suites = await source.suites()
        engine.drones = 2
        after = await source.picture(frozenset(), whole=True)
        await source.stop()
        return before, after, suites

    before, after, suites = asyncio.run(scene())
    assert (len(before.ends), len(after.ends)) == (3, 2) and suites[0]["short_code"] == "ML-768-AG-MD-65"
    engine.close()


@pytest.mark.parametrize("stopped", [False, True])
def test_an_engine_that_was_ended_is_missed_for_a_while_and_not_by_a_new_page(
    folder: Path, stopped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = FakeEngine(folder, 2, error="mavros listens on every address.")

    async def scene() -> None:
        source = SocketSource({"PQCMAV_RUN_DIR": str(folder)})
        await source.picture(frozenset(), whole=True)
        engine.close()
        (folder / "gcs.sock").unlink()
        await source.picture(frozenset(), whole=True)
        missed = await source.picture(frozenset(), whole=True)
        assert len(missed.ends) == 2 and any("gcs does not answer" in note for note in missed.notes)
        if stopped:
            await source.stop()
        else:
            monkeypatch.setattr(socket_source, "GONE_S", 0.0)
        after = await source.picture(frozenset(), whole=True)
        assert after.ends == [] and len(after.notes) == 1 and "No engine of this machine" in after.notes[0]
        await source.stop()

    asyncio.run(scene())


def test_engines_of_one_name_in_two_folders_are_two(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service, and what a user tries beside it: an action goes to the one that has the drone."""
    own = folder / "pqcmav"
    own.mkdir()
    monkeypatch.setattr(local_socket, "SYSTEM_FOLDER", folder)
    service, tried = FakeEngine(folder, 1), FakeEngine(own, 2)

    async def scene() -> tuple[Picture, str]:
        source = SocketSource({"XDG_RUNTIME_DIR": str(folder)})
        picture = await source.picture(frozenset(), whole=True)
        await source.handshakes("drone0002")
        said = await source.act("rekey", "drone0002", {})
        await source.stop()
        return picture, said

    picture, said = asyncio.run(scene())
    elsewhere = str(own / "gcs.sock")
    assert sorted((end.name, end.drone) for end in picture.ends) == [
        (elsewhere, "drone0001"), (elsewhere, "drone0002"), ("gcs", "drone0001")
    ]  # fmt: skip
    assert said.startswith("ML-768-AG-MD-65, epoch 1")
    assert not {"rekey", "handshakes"} & {*service.asked} and {"rekey", "handshakes"} <= {*tried.asked}
    for engine in (service, tried):
        engine.close()


def test_ways_around_the_tunnel_are_said(folder: Path) -> None:
    engine = FakeEngine(folder, 1, error="mavros listens on every address.")
    (picture,) = looks(folder, None)
    assert picture.notes == ["gcs: mavros listens on every address."]
    engine.close()
