# SPDX-License-Identifier: Apache-2.0
import json

import pytest
from commands import pqcmav, refused

from pqc_mav_cli.suites_command import matches


def listed(*arguments: str) -> list[dict]:
    ended = pqcmav("suites", "--json", *arguments)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.parametrize(("view", "count"), [("core", 72), ("extended", 132), ("2025", 30), ("all", 234)])
def test_views(view: str, count: int) -> None:
    assert len(listed("--view", view)) == count


def test_standards_alone() -> None:
    found = listed("--standard")
    assert [suite for suite in listed("--view", "all") if suite["standard"]] == found
    assert {suite["kem_family"] for suite in found} == {"ML-KEM"}
    assert "ML-768-AG-MD-65" in {suite["short_code"] for suite in found}


def test_filters_narrow_together() -> None:
    found = listed("--level", "3", "--kem", "mceliece", "--sig", "ml-dsa", "--aead", "ChaCha")
    assert [suite["id"] for suite in found] == ["cs-classicmceliece460896-chacha20poly1305-mldsa65"]
    assert found[0]["public_key_bytes"] == 524160


def test_only_available() -> None:
    assert all(suite["available"] for suite in listed("--view", "extended", "--available"))


def test_table_has_every_suite_on_a_line_of_its_own() -> None:
    lines = pqcmav("suites", "--level", "1").stdout.splitlines()
    ids = [words[1] for words in map(str.split, lines) if words[1:] and words[1].startswith("cs-")]
    assert len(ids) == len(set(ids)) == len(listed("--level", "1"))
    assert lines[-1].startswith(f"{len(ids)} suites, ")


def test_what_is_not_here_is_explained_once_below_the_table() -> None:
    shown = pqcmav("suites", "--view", "all").stdout
    missing = {suite["reason"] for suite in listed("--view", "all") if not suite["available"]}
    assert missing and all(shown.count(f"no: {reason}") == 1 for reason in missing)


def test_a_filter_that_matches_nothing_says_what_there_is() -> None:
    assert "ML-KEM-768" in refused(2, "suites", "--kem", "rsa")
    assert "Ascon" in refused(2, "suites", "--aead", "des")


@pytest.mark.parametrize(
    ("text", "expected"), [("ml-kem", True), ("MLKEM768", True), ("ml kem 768", True), ("hqc", False)]
)
def test_matching_ignores_case_and_dashes(text: str, expected: bool) -> None:
    suite = {"kem": "ML-KEM-768", "kem_family": "ML-KEM", "kem_token": "mlkem768"}
    assert matches(suite, "kem", text) is expected
