# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pqc_mav_tunnel as tunnel
import pytest


def test_init_list_and_export(tmp_path: Path) -> None:
    root = tmp_path / "keys"
    tunnel.init_keys(str(root), ["uav1", "uav2"], ["mldsa44"], drone_signatures=True)
    entries = tunnel.list_keys(str(root))
    assert all(entry["problem"] == "" for entry in entries)
    kinds = sorted((entry["kind"], entry["owner"]) for entry in entries)
    assert kinds.count(("psk", "uav1")) == 2
    for name in ("psk/uav1.key", "sig/mldsa44.key"):
        assert (root / "gcs" / name).stat().st_mode & 0o777 == 0o600

    tunnel.export_drone(str(root), "uav2", str(tmp_path / "stick"))
    assert (tmp_path / "stick" / "psk.key").read_bytes() == (root / "drones" / "uav2" / "psk.key").read_bytes()
    with pytest.raises(tunnel.TunnelError) as caught:
        tunnel.export_drone(str(root), "uav2", str(tmp_path / "stick"))
    assert caught.value.code == "io"


def test_listing_shows_no_secret(tmp_path: Path) -> None:
    tunnel.init_keys(str(tmp_path / "keys"), ["uav1"], ["mldsa44"])
    shown = repr(tunnel.list_keys(str(tmp_path / "keys")))
    for file in (tmp_path / "keys").rglob("*.key"):
        for line in file.read_text().splitlines():
            if len(line) > 40:
                assert line not in shown


def test_refusals(tmp_path: Path) -> None:
    for call, code in (
        (lambda: tunnel.init_keys(str(tmp_path), ["UAV"]), "config_invalid"),
        (lambda: tunnel.init_keys(str(tmp_path), ["uav1"], ["rsa"]), "config_invalid"),
        (lambda: tunnel.export_drone(str(tmp_path), "uav1", str(tmp_path / "x")), "key_missing"),
        (lambda: tunnel.list_keys(str(tmp_path / "nowhere")), "key_missing"),
    ):
        with pytest.raises(tunnel.TunnelError) as caught:
            call()
        assert caught.value.code == code


def test_a_readable_secret_is_a_problem(tmp_path: Path) -> None:
    tunnel.init_keys(str(tmp_path), ["uav1"], ["mldsa44"])
    secret = tmp_path / "gcs" / "psk" / "uav1.key"
    secret.chmod(0o644)
    problems = [entry for entry in tunnel.list_keys(str(tmp_path)) if entry["problem"]]
    assert [entry["path"] for entry in problems] == [str(secret)]
    assert "chmod" in problems[0]["problem"]
