# SPDX-License-Identifier: Apache-2.0
"""`pqcmav bench` where there is no campaign yet, and with options that cannot be."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from commands import pqcmav, refused
from pydantic import VERSION

pytest.importorskip("pqc_mav_bench.store", reason="pqc_mav_bench is not installed")


@pytest.mark.parametrize(
    "arguments", [["show"], ["verify"], ["report"], ["resume"], ["performance", "table.csv"], ["export", "folder"]]
)
def test_without_a_campaign_it_says_how_to_make_one(tmp_path: Path, arguments: list[str]) -> None:
    assert "pqcmav bench run --quick" in refused(1, "bench", *arguments, "--root", str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_campaign(tmp_path: Path) -> None:
    assert str(tmp_path) in refused(1, "bench", "verify", str(tmp_path))


def test_an_empty_list_is_no_error(tmp_path: Path) -> None:
    listed = pqcmav("bench", "list", "--root", str(tmp_path), "--json")
    assert (listed.returncode, json.loads(listed.stdout)) == (0, [])


def test_one_damaged_campaign_hides_no_other(tmp_path: Path) -> None:
    listed = Path(__file__).parents[4] / "bench/results/campaign-quick/matrix2025/campaign.json"
    for name, content in (("good", listed.read_text()), ("bad", "{")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "campaign.json").write_text(content)
    done = pqcmav("bench", "list", "--root", str(tmp_path), "--json")
    assert done.returncode == 1 and len(json.loads(done.stdout)) == 1 and "bad/campaign.json" in done.stderr


def test_options_out_of_range_are_refused_before_anything_starts(tmp_path: Path) -> None:
    assert "duration" in refused(2, "bench", "run", "--duration", "-1", "--root", str(tmp_path))
    assert "closest" in refused(2, "bench", "run", "--suite", "cs-mlkem768", "--root", str(tmp_path)).lower()
    assert list(tmp_path.iterdir()) == []


def test_the_schema_is_printed() -> None:
    if VERSION.startswith("1."):
        pytest.skip("the JSON Schema needs pydantic 2")
    printed = pqcmav("bench", "schema")
    assert printed.returncode == 0
    assert "handshake_ms" in json.loads(printed.stdout)["$defs"]["Handshake"]["properties"]


def test_a_result_of_the_primitive_benchmark_is_verified_too(tmp_path: Path) -> None:
    chosen = ("--n", "5", "--only", "ascon128a", "--payload", "64")
    made = pqcmav("bench", "primitives", *chosen, "--output", str(tmp_path))
    assert made.returncode == 0, made.stderr
    verified = pqcmav("bench", "verify", str(tmp_path))
    assert verified.returncode == 0, verified.stderr
    assert "primitives.json.gz: checked 3 operations, 15 samples, 1 hash: all correct" in verified.stdout
    table = tmp_path / "primitives.csv"
    table.write_text(table.read_text().replace("Ascon", "ascon"))
    changed = pqcmav("bench", "verify", str(tmp_path / "primitives.json.gz"))
    assert changed.returncode == 1
    assert "primitives.csv: the table is not what the result gives [table]" in changed.stderr


def test_a_board_measures_the_suites_that_were_asked_for_by_any_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pqc_mav_tunnel

    from pqc_mav_cli.bench import field
    from pqc_mav_cli.errors import CliError, ExitCode

    file, asked = tmp_path / "board.tar.gz", list[Any]()
    assert "cs-mlkem768" in refused(2, "bench", "field", str(file), "--suite", "cs-mlkem768", "--root", str(tmp_path))
    assert list(tmp_path.iterdir()) == [], "nothing was measured before"

    def measured(_root: Path, given: dict[str, Any], _output: Path) -> int:
        asked.append(given["suites"])
        return 0

    def links(suite: list[str], **_: Any) -> int:
        asked.append(suite)
        raise CliError("enough")

    monkeypatch.setattr(field, "primitives", lambda **_: None)
    monkeypatch.setattr(field, "measured", measured)
    monkeypatch.setattr(field, "links", links)
    names = ["cs-mlkem768-aesgcm-mldsa65", "ml-512-ag-md-44", "ML-768-AG-MD-65", "ML-1024-AG-MD-87"]
    here = [pqc_mav_tunnel.find_suite(name) for name in names[:2]]
    monkeypatch.setattr(pqc_mav_tunnel, "suites", lambda *_, **__: here)
    with pytest.raises(CliError, match="enough"):
        field.field(file, suite=names, root=tmp_path / "root")
    assert asked == [["ML-768-AG-MD-65", "ML-512-AG-MD-44"]] * 2
    with pytest.raises(CliError, match="None of these suites is available here") as refusal:
        field.field(file, suite=names[3:], root=tmp_path / "root")
    assert refusal.value.exit_code == ExitCode.USAGE and len(asked) == 2


@pytest.mark.parametrize("lost", [["state.json"], ["state.json", "campaign.json"]])
def test_a_campaign_killed_at_its_start_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: list[str]
) -> None:
    from pqc_mav_bench.options import options_from
    from pqc_mav_bench.plan import new_campaign
    from pqc_mav_cli.bench import links, run
    from pqc_mav_cli.errors import CliError

    given = {"name": "links-lan", "suites": ["ML-768-AG-MD-65"]}
    folder = new_campaign(tmp_path, options_from(given), {}).store.folder
    for name in lost:
        (folder / name).unlink()
    asked: list[Any] = []

    def run_here(_root: Path, _suites: list[str], _given: Any, fresh: Any, resume: Path | None, _on: Any) -> Any:
        asked.append((fresh is not None, resume))
        raise CliError("enough")

    monkeypatch.setattr(run, "run_here", run_here)
    with pytest.raises(CliError, match="enough"):
        links.measured(tmp_path, given, tmp_path / "out")
    begun = len(lost) == 1
    assert asked == [(not begun, folder if begun else None)]


def test_what_an_owner_of_a_board_sends_is_verified_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pqc_mav_cli.bench import field
    from pqc_mav_cli.errors import CliError

    assert "end in .tar.gz" in refused(2, "bench", "field", str(tmp_path / "board.zip"))
    recorded = Path(__file__).parents[4] / "bench/results"
    asked: list[dict[str, Any]] = []

    def measured(root: Path, given: dict[str, Any], _output: Path) -> int:
        asked.append(given)
        shutil.copytree(recorded / "campaign-standards/lan", root / given["name"])
        return 0

    monkeypatch.setattr(field, "measured", measured)
    monkeypatch.setattr(field, "links", lambda output, **_: shutil.copytree(recorded / "campaign-links", output) and 0)
    file = tmp_path / "board.tar.gz"
    chosen = ("--only", "ascon128a", "--payload", "64", "--output", str(tmp_path / "root/primitives"))
    for given, other in (
        (("--n", "5", "--machine", "board"), "number of samples"),
        (("--n", "200"), "name of the machine"),
        (("--n", "200", "--machine", "board"), ""),
    ):
        assert pqcmav("bench", "primitives", *chosen, *given).returncode == 0
        if other:
            with pytest.raises(CliError, match=f"primitives was measured with another {other}; remove it"):
                field.field(file, machine="board", suite=["ML-768-AG-MD-65"], root=tmp_path / "root")
    assert asked == []
    assert field.field(file, machine="board", suite=["ML-768-AG-MD-65"], root=tmp_path / "root") == 0
    assert (asked[0]["suites"], asked[0]["repetitions"], asked[0]["machine_name"]) == (["ML-768-AG-MD-65"], 6, "board")
    verified = pqcmav("bench", "verify", str(file))
    assert verified.returncode == 0, verified.stderr
    assert "4 campaigns: all correct" in verified.stdout
    file.write_bytes(file.read_bytes()[:-100])
    assert "damaged" in refused(1, "bench", "verify", str(file))
