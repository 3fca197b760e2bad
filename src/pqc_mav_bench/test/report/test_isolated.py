# SPDX-License-Identifier: Apache-2.0
"""The primitive benchmark's file as the report reads it."""

from dataclasses import replace

import pytest

from pqc_mav_bench.canonical import sha256
from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.primitives.samples import describe
from pqc_mav_bench.report.isolated import read_primitives
from pqc_mav_bench.report.report_input import ReportError, load
from pqc_mav_bench.report.sections.pqcmav_paper import pqcmav_paper_tables
from pqc_mav_bench.store import write_json


def operation(kind, algorithm, name, samples, payload=None):
    times = {f"{key}_us" if key != "n" else "n": value for key, value in describe(samples).items()}
    head = {"kind": kind, "algorithm": algorithm, "operation": name, "payload_bytes": payload}
    return {**head, **times, "samples_us": samples}


@pytest.fixture
def document():
    method = {"n": 3, "order": "shuffled", "outliers": "kept", "interval": "95 %"}
    operations = [
        operation("KEM", "ML-KEM-512", "keygen", [1.0, 2.0, 3.0]),
        operation("KEM", "ML-KEM-512", "encaps", [4.0, 4.0, 4.0]),
        operation("KEM", "HQC-128", "keygen", [100.0, 100.0, 100.0]),
        operation("AEAD", "AES-256-GCM", "encrypt", [0.2, 0.2, 0.2], 64),
        operation("AEAD", "AES-256-GCM", "encrypt", [0.5, 0.5, 0.5], 1024),
    ]
    content = {"method": method, "operations": operations}
    return {**content, "sha256": sha256(content)}


def test_one_row_per_algorithm_with_intervals(document, tmp_path):
    write_json(tmp_path / "primitives.json.gz", document)
    results = read_primitives(tmp_path)
    table = results.table("kem")
    assert list(table["Algorithm"]) == ["ML-KEM-512", "HQC-128"]
    assert table["Keygen (µs)"].tolist() == [2.0, 100.0]
    assert table["Keygen 95 % high"].tolist() == [3.0, 100.0]
    assert results.table("aead")["Payload (B)"].tolist() == [64, 1024]
    assert results.table("sig").empty
    leading = {name: each.value for name, each in results.leading_estimates("kem").items()}
    assert leading == pytest.approx({"ML-KEM-512": 0.002, "HQC-128": 0.1})
    (cipher,) = results.leading_estimates("aead").values()
    assert cipher.value == pytest.approx(0.0002)
    assert cipher.low <= cipher.value <= cipher.high
    assert "n = 3" in results.method


def test_found_beside_the_campaign_too(document, tmp_path):
    write_json(tmp_path / "primitives.json.gz", document)
    assert read_primitives(tmp_path / "campaign") is not None
    assert read_primitives(tmp_path / "a" / "campaign") is None


@pytest.mark.parametrize("folder", ["primitives", "campaign-quick/primitives"])
def test_found_where_the_primitive_benchmark_puts_it(document, tmp_path, folder):
    (tmp_path / folder).mkdir(parents=True)
    write_json(tmp_path / folder / "primitives.json.gz", document)
    assert read_primitives(tmp_path / "campaign") is not None


def test_the_commit_that_measured_is_said_where_it_is_known(document, tmp_path):
    content = {name: value for name, value in document.items() if name != "sha256"}
    content["source"] = {"commit": "0123456789abcdef", "changed": True}
    write_json(tmp_path / "primitives.json.gz", {**content, "sha256": sha256(content)})
    (source,) = read_primitives(tmp_path).sources
    assert source.about.endswith("commit 0123456789ab, with changes")
    write_json(tmp_path / "primitives.json.gz", document)
    (source,) = read_primitives(tmp_path).sources
    assert source.about.endswith("commit not recorded")


def test_changed_file_is_refused(document, tmp_path):
    document["operations"][0]["median_us"] = 0.1
    write_json(tmp_path / "primitives.json.gz", document)
    with pytest.raises(StoreError, match="changed"):
        read_primitives(tmp_path)


def test_report_refuses_it_with_the_same_sentence(document, tmp_path, run_dir):
    document["operations"][0]["median_us"] = 0.1
    (tmp_path / "tidy.csv").write_bytes((run_dir / "tidy.csv").read_bytes())
    write_json(tmp_path / "primitives.json.gz", document)
    with pytest.raises(ReportError, match="changed"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("alone_us", "said"),
    [
        (100.0, "keygen of 2 of these 2 that have an interval in both takes longer, by"),
        (100_000.0, "keygen of 1 of these 2 that have an interval in both takes longer, of 1 shorter, by"),
    ],
)
def test_what_takes_longer_in_the_tunnel_is_counted_by_intervals(document, tmp_path, with_detectors, alone_us, said):
    document["operations"][2] = operation("KEM", "HQC-128", "keygen", [alone_us] * 3)
    content = {key: document[key] for key in ("method", "operations")}
    write_json(tmp_path / "primitives.json.gz", {**content, "sha256": sha256(content)})
    section = pqcmav_paper_tables(replace(with_detectors, primitives=read_primitives(tmp_path)))
    table = next(block for block in section.blocks if getattr(block, "key", "") == "isolated-kem")
    assert said in table.explanation.observations[1]
    assert not any("In the tunnel" in text for text in table.explanation.meaning)
