# SPDX-License-Identifier: Apache-2.0
"""Every part that 'bench/run' offers runs; the measurements themselves are left out."""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import footprint
import measure
import providers
import pytest
import report
import rig

from pqc_mav_common import packed


@pytest.fixture
def run(monkeypatch, tmp_path):
    """The module, whose parts measure nothing, and the folder that it writes to."""
    for module, names in ((measure, "handshakes throughput latency footprint endurance"), (providers, "measure")):
        for name in names.split():
            monkeypatch.setattr(module, name, lambda *_: [])
    monkeypatch.setattr(rig, "run_json", lambda *_: {})
    monkeypatch.setattr(footprint, "measure", lambda *_: {})
    monkeypatch.setattr(footprint, "record", lambda label, _, folder: (folder.mkdir(), (folder / label).touch()))
    monkeypatch.setattr(report, "render", "\n".join)
    loader = SourceFileLoader("bench_run", str(Path(__file__).resolve().parents[1] / "run"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module, tmp_path / "new"


@pytest.mark.parametrize("part", ["handshake", "throughput", "latency", "aead", "providers", "footprint", "endurance"])
def test_a_part_alone(run, monkeypatch, part):
    module, folder = run
    monkeypatch.setattr(sys, "argv", ["run", "--quick", "--only", part, "--output", str(folder)])
    assert module.main() == 0
    assert list(json.loads(packed.read(folder / "engine.json.gz"))) == [part]


def test_all_of_them(run, monkeypatch, capsys):
    module, folder = run
    monkeypatch.setattr(footprint, "record", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["run", "--output", str(folder)])
    assert module.main() == 0
    assert [*json.loads(packed.read(folder / "engine.json.gz")), "drone_side"] == list(module.PARTS)
    assert "\nendurance" in capsys.readouterr().out


def test_the_drone_side_alone_writes_no_page_of_the_engine(run, monkeypatch):
    module, folder = run
    monkeypatch.setattr(sys, "argv", ["run", "--only", "drone_side", "--output", str(folder)])
    assert module.main() == 0
    assert [path.name for path in folder.iterdir()] == ["make bench"]
