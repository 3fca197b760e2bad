# SPDX-License-Identifier: Apache-2.0
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from pqc_mav_cli.joining import share
from pqc_mav_cli.joining.share import Share, ShareError


@pytest.fixture
def files(keys: Path) -> dict[str, str]:
    return share.read_folder(keys / "drones" / "d1")


def test_a_share_arrives_as_it_was_sent(files: dict[str, str]) -> None:
    sent = Share("d1", "north@10.0.0.1:46011", ("mldsa65",), files)
    assert share.unpack(sent.packed()) == sent
    assert files["psk.key"].splitlines()[-1] not in repr(sent)


def test_the_files_are_the_owner_s_alone(files: dict[str, str], tmp_path: Path) -> None:
    share.write_folder(files, tmp_path, "d1")
    made = list(tmp_path.rglob("*"))
    assert {str(path.relative_to(tmp_path)) for path in made if path.is_file()} == set(files)
    assert all(stat.S_IMODE(path.stat().st_mode) == (0o600 if path.is_file() else 0o700) for path in made)
    assert share.read_folder(tmp_path) == files


def changed(packed: bytes, **fields: Any) -> bytes:
    return json.dumps({**json.loads(packed), **fields}).encode()


@pytest.mark.parametrize(
    "fields",
    [{"drone_id": "../x"}, {"drone_id": ""}, {"drone_id": 7}, {"peer": ""}, {"peer": "x" * 2000}, {"sign": 7},
     {"sign": ["../x"]}, {"sign": ["x"] * 999}, {"files": 7}, {"files": {}}, {"files": {"psk.key": "x"}}],
)  # fmt: skip
def test_a_field_that_cannot_be_is_refused(files: dict[str, str], fields: dict[str, Any]) -> None:
    with pytest.raises(ShareError):
        share.unpack(changed(Share("d1", "host", (), files).packed(), **fields))


@pytest.mark.parametrize(
    "name",
    ["../psk.key", "/etc/passwd", "gcs/../../x.pub", "psk.key\n", "restart.key", "gcs/a/b/c.pub", "sig/x.sh", "", "."],
)
def test_a_file_that_no_drone_has_is_refused(files: dict[str, str], name: str) -> None:
    with pytest.raises(ShareError, match="no drone has"):
        share.check_files({**files, name: files["psk.key"]})


@pytest.mark.parametrize("text", ["", "#!/bin/sh\n", "pqcmav-key 1\n" + "x" * 70_000, "pqcmav-key 1\né", 7])
def test_a_file_that_is_no_key_is_refused(files: dict[str, str], text: Any) -> None:
    with pytest.raises(ShareError, match="no key file"):
        share.check_files({**files, "psk.key": text})


@pytest.mark.parametrize("packed", [b"", b"[]", b"\xff", b"[" * 5000, b"{}", b"x" * (share.LARGEST + 1)])
def test_what_is_no_share_is_refused(packed: bytes) -> None:
    with pytest.raises(ShareError):
        share.unpack(packed)


def test_the_engine_reads_each_key_before_it_counts(files: dict[str, str], keys: Path, tmp_path: Path) -> None:
    spoiled = {**files, "psk.key": files["psk.key"].replace("\n", "\n!", 5)}
    (tmp_path / "a").mkdir()
    with pytest.raises(ShareError, match=r"psk\.key that came is not good"):
        share.write_folder(spoiled, tmp_path / "a", "d1")
    (tmp_path / "b").mkdir()
    with pytest.raises(ShareError, match="not of d2"):
        share.write_folder(files, tmp_path / "b", "d2")
