# SPDX-License-Identifier: Apache-2.0
"""Libraries side by side: what turns come to, and a turn of this machine's own."""

from __future__ import annotations

import providers
import pytest
import report
import rig


def turns(*totals):
    return [{"keygen": total / 2, "encaps": total / 4, "decaps": total / 4} for total in totals]


def test_a_ratio_is_taken_within_a_turn():
    row = providers.row("ML-KEM-512", {"a": turns(*range(10, 40)), "b": turns(*(2 * each for each in range(10, 40)))})
    assert row["turns"] == 30
    assert row["over_first"]["a"] == {"median": 1.0, "low": 1.0, "high": 1.0}
    assert row["over_first"]["b"] == {"median": 2.0, "low": 2.0, "high": 2.0}
    assert row["us"]["a"]["keygen"]["low"] < row["us"]["a"]["keygen"]["median"] == 12.25


def test_the_page_has_a_column_for_each_library_and_a_dash_where_one_lacks_the_algorithm():
    rows = [providers.row("ML-KEM-768", {"a": turns(4), "b": turns(8)}), providers.row("HQC-3", {"b": turns(400)})]
    rows.append(providers.row("ML-KEM-512", {"a": turns(4)}))
    lines = report.render_providers(rows).splitlines()
    assert not any("ML-KEM-512" in line for line in lines), "one of a family is enough"
    assert "| ML-KEM-768 | 2 / 1 / 1 | 4 / 2 / 2 (2; 2-2) |" in lines
    assert "| HQC-3 | - | 200 / 100 / 100 |" in lines


def test_a_build_names_its_workspace():
    build = providers.build_of(f"C={rig.ROOT}:/tmp:OPENSSL_ia32cap=0")
    assert (build.name, build.workspace, [str(each) for each in build.libraries]) == ("C", rig.ROOT, ["/tmp"])
    assert build.variables == ("OPENSSL_ia32cap=0",)
    for text in ("C", "C=", "C=/nowhere"):
        with pytest.raises(ValueError, match="NAME=WORKSPACE"):
            providers.build_of(text)


def test_a_worker_answers_with_the_time_of_each_operation_or_says_what_is_missing():
    with providers.worker(providers.Build("here", rig.ROOT)) as worker:
        found = [worker.ask(kind="KEM", token="mlkem512", provider=each) for each in providers.LIBRARIES]
        present = next(each for each in found if "us" in each)
        assert list(present["us"]) == ["keygen", "encaps", "decaps"]
        assert all(took > 0 for took in present["us"].values())
        missing = worker.ask(kind="SIG", token="falcon512", provider="openssl")
        assert "missing" in missing
