# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import stat

import pytest
from support import good_run

from pqc_mav_bench.errors import StoreError
from pqc_mav_bench.options import options_from
from pqc_mav_bench.plan import new_campaign, resumed_campaign
from pqc_mav_bench.schedule import Item
from pqc_mav_bench.store import CampaignStore, campaigns, read_json, write_json

ITEM = Item("baseline", "cs-a", 1)


def test_runs_lie_where_the_published_system_has_them(tmp_path):
    store = CampaignStore.create(tmp_path, "c")
    assert store.metrics_path(ITEM) == tmp_path / "c/runs/baseline/cs-a/metrics.json"
    third = Item("tst", "cs-a", 3)
    assert store.metrics_path(third) == tmp_path / "c/runs/tst/cs-a/repetition-03/metrics.json"
    store.save_run(ITEM, good_run())
    assert (tmp_path / "runs/baseline/cs-a/metrics.json").is_file()


def test_a_saved_run_is_signed_and_comes_back(tmp_path):
    store = CampaignStore.create(tmp_path, "c")
    run = good_run()
    digest = store.save_run(ITEM, run)
    assert store.load_run(ITEM) == run
    assert run.integrity.sha256 == digest
    assert store.intact(ITEM)
    path = store.metrics_path(ITEM)
    path.write_text(path.read_text().replace('"handshake_ms": 12.0', '"handshake_ms": 11.0'))
    assert not store.intact(ITEM)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError):
        write_json(path, {"a": float("nan")})
    assert read_json(path) == {"a": 1}
    if os.geteuid() != 0:
        tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
        with pytest.raises(StoreError, match="could not be written"):
            write_json(path, {"a": 2})
        tmp_path.chmod(stat.S_IRWXU)
    folder = tmp_path / "file"
    folder.write_text("in the way")
    with pytest.raises(StoreError, match="could not be written"):
        write_json(folder / "y.json", {})
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "x.json"]


def test_a_compressed_file_is_the_same_document_and_the_same_bytes_each_time(tmp_path):
    path = tmp_path / "x.json.gz"
    write_json(path, {"a": [1, 2]})
    first = path.read_bytes()
    write_json(path, {"a": [1, 2]})
    assert (read_json(path), path.read_bytes()) == ({"a": [1, 2]}, first)


@pytest.mark.parametrize("content", [b"{}", b"\x1f\x8b\x08\x00", b""])
def test_a_damaged_compressed_file_is_named(tmp_path, content):
    path = tmp_path / "x.json.gz"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is damaged"):
        read_json(path)


def test_a_name_is_used_once(tmp_path):
    store = CampaignStore.create(tmp_path, "c")
    assert CampaignStore.create(tmp_path, "c").folder == store.folder, "nothing was written yet"
    store.save_manifest({})
    (tmp_path / "file").touch()
    for name in ("c", "file"):
        with pytest.raises(StoreError, match="exists already"):
            CampaignStore.create(tmp_path, name)


def test_something_else_is_no_campaign(tmp_path):
    with pytest.raises(StoreError, match=r"no campaign: there is no campaign.json"):
        CampaignStore.open(tmp_path)


def test_campaigns_are_listed_newest_first(tmp_path):
    for age, name in enumerate(["old", "new"]):
        plan = new_campaign(tmp_path, options_from({"name": name, "suites": ["ML-768-AG-MD-65"]}), {})
        os.utime(plan.store.folder / "campaign.json", (1000 + age, 1000 + age))
    assert [store.name for store in campaigns(tmp_path)] == ["new", "old"]
    assert (tmp_path / "runs").readlink().parts == ("new", "runs")


def test_a_campaign_killed_right_after_its_start_can_be_resumed(tmp_path):
    plan = new_campaign(tmp_path, options_from({"name": "c", "suites": ["ML-768-AG-MD-65"]}), {})
    (plan.store.folder / "state.json").unlink()
    again = resumed_campaign(plan.store.folder, print)
    assert again.options == plan.options
    assert again.schedule.items == plan.schedule.items
    assert again.store.manifest()["resumed"] == 1


@pytest.mark.parametrize("content", ["{", "[]", "{}"])
def test_a_damaged_manifest_is_refused(tmp_path, content):
    plan = new_campaign(tmp_path, options_from({"name": "c", "suites": ["ML-768-AG-MD-65"]}), {})
    (plan.store.folder / "campaign.json").write_text(content)
    with pytest.raises(StoreError, match="damaged"):
        resumed_campaign(plan.store.folder, print)
