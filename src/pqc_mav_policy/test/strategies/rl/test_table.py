# SPDX-License-Identifier: Apache-2.0
"""The trained table as a file: equal tables, equal bytes; anything doubtful is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pqc_mav_policy.strategies.rl.state import SIZES, Choice
from pqc_mav_policy.strategies.rl.table import Table, TableError, dump, load, read, shipped, write

STATE = tuple(0 for _ in SIZES)
OTHER = tuple(size - 1 for size in SIZES)
TABLE = Table({OTHER: (1.0, None, 2.5, None, None), STATE: (0.1234567, -3.0, None, None, 7.0)}, {"seed": 9})


def test_a_table_survives_its_file() -> None:
    again = load(dump(TABLE))
    assert again.values[STATE] == (0.123, -3.0, None, None, 7.0) and again.training == {"seed": 9}
    assert again.value(STATE, Choice.LEVEL_5) == 7.0 and again.value(STATE, Choice.LEVEL_1) is None
    assert again.value(tuple(1 for _ in SIZES), Choice.HOLD) is None
    assert dump(again) == dump(TABLE)
    turned = Table(dict(reversed(TABLE.values.items())), {"seed": 9})
    assert dump(turned) == dump(TABLE)  # the order of learning does not show


def test_the_shipped_table_is_whole_small_and_says_how_it_was_made() -> None:
    table = shipped()
    assert len(table.values) > 50
    assert {"seed", "episodes", "discount_per_s", "method"} <= set(table.training)
    assert len(dump(table)) < 100_000 and load(dump(table)) == table


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.update(format="other"), "not a trained table"),
        (lambda c: c.update(version=2), "another version"),
        (lambda c: c["meaning"]["edges"].update(loss=[0.5, 0.6]), "another version"),
        (lambda c: c["meaning"]["weights"]["HOVER"].update(power=0.9), "another version"),
        (lambda c: c["training"].update(seed=10), "changed after"),
        (lambda c: c["values"].update({".".join("0" * len(SIZES)): [9.9, 1, None, None, None]}), "changed after"),
        (lambda c: c.pop("sha256"), "not a trained table"),
        (lambda c: c.pop("values"), "changed after|not a trained table"),
    ],
)
def test_a_changed_file_is_refused(change: object, words: str) -> None:
    content = json.loads(dump(TABLE))
    change(content)  # type: ignore[operator]
    with pytest.raises(TableError, match=words):
        load(json.dumps(content))


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "table.json"
    write(TABLE, path)
    assert read(path) == load(dump(TABLE)) and [entry.name for entry in path.parent.iterdir()] == ["table.json"]
    write(TABLE, tmp_path / "table.json.gz")
    assert read(tmp_path / "table.json.gz") == read(path)
    assert (tmp_path / "table.json.gz").read_bytes().startswith(b"\x1f\x8b")
    (tmp_path / "table.json.gz").write_bytes(b"\x1f\x8b\x08")
    for name in ("no.json", "table.json.gz"):
        with pytest.raises(TableError, match="Cannot read"):
            read(tmp_path / name)
    with pytest.raises(TableError, match="Cannot write"):
        write(TABLE, path / "below" / "x.json")
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(TableError, match="is not a file"):
        read(tmp_path / "pipe.json")
    (tmp_path / "noise.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TableError):
        read(tmp_path / "noise.json")


def test_flying_needs_no_numpy() -> None:
    program = """
import sys
for name in ("matplotlib", "pqc_mav_sim"):
    sys.modules[name] = None
from pqc_mav_policy.registry import engine_catalogue
from pqc_mav_policy.settings import Settings, make
from pqc_mav_policy.telemetry.inputs import DecisionInput
for name in ("rl", "hybrid"):
    strategy = make(name, engine_catalogue(), Settings())
    decision, _ = strategy.decide(DecisionInput(), strategy.initial_state(0.0), 0.0)
    print(name, decision.action)
print("numpy" in sys.modules)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.split() == ["rl", "HOLD", "hybrid", "HOLD", "False"]
