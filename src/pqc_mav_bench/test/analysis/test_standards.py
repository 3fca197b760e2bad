# SPDX-License-Identifier: Apache-2.0
"""What the report calls a standard is what the engine's table calls one."""

from __future__ import annotations

import pandas as pd
import pqc_mav_tunnel

from pqc_mav_bench.analysis.standards import is_standard, standards_first


def test_names_tell_as_the_engines_table_does():
    suites = pqc_mav_tunnel.suites("all")
    rows = pd.DataFrame({part: [getattr(each, part) for each in suites] for part in ("kem", "sig", "aead")})
    assert is_standard(rows).tolist() == [s.standard for s in suites]
    assert is_standard(rows).sum() >= 27


def test_without_a_standard_all_rows_stay():
    rows = pd.DataFrame({"kem": ["HQC-1", "ML-KEM-512"], "sig": ["ML-DSA-44"] * 2})
    assert standards_first(rows)["kem"].tolist() == ["ML-KEM-512"]
    assert len(standards_first(rows.head(1))) == 1
