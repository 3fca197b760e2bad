# SPDX-License-Identifier: Apache-2.0
import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from commands import DRONES, Running, pqcmav, refused

from pqc_mav_common.atomic_file import alone
from pqc_mav_common.testing import until


@pytest.fixture
def root(tmp_path: Path) -> Path:
    ended = pqcmav("keys", "init", "alpha", "beta", "--root", str(tmp_path / "k"), "--sig", "mldsa65")
    assert ended.returncode == 0, ended.stderr
    assert "holds 1 signing key pair of the gcs and a PSK for 2 drones;" in ended.stderr
    return tmp_path / "k"


def secrets(root: Path) -> list[str]:
    """The key itself is a file's last line."""
    return [path.read_text().splitlines()[-1] for path in root.rglob("*.key")]


def test_init_makes_files_only_the_owner_can_read_and_keeps_them(root: Path) -> None:
    files = {path: path.read_bytes() for path in root.rglob("*.key")}
    assert files and all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    ended = pqcmav("keys", "init", "gamma", "--root", str(root), "--sig", "mldsa65")
    assert ended.returncode == 0 and "3 drones" in ended.stderr
    assert all(path.read_bytes() == content for path, content in files.items())


CHANGES = [("init", "gamma"), ("rotate", "alpha"), ("rotate", "gcs"), ("revoke", "alpha", "--yes")]


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_keys_waits_for_another_that_does(root: Path, change: tuple[str, ...]) -> None:
    with alone(root):
        running = Running("keys", *change, "--root", str(root))
        waiting = f"-> FLOCK  ADVISORY  WRITE {running.process.pid} "
        until(lambda: waiting in Path("/proc/locks").read_text(), "it waits")
    assert running.process.wait(60) == 0


def test_show_lists_fingerprints_and_no_key(root: Path) -> None:
    ended = pqcmav("keys", "show", str(root), "--all")
    assert ended.returncode == 0 and "alpha" in ended.stdout and "mldsa65" in ended.stdout
    listed = json.loads(pqcmav("keys", "show", str(root), "--json").stdout)
    assert {entry["kind"] for entry in listed} == {"psk", "sig-secret", "sig-public"}
    assert all(entry["fingerprint"] and not entry["problem"] for entry in listed)
    assert not any(secret in ended.stdout + json.dumps(listed) for secret in secrets(root))


def test_both_ends_show_the_same_fingerprint_of_a_public_key(root: Path) -> None:
    listed = json.loads(pqcmav("keys", "show", str(root), "--json").stdout)
    public = [entry for entry in listed if entry["kind"] == "sig-public" and entry["owner"] == "gcs"]
    seen: dict[str, set[str]] = {}
    for entry in public:
        seen.setdefault(entry["algorithm"], set()).add(entry["fingerprint"])
    assert len(public) > len(seen) and all(len(each) == 1 for each in seen.values())


def test_a_gcs_holds_a_psk_of_its_own_for_each_drone(root: Path, tmp_path: Path) -> None:
    listed = json.loads(pqcmav("keys", "show", str(root), "--json").stdout)
    psks = {entry["fingerprint"] for entry in listed if entry["kind"] == "psk" and entry["owner"] == "alpha"}
    assert len(psks) == 2
    north = pqcmav("keys", "init", "alpha", "--root", str(tmp_path / "north"), "--sig", "mldsa65", "--gcs-id", "north")
    assert north.returncode == 0, north.stderr
    assert "1-32 characters" in refused(2, "keys", "init", "a", "--root", str(tmp_path / "x"), "--gcs-id", "No Name")


def test_show_fails_on_a_key_others_can_read(root: Path) -> None:
    (root / "gcs" / "psk" / "alpha.key").chmod(0o644)
    ended = pqcmav("keys", "show", str(root))
    assert ended.returncode == 1
    assert "cannot be used" in ended.stderr and len(ended.stderr.splitlines()) == 1
    assert "chmod" in ended.stdout and "1 unusable" in ended.stdout


def test_export_and_its_refusals(keys: Path, tmp_path: Path) -> None:
    target = tmp_path / "card"
    ended = pqcmav("keys", "export-drone", DRONES[0], str(target), "--root", str(keys))
    assert ended.returncode == 0 and "delete every other copy" in ended.stderr
    assert {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()} == {
        "psk.key",
        "gcs/mldsa65.pub",
    }
    assert str(target) in refused_either("keys", "export-drone", DRONES[0], str(target), "--root", str(keys))
    assert "nobody" in refused_either("keys", "export-drone", "nobody", str(tmp_path / "x"), "--root", str(keys))
    assert not (tmp_path / "x").exists()


def test_revoking_the_last_drone_asks_for_no_empty_list_of_drones(tmp_path: Path) -> None:
    """Its ground station would not start with one."""
    root = tmp_path / "keys"
    assert pqcmav("keys", "init", "alpha", "beta", "--root", str(root), "--sig", "mldsa65").returncode == 0
    said = [pqcmav("keys", "revoke", each, "--yes", "--root", str(root)).stderr for each in ("alpha", "beta")]
    assert "take alpha out of 'drones'" in said[0] and "No drone is left" not in said[0]
    assert "stop the station, or before its next start name another drone instead of beta in 'drones'" in said[1]
    assert "take beta out" not in said[1]


def test_a_drone_is_renewed_and_revoked(root: Path) -> None:
    psk = root / "drones" / "alpha" / "psk.key"
    before = psk.read_bytes()
    ended = pqcmav("keys", "rotate", "alpha", "--root", str(root))
    assert ended.returncode == 0 and "keys export-drone alpha TARGET" in ended.stderr
    assert psk.read_bytes() != before and "psk.key alone" not in ended.stderr
    assert "--yes" in refused(2, "keys", "revoke", "alpha", "--root", str(root))
    ended = pqcmav("keys", "revoke", "alpha", "--yes", "--root", str(root))
    assert ended.returncode == 0 and "'drones'" in ended.stderr
    ended = pqcmav("keys", "list", "--root", str(root))
    assert ended.returncode == 0 and "beta" in ended.stdout and "alpha" not in ended.stdout


def test_a_drone_that_made_its_signing_keys_itself_keeps_them(root: Path) -> None:
    ended = pqcmav("keys", "init", "alpha", "beta", "--sign", "--root", str(root), "--sig", "mldsa65")
    assert ended.returncode == 0, ended.stderr
    shutil.rmtree(root / "drones" / "alpha" / "sig")
    ended = pqcmav("keys", "rotate", "alpha", "--root", str(root))
    assert ended.returncode == 0 and "psk.key alone" in ended.stderr and "'pqcmav invite alpha'" in ended.stderr
    ended = pqcmav("keys", "rotate", "beta", "--root", str(root))
    assert ended.returncode == 0 and "psk.key alone" not in ended.stderr


def refused_either(*arguments: str) -> str:
    ended = pqcmav(*arguments)
    assert ended.returncode in (1, 2) and ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    return line


def test_bad_ids_and_folders(tmp_path: Path) -> None:
    assert "Drone One" in refused(2, "keys", "init", "Drone One", "--root", str(tmp_path / "k"))
    assert "keys init" in refused(2, "keys", "show", str(tmp_path / "none"))
    assert "nonsense" in refused_either("keys", "init", "d", "--sig", "nonsense", "--root", str(tmp_path / "k2"))


def test_core_dumps_are_forbidden_before_a_key_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PQCMAV_CORE_DUMPS", raising=False)
    # A command that ends in itself tells what it was allowed.
    code = (
        "import atexit, resource; from pqc_mav_cli.entry import run;"
        "atexit.register(lambda: print('limit', resource.getrlimit(resource.RLIMIT_CORE))); run()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, "keys", "show", str(root)], capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0 and ended.stdout.endswith("limit (0, 0)\n")
    monkeypatch.setenv("PQCMAV_CORE_DUMPS", "1")
    assert "Core dumps are allowed (PQCMAV_CORE_DUMPS=1)" in pqcmav("keys", "show", str(root)).stderr
