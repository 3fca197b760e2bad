# SPDX-License-Identifier: Apache-2.0
"""Each section is marked by the campaign that it reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pqc_mav_bench.report import contents
from pqc_mav_bench.report.sections import guide
from pqc_mav_bench.report.sections.suite_tables import suite_tables


@pytest.mark.parametrize(("main", "of_load"), [(1.0, 0.0), (0.0, 1.0), ("printed", 0.0)])
def test_power_is_called_modelled_if_the_campaign_it_is_of_had_no_sensor(campaign, paper, monkeypatch, main, of_load):
    monkeypatch.setattr(contents, "SECTIONS", (suite_tables, guide.reading_guide))
    monkeypatch.setattr(contents.comparison, "comparison", lambda *_: guide.reading_guide(campaign))
    first = paper if main == "printed" else replace(campaign, runs=campaign.runs.assign(power_measured=main))
    load = replace(campaign, runs=campaign.runs.assign(power_measured=of_load))
    tables = {block.key: block for block in contents.sections(first, load)[0].blocks if hasattr(block, "frame")}
    for key, heading in (("decision", "Power (W)"), ("level-aggregate", "W min")):
        assert (f"{heading}, modelled" in tables[key].frame) == (of_load == 0), key
        assert (heading in tables[key].frame) == (of_load == 1), key
