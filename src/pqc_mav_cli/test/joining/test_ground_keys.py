# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pqc_mav_tunnel
import pytest

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.joining import ground_keys, share


@pytest.fixture
def root(tmp_path: Path) -> Path:
    pqc_mav_tunnel.init_keys(str(tmp_path / "root"), ["d1"], sig_tokens=["mldsa65"])
    return tmp_path / "root"


def problems(folder: Path) -> list[str]:
    return [entry["problem"] for entry in pqc_mav_tunnel.list_keys(str(folder)) if entry["problem"]]


def test_missing_keys_are_made_in_the_algorithms_that_are_there(root: Path, tmp_path: Path) -> None:
    before = (root / "gcs" / "sig" / "mldsa65.key").read_bytes()
    ground_keys.make(root, ["d2"], "gcs")
    given = ground_keys.share_of(root, "d2", "gcs", "10.0.0.1", False)
    assert set(given.files) == {"psk.key", "gcs/mldsa65.pub"} and given.sign == ()
    assert (root / "gcs" / "sig" / "mldsa65.key").read_bytes() == before
    with pytest.raises(CliError, match="1-32 characters"):
        ground_keys.make(root, ["No Name"], "gcs")


def test_keys_of_several_stations_need_the_one_that_is_meant(tmp_path: Path) -> None:
    root = tmp_path / "several"
    pqc_mav_tunnel.init_keys(str(root), ["d1"], sig_tokens=["mldsa65"], stations=["north", "south"])
    with pytest.raises(CliError, match="north, south with --gcs-id"):
        ground_keys.make(root, ["d2"], "gcs")
    ground_keys.make(root, ["d2"], "north")
    given = ground_keys.share_of(root, "d2", "north", "north@10.0.0.1", True)
    assert set(given.files) == {"psk.key", "gcs/north/mldsa65.pub", "gcs/south/mldsa65.pub"}
    assert given.sign == ("mldsa65",)
    assert ground_keys.station_folder(root, "south") == root / "stations" / "south"


def test_a_single_station_of_before_is_one_of_several(root: Path) -> None:
    pqc_mav_tunnel.init_keys(str(root), ["d1"], sig_tokens=["mldsa65"], stations=["north"])
    with pytest.raises(CliError, match="north, gcs with --gcs-id"):
        ground_keys.station_folder(root, "south")
    ground_keys.make(root, ["d2"], "gcs")
    assert (root / "gcs" / "psk" / "d2.key").exists() and not problems(root)
    assert ground_keys.share_of(root, "d2", "gcs", "10.0.0.1", False).files["psk.key"]


def test_a_drone_that_lives_elsewhere_has_no_psk_to_hand_out(root: Path) -> None:
    shutil.rmtree(root / "drones" / "d1")
    ground_keys.make(root, ["d1"], "gcs")
    with pytest.raises(CliError, match="'pqcmav keys rotate d1' makes a new one"):
        ground_keys.share_of(root, "d1", "gcs", "10.0.0.1", False)


def test_a_bad_key_is_not_handed_out(root: Path) -> None:
    (root / "drones" / "d1" / "psk.key").chmod(0o644)
    with pytest.raises(CliError, match="open to other users"):
        ground_keys.share_of(root, "d1", "gcs", "10.0.0.1", False)


def test_key_pairs_that_were_made_at_the_ground_travel_along(root: Path) -> None:
    pqc_mav_tunnel.init_keys(str(root), ["d1"], sig_tokens=["mldsa65"], drone_signatures=True)
    given = ground_keys.share_of(root, "d1", "gcs", "10.0.0.1", True)
    assert "sig/mldsa65.key" in given.files and given.sign == ()


def made_by_a_drone(tmp_path: Path) -> dict[str, str]:
    pqc_mav_tunnel.init_keys(str(tmp_path / "own"), ["d1"], sig_tokens=["mldsa65"], drone_signatures=True)
    own = share.read_folder(tmp_path / "own" / "drones" / "d1")
    return {"sig/mldsa65.pub": own["sig/mldsa65.pub"]}


def test_public_keys_of_a_drone_are_kept_and_checked(root: Path, tmp_path: Path) -> None:
    public = made_by_a_drone(tmp_path)
    ground_keys.keep_public(root, "d1", public)
    kept = root / "gcs" / "drones" / "d1" / "mldsa65.pub"
    assert kept.read_text() == public["sig/mldsa65.pub"] and not problems(root)
    for text in (public["sig/mldsa65.pub"].replace("owner: d1", "owner: d2"), "pqcmav-key 1\nnonsense\n"):
        with pytest.raises(CliError, match="that came is not good"):
            ground_keys.keep_public(root, "d1", {"sig/mldsa65.pub": text})
    assert kept.read_text() == public["sig/mldsa65.pub"]


def test_keys_are_copied_only_to_another_folder_than_theirs(root: Path, tmp_path: Path) -> None:
    made = root / "gcs"
    (tmp_path / "link").symlink_to(made)
    assert ground_keys.copied_to(made, None) is None
    assert ground_keys.copied_to(made, tmp_path / "link") is None
    assert ground_keys.copied_to(made, tmp_path / "other") == tmp_path / "other"


def test_the_running_ground_s_folder_gets_what_it_lacks(root: Path, tmp_path: Path) -> None:
    running = tmp_path / "running"
    running.mkdir(mode=0o700)
    ground = root / "gcs"
    ground_keys.keep_public(root, "d1", made_by_a_drone(tmp_path))
    ground_keys.check_running(ground, running)
    ground_keys.hand_over(ground, running, "d1")
    assert share.read_folder(running) == share.read_folder(ground) and not problems(running)
    # a drone that gets new keys: its PSK is replaced, the rest stays
    pqc_mav_tunnel.init_keys(str(tmp_path / "new"), ["d1"], sig_tokens=["mldsa65"])
    shutil.copy(tmp_path / "new" / "gcs" / "psk" / "d1.key", ground / "psk" / "d1.key")
    ground_keys.hand_over(ground, running, "d1")
    assert share.read_folder(running) == share.read_folder(ground)
    # a drone that was revoked and is invited again: it has no signing keys any more
    shutil.rmtree(ground / "drones" / "d1")
    ground_keys.hand_over(ground, running, "d1")
    assert share.read_folder(running) == share.read_folder(ground)


def test_a_ground_with_other_signing_keys_is_refused(root: Path, tmp_path: Path) -> None:
    pqc_mav_tunnel.init_keys(str(tmp_path / "other"), ["d1"], sig_tokens=["mldsa65"])
    with pytest.raises(CliError, match="whose signing keys are not those of"):
        ground_keys.check_running(root / "gcs", tmp_path / "other" / "gcs")


def test_a_link_in_the_running_folder_leads_nowhere(root: Path, tmp_path: Path) -> None:
    running, outside = tmp_path / "running", tmp_path / "outside"
    running.mkdir(mode=0o700)
    outside.mkdir()
    (running / "psk").symlink_to(outside)
    with pytest.raises(CliError, match="cannot be copied"):
        ground_keys.hand_over(root / "gcs", running, "d1")
    assert list(outside.iterdir()) == []


_SWAPPER = """
import os, sys
psk, victim = sys.argv[1:]
print(flush=True)
while True:
    for name in os.listdir(psk):
        if name.startswith(".d1"):
            os.symlink(victim, psk + "/link")
            os.rename(psk + "/link", psk + "/" + name)
"""


def test_links_that_are_swapped_in_meanwhile_are_not_written_to(root: Path, tmp_path: Path) -> None:
    running, victim = tmp_path / "running", tmp_path / "victim"
    (running / "psk").mkdir(mode=0o700, parents=True)
    victim.write_text("precious")
    attacker = subprocess.Popen(
        [sys.executable, "-c", _SWAPPER, str(running / "psk"), str(victim)], stdout=subprocess.PIPE
    )
    try:
        assert attacker.stdout and attacker.stdout.readline()
        for _ in range(300):
            with suppress(CliError):  # a name that the attacker took away
                ground_keys.hand_over(root / "gcs", running, "d1")
        assert attacker.poll() is None
    finally:
        attacker.kill()
        attacker.communicate()
    assert victim.read_text() == "precious"


def test_a_key_is_on_the_disk_before_its_name_is(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running, synced = tmp_path / "running", []
    running.mkdir(mode=0o700)
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    ground_keys.hand_over(root / "gcs", running, "d1")
    assert (running / "psk" / "d1.key").stat().st_ino in synced


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_owner_of_the_running_folder_owns_what_comes(root: Path, tmp_path: Path) -> None:
    running = tmp_path / "running"
    running.mkdir(mode=0o700)
    os.chown(running, 12345, 12345)
    ground_keys.hand_over(root / "gcs", running, "d1")
    assert {path.stat().st_uid for path in (running, *running.rglob("*"))} == {12345}
