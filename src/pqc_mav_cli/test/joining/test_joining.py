# SPDX-License-Identifier: Apache-2.0
"""Inviting and joining as a user does it: two processes, keys that arrive, and sentences where they do not."""

from __future__ import annotations

import shlex
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pqc_mav_tunnel
import pytest
import yaml
from commands import COMMAND, Running, pqcmav, refused
from invitations import inviting, join

from pqc_mav_cli.joining import line, share
from pqc_mav_common import testing
from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import until


@pytest.fixture(autouse=True)
def run_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """For control sockets: no other test's gcs is here."""
    with tempfile.TemporaryDirectory(prefix="pqcmav-") as name:
        monkeypatch.setenv("PQCMAV_RUN_DIR", name)
        yield Path(name)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    pqc_mav_tunnel.init_keys(str(tmp_path / "root"), ["d1"], sig_tokens=["mldsa65"])
    return tmp_path / "root"


def secret_lines(folder: Path) -> set[str]:
    return {path.read_text().splitlines()[-1] for path in folder.rglob("*.key")}


def leftovers(of: Running) -> list[Path]:
    return list(Path("/dev/shm").glob(f"pqcmav-join-{of.process.pid}-*"))


@pytest.mark.parametrize("options", [(), ("--address", "::1", "--bind", "")], ids=["IPv4", "IPv6"])
def test_a_drone_fetches_its_keys_and_its_link_works(root: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    folder = tmp_path / "its keys"
    with inviting(root, "d1", *options) as (ground, text):
        assert leftovers(ground)
        joined = join(text, folder)
        assert joined.returncode == 0, joined.stderr
        assert ground.process.wait(30) == 0
    assert share.read_folder(folder) == share.read_folder(root / "drones" / "d1")
    assert joined.stdout.startswith("pqcmav up drone --drone-id d1 --peer ")
    assert shlex.split(joined.stdout)[-1] == str(folder)
    assert "OK: the link to" in joined.stderr
    until(lambda: any("OK: d1 joined; the link to" in each for each in ground.lines), "the ground's last line")
    whole = joined.stdout + joined.stderr + "\n".join(ground.lines)
    assert not any(secret in whole for secret in secret_lines(root))
    assert not leftovers(ground)


def test_a_ground_station_that_is_not_seen_is_noticed_before_keys_are_made(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        port = str(other.getsockname()[1])
        said = refused(2, "invite", "d1", "--bind", "127.0.0.1", "--data-port", port, "--root", str(tmp_path / "root"))
    assert "name its socket by --socket" in said and not (tmp_path / "root").exists()


def test_a_new_drone_gets_keys_made_and_joins_the_gcs_that_runs(root: Path, tmp_path: Path) -> None:
    gcs = pqc_mav_tunnel.Engine(
        {"role": "gcs", "keys": str(root / "gcs"), "drones": ["d1"], "bind": "127.0.0.1", "data_port": 0}
    )
    gcs.start()
    try:
        with inviting(root, "d9") as (ground, text):
            joined = join(text, tmp_path / "keys")
            assert joined.returncode == 0, joined.stderr
            assert ground.process.wait(30) == 0
        assert f"--peer gcs@127.0.0.1:{gcs.ports()['data']} " in joined.stdout
        assert [each["drone_id"] for each in gcs.status()] == ["d1", "d9"]
        # once more, with new keys: the gcs reads them
        assert pqcmav("keys", "rotate", "d9", "--root", str(root)).returncode == 0
        with inviting(root, "d9") as (ground, text):
            joined = join(text, tmp_path / "keys", "--replace")
            assert joined.returncode == 0, joined.stderr
            assert ground.process.wait(30) == 0
        assert share.read_folder(tmp_path / "keys") == share.read_folder(root / "drones" / "d9")
        # another root, as one that --root was to name: its keys would open nothing at this gcs
        other = tmp_path / "other"
        assert f"reads its keys from {root}/gcs, not from {other}/gcs" in refused(
            2, "invite", "d9", "--root", str(other)
        )
        assert not other.exists()
    finally:
        gcs.stop()


def test_the_gcs_may_restart_meanwhile_and_its_file_names_the_drone(
    root: Path, tmp_path: Path, run_folder: Path
) -> None:
    port = free_port()
    config = tmp_path / "gcs.yaml"
    config.write_text(
        f"role: gcs\nkeys: {root}/gcs\nbind: 127.0.0.1\ndata_port: {port}  # ours\ndrones: [d1]\n"
        'drone:\n  d1: {plain_peer: ""}\n'
    )
    command = ["pqcmav-tunneld", str(config)]
    first = testing.Running(command)
    second: testing.Running | None = None
    try:
        until((run_folder / "gcs.sock").exists, "the first gcs")
        with inviting(root, "d9") as (ground, text):
            first.end(signal.SIGTERM)
            second = testing.Running(command)
            second.wait_for("encrypted UDP port")
            joined = join(text, tmp_path / "keys")
            assert joined.returncode == 0, joined.stderr
            assert ground.process.wait(30) == 0
        assert f"serves it; saved in {config}" in joined.stderr
        assert yaml.safe_load(config.read_text())["drones"] == ["d1", "d9"] and "# ours" in config.read_text()
    finally:
        for each in (first, second):
            if each is not None:
                each.kill()


def test_a_drone_makes_its_signing_keys_itself(root: Path, tmp_path: Path) -> None:
    with inviting(root, "d1", "--sign") as (ground, text):
        joined = join(text, tmp_path / "keys")
        assert joined.returncode == 0, joined.stderr
        assert ground.process.wait(30) == 0
    at_drone = share.read_folder(tmp_path / "keys")
    assert set(at_drone) >= {"sig/mldsa65.key", "sig/mldsa65.pub"}
    assert (root / "gcs" / "drones" / "d1" / "mldsa65.pub").read_text() == at_drone["sig/mldsa65.pub"]
    assert not (root / "drones" / "d1" / "sig").exists()
    own = at_drone["sig/mldsa65.key"].splitlines()[-1]
    assert not any(own in path.read_text() for path in root.rglob("*") if path.is_file())
    assert not any(entry["problem"] for entry in pqc_mav_tunnel.list_keys(str(root)))
    # a drone that signs gets a new pair with its next invitation, asked for or not
    with inviting(root, "d1") as (ground, text):
        assert join(text, tmp_path / "again").returncode == 0
        assert ground.process.wait(30) == 0
    assert share.read_folder(tmp_path / "again")["sig/mldsa65.pub"] != at_drone["sig/mldsa65.pub"]


def test_a_used_line_gets_nothing(root: Path, tmp_path: Path) -> None:
    with inviting(root, "d1") as (ground, text):
        assert join(text, tmp_path / "keys").returncode == 0
        assert ground.process.wait(30) == 0
        again = join(text, tmp_path / "thief")
    assert again.returncode == 1 and "this line was used, its time is over" in again.stderr
    assert not (tmp_path / "thief").exists()


def test_of_two_at_once_one_gets_the_keys(root: Path, tmp_path: Path) -> None:
    with inviting(root, "d1") as (_, text):
        both = [
            subprocess.Popen(
                [*COMMAND, "join", text, "--keys", str(tmp_path / name)], stderr=subprocess.PIPE, stdout=subprocess.PIPE
            )
            for name in ("a", "b")
        ]
        said = [each.communicate(timeout=90)[1].decode() for each in both]
        assert sorted(each.returncode for each in both) == [0, 1], said
        assert sum((tmp_path / name / "psk.key").exists() for name in ("a", "b")) == 1
        loser = said[[each.returncode for each in both].index(1)]
        assert "taken this line" in loser or "this line was used" in loser or "fell silent" in loser, loser


def test_a_late_line_gets_nothing(root: Path, tmp_path: Path) -> None:
    with inviting(root, "d1", "--minutes", "0.05") as (ground, text):
        assert ground.process.wait(30) == 1
        assert any("Nobody came in time" in each for each in ground.lines)
        late = join(text, tmp_path / "keys")
    assert late.returncode == 1 and "its time is over" in late.stderr and not (tmp_path / "keys").exists()


def test_a_clock_that_is_wrong_does_not_matter(root: Path, tmp_path: Path) -> None:
    with inviting(root, "d1") as (_, text):
        asked = line.read(text)
        wrong = line.Line(asked.host, asked.port, asked.secret, asked.public, asked.until_s - 10**7).text()
        joined = join(wrong, tmp_path / "keys")
        assert joined.returncode == 0, joined.stderr


def test_another_secret_and_another_ground_get_nothing(root: Path, tmp_path: Path) -> None:
    """The secret of an earlier invitation; and a ground that has the secret, but not the key that signs."""
    with inviting(root, "d1") as (_, text):
        asked = line.read(text)
        for secret, public, words in (
            (bytes(32), asked.public, "No answer from"),
            (asked.secret, bytes(48), "is not the ground station that printed it"),
        ):
            other = line.Line(asked.host, asked.port, secret, public, asked.until_s)
            ended = join(other.text(), tmp_path / "keys", "--wait", "4")
            assert ended.returncode == 1 and not (tmp_path / "keys").exists()
            assert words in ended.stderr, ended.stderr
        joined = join(text, tmp_path / "keys")
        assert joined.returncode == 0, "the line still works: " + joined.stderr


def test_a_drone_that_is_killed_leaves_nothing_half_written(root: Path, tmp_path: Path) -> None:
    with inviting(root, "d1") as (ground, text):
        drone = Running("join", text, "--keys", str(tmp_path / "keys"))
        ground.wait_for("the line is spent")
        drone.kill()
        pqcmav("join", text, "--keys", str(tmp_path / "other"), "--wait", "2")
        assert not leftovers(drone), "the next one sweeps what a killed one left"
        found = sorted(path.name for path in (tmp_path / "keys").rglob("*") if path.is_file())
        assert found in ([], ["mldsa65.pub", "psk.key"])


def test_a_withdrawn_line_gets_nothing(root: Path, tmp_path: Path) -> None:
    with inviting(root, "d1") as (ground, _):
        assert ground.end(signal.SIGTERM) == 143 and not leftovers(ground)
    with inviting(root, "d1") as (ground, text):
        assert ground.end(signal.SIGINT) == 130 and not leftovers(ground)
        ended = join(text, tmp_path / "keys")
    assert ended.returncode == 1 and "'pqcmav invite' was ended" in ended.stderr


def test_keys_that_are_there_stay_and_the_line_stays_good(root: Path, tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir(mode=0o700)
    (tmp_path / "keys" / "psk.key").write_text("mine")
    with inviting(root, "d1") as (_, text):
        ended = join(text, tmp_path / "keys")
        assert ended.returncode == 2 and "they stay: add --replace" in ended.stderr
        assert join(text, tmp_path / "other").returncode == 0
    assert (tmp_path / "keys" / "psk.key").read_text() == "mine"


def test_bad_lines_and_bad_calls_have_a_sentence(root: Path) -> None:
    assert "no invitation" in refused(2, "join", "hello")
    assert "typing error" in refused(2, "join", "PQJOIN" + "A" * 160)
    assert "id has 1-32 characters" in refused(2, "invite", "No Name", "--root", str(root), "--address", "127.0.0.1")
    assert "no host name" in refused(2, "invite", "d1", "--root", str(root), "--address", "two words", "--port", "0")


def test_a_qr_code_is_shown_or_said_to_need_a_package(root: Path) -> None:
    with inviting(root, "d1", "--qr") as (ground, _):
        ground.wait_for("On d1: pqcmav join LINE")
        shown = any("\u2588" in each or "\u2580" in each or "\u2584" in each for each in ground.lines)
        assert shown or any("package segno" in each for each in ground.lines)
