# SPDX-License-Identifier: Apache-2.0
"""The trained table as a file: small, versioned, with how it was made and a digest that guards it. No training.

Reading needs nothing but the standard library: a drone flies it without numpy.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from pqc_mav_common import packed
from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_policy.strategies.rl import state as rl_state
from pqc_mav_policy.strategies.rl.state import Choice, State
from pqc_mav_policy.strategies.rl.weights import WEIGHTS

FORMAT = "pqcmav-q-table"
VERSION = 1
SHIPPED = "rl_table.json.gz"
DIGITS = 3  # values differ by more than this wherever the choice matters


class TableError(Exception):
    """A trained table cannot be used: one sentence for a person."""


@dataclass(frozen=True)
class Table:
    """Value of every choice in every state that was seen often enough; None = the choice was never safe there.

    `training` says how it was made: seed, episodes, learning rate and the like.
    """

    values: Mapping[State, tuple[float | None, ...]]
    training: Mapping[str, Any] = field(default_factory=dict)

    def value(self, state: State, choice: Choice) -> float | None:
        """None where nothing was learned."""
        row = self.values.get(state)
        return None if row is None else row[choice]


def meaning() -> dict[str, Any]:
    """What the numbers of a table mean; a table of another meaning is refused, never guessed at."""
    return {
        "actions": [choice.name for choice in Choice],
        "state": [list(part) for part in rl_state.PARTS],
        "edges": {
            "cpu_percent": list(rl_state.CPU_PERCENT),
            "charge": list(rl_state.CHARGE),
            "gap_s": list(rl_state.GAP_S),
            "loss": list(rl_state.LOSS),
            "rekeys": list(rl_state.REKEYS),
            "key_age_s": list(rl_state.KEY_AGE_S),
        },
        "weights": {phase.name: asdict(weights) for phase, weights in WEIGHTS.items()},
    }


def dump(table: Table) -> str:
    """The file's text: equal tables give equal bytes."""
    rows = {
        ".".join(map(str, state)): [None if value is None else round(value, DIGITS) for value in row]
        for state, row in sorted(table.values.items())
    }
    content = {"format": FORMAT, "version": VERSION, "meaning": meaning(), "training": dict(table.training)}
    body = {**content, "sha256": _digest({**content, "values": rows})}
    head = json.dumps(body, indent=1, sort_keys=True)[:-2]
    lines = ",\n".join(f'  "{key}": {json.dumps(row)}' for key, row in rows.items())
    return f'{head},\n "values": {{\n{lines}\n }}\n}}\n'


def load(text: str, where: str = "the table") -> Table:
    """The table of a file's text. Raises TableError: no table, another version or meaning, changed after training."""
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise TableError(f"{where} is not a trained table of the policy.")
        if content["version"] != VERSION or content["meaning"] != meaning():
            raise TableError(
                f"{where} was trained for another version of the policy (states, actions or weights differ); "
                "train it again with 'pqcmav policy train'."
            )
        digest = content.pop("sha256")
        if digest != _digest(content):
            raise TableError(f"{where} was changed after it was trained: its digest does not match.")
        return Table({_state(key): _row(row) for key, row in content["values"].items()}, content["training"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise TableError(f"{where} is not a trained table of the policy ({error!r}).") from None


def read(path: Path) -> Table:
    """The table in a file, a compressed one if it ends in .gz. Raises TableError."""
    try:
        if path.exists() and not path.is_file():
            raise TableError(f"{path} is not a file.")
        return load(packed.read(path).decode(), str(path))
    except (OSError, ValueError) as error:
        raise TableError(f"Cannot read {path}: {getattr(error, 'strerror', None) or error}.") from None


def shipped() -> Table:
    """The table that comes with the package."""
    with as_file(files(__package__) / SHIPPED) as path:
        return read(path)


def write(table: Table, path: Path) -> None:
    """Saves a table, whole or not at all. Raises TableError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, packed.pack(dump(table).encode(), path))
    except OSError as error:
        raise TableError(f"Cannot write {path}: {error.strerror}.") from None


def _digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _state(key: str) -> State:
    state = tuple(int(part) for part in key.split("."))
    if len(state) != len(rl_state.SIZES) or any(
        not 0 <= part < size for part, size in zip(state, rl_state.SIZES, strict=True)
    ):
        raise ValueError(f"state {key}")
    return state


def _row(row: Any) -> tuple[float | None, ...]:
    values = tuple(None if value is None else float(value) for value in row)
    if len(values) != len(Choice) or any(value is not None and not math.isfinite(value) for value in values):
        raise ValueError(f"row {row}")
    return values
