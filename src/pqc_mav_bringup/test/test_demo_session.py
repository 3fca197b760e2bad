# SPDX-License-Identifier: Apache-2.0
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pqc_mav_tunnel
import pytest

from pqc_mav_bringup.demo_session import PREFIX, DemoSession
from pqc_mav_bringup.description import resolve
from pqc_mav_bringup.systems import DEMO, DEMO_DRONE, PORTS


def test_fresh_keys_only_this_user_can_read_and_their_end() -> None:
    with DemoSession({}) as session:
        root = Path(session.values["keys"])
        for path in (root, *root.rglob("*")):
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode & 0o077 == 0 or path.suffix == ".pub", path
        assert {path.name for path in (root / "gcs" / "psk").iterdir()} == {f"{DEMO_DRONE}.key"}
        assert (root / "drones" / DEMO_DRONE / "psk.key").is_file()
    assert not root.exists()
    session.close()


def test_the_keys_fit_the_suite() -> None:
    with DemoSession({"suite": "ML-512-AG-FA-512"}) as session:
        made = {path.stem for path in Path(session.values["keys"]).glob("gcs/sig/*.pub")}
        assert made == {"falcon512", "mldsa65"}


def test_two_sessions_share_nothing() -> None:
    with DemoSession({}) as one, DemoSession({}) as other:
        assert one.values["keys"] != other.values["keys"]
        assert len({one.values[name] for name in PORTS}) == len(PORTS)


def test_given_values_stay_and_given_keys_are_not_removed(tmp_path: Path) -> None:
    with DemoSession({"keys": str(tmp_path), "data_port": "21234", "suite": ""}) as session:
        assert session.values["keys"] == str(tmp_path) and session.values["data_port"] == "21234"
        assert "suite" not in session.values
    assert tmp_path.is_dir()


def test_an_unknown_suite_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(pqc_mav_tunnel.TunnelError, match="nonsense"):
        DemoSession({"suite": "nonsense"})
    assert not list(tmp_path.iterdir())


def test_the_values_fill_the_demo() -> None:
    """The proxy in C++ is guarded from a process of its own."""
    with DemoSession({}) as session:
        assert len(resolve(DEMO, {**session.values, "proxy": "py"})) == 6
        assert len(resolve(DEMO, {**session.values, "proxy": "cpp"})) == 7


def test_the_keys_of_a_killed_demo_are_removed_by_the_next_and_those_of_a_running_one_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = """if True:
        import os, signal
        from pqc_mav_bringup.demo_session import DemoSession
        DemoSession({})
        os.kill(os.getpid(), signal.SIGKILL)
    """
    killed = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, timeout=60, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    beginning = tmp_path / f"{PREFIX}beginning"  # has no lock yet
    beginning.mkdir()
    with DemoSession({}) as one, DemoSession({}) as other:
        assert not left.exists() and beginning.exists()
        assert Path(one.values["keys"]).is_dir() and Path(other.values["keys"]).is_dir()
    assert list(tmp_path.iterdir()) == [beginning]
