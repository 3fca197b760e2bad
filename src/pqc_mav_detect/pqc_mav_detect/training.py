# SPDX-License-Identifier: Apache-2.0
"""From recordings to models: the table of thresholds, the trees and the transformer."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pqc_mav_detect.dataset import read_rows
from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.detectors import FILES, RULES, XGBOOST
from pqc_mav_detect.rules import thresholds

MADE = {RULES: "thresholds.csv", **FILES}
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
    path = into / MADE[what]
    if what == RULES:
        runs = [rows for file in files for rows in read_rows(file).values()]
        path.write_text(thresholds.text(thresholds.learn(runs)), encoding="utf-8")
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


def main(arguments: Sequence[str]) -> int:
    """For environments without the command line tool: `python -m pqc_mav_detect.training FOLDER INTO`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("into", type=Path)
    parser.add_argument("--what", default=",".join(MADE))
    parser.add_argument("--form", default="patch", choices=FORMS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--steps", type=int)
    options = parser.parse_args(arguments)
    if options.steps is not None and options.steps < 1:
        parser.error("--steps: give at least 1")
    try:
        for what in options.what.split(","):
            limits = options.seed, options.minutes, options.steps
            print(train(what, options.folder, options.into, options.form, *limits), flush=True)
    except ModelError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
