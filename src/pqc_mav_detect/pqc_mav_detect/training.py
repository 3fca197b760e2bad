# SPDX-License-Identifier: Apache-2.0
"""From recordings to models: the table of thresholds, the trees and the transformer."""

from pathlib import Path
from typing import Any

from pqc_mav_detect.dataset import read_rows
from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.detectors import FILES, RULES, XGBOOST
from pqc_mav_detect.rules import thresholds

TRAIN = "train-*.parquet"
NORMAL = "train-normal-*.parquet"
FORMS = ("patch", "published")


def train(
    what: str,
    folder: Path,
    into: Path,
    form: str = "patch",
    seed: int = 1,
    minutes: float = 20.0,
    steps: int | None = None,
) -> str:
    """Train one and write it into a folder; returns one line about it. Raises ModelError.

    The transformer's training ends after `minutes`; with `steps` after so many, however long they take, so that the
    seed fixes what comes out on one machine.
    """
    files = sorted(folder.glob(NORMAL if what == RULES else TRAIN))
    if not files:
        raise ModelError(f"there are no recordings for training in '{folder}': 'pqcmav detect record' makes them")
    into.mkdir(parents=True, exist_ok=True)
    path = into / FILES[what]
    if what == RULES:
        runs = [rows for file in files for rows in read_rows(file).values()]
        try:
            path.write_text(thresholds.text(thresholds.learn(runs)), encoding="utf-8")
        except ValueError as error:
            raise ModelError(str(error)) from None
        return f"{path}: learned from {sum(map(len, runs))} windows of normal traffic"
    try:
        from pqc_mav_detect.examples import sequences

        found = list(sequences(files))
        if what == XGBOOST:
            from pqc_mav_detect.trees import train as trees

            tables, booster = trees.train(found, seed)
            path.write_bytes(tables.save())
            words = ", ".join(f"{name} {100 * share:.0f} %" for name, share in trees.relies_on(booster))
            return f"{path}: {len(tables.feature)} trees, {path.stat().st_size} bytes; they rely on {words}"
        from pqc_mav_detect.tst import train as tst

        until: dict[str, Any] = {"budget_s": 60 * minutes} if steps is None else {"steps": steps}
        content, done = tst.train(found, form, seed, **until)
    except ImportError as error:
        raise ModelError(
            f"training needs the Python package {error.name}: pip install 'pqc_mav_detect[train]'"
        ) from None
    path.write_bytes(content)
    return f"{path}: the {form} form after {done} steps, {len(content)} bytes"
