# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from pqc_mav_cli.errors import WITHOUT_ROS
from pqc_mav_cli.joining.packaged import FOLDER, Packaged, packaged

ROOT = Path(__file__).resolve().parents[4]


def test_it_is_the_file_that_the_package_s_unit_reads() -> None:
    unit = (ROOT / "packaging" / "pqcmav-tunneld@.service").read_text()
    assert f"ExecStart=/usr/bin/pqcmav-tunneld {FOLDER}/%i.yaml\n" in unit


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_the_package_s_own_files_name_their_keys(role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{role}.yaml").write_text((ROOT / "packaging" / f"{role}.yaml").read_text())
    assert packaged(role, tmp_path) is None, "a workspace has none"
    monkeypatch.setenv(WITHOUT_ROS, "1")
    found = packaged(role, tmp_path)
    assert found is not None and found.config == tmp_path / f"{role}.yaml"
    assert str(found.keys).startswith("/etc/pqcmav/") and found.keys.name == "keys"


def test_a_file_that_is_gone_or_names_no_keys_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WITHOUT_ROS, "1")
    assert packaged("drone", tmp_path) is None
    (tmp_path / "drone.yaml").write_text("role: drone\n# keys: /nowhere\n")
    assert packaged("drone", tmp_path) is None
    (tmp_path / "drone.yaml").write_text("role: drone\nkeys: '/a/b'  # here\n")
    assert packaged("drone", tmp_path) == Packaged(tmp_path / "drone.yaml", Path("/a/b"))
