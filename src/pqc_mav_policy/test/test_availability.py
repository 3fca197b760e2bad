# SPDX-License-Identifier: Apache-2.0
"""Which suites may be chosen: algorithms, keys, the operator's list."""

from __future__ import annotations

from pathlib import Path

import pqc_mav_tunnel

from pqc_mav_policy.availability import signature_tokens, usable_suites

ROWS = [
    {"id": "a", "available": True, "reason": "", "sig_token": "mldsa65"},
    {"id": "b", "available": False, "reason": "liboqs was built without HQC-192.", "sig_token": "mldsa65"},
    {"id": "c", "available": True, "reason": "", "sig_token": "falcon512"},
]


def usable(signatures: frozenset[str] | None, wanted: tuple[str, ...] = ()) -> list[str]:
    return [name for name, why in usable_suites(ROWS, signatures, wanted).items() if not why]


def test_algorithm_key_and_the_operators_list_all_have_to_be_there() -> None:
    assert usable(frozenset({"mldsa65"})) == ["a"]
    assert usable(frozenset({"mldsa65", "falcon512"})) == ["a", "c"]
    assert usable(None) == ["a", "c"]
    assert usable(None, ("c", "b")) == ["c"]
    assert usable(frozenset()) == []


def test_each_refusal_says_why() -> None:
    why = usable_suites(ROWS, frozenset({"mldsa65"}), ("b",))
    assert why["b"] == "liboqs was built without HQC-192."
    assert "public key for falcon512" in why["c"]
    assert "parameter 'suites'" in why["a"]


def test_tokens_are_those_of_the_ground_stations_public_keys(tmp_path: Path) -> None:
    root = tmp_path / "keys"
    pqc_mav_tunnel.init_keys(str(root), ["d1"], sig_tokens=["mldsa65", "falcon512"])
    folder = root / "drones" / "d1"
    assert signature_tokens(str(folder)) == {"mldsa65", "falcon512"}
    (folder / "gcs" / "falcon512.pub").chmod(0o666)
    assert "mldsa65" in (signature_tokens(str(folder)) or ())


def test_a_folder_that_cannot_be_read_is_not_known() -> None:
    assert signature_tokens("/nowhere/at/all") in (None, frozenset())
