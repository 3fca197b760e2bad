# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest

from pqc_mav_common import safe_open

ELSEWHERE = ["/etc/passwd", "../x", "a/../../x", "a/..", "", ".", "a//b", "a/", "./a", "..\\x", "a\0b"]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_leads_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path.parent / "x").write_text("not yours")
    with pytest.raises(ValueError, match="is not the name of a file below"):
        safe_open.below(tmp_path, name)
    with pytest.raises(ValueError, match="is not the name of a file below"):
        safe_open.read(tmp_path, name)


def test_what_is_there_is_read(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c..d").write_bytes(b"mine")
    assert safe_open.below(tmp_path, "a/b/c..d") == tmp_path / "a" / "b" / "c..d"
    assert safe_open.read(tmp_path, "a/b/c..d") == b"mine"


def test_no_link_is_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("secret")
    folder = tmp_path / "campaign"
    folder.mkdir()
    (folder / "file").symlink_to(secret / "key")
    (folder / "runs").symlink_to(secret)
    for name in ("file", "runs/key"):
        with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
            safe_open.read(folder, name)


def test_neither_a_pipe_nor_a_huge_file_is_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="no plain file"):
        safe_open.read(tmp_path, "pipe")
    (tmp_path / "large").write_bytes(b"123")
    with pytest.raises(ValueError, match="more than such a file needs"):
        safe_open.read(tmp_path, "large", 2)
