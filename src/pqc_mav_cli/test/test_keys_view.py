# SPDX-License-Identifier: Apache-2.0
import io
from pathlib import Path

import pqc_mav_tunnel
import pytest
from rich.console import Console, RenderableType

from pqc_mav_cli import keys_view


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("keys") / "root"
    pqc_mav_tunnel.init_keys(str(made), ["alpha"], sig_tokens=["mldsa44", "mldsa65"])
    pqc_mav_tunnel.init_keys(str(made), ["beta"], sig_tokens=["mldsa44"], drone_signatures=True)
    return made


def entries(folder: Path) -> list[dict[str, object]]:
    return [dict(entry) for entry in pqc_mav_tunnel.list_keys(str(folder))]


def shown(made: RenderableType) -> list[str]:
    out = Console(file=io.StringIO(), width=80)
    out.print(made)
    return [" ".join(line.split()) for line in out.file.getvalue().splitlines()]


def test_the_summary_has_a_line_for_each_end(root: Path) -> None:
    lines = shown(keys_view.summary(entries(root), root))
    assert lines[1].startswith("gcs 2 PSKs, 2 key pairs, 1")
    assert any(line.startswith("drones/alpha 1 PSK, 2 public keys ") for line in lines)
    assert any(line.startswith("drones/beta 1 PSK, 1 key pair") for line in lines)


@pytest.mark.parametrize(("end", "held"), [("gcs", "2 PSKs, 2 key pairs, 1 public key"), ("drones/alpha", "1 PSK")])
def test_the_folder_of_one_end_is_one_line(root: Path, end: str, held: str) -> None:
    _, line = shown(keys_view.summary(entries(root / end), root / end))
    assert line.startswith(f"{Path(end).name} {held}")


def test_the_drones_are_listed_with_what_the_ground_station_knows_them_by(root: Path) -> None:
    alpha, beta, gamma = keys_view.drones(entries(root), ["alpha", "beta", "gamma"], root, [Path("gcs")])
    assert alpha["psk"]["gcs"] and alpha["signs"] == [] and alpha["share_here"] and not alpha["problems"]
    assert beta["signs"] == ["mldsa44"]
    assert gamma["psk"] == {"gcs": ""} and not gamma["share_here"]
    assert "none: the gcs refuses it" in shown(keys_view.drones_table([gamma]))[1]


def test_a_problem_is_said_in_every_form(root: Path) -> None:
    found = entries(root)
    for entry in found:
        if str(entry["path"]).endswith("gcs/psk/alpha.key"):
            entry["problem"] = "readable by others"
    (alpha,) = keys_view.drones(found, ["alpha"], root, [Path("gcs")])
    assert alpha["problems"] == ["readable by others"]
    assert "cannot be used" in shown(keys_view.drones_table([alpha]))[1]
    assert "1 unusable" in "".join(shown(keys_view.summary(found, root)))
    assert [str(line) for line in keys_view.problems(found)] == ["readable by others"]
    assert any("readable by" in line for line in shown(keys_view.every_file(found, root)))
