# SPDX-License-Identifier: Apache-2.0
"""A number that stands in two documents is the same in both: the first file has it from a recording."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = "bench/results"
#: What it is, and where it stands: file and pattern, of which the groups are compared. Lines are joined before.
FACTS = {
    "what the policy adds over a suite of level 5": (
        (f"{RESULTS}/policy-judged.md", r"the policy changes mean security by (\S+) to (\S+\d)"),
        ("docs/policy.md", r"it changes mean security by (\S+) to (\S+\d)"),
    ),
    "what it adds over the default suite": (
        (f"{RESULTS}/policy-judged.md", r"`measured` has (\S+) to (\S+) more mean security"),
        ("docs/policy.md", r"`measured` has (\S+) to (\S+) of 1 more security"),
    ),
    "bytes of our handshake": (
        (f"{RESULTS}/peers.md", r"\| PQC-MAV \| [^|]+ \| (9,\d+ \([\d,-]+\)) \|"),
        ("README.md", r"\| handshake \| (9,\d+) bytes (\([\d,-]+\))"),
    ),
    "processor of both ends": (
        (f"{RESULTS}/peers.md", r"\| PQC-MAV \| (\d\.\d\d \([\d.-]+\)) \| [\d.]+ \([\d.-]+\) \|"),
        ("README.md", r"320 messages/s \| (\d\.\d+) % (\([\d.-]+\)) of a core"),
    ),
    "runs of the campaign with detectors": (
        (f"{RESULTS}/campaign-scenarios/summary.md", r"(\d+) of \1 runs passed"),
        (f"{RESULTS}/campaigns.md", r"320 MAVLink messages/s each way: (\d+) runs"),
        (f"{RESULTS}/campaigns.md", r"pack the campaign of (\d+) runs"),
    ),
    "recorded attacks": (
        (f"{RESULTS}/detection.md", r"(\d+) attacks \("),
        ("docs/evidence.md", r"on (\d+) recorded attacks"),
    ),
    "suites": (("docs/suites.md", r"\*\*all\*\*: (\d+)"), ("README.md", r"\*\*(\d+) cipher suites\*\*")),
}


def found(file: str, pattern: str) -> str:
    text = " ".join((ROOT / file).read_text(encoding="utf-8").split())
    match = re.search(pattern, text)
    assert match, f"{file} no longer says it as '{pattern}'"
    return " ".join(match.groups())


@pytest.mark.parametrize("what", FACTS)
def test_a_number_in_two_places_is_one_number(what: str) -> None:
    (source, pattern), *others = FACTS[what]
    measured = found(source, pattern)
    for file, how in others:
        assert found(file, how) == measured, f"{what}: {source} and {file} differ"


def test_the_times_of_the_registry_are_those_that_were_recorded() -> None:
    recorded = json.loads((ROOT / RESULTS / "registry.json").read_text())["stations"]
    page = " ".join((ROOT / "docs/fleet.md").read_text().split())
    for each in recorded.values():
        added = sorted(each["seconds"]["add"])
        assert f"after {statistics.median(added):.2f} s" in page
    assert f"{sum(each['sent'] for each in recorded.values()):,} datagrams" in page
    assert not any(each["lost"] for each in recorded.values())
