# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gzip
import json

import pytest
from support import OPTIONS, Bench

from pqc_mav_bench import export, tidy
from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.options import options_from
from pqc_mav_bench.plan import resumed_campaign
from pqc_mav_bench.store import CampaignStore
from pqc_mav_bench.verify import verify_campaign


def test_the_compact_form_has_table_manifest_and_a_page_that_agrees(tmp_path):
    bench = Bench(tmp_path / "root")
    bench.drone.refuses = {"cs-b": "no"}
    bench.run()
    written = export.export(bench.store, tmp_path / "out")
    out = tmp_path / "out"
    assert sorted(str(path.relative_to(out)) for path in written) == [
        "campaign.json",
        "handshakes.csv.gz",
        "repeated/baseline/cs-b/repetition-01-attempt-1.json.gz",
        "runs/baseline/cs-a/metrics.json.gz",
        "runs/baseline/cs-b/metrics.json.gz",
        "runs/baseline/cs-c/metrics.json.gz",
        "summary.md",
        "tidy.csv",
    ]
    text = (tmp_path / "out/summary.md").read_text()
    assert "2 of 3 runs passed, 1 failed, 0 pending" in text
    assert "* Left out:\n  * baseline/cs-b/1: no\n" in text
    assert "| CS-A | 12 | 0.4 |" in text
    assert "tunnel 2.0 % / 2.0 %" in text
    assert "0 of 620 lost" in text
    assert "test machine" in text
    assert len(tidy.read(tmp_path / "out")) == 3


def test_the_page_has_one_line_per_suite(tmp_path):
    options = options_from({**OPTIONS.model_dump(), "scenarios": ("baseline", "tst"), "repetitions": 2})
    bench = Bench(tmp_path / "root", options=options)
    bench.run()
    export.export(bench.store, tmp_path / "out", runs=False)
    text = (tmp_path / "out/summary.md").read_text()
    assert "Left out" not in text
    assert "| suite | handshake ms |" in text and "Medians over the 4 runs of a suite" in text
    assert text.count("| CS-A |") == text.count("| CS-A | 12 |") == 1


def test_the_page_has_one_line_for_the_ciphers_of_a_pair():
    assert export.pair_of("ML-512-AG-MD-44") == "ML-512-*-MD-44"
    assert export.pair_of("FR-640A-AS-SP-128s") == "FR-640A-*-SP-128s"
    assert export.pair_of("CS-A") == "CS-A"


def test_the_compact_form_verifies_until_a_figure_of_it_is_changed(tmp_path):
    bench = Bench(tmp_path / "root")
    bench.run()
    export.export(bench.store, tmp_path / "out", runs=False)
    assert not (tmp_path / "out/runs").exists()
    verdict = verify_campaign(tmp_path / "out")
    assert (verdict.problems, verdict.runs) == ((), 3)
    exported = CampaignStore(tmp_path / "out")
    manifest = exported.manifest()
    assert manifest[tidy.COMPACT]["handshake.handshake_ms"] == 12.0
    manifest[tidy.COMPACT]["handshake.handshake_ms"] = 11.0
    exported.save_manifest(manifest)
    assert {problem.name for problem in verify_campaign(exported.folder).problems} == {
        "handshakes",
        "phi_of_handshake",
        "summary",
    }


def test_what_is_exported_can_be_exported_again(tmp_path):
    bench = Bench(tmp_path / "root")
    bench.run()
    export.export(bench.store, tmp_path / "once")
    export.export(CampaignStore(tmp_path / "once"), tmp_path / "twice")
    for name in ("campaign.json", "summary.md", "tidy.csv"):
        assert (tmp_path / "once" / name).read_bytes() == (tmp_path / "twice" / name).read_bytes()


def test_another_campaign_is_not_replaced(tmp_path):
    bench = Bench(tmp_path / "root")
    bench.run()
    export.export(bench.store, tmp_path / "out")
    manifest = CampaignStore(tmp_path / "out").manifest()
    CampaignStore(tmp_path / "out").save_manifest({**manifest, "campaign_id": "dear"})
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    with pytest.raises(StoreError, match="holds another campaign, 'dear', which stays"):
        export.export(bench.store, tmp_path / "out")
    assert before == {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}


def test_an_exported_campaign_is_not_begun_again(tmp_path):
    bench = Bench(tmp_path / "root")
    bench.run()
    export.export(bench.store, tmp_path / "out")
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    with pytest.raises(StoreError, match="exported campaign, of which nothing is left to measure"):
        resumed_campaign(tmp_path / "out", print)
    assert before == {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}


def test_a_large_table_is_compressed_and_reads_verifies_and_exports_as_before(tmp_path, monkeypatch):
    bench = Bench(tmp_path / "root")
    bench.run()
    export.export(bench.store, tmp_path / "out")
    plain = (tmp_path / "out/tidy.csv").read_bytes()
    monkeypatch.setattr(export, "LARGE_TABLE", len(plain) - 1)
    packed = CampaignStore(tmp_path / "out")
    assert (tmp_path / "out/tidy.csv.gz") in export.export(packed, packed.folder)
    assert not (tmp_path / "out/tidy.csv").exists()
    assert gzip.decompress((tmp_path / "out/tidy.csv.gz").read_bytes()) == plain
    verdict = verify_campaign(packed.folder)
    assert (verdict.problems, verdict.runs) == ((), 3)
    monkeypatch.undo()
    export.export(packed, packed.folder)
    assert (tmp_path / "out/tidy.csv").read_bytes() == plain
    assert not (tmp_path / "out/tidy.csv.gz").exists()


def test_a_damaged_compressed_table_is_found(tmp_path, monkeypatch):
    bench = Bench(tmp_path / "root")
    bench.run()
    monkeypatch.setattr(export, "LARGE_TABLE", 0)
    export.export(bench.store, tmp_path / "out")
    path = tmp_path / "out/tidy.csv.gz"
    path.write_bytes(path.read_bytes()[:-200])
    problems = verify_campaign(tmp_path / "out").problems
    assert [(problem.name, problem.file) for problem in problems] == [("table", "tidy.csv.gz")]


def test_a_campaign_without_a_table_is_refused(tmp_path):
    bench = Bench(tmp_path)
    with pytest.raises(StoreError, match="no table yet"):
        export.export(CampaignStore(bench.store.folder), tmp_path / "out")


def test_the_files_of_the_runs_are_kept_as_they_were_recorded(tmp_path):
    bench = Bench(tmp_path / "root")
    bench.run()
    export.export(bench.store, tmp_path / "out")
    for path in bench.store.run_files():
        packed = tmp_path / "out" / f"{path.relative_to(bench.store.folder)}.gz"
        assert gzip.decompress(packed.read_bytes()) == path.read_bytes()
    verdict = verify_campaign(tmp_path / "out")
    assert (verdict.problems, verdict.runs, verdict.hashes) == ((), 3, 7)
    export.export(CampaignStore(tmp_path / "out"), tmp_path / "again")
    assert verify_campaign(tmp_path / "again").problems == ()
    for path in (tmp_path / "out").rglob("*.gz"):
        assert (tmp_path / "again" / path.relative_to(tmp_path / "out")).read_bytes() == path.read_bytes()


def _found(folder):
    return {problem.name for problem in verify_campaign(folder).problems}


def test_a_kept_run_that_was_changed_damaged_or_removed_is_found(tmp_path):
    bench = Bench(tmp_path / "root")
    bench.run()
    out = tmp_path / "out"
    export.export(bench.store, out)
    path = out / "runs/baseline/cs-b/metrics.json.gz"
    whole = path.read_bytes()
    document = json.loads(gzip.decompress(whole))
    document["workload"]["sent_packets"] += 1
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    assert {"hash", "manifest_hash", "table"} <= _found(out)
    path.write_bytes(whole[:-9])
    assert "unreadable" in _found(out)
    path.unlink()
    assert "missing_file" in _found(out)
    path.write_bytes(whole)
    assert _found(out) == set()


def test_a_row_of_the_exported_table_that_its_run_does_not_give_is_found(tmp_path):
    bench = Bench(tmp_path / "root")
    bench.run()
    out = tmp_path / "out"
    export.export(bench.store, out)
    exported = CampaignStore(out)
    manifest = exported.manifest()
    manifest[tidy.COMPACT]["system_drone.tunnel_rss_mib"] = 12345.0
    exported.save_manifest(manifest)
    assert _found(out) == {"table"}


@pytest.mark.parametrize("name", ["../../secret.json", "{outside}/secret.json", "runs/../../secret.json"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_received_campaign_reads_and_writes_nothing_outside(tmp_path, name, packed):
    """Its manifest is the sender's: what that one lists is below the campaign, or the export is refused."""
    bench = Bench(tmp_path / "root")
    bench.run()
    folder = bench.store.folder
    outside = folder.parent.parent
    (outside / "secret.json").write_text("{}")
    if packed:
        (outside / "secret.json").unlink()
        (outside / "secret.json.gz").write_bytes(gzip.compress(b"{}"))
    before = sorted(path for path in tmp_path.rglob("*") if "export" not in path.parts)
    manifest = bench.store.manifest()
    manifest["files"][name.format(outside=outside)] = "0" * 64
    bench.store.save_manifest(manifest)
    with pytest.raises(StoreError, match="is not the name of a file below"):
        export.export(bench.store, tmp_path / "export")
    assert sorted(path for path in tmp_path.rglob("*") if "export" not in path.parts) == before
    assert verify_campaign(folder).problems, "verify finds it too"


def test_a_run_that_is_a_link_is_not_followed(tmp_path):
    bench = Bench(tmp_path / "root")
    bench.run()
    run = bench.store.run_files()[0]
    run.rename(tmp_path / "elsewhere.json")
    run.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(StoreError, match="symbolic links"):
        export.export(bench.store, tmp_path / "export")
    assert any(problem.name == "unreadable" for problem in verify_campaign(bench.store.folder).problems)
