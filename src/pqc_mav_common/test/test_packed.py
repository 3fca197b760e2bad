# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gzip

import pytest

from pqc_mav_common import packed


@pytest.mark.parametrize(("name", "start"), [("a.csv", b"one"), ("a.csv.gz", b"\x1f\x8b")])
def test_what_is_packed_is_read(tmp_path, name, start):
    path = tmp_path / name
    path.write_bytes(packed.pack(b"one,two\n", path))
    assert path.read_bytes().startswith(start)
    assert packed.pack(b"one,two\n", path) == path.read_bytes()
    assert packed.read(path) == b"one,two\n"


@pytest.mark.parametrize(
    "content", [b"{}", b"\x1f\x8b\x08\x00", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xff\xff", b"\x1f\x8b"]
)
def test_a_damaged_file_is_refused(tmp_path, content):
    path = tmp_path / "a.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="does not decompress"):
        packed.read(path)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        packed.read(tmp_path / "a.gz")


def test_several_members_and_padding_are_read() -> None:
    assert packed.unpack(gzip.compress(b"one,") + gzip.compress(b"two") + b"\0" * 9) == b"one,two"


def test_a_bomb_does_not_fill_the_memory() -> None:
    """A thousand bytes of each one: 64 MB of 64 kB, and the same in members that are small by themselves."""
    whole = gzip.compress(bytes(packed.ANY_RATIO_BYTES * 4))
    parts = gzip.compress(bytes(packed.ANY_RATIO_BYTES // 8)) * 32
    for bomb in (whole, parts):
        assert packed.most_of(len(bomb)) < packed.ANY_RATIO_BYTES * 2
        with pytest.raises(ValueError, match="would unpack to more than"):
            packed.unpack(bomb)
