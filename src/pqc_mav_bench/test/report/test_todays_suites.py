# SPDX-License-Identifier: Apache-2.0
"""Suites made of the algorithms of today are shown as those of the documents are."""

from __future__ import annotations

from dataclasses import replace

from pqc_mav_bench.report.sections.aeads import aeads
from pqc_mav_bench.report.sections.signatures import signatures


def renamed(c, column, old, new):
    return replace(c, runs=c.runs.assign(**{column: c.runs[column].str.replace(old, new, regex=False)}))


def of(section, key):
    return next(block for block in section.blocks if block.key == key)


def test_slh_dsa_is_no_lattice_signature(with_detectors):
    chart = of(signatures(renamed(with_detectors, "sig", "SPHINCS+", "SLH-DSA")), "signatures")
    lattices, hashes = (
        (axes.get_ylabel(), {text.get_text().split("-")[0] for text in axes.get_xticklabels()})
        for axes in chart.drawing.figure.axes
    )
    assert lattices == ("Lattice signatures (ms)", {"ML", "Falcon"})
    assert hashes == ("Hash-based signatures (ms)", {"SLH"})
    assert "Signing with any SLH-DSA variant" in " ".join(chart.explanation.observations)


def test_times_are_relative_to_the_ascon_that_was_measured(with_detectors, campaign):
    for name in ("Ascon-128a", "Ascon-AEAD128"):
        frame = of(aeads(renamed(with_detectors, "aead", "Ascon-128a", name)), "aead-relative").frame
        assert frame.set_index("AEAD").loc[name, f"Encrypt, relative to {name}"] == 1.0
    none = replace(campaign, runs=campaign.runs[campaign.runs["aead"] == "AES-256-GCM"])
    assert not any("relative" in heading for heading in of(aeads(none), "aead-relative").frame)
