# SPDX-License-Identifier: Apache-2.0
"""The trees as a detector: `detector: xgboost`. It needs NumPy and the committed model, not xgboost."""

import zipfile
import zlib
from functools import cache
from importlib import resources
from pathlib import Path

from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.history import LONG, NAMES
from pqc_mav_detect.learned import OUTPUTS, Learned
from pqc_mav_detect.trees.tables import Tables, load

FILE = "model.npz"


class Trees(Learned):
    """Judges by trees. Raises ModelError."""

    def __init__(self, tables: Tables | None = None) -> None:
        tables = tables if tables is not None else shipped()
        super().__init__("xgboost", LONG, lambda history: tables.probabilities(history.features()), tables.limits)


def read(path: Path) -> Tables:
    """A model of this version's features and classes. Raises ModelError."""
    try:
        tables = load(path.read_bytes())
    except (OSError, ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise ModelError(f"the trees of '{path}' cannot be read: {error}") from None
    if tables.names != NAMES or tables.classes != OUTPUTS:
        raise ModelError(f"the trees of '{path}' are of another version: train them again with 'pqcmav detect train'")
    return tables


@cache
def shipped() -> Tables:
    """The committed model."""
    with resources.as_file(resources.files(__package__).joinpath(FILE)) as path:
        return read(path)
