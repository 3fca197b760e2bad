# SPDX-License-Identifier: Apache-2.0
"""An archive is reproducible, complete, and says when it is not what it claims."""

from __future__ import annotations

import gzip
import io
import json
import tarfile

import pandas as pd
import pytest
from support import Bench, flight_recording

from pqc_mav_bench import export, tidy
from pqc_mav_bench.archive import CONTENTS, SHEET, archive, check
from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.store import CampaignStore
from pqc_mav_bench.verify import verify_campaign


@pytest.fixture
def store(tmp_path):
    bench = Bench(tmp_path / "root")
    bench.run()
    return bench.store


def rewritten(path, change):
    """The archive with its files as `change` leaves them."""
    with tarfile.open(path) as tar:
        files = {entry.name: tar.extractfile(entry).read() for entry in tar}
    change(files)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    path.write_bytes(gzip.compress(buffer.getvalue()))


def test_the_same_campaign_gives_the_same_bytes_and_everything_is_in_it(store, tmp_path):
    sizes = archive(store, tmp_path / "one.tar.gz")
    archive(store, tmp_path / "deep/two.tar.gz")
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "deep/two.tar.gz").read_bytes()
    assert {SHEET, CONTENTS, "campaign/campaign.json", "campaign/tidy.csv", "campaign/handshakes.csv"} <= set(sizes)
    assert sum(name.startswith("campaign/runs/") for name in sizes) == 3
    assert check(tmp_path / "one.tar.gz", tmp_path / "out") == []
    with tarfile.open(tmp_path / "one.tar.gz") as tar:
        assert {(entry.uid, entry.gid, entry.mtime, entry.uname) for entry in tar} == {(0, 0, 0, "")}
        sheet = tar.extractfile(SHEET).read().decode()
    assert verify_campaign(tmp_path / "out/campaign").problems == ()
    assert "3 runs: 3 passed, 0 failed" in sheet
    assert "pqcmav bench run" in sheet
    for path in store.run_files():
        name = path.relative_to(store.folder)
        assert (tmp_path / "out/campaign" / name).read_bytes() == path.read_bytes()


def test_what_a_board_without_parquet_archived_is_whole_elsewhere(tmp_path, monkeypatch):
    bench = Bench(tmp_path / "root")
    with monkeypatch.context() as board:
        board.setattr(tidy, "has_parquet", lambda: False)
        bench.run()
        archive(bench.store, tmp_path / "board.tar.gz")
    assert check(tmp_path / "board.tar.gz", tmp_path / "out") == []
    assert verify_campaign(tmp_path / "out/campaign").problems == ()


def test_an_exported_campaign_is_archived_where_it_has_its_runs(store, tmp_path):
    export.export(store, tmp_path / "with")
    archive(CampaignStore(tmp_path / "with"), tmp_path / "with.tar.gz")
    assert check(tmp_path / "with.tar.gz", tmp_path / "out") == []
    assert verify_campaign(tmp_path / "out/campaign").problems == ()
    export.export(store, tmp_path / "without", runs=False)
    with pytest.raises(StoreError, match="lacks files of its runs"):
        archive(CampaignStore(tmp_path / "without"), tmp_path / "without.tar.gz")
    assert not (tmp_path / "without.tar.gz").exists()


def test_a_recording_is_in_it_as_it_is_and_as_a_table(store, tmp_path):
    recording = flight_recording(tmp_path / "flight.mcap")
    sizes = archive(store, tmp_path / "one.tar.gz", [recording])
    assert check(tmp_path / "one.tar.gz", tmp_path / "out") == []
    with tarfile.open(tmp_path / "one.tar.gz") as tar:
        assert tar.extractfile("recordings/flight.mcap").read() == recording.read_bytes()
        assert "1 flight recording(s)" in tar.extractfile(SHEET).read().decode()
        assert ("recordings/traces/flight.parquet" in sizes) == tidy.has_parquet()
        if tidy.has_parquet():
            table = pd.read_parquet(io.BytesIO(tar.extractfile("recordings/traces/flight.parquet").read()))
            assert table.set_index("field")["value"]["power_mean_w"] == 4.5
    archive(store, tmp_path / "two.tar.gz", [recording])
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()
    rewritten(tmp_path / "two.tar.gz", lambda files: files.update({"recordings/flight.mcap": b"other"}))
    assert check(tmp_path / "two.tar.gz", tmp_path / "out") == [
        "recordings/flight.mcap is not the file that was archived."
    ]


def test_recordings_that_cannot_be_kept_are_refused(store, tmp_path):
    (tmp_path / "other").mkdir()
    twice = [flight_recording(tmp_path / "flight.mcap"), flight_recording(tmp_path / "other/flight.mcap")]
    (tmp_path / "no.mcap").write_bytes(b"no recording")
    for recordings, said in (
        (twice, "Two recordings are called flight.mcap"),
        ([tmp_path / "none.mcap"], "none.mcap cannot be read"),
        ([tmp_path / "no.mcap"], "not an MCAP recording"),
    ):
        with pytest.raises(StoreError, match=said):
            archive(store, tmp_path / "one.tar.gz", recordings)
        assert not (tmp_path / "one.tar.gz").exists()


def test_folders_beside_it_are_in_it_and_all_is_written_where_that_is_asked(store, tmp_path):
    export.export(store, tmp_path / "links/lan")
    archive(store, tmp_path / "one.tar.gz", beside={"links": tmp_path / "links", "primitives": tmp_path / "none"})
    assert check(tmp_path / "one.tar.gz", tmp_path / "out") == []
    assert (
        verify_campaign(tmp_path / "out/links/lan").problems
        == verify_campaign(tmp_path / "out/campaign").problems
        == ()
    )
    sheet = (tmp_path / "out" / SHEET).read_text()
    assert "`links/`" in sheet and "`primitives/`" not in sheet
    rewritten(tmp_path / "one.tar.gz", lambda files: files.update({"../evil": b"x"}))
    assert check(tmp_path / "one.tar.gz", tmp_path / "other") == ["'../evil' is not the name of a file below archive."]
    assert not (tmp_path / "evil").exists()


def test_a_changed_run_is_not_archived(store, tmp_path):
    path = store.run_files()[0]
    path.write_text(path.read_text().replace("mlkem", "MLKEM").replace("cs-a", "cs-z"))
    assert verify_campaign(store.folder).problems
    with pytest.raises(StoreError, match="not the file the manifest lists"):
        archive(store, tmp_path / "one.tar.gz")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda files: files.update({"campaign/tidy.csv": b"other"}), "tidy.csv is not the file that was archived"),
        (lambda files: files.pop("campaign/tidy.csv"), "tidy.csv is listed, but not in the archive"),
        (lambda files: files.update({"../evil": b"x"}), "'../evil' is not the name of a file below"),
    ],
)
def test_an_archive_that_was_changed_is_found(store, tmp_path, change, said):
    path = tmp_path / "one.tar.gz"
    archive(store, path)
    rewritten(path, change)
    assert len(problems := check(path, tmp_path / "out")) == 1
    assert said in problems[0]


def test_what_is_no_archive_is_refused(store, tmp_path):
    path = tmp_path / "one.tar.gz"
    with pytest.raises(StoreError, match=r"end in \.tar\.gz"):
        archive(store, tmp_path / "one.zip")
    archive(store, path)
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(StoreError, match="damaged"):
        check(path, tmp_path / "out")
    archive(store, path)
    rewritten(path, lambda files: files.update({CONTENTS: json.dumps({"format": "other"}).encode()}))
    with pytest.raises(StoreError, match="no archive"):
        check(path, tmp_path / "out")
    with pytest.raises(StoreError):
        check(tmp_path / "none.tar.gz", tmp_path / "out")


def test_a_name_that_leads_out_of_the_archive_is_said(store, tmp_path):
    path = tmp_path / "one.tar.gz"
    for name in ("../../evil", "/etc/evil"):
        archive(store, path)
        rewritten(path, lambda files, name=name: files.update({name: b"x"}))
        (said,) = check(path, tmp_path / "out")
        assert "is not the name of a file below" in said and "evil" in said


def _bomb(path, entry, size):
    buffer = io.BytesIO()
    entry.size = size
    with gzip.open(buffer, "wb") as packed:
        packed.write(entry.tobuf(format=tarfile.GNU_FORMAT))
        for _ in range(size >> 20):
            packed.write(bytes(1 << 20))
        packed.write(bytes(1024))
    path.write_bytes(buffer.getvalue())


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_that_fills_the_memory_is_not_read(tmp_path, kind):
    entry = tarfile.TarInfo("header")
    entry.type = kind
    _bomb(tmp_path / "one.tar.gz", entry, 8 << 20)
    with pytest.raises(StoreError, match="a header of 8,388,608 bytes"):
        check(tmp_path / "one.tar.gz", tmp_path / "out")


def test_an_archive_of_nothing_but_zeros_is_not_unpacked_to_its_end(tmp_path):
    _bomb(tmp_path / "one.tar.gz", tarfile.TarInfo("campaign/zeros"), 64 << 20)
    with pytest.raises(StoreError, match="would unpack to far more"):
        check(tmp_path / "one.tar.gz", tmp_path / "out")
