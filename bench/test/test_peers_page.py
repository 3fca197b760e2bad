# SPDX-License-Identifier: Apache-2.0
"""What the page says, and what it must not say."""

from __future__ import annotations

from typing import Any

import pytest
import rig
from peers import page
from peers.ends import System
from peers.figures import LIMIT_S


def system(key: str, **no: str) -> System:
    return System(key, key.upper(), "version 1", lambda room, folder: None, no=no)  # type: ignore[arg-type,return-value]


SYSTEMS = [
    system("none"),
    system("pqcmav"),
    system("pqcmav_no_gso"),
    system("boringtun"),
    system("dtls", cpu_320="why"),
]


def results(part: str, values: dict[str, dict[str, list[float]]], **failures: list[str]) -> dict[str, Any]:
    environment = {"date": "2026-01-01", "machine": "m", "kernel": "6", "load_average_at_start": 0.0}
    return {
        "parts": {
            part: {"sessions": [environment], "seconds": 1, "values": values,
                   "failures": failures, "notes": {}}
        }
    }  # fmt: skip


def section(text: str, head: str) -> str:
    return text.split(f"### {head}\n", 1)[1].split("\n##", 1)[0]


FAST, SLOW = [1.0, 1.1, 1.2, 1.0, 1.1, 1.2], [2.0, 2.1, 2.2, 2.0, 2.1, 2.2]


@pytest.mark.parametrize(
    ("own", "other", "behind"),
    [(SLOW, FAST, True), (FAST, SLOW, False), ([*FAST[:3], *SLOW[:3]], [*SLOW[3:], *FAST[3:]], False)],
)
def test_it_is_behind_where_the_intervals_say_so(own: list[float], other: list[float], behind: bool) -> None:
    text = page.render(results("cost", {"cpu_320": {"pqcmav": own, "boringtun": other}}), SYSTEMS)
    assert ("CPU of both ends at 320/s" in section(text, "Where PQC-MAV is behind")) == behind


def test_yardsticks_and_few_repetitions_are_not_compared() -> None:
    text = page.render(results("cost", {"cpu_320": {"pqcmav": SLOW, "none": FAST, "boringtun": FAST[:4]}}), SYSTEMS)
    assert "BORINGTUN" not in section(text, "Where PQC-MAV is behind")
    assert "NONE" not in section(text, "Where PQC-MAV is behind")


def test_a_missing_figure_is_a_dash_with_its_reason() -> None:
    text = page.render(results("cost", {"cpu_320": {"pqcmav": FAST}}, boringtun=["it ended"]), SYSTEMS)
    assert "| DTLS |" not in text.partition("## The systems")[0], "a line of dashes alone says no more than its reason"
    assert "- DTLS: why" in text
    assert "- BORINGTUN: it failed: it ended" in text


def test_what_took_too_long_is_named() -> None:
    values = {"recovery_s": {"pqcmav": [2.0] * 5, "boringtun": [LIMIT_S, LIMIT_S, 15.0, 15.0, 15.0]}}
    text = page.render(results("recovery", values), SYSTEMS)
    assert "2 of 5 took longer" in text


def test_one_value_has_no_interval() -> None:
    text = page.render(results("cost", {"cpu_320": {"pqcmav": [1.5]}}), SYSTEMS)
    assert "| PQCMAV | 1.50 |" in text


def test_what_gso_changes_is_said() -> None:
    text = page.render(results("cost", {"cpu_320": {"pqcmav": SLOW, "pqcmav_no_gso": FAST}}), SYSTEMS)
    assert "worse with GSO, 2.10 (2.00-2.20) against 1.10 (1.00-1.20)" in section(text, "What GSO changes")


@pytest.mark.parametrize(("without", "shown"), [(FAST, True), (SLOW, False), (SLOW[:4], True)])
def test_a_row_without_gso_is_left_out_where_it_is_known_to_say_the_same(without: list[float], shown: bool) -> None:
    text = page.render(results("cost", {"cpu_320": {"pqcmav": SLOW, "pqcmav_no_gso": without}}), SYSTEMS)
    assert ("| PQCMAV_NO_GSO | 2" in text or "| PQCMAV_NO_GSO | 1" in text) == shown


def test_each_part_says_of_which_sources_it_is() -> None:
    made = results("cost", {"cpu_320": {"pqcmav": FAST, "boringtun": SLOW}})
    assert "\n*m, Linux 6*\n" in page.render(made, SYSTEMS)
    (session,) = made["parts"]["cost"]["sessions"]
    first, second = ({"commit": 40 * letter, "changed": letter == "b"} for letter in "ab")
    made["parts"]["cost"]["sessions"] = [{**session, "source": each} for each in (first, second, first)]
    both = f"*2026-01-01, commit {12 * 'a'}; commit {12 * 'b'}, with changes"
    made["parts"]["delay"] = results("delay", {"one_way_320": {"pqcmav": FAST}})["parts"]["delay"]
    apart = page.render(made, SYSTEMS)
    assert f"\n{both}; load average" in apart
    assert "\n*2026-01-01, commit not recorded; load average" in apart
    made["parts"]["delay"]["sessions"] = [{**session, "machine": "another"}]
    apart = page.render(made, SYSTEMS)
    assert f"\n{both}; m, Linux 6; load average" in apart and "; another, Linux 6; load average" in apart


def test_a_session_knows_the_commit_that_it_measures() -> None:
    if not (rig.ROOT / ".git").exists():
        pytest.skip("the sources are no clone")
    assert len(rig.environment()["source"]["commit"]) == 40
