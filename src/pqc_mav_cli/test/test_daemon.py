# SPDX-License-Identifier: Apache-2.0
"""`pqcmav up --tunnel daemon|attach`: what belongs to whom, what ends with what, and what must not start."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from commands import Running, pqcmav, refused
from test_up import ALONE, Ends, descendants, wait_until_gone

from pqc_mav_common import testing
from pqc_mav_common.free_ports import own_run_folder
from pqc_mav_common.local_socket import Control, ControlError, Place
from pqc_mav_common.testing import until
from pqc_mav_common.testing_traffic import Traffic

FOUND = "Asks pqcmav-tunneld"


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with own_run_folder() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield Path(variables["PQCMAV_RUN_DIR"])


@pytest.fixture
def ends(tmp_path: Path, keys: Path) -> Ends:
    return Ends(tmp_path, keys)


def up(ends: Ends, end: str, tunnel: str = "daemon", *more: str, **changes: object) -> Running:
    alone = ALONE if end == "drone" else ALONE[-2:]
    return Running("up", end, "--config", str(ends.write(end, **changes)), "--tunnel", tunnel, *alone, *more)


@contextmanager
def running(*made: testing.Running) -> Iterator[None]:
    try:
        yield
    finally:
        for each in made:
            each.kill()


def ask(door: Path, command: str) -> dict[str, Any]:
    try:
        with Control(Place(door)) as control:
            return control.ask(command)
    except (OSError, ControlError):
        return {}


def tunneld(ends: Ends, end: str) -> testing.Running:
    program = shutil.which("pqcmav-tunneld")
    assert program is not None
    return testing.Running([program, str(ends.write(end, role=end))])


def test_a_tunnel_of_its_own_carries_what_its_proxy_would(ends: Ends, folder: Path) -> None:
    gcs, drone = up(ends, "gcs"), up(ends, "drone")
    with running(gcs, drone), Traffic(ends.ground).start(ends.plain) as traffic:
        traffic.flows()
        for each in (gcs, drone):
            each.wait_for(FOUND)
        started = descendants(gcs) + descendants(drone)
        assert sorted(Path(each.cmdline()[0]).name for each in started).count("pqcmav-tunneld") == 2
        assert pqcmav("rekey", "--on", "drone").returncode == 0
        traffic.flows()
        assert traffic.up[-1] - traffic.up[0] + 1 == len(traffic.up), "nothing lost"
        assert drone.end(signal.SIGINT) == 0 and gcs.end(signal.SIGINT) == 0
        wait_until_gone(started)
        assert list(folder.iterdir()) == [], "no door, and nothing of it"
        assert not any("There is no pqcmav-tunneld" in line for each in (gcs, drone) for line in each.lines)


def test_all_ends_with_a_killed_supervisor(ends: Ends) -> None:
    gcs = up(ends, "gcs")
    with running(gcs):
        gcs.wait_for(FOUND)
        started = descendants(gcs)
        assert len(started) >= 2, "proxy and tunnel, and what guards a proxy in C++"
        os.kill(gcs.process.pid, signal.SIGKILL)
        wait_until_gone(started)


def test_a_paused_tunnel_is_paused_until_somebody_resumes_it(ends: Ends, folder: Path) -> None:
    gcs, door = up(ends, "gcs"), folder / "gcs.sock"
    with running(gcs):
        gcs.wait_for(FOUND)
        assert pqcmav("pause").stdout == "inactive\n"
        for program in ("pqcmav-tunneld", "pqc_proxy"):
            lines = len(gcs.lines)
            for each in descendants(gcs):
                if program in " ".join(each.cmdline()[:2]):
                    each.kill()
            gcs.wait_for(FOUND if program == "pqc_proxy" else "is there again", lines)
            assert ask(door, "hello")["state"] == "inactive"
        gcs.wait_for("The tunnel stays closed: The tunnel is paused")
        assert pqcmav("resume").stdout == "active\n"
        assert ask(door, "hello")["state"] == "active"
        assert pqcmav("pause").stdout == "inactive\n"
        assert gcs.end(signal.SIGINT) == 0
    assert list(folder.iterdir()) == []
    with running(up(ends, "gcs")):
        until(lambda: ask(door, "hello").get("state") == "active", "what is started anew is open")


def test_a_stale_door_is_replaced_and_a_living_one_ends_the_start(ends: Ends, folder: Path) -> None:
    door = folder / "gcs.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(door))
    other = tunneld(ends, "gcs")
    with running(other):
        until(lambda: ask(door, "hello"), "the other's door")
        gcs = up(ends, "gcs")
        with running(gcs):
            assert gcs.wait() == 1
        gcs.wait_for("another engine serves it")
        assert not any(FOUND in line for line in gcs.lines), "never adopted"
        assert ask(door, "hello")["pid"] == other.pid
    with running(up(ends, "gcs")) as _:
        until(lambda: ask(door, "hello").get("state") == "active", "a door in the place of a dead one's")


def test_one_that_runs_already_is_used_and_stays(ends: Ends, folder: Path) -> None:
    other = tunneld(ends, "gcs")
    with running(other):
        until(lambda: ask(folder / "gcs.sock", "hello"), "its door")
        gcs = up(ends, "gcs", "attach")
        with running(gcs):
            gcs.wait_for(FOUND)
            assert gcs.end(signal.SIGINT) == 0
        assert ask(folder / "gcs.sock", "hello")["state"] == "active"
        assert psutil.pid_exists(other.pid)


def test_what_must_not_start_says_why(ends: Ends, folder: Path, tmp_path: Path) -> None:
    assert "between 0 and 63" in refused(
        2, "up", "gcs", "--config", str(ends.write("gcs", dscp=64)), "--tunnel", "daemon"
    )
    config = ("--config", str(ends.write("gcs")), "--tunnel", "daemon")
    folder.chmod(0o777)
    assert f"{folder} is open to other users" in refused(2, "up", "gcs", *config)
    folder.chmod(0o700)
    off = ("--config", str(ends.write("gcs", control_socket="off")), "--tunnel", "daemon")
    assert "must not be 'off'" in refused(2, "up", "gcs", *off)


def test_a_daemon_without_a_good_configuration_says_so_and_waits(ends: Ends) -> None:
    gcs = up(ends, "gcs", "daemon", "--autostart", "false", keys="/nowhere/at/all")
    with running(gcs):  # a lifecycle manager would be told
        gcs.wait_for("unconfigured: ")
        assert any("/nowhere/at/all" in line for line in gcs.lines)
