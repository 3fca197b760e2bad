# SPDX-License-Identifier: Apache-2.0
"""What the thin link's figures are made of."""

from __future__ import annotations

import argparse
import os

import pytest
import thinlink

OPTIONS = argparse.Namespace(runs=2, seconds=10.0, jobs=1)


def test_the_page_has_a_row_per_form_and_load() -> None:
    results = [
        thinlink.Figures(form.name, load, 10.0, 400, 390 + turn, (10.0, 20.0, 30.0), 60.0)
        for form in thinlink.FORMS
        for load in form.loads
        for turn in range(2)
    ]
    text = thinlink.page(results, "a machine", OPTIONS)
    assert text.count("\n| ") == 1 + sum(len(form.loads) for form in thinlink.FORMS)
    assert "| compact | 90 | 2 | 39.0 ± 0.6 |" in text


@pytest.mark.skipif(os.environ.get("PQCMAV_SLOW") != "1", reason="sends for ten seconds: PQCMAV_SLOW=1 runs it")
@pytest.mark.skipif(bool(thinlink.air.need_root()), reason="needs root and network namespaces")
def test_a_run_measures_the_overhead_of_its_form() -> None:
    form = thinlink.FORMS[1]
    figures = thinlink.measure((form, 40, 5.0, 1))
    assert figures.received == figures.sent
    assert 60 <= figures.bytes_per_packet < 70  # the tunnel's own frames are longer
