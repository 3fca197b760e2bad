# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pqc_mav_tunnel as tunnel
import pytest


def test_views() -> None:
    core, extended, campaign, every = (tunnel.suites(view) for view in ("core", "extended", "2025", "all"))
    assert (len(core), len(extended), len(campaign), len(every)) == (72, 132, 30, 234)
    assert [suite for suite in every if suite.published] == list(extended)
    assert [suite for suite in every if suite.standard] == list(tunnel.suites("standard"))
    assert all(suite.core for suite in core)
    assert {suite.id for suite in core} < {suite.id for suite in extended}
    assert all(suite.campaign_2025 for suite in campaign)
    assert tunnel.suites() == core


def test_only_available() -> None:
    available = tunnel.suites("extended", only_available=True)
    assert available == [suite for suite in tunnel.suites("extended") if suite.available]


def test_every_name_finds_its_suite() -> None:
    for suite in tunnel.suites("all", only_available=True):
        assert tunnel.find_suite(suite.id) == suite
        assert tunnel.find_suite(suite.short_code.lower()) == suite
    assert len({hash(suite) for suite in tunnel.suites("all")}) == 234


def test_unknown_names() -> None:
    with pytest.raises(tunnel.TunnelError) as caught:
        tunnel.find_suite("cs-mlkem768-aesgcm-mldsa66")
    assert caught.value.code == "suite_unknown"
    assert "cs-mlkem768-aesgcm-mldsa65" in str(caught.value)
    assert tunnel.closest_suites("cs-mlkem768-aesgcm-mldsa66", 2)[0] == "cs-mlkem768-aesgcm-mldsa65"
    assert len(tunnel.closest_suites("cs-mlkem768-aesgcm-mldsa66", 2)) == 2
    with pytest.raises(tunnel.TunnelError) as caught:
        tunnel.suites("none")
    assert caught.value.code == "config_invalid"


def test_a_suite_is_immutable_and_complete() -> None:
    suite = tunnel.find_suite("ML-768-AG-MD-65")
    assert suite.as_dict() == {name: getattr(suite, name) for name in suite.as_dict()}
    assert suite.kem == "ML-KEM-768"
    assert suite.public_key_bytes == 1184
    assert suite.ciphertext_bytes == 1088
    assert suite.available
    assert suite.reason == ""
    assert "cs-mlkem768-aesgcm-mldsa65" in repr(suite)
    with pytest.raises(AttributeError):
        suite.level = 5  # type: ignore[misc]
    with pytest.raises(AttributeError, match="no attribute 'levle'"):
        _ = suite.levle  # type: ignore[attr-defined]


def test_preflight_names_every_algorithm() -> None:
    checks = tunnel.preflight()
    assert {check["kind"] for check in checks} == {"KEM", "SIG"}
    tokens = {check["token"] for check in checks}
    for suite in tunnel.suites("all"):
        assert {suite.kem_token, suite.sig_token} <= tokens
    for check in checks:
        assert bool(check["name"]) == bool(check["by"]) == check["available"]
        assert check["by"] in ("", *tunnel.providers().split(", "))
        assert bool(check["reason"]) != check["available"]


def test_versions() -> None:
    for version in (tunnel.engine_version(), tunnel.liboqs_version(), tunnel.openssl_version()):
        assert version[0].isdigit()
        assert "." in version


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_schema(role: str) -> None:
    schema = tunnel.config_schema(role)
    python_types = {"bool": bool, "int": int, "float": float, "string": str, "string_list": list}
    for entry in [*schema, *tunnel.per_drone_schema()]:
        assert set(entry) == {
            "key", "type", "default", "min", "max", "unit", "description", "choices", "required", "read_only", "fixed",
        }  # fmt: skip
        assert type(entry["default"]) is python_types[entry["type"]]
        assert (entry["min"] is None) == (entry["type"] not in ("int", "float"))
        assert entry["description"].endswith(".")
    live = ["station", "shape_kbit"] if role == "drone" else ["shape_kbit"]
    assert [entry["key"] for entry in schema if not entry["read_only"]] == live
    names = [entry["key"] for entry in schema]
    assert len(names) == len(set(names))
    assert ("peer" in names) == (role == "drone")
    assert ("drones" in names) == (role == "gcs")


def test_what_names_the_ends_and_protects_the_link_is_for_the_start_alone() -> None:
    fixed = {
        entry["key"]
        for entry in [*tunnel.config_schema("drone"), *tunnel.config_schema("gcs"), *tunnel.per_drone_schema()]
        if entry["fixed"]
    }
    assert fixed == {
        *("role", "drones", "drone_id", "gcs_id", "keys", "state_dir"),
        *("control_socket", "control_socket_group", "control_socket_mode"),
        *("allow_pure", "allowed_suites", "hybrid", "require_signature", "sign"),
        *("plain", "plain_allow_remote", "plain_bind", "plain_endpoints", "plain_peer", "plain_tap"),
        "plain_tap_requests",
    }


def test_schema_of_nobody() -> None:
    with pytest.raises(tunnel.TunnelError):
        tunnel.config_schema("pilot")
