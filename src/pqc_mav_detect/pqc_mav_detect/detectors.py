# SPDX-License-Identifier: Apache-2.0
"""The detectors by name."""

from pathlib import Path

from pqc_mav_detect.detector import Detector, ModelError

RULES, XGBOOST, TST = "rules", "xgboost", "tst"
NAMES = (RULES, XGBOOST, TST)
FILES = {RULES: "thresholds.csv", XGBOOST: "model.npz", TST: "model.onnx"}  # as training names them


def make(name: str, model: Path | None = None) -> Detector:
    """A detector. `model`: another one than the committed. Raises ModelError: what is missing, in one line."""
    if name == RULES:
        from pqc_mav_detect.rules.detector import Rules
        from pqc_mav_detect.rules.thresholds import read as thresholds

        return Rules(thresholds(model) if model else None)
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise ModelError(f"the detector '{name}' needs the Python package numpy") from None
    if name == XGBOOST:
        from pqc_mav_detect.trees.detector import Trees, read

        return Trees(read(model) if model else None)
    from pqc_mav_detect.tst.detector import Transformer

    return Transformer(model)
