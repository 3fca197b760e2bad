# SPDX-License-Identifier: Apache-2.0
"""The transformer as a detector: `detector: tst`. It needs ONNX Runtime (extra 'tst' of the package) and a model."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.history import Array, History
from pqc_mav_detect.learned import OUTPUTS, Learned
from pqc_mav_detect.tst.inputs import COLUMNS, WINDOW, framed, scaled

FILE = "model.onnx"


class Transformer(Learned):
    """Judges by the last 400 windows. Raises ModelError."""

    def __init__(self, path: Path | None = None) -> None:
        session, words = read(path)

        def probabilities(history: History) -> Array:
            found: Array = session.run(None, {"windows": framed(scaled(history.newest(WINDOW)))})[0][0]
            return found

        super().__init__("tst", WINDOW, probabilities, words["limits"])


def read(path: Path | None = None) -> tuple[Any, dict[str, Any]]:
    """A session of ONNX Runtime with a model, or with the committed one, and what the model says of itself."""
    try:
        import onnxruntime
    except ImportError:
        raise ModelError(
            "the detector 'tst' needs the Python package onnxruntime: pip install 'pqc_mav_detect[tst]'"
        ) from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        content = (path or resources.files(__package__).joinpath(FILE)).read_bytes()
        session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        words = json.loads(session.get_modelmeta().custom_metadata_map["pqc_mav_detect"])
    except Exception as error:  # ONNX Runtime's own have no common base but this
        raise ModelError(f"the model '{path or FILE}' of the detector 'tst' cannot be used: {error}") from None
    if tuple(words["columns"]) != COLUMNS or tuple(words["classes"]) != OUTPUTS:
        raise ModelError(f"the model '{path or FILE}' is of another version: train it again with 'pqcmav detect train'")
    return session, words
