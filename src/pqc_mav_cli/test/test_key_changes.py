# SPDX-License-Identifier: Apache-2.0
import shutil
import stat
import tempfile
from pathlib import Path

import pqc_mav_tunnel
import pytest

from pqc_mav_cli import key_changes
from pqc_mav_cli.errors import CliError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Keys of two drones; beta signs."""
    made = tmp_path / "keys"
    pqc_mav_tunnel.init_keys(str(made), ["alpha", "beta"], sig_tokens=["mldsa44", "mldsa65"])
    pqc_mav_tunnel.init_keys(str(made), ["beta"], sig_tokens=["mldsa44"], drone_signatures=True)
    return made


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def changed(before: dict[str, bytes], root: Path) -> set[str]:
    after = contents(root)
    assert before.keys() == after.keys()
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in root.rglob("*.key"))
    # Everything can be read, every two halves belong together: the engine finds nothing to add or to object to.
    pqc_mav_tunnel.init_keys(str(root), ["alpha"], sig_tokens=["mldsa44", "mldsa65"])
    pqc_mav_tunnel.init_keys(str(root), ["beta"], sig_tokens=["mldsa44"], drone_signatures=True)
    assert not any(entry["problem"] for entry in pqc_mav_tunnel.list_keys(str(root)))
    return {name for name in before if before[name] != after[name]}


def test_a_drone_gets_a_new_psk_and_nothing_else_changes(root: Path) -> None:
    before = contents(root)
    assert key_changes.rotate_drone(root, "alpha", "gcs") == []
    assert changed(before, root) == {"drones/alpha/psk.key", "gcs/psk/alpha.key"}


def test_a_drone_that_signs_gets_new_pairs_too(root: Path) -> None:
    before = contents(root)
    assert key_changes.rotate_drone(root, "beta", "gcs") == ["mldsa44"]
    assert changed(before, root) == {
        "drones/beta/psk.key",
        "gcs/psk/beta.key",
        "drones/beta/sig/mldsa44.key",
        "drones/beta/sig/mldsa44.pub",
        "gcs/drones/beta/mldsa44.pub",
    }


def test_the_ground_station_gets_new_pairs_and_every_share_the_public_half(root: Path) -> None:
    before = contents(root)
    assert key_changes.rotate_gcs(root, ["mldsa44"]) == ["mldsa44"]
    assert changed(before, root) == {
        "gcs/sig/mldsa44.key",
        "gcs/sig/mldsa44.pub",
        "drones/alpha/gcs/mldsa44.pub",
        "drones/beta/gcs/mldsa44.pub",
    }
    assert key_changes.rotate_gcs(root, []) == ["mldsa44", "mldsa65"]


def test_a_copy_of_a_share_is_no_drone(root: Path) -> None:
    """A backup, and what a 'pqcmav join' that was killed leaves behind."""
    for copy in ("alpha.bak", ".join-x1", "Alpha old"):
        shutil.copytree(root / "drones" / "alpha", root / "drones" / copy)
    before = contents(root)
    assert key_changes.drones_of(root) == ["alpha", "beta"]
    key_changes.rotate_gcs(root, ["mldsa44"])
    copies = [name for name in before if name.startswith(("drones/alpha.bak", "drones/.join-x1", "drones/Alpha old"))]
    now = contents(root)
    assert copies and all(now[name] == before[name] for name in copies)


def test_revoking_leaves_nothing_of_a_drone_and_all_of_the_others(root: Path) -> None:
    before = contents(root)
    removed = key_changes.revoke(root, "beta")
    assert [path.relative_to(root).as_posix() for path in removed] == [
        "gcs/psk/beta.key",
        "gcs/drones/beta",
        "drones/beta",
    ]
    assert contents(root) == {name: content for name, content in before.items() if "beta" not in name}
    assert key_changes.drones_of(root) == ["alpha"]


def test_an_interruption_leaves_what_the_next_call_makes_whole(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, replace, moves = contents(root), Path.replace, []

    def once(new: Path, old: Path) -> Path:
        moves.append(old)
        if len(moves) == 2:
            raise OSError(28, "No space left on device")
        return replace(new, old)

    monkeypatch.setattr(Path, "replace", once)
    with pytest.raises(CliError, match="Run this again"):
        key_changes.rotate_drone(root, "alpha", "gcs")
    monkeypatch.undo()
    assert not list(root.glob(".rotate-*"))
    left = root / f".rotate-{1 << 30}-x"  # as of a process that was killed
    pqc_mav_tunnel.init_keys(str(left), ["alpha"], sig_tokens=["mldsa44"])
    key_changes.rotate_drone(root, "alpha", "gcs")
    assert changed(before, root) == {"drones/alpha/psk.key", "gcs/psk/alpha.key"}


def test_a_ground_on_another_file_system_changes_nothing(root: Path) -> None:
    """As a memory stick or a mount in place of gcs/: no file could be renamed over its keys."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        if Path(other).stat().st_dev == root.stat().st_dev:
            pytest.skip("there is no other file system")
        shutil.copytree(root / "gcs", Path(other) / "gcs")
        shutil.rmtree(root / "gcs")
        (root / "gcs").symlink_to(Path(other) / "gcs")
        before = contents(root), contents(Path(other))
        for change in (lambda: key_changes.rotate_drone(root, "beta", "gcs"), lambda: key_changes.rotate_gcs(root, [])):
            with pytest.raises(CliError, match="on another file system"):
                change()
        assert before == (contents(root), contents(Path(other)))


def test_a_name_that_is_not_the_ground_stations_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "north"
    pqc_mav_tunnel.init_keys(str(root), ["alpha"], sig_tokens=["mldsa44"], gcs_id="north")
    before = contents(root)
    with pytest.raises(CliError, match=r"the ground station 'gcs'; .* --gcs-id"):
        key_changes.rotate_drone(root, "alpha", "gcs")
    assert contents(root) == before
    key_changes.rotate_drone(root, "alpha", "north")
    after = contents(root)
    assert {name for name in after if after[name] != before.get(name)} == {"drones/alpha/psk.key", "gcs/psk/alpha.key"}
    pqc_mav_tunnel.init_keys(str(root), ["alpha"], sig_tokens=["mldsa44"], gcs_id="north")


def test_a_drone_without_a_share_here_gets_a_whole_one(root: Path, tmp_path: Path) -> None:
    shutil.rmtree(root / "drones" / "alpha")
    key_changes.rotate_drone(root, "alpha", "gcs")
    pqc_mav_tunnel.export_drone(str(root), "alpha", str(tmp_path / "out"))
    assert set(contents(tmp_path / "out")) == {"psk.key", "gcs/mldsa44.pub", "gcs/mldsa65.pub"}


def test_refusals_name_what_there_is(root: Path) -> None:
    with pytest.raises(CliError, match="no keys of a drone 'gamma'; there are alpha, beta"):
        key_changes.rotate_drone(root, "gamma", "gcs")
    with pytest.raises(CliError, match="there are alpha"):
        key_changes.revoke(root, "..")
    with pytest.raises(CliError, match="no key pair of falcon512"):
        key_changes.rotate_gcs(root, ["falcon512"])


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """A root with two ground stations."""
    root = tmp_path / "several"
    pqc_mav_tunnel.init_keys(
        str(root), ["alpha", "beta"], sig_tokens=["mldsa44"], drone_signatures=True, stations=["north", "south"]
    )
    return root


def test_each_of_several_ground_stations_gets_a_drones_new_psk(several: Path) -> None:
    before = contents(several)
    assert key_changes.rotate_drone(several, "alpha", "gcs") == ["mldsa44"]
    after = contents(several)
    assert {name for name in after if after[name] != before.get(name)} == {
        "drones/alpha/psk.key",
        "drones/alpha/sig/mldsa44.key",
        "drones/alpha/sig/mldsa44.pub",
        *(f"stations/{name}/psk/alpha.key" for name in ("north", "south")),
        *(f"stations/{name}/drones/alpha/mldsa44.pub" for name in ("north", "south")),
    }
    assert set(after) == set(before)


def test_the_signing_keys_of_one_of_several_ground_stations_change_alone(several: Path) -> None:
    before = contents(several)
    with pytest.raises(CliError, match="choose one of north, south with --gcs-id"):
        key_changes.rotate_gcs(several, [])
    assert key_changes.rotate_gcs(several, [], "south") == ["mldsa44"]
    after = contents(several)
    assert {name for name in after if after[name] != before.get(name)} == {
        "stations/south/sig/mldsa44.key",
        "stations/south/sig/mldsa44.pub",
        "drones/alpha/gcs/south/mldsa44.pub",
        "drones/beta/gcs/south/mldsa44.pub",
    }
    assert set(after) == set(before)


def test_no_ground_station_knows_a_revoked_drone(several: Path) -> None:
    before = contents(several)
    key_changes.revoke(several, "beta")
    assert contents(several) == {name: content for name, content in before.items() if "beta" not in name}
    assert key_changes.drones_of(several) == ["alpha"]


@pytest.fixture
def grown(tmp_path: Path) -> Path:
    """A root of a single ground station that became one of two: its keys stayed. Beta is only at the new one."""
    root = tmp_path / "grown"
    pqc_mav_tunnel.init_keys(str(root), ["alpha"], sig_tokens=["mldsa44"])
    pqc_mav_tunnel.init_keys(str(root), ["alpha", "beta"], sig_tokens=["mldsa44"], stations=["north"])
    return root


def differ(before: dict[str, bytes], root: Path) -> set[str]:
    after = contents(root)
    pqc_mav_tunnel.init_keys(str(root), ["alpha"], sig_tokens=["mldsa44"])
    pqc_mav_tunnel.init_keys(str(root), ["alpha", "beta"], sig_tokens=["mldsa44"], stations=["north"])
    assert contents(root) == after and after.keys() == before.keys()
    return {name for name in after if after[name] != before[name]}


def test_a_stolen_psk_is_worth_nothing_at_a_station_of_before_either(grown: Path) -> None:
    before = contents(grown)
    key_changes.rotate_drone(grown, "alpha", "gcs")
    assert differ(before, grown) == {"drones/alpha/psk.key", "gcs/psk/alpha.key", "stations/north/psk/alpha.key"}


def test_a_station_that_does_not_know_a_drone_does_not_learn_of_it(grown: Path) -> None:
    before = contents(grown)
    key_changes.rotate_drone(grown, "beta", "gcs")
    assert differ(before, grown) == {"drones/beta/psk.key", "stations/north/psk/beta.key"}


def test_a_station_of_before_is_chosen_by_its_folders_name(grown: Path) -> None:
    with pytest.raises(CliError, match="choose one of north, gcs with --gcs-id"):
        key_changes.rotate_gcs(grown, [], "south")
    before = contents(grown)
    assert key_changes.rotate_gcs(grown, [], "gcs") == ["mldsa44"]
    assert differ(before, grown) == {"gcs/sig/mldsa44.key", "gcs/sig/mldsa44.pub", "drones/alpha/gcs/mldsa44.pub"}
