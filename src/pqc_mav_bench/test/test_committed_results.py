# SPDX-License-Identifier: Apache-2.0
"""The campaigns that are kept with the sources can be verified and read by this release."""

from __future__ import annotations

from pathlib import Path

import pytest

from pqc_mav_bench.primitives.result import RESULT
from pqc_mav_bench.primitives.verify import verify_primitives
from pqc_mav_bench.report.contents import sections
from pqc_mav_bench.report.report_input import load
from pqc_mav_bench.store import MANIFEST
from pqc_mav_bench.verify import verify_campaign

RESULTS = Path(__file__).resolve().parents[3] / "bench" / "results"
CAMPAIGNS = sorted(path.parent for path in RESULTS.glob(f"**/{MANIFEST}"))
pytestmark = pytest.mark.skipif(not RESULTS.is_dir(), reason="the results are not beside this package")


def test_there_are_some():
    assert CAMPAIGNS


@pytest.mark.parametrize("folder", CAMPAIGNS, ids=lambda path: str(path.relative_to(RESULTS)))
def test_it_verifies(folder):
    verdict = verify_campaign(folder)
    assert verdict.problems == ()
    assert verdict.runs


def test_the_operations_alone_verify():
    kept = sorted(RESULTS.glob(f"**/{RESULT}"))
    assert kept
    for path in kept:
        assert verify_primitives(path).problems == ()


@pytest.mark.parametrize("folder", CAMPAIGNS, ids=lambda path: str(path.relative_to(RESULTS)))
def test_it_gives_every_section_of_a_report(folder):
    assert all(section.blocks for section in sections(load(folder)))
