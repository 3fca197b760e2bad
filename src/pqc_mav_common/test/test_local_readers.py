# SPDX-License-Identifier: Apache-2.0
"""Whose a connection is: by real connections of this and of other users, and by the kernel's table as it can look."""

from __future__ import annotations

import os
import pwd
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pqc_mav_common.errors import ProcessError
from pqc_mav_common.local_readers import EVERYBODY, Readers, owner_of

OTHER = 54321
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")
CLIENT = "import socket, sys; s = socket.create_connection((sys.argv[1], int(sys.argv[2]))); sys.stdin.read()"


@contextmanager
def connected(host: str, by: str = "", **user: Any) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    """Both ends of a connection to a listener at `host` that another process makes, under the address `by`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listener:
        port = str(listener.getsockname()[1])
        client = subprocess.Popen([sys.executable, "-c", CLIENT, by or host, port], stdin=subprocess.PIPE, **user)
        try:
            listener.settimeout(60)
            accepted, peer = listener.accept()
            with accepted:
                yield peer[:2], accepted.getsockname()[:2]
        finally:
            client.communicate()


@pytest.mark.parametrize(("host", "by"), [("127.0.0.1", ""), ("::1", ""), ("127.0.0.1", "::ffff:127.0.0.1")])
def test_this_user(host: str, by: str) -> None:
    with connected(host, by) as (peer, local):
        assert owner_of(peer, local) == os.geteuid()
        assert Readers().refusal(peer, local) == ""


@as_root
def test_another_user() -> None:
    with connected("127.0.0.1", user=OTHER, group=OTHER, extra_groups=[]) as (peer, local):
        assert owner_of(peer, local) == OTHER
        assert f"--allow {OTHER}" in Readers().refusal(peer, local)
        assert Readers(["0"]).refusal(peer, local) and Readers([f"@{OTHER}"]).refusal(peer, local)
        assert Readers([str(OTHER)]).refusal(peer, local) == ""
        assert Readers([EVERYBODY]).refusal(peer, local) == ""


@as_root
def test_a_user_by_name_and_by_group() -> None:
    nobody = pwd.getpwnam("nobody")
    with connected("127.0.0.1", user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[]) as (peer, local):
        assert "'nobody'" in Readers().refusal(peer, local)
        for allowed in ("nobody", f"@{nobody.pw_gid}"):
            assert Readers([allowed]).refusal(peer, local) == ""
        assert Readers(also=["nobody", "there-is-none"]).refusal(peer, local) == ""


def test_a_connection_that_was_closed_is_nobodys() -> None:
    """The kernel shows it as root's, who may read."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        accepted, peer = listener.accept()
        with accepted:
            local = accepted.getsockname()
            assert owner_of(peer, local) == os.geteuid()
            client.close()
            assert owner_of(peer, local) is None
            assert "cannot be told" in Readers().refusal(peer, local)


LINE = (
    "   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000  {user}        0 {inode} 1 0 20 4 30 10 -1\n"
)


def table(folder: Path, *lines: str, name: str = "tcp") -> Path:
    (folder / name).write_text("  sl  local_address rem_address   st ...\n" + "".join(lines))
    return folder


@pytest.mark.parametrize(
    ("changes", "user"),
    [
        ({}, 1000),
        ({"state": "04"}, None),  # FIN_WAIT1
        ({"state": "06"}, None),  # TIME_WAIT
        ({"inode": "0"}, None),
        ({"local": "0100007F:0051"}, None),  # another port
        ({"remote": "0100007F:1F91"}, None),  # of another server
        ({"local": "0200007F:0050"}, None),  # from another address
    ],
)
def test_which_line_counts(tmp_path: Path, changes: dict[str, str], user: int | None) -> None:
    given = {"local": "0100007F:0050", "remote": "0100007F:1F90", "state": "01", "user": 1000, "inode": "77"}
    ours = LINE.format(local="0100007F:1F90", remote="0100007F:0050", state="01", user=0, inode=5)
    net = table(tmp_path, ours, LINE.format(**{**given, **changes}))
    assert owner_of(("127.0.0.1", 80), ("127.0.0.1", 8080), net) == user


def test_without_tables_everybody_is_refused(tmp_path: Path) -> None:
    assert "cannot be told" in Readers(net=tmp_path).refusal(("127.0.0.1", 80), ("127.0.0.1", 8080))


@pytest.mark.parametrize(("name", "said"), [("no-such-user", "no user"), ("@no-such-group", "no group")])
def test_who_is_not_there_cannot_be_allowed(name: str, said: str) -> None:
    with pytest.raises(ProcessError, match=said):
        Readers([name])
