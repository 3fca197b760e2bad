# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.joining import place, share


@pytest.fixture
def files(keys: Path) -> dict[str, str]:
    return share.read_folder(keys / "drones" / "d1")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_is_filled_whole_and_nothing_else_is_left(files: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "keys"
    place.put(files, folder, "d1", False)
    assert share.read_folder(folder) == files and names(folder.parent) == ["keys"]


def test_an_empty_folder_may_be_there(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir(mode=0o700)
    place.put(files, tmp_path / "keys", "d1", False)
    assert share.read_folder(tmp_path / "keys") == files


def test_keys_stay_unless_they_may_be_replaced(files: dict[str, str], keys: Path, tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    other = share.read_folder(keys / "drones" / "d2")
    place.put(other, folder, "d2", False)
    with pytest.raises(CliError, match="they stay: add --replace"):
        place.put(files, folder, "d1", False)
    assert share.read_folder(folder) == other
    place.put(files, folder, "d1", True)
    assert share.read_folder(folder) == files and names(tmp_path) == ["keys"]


def test_a_file_system_that_cannot_exchange_names_replaces_all_the_same(
    files: dict[str, str], keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put(share.read_folder(keys / "drones" / "d2"), tmp_path / "keys", "d2", False)
    monkeypatch.setattr(place, "_RENAME_EXCHANGE", 1 << 30)  # a flag that no kernel knows
    place.put(files, tmp_path / "keys", "d1", True)
    assert share.read_folder(tmp_path / "keys") == files and names(tmp_path) == ["keys"]


def test_a_folder_with_anything_else_is_never_replaced(files: dict[str, str], keys: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "letter.txt").write_text("dear")
    for folder in (home, keys / "gcs", keys):
        before = sorted(folder.rglob("*"))
        with pytest.raises(CliError, match="other files than a drone's keys"):
            place.put(files, folder, "d1", True)
        assert sorted(folder.rglob("*")) == before


def test_bad_keys_change_nothing(files: dict[str, str], tmp_path: Path) -> None:
    place.put(files, tmp_path / "keys", "d1", False)
    with pytest.raises(CliError, match="not of d2"):
        place.put(files, tmp_path / "keys", "d2", True)
    assert share.read_folder(tmp_path / "keys") == files and names(tmp_path) == ["keys"]


def test_a_file_and_a_link_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        with pytest.raises(CliError, match=f"is a {name}"):
            place.check(tmp_path / name, True)


def test_folders_that_are_made_are_their_owners_alone_whatever_the_umask(files: dict[str, str], tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        place.put(files, tmp_path / "new" / "deep" / "keys", "d1", False)
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("new", "new/deep", "new/deep/keys")] == [0o700] * 3


def test_a_mount_point_is_refused_before_anything_is_fetched() -> None:
    with pytest.raises(CliError, match="is a mount point"):
        place.check(Path("/proc"), True)


def test_a_place_that_others_can_change_is_refused(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(CliError, match="can be written to by other users"):
        place.put(files, tmp_path / "open" / "keys", "d1", False)
    assert names(tmp_path / "open") == []


def test_keys_are_given_away_before_their_folder_and_never_through_links(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[Path, bool]] = []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "chown", lambda path, *_, follow_symlinks=True: given.append((path, follow_symlinks)))
    (tmp_path / "keys").mkdir(mode=0o700)
    place.put(files, tmp_path / "keys", "d1", False)
    assert given[-1][0] in given[0][0].parents and not any(follow for _, follow in given)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_owner_of_the_folder_owns_the_keys(files: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    place.put(files, folder, "d1", False)
    assert {path.stat().st_uid for path in (folder, *folder.rglob("*"))} == {12345}
    # and of keys that are replaced
    place.put(files, folder, "d1", True)
    assert {path.stat().st_uid for path in (folder, *folder.rglob("*"))} == {12345}
