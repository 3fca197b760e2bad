# SPDX-License-Identifier: Apache-2.0
"""The campaigns that are kept with the sources can be verified and read by this release."""

from __future__ import annotations

from pathlib import Path

import pytest

from pqc_mav_bench import handshake_table, tidy
from pqc_mav_bench.analysis.intervals import RANKED_FROM
from pqc_mav_bench.analysis.statistics import median_ranks
from pqc_mav_bench.primitives.result import RESULT
from pqc_mav_bench.primitives.verify import verify_primitives
from pqc_mav_bench.recorded_traces import traces
from pqc_mav_bench.report.contents import sections
from pqc_mav_bench.report.report_input import load
from pqc_mav_bench.schema import document
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


@pytest.mark.parametrize("folder", CAMPAIGNS, ids=lambda path: str(path.relative_to(RESULTS)))
def test_without_its_first_handshake_no_run_has_a_median_outside_of_its_interval(folder):
    """docs/metrics.md says why the first one counts."""
    table, single = tidy.read(folder), handshake_table.read(folder)
    if not (table["handshake.handshakes"] >= RANKED_FROM).any():
        pytest.skip("its runs have too few handshakes")
    later = single[single[handshake_table.NUMBER] > 1].groupby(list(tidy.KEY))["handshake_ms"].median()
    for row in table[table["handshake.handshakes"] >= RANKED_FROM].to_dict("records"):
        low, high = row["handshake.handshake_low_ms"], row["handshake.handshake_high_ms"]
        assert low <= later[tuple(row[name] for name in tidy.KEY)] <= high


def test_the_ranks_that_the_page_of_metrics_names():
    assert median_ranks(RANKED_FROM) == (10, 21)
    assert "from the 10th to the 21st" in document.page()


def test_the_operations_alone_verify():
    kept = sorted(RESULTS.glob(f"**/{RESULT}"))
    assert kept
    for path in kept:
        assert verify_primitives(path).problems == ()


@pytest.mark.parametrize("folder", CAMPAIGNS, ids=lambda path: str(path.relative_to(RESULTS)))
def test_it_gives_every_section_of_a_report(folder):
    assert all(section.blocks for section in sections(load(folder)))


def test_the_flight_that_is_kept_has_traces_of_link_power_and_decisions():
    topics = set(traces(RESULTS / "flights" / "simulated-low-battery.mcap")["topic"])
    assert {"/drone/pqc_proxy/link", "/drone/power", "/drone/battery", "/drone/pqc_policy/decision"} <= topics
