# SPDX-License-Identifier: Apache-2.0
"""Trees as tables: every tree is filled up to the same depth, so that all are walked at once. Pure.

Margins are those of xgboost to the last bit: figures and sums are float32, and leaves are added in its order.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pqc_mav_detect.history import Array


@dataclass(frozen=True)
class Tables:
    """`feature` and `threshold`: of each tree its inner nodes, level by level; `leaf`: its leaves from left to right.

    Trees come in rounds of one for each class. `base`: where the margins begin.
    """

    feature: Any  # uint8 [trees, inner]
    threshold: Array  # [trees, inner]
    leaf: Array  # [trees, leaves]
    base: Array  # [classes]
    names: tuple[str, ...]  # of the features
    classes: tuple[str, ...]
    limits: Mapping[str, float]

    def __post_init__(self) -> None:
        trees, inner = self.feature.shape
        object.__setattr__(self, "_depth", (inner + 1).bit_length() - 1)
        object.__setattr__(self, "_first", np.arange(trees) * inner)
        object.__setattr__(self, "_leaves", np.arange(trees) * (inner + 1))
        object.__setattr__(
            self, "_flat", (self.feature.ravel().astype(np.intp), self.threshold.ravel(), self.leaf.ravel())
        )

    def margins(self, row: Array) -> Array:
        """Of each class for one row of features."""
        feature, threshold, leaf = self._flat  # type: ignore[attr-defined]
        first = self._first  # type: ignore[attr-defined]
        at = np.zeros(len(first), np.intp)
        for _ in range(self._depth):  # type: ignore[attr-defined]
            node = first + at
            at = 2 * at + 1 + (row[feature[node]] >= threshold[node])
        found = leaf[self._leaves + at - (len(threshold) // len(first))]  # type: ignore[attr-defined]
        rounds = np.vstack((self.base, found.reshape(-1, len(self.classes))))
        total: Array = np.add.accumulate(rounds, 0)[-1]
        return total

    def probabilities(self, row: Array) -> Array:
        """Softmax of the margins."""
        margins = self.margins(row)
        powers = np.exp(margins - margins.max())
        found: Array = powers / powers.sum()
        return found

    def save(self) -> bytes:
        """As the content of an .npz file."""
        out = io.BytesIO()
        text = json.dumps({"names": self.names, "classes": self.classes, "limits": dict(self.limits)})
        np.savez_compressed(
            out, feature=self.feature, threshold=self.threshold, leaf=self.leaf, base=self.base,
            words=np.frombuffer(text.encode(), np.uint8),
        )  # fmt: skip
        return out.getvalue()


def load(content: bytes) -> Tables:
    """What `save` made. Raises ValueError or KeyError for anything else."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        words = json.loads(file["words"].tobytes())
        feature, threshold, leaf, base = (file[name] for name in ("feature", "threshold", "leaf", "base"))
    return Tables(feature, threshold, leaf, base, tuple(words["names"]), tuple(words["classes"]), words["limits"])


def from_xgboost(raw: bytes, names: tuple[str, ...], classes: tuple[str, ...], limits: Mapping[str, float]) -> Tables:
    """The tables of a booster's `save_raw("json")`. Raises ValueError for trees that tables cannot hold."""
    model = json.loads(raw)["learner"]
    trees = model["gradient_booster"]["model"]["trees"]
    depth = max(_depth(tree) for tree in trees)
    feature = np.zeros((len(trees), 2**depth - 1), np.uint8)
    threshold = np.full(feature.shape, np.inf, np.float32)
    leaf = np.zeros((len(trees), 2**depth), np.float32)
    for number, tree in enumerate(trees):
        _fill(tree, 0, 0, depth, (feature[number], threshold[number], leaf[number]))
    text = model["learner_model_param"]["base_score"]
    base = np.array(json.loads(text) if text.startswith("[") else [float(text)], np.float32)
    return Tables(feature, threshold, leaf, np.broadcast_to(base, (len(classes),)).copy(), names, classes, limits)


def _depth(tree: Mapping[str, Any], node: int = 0) -> int:
    left, right = tree["left_children"][node], tree["right_children"][node]
    return 0 if left < 0 else 1 + max(_depth(tree, left), _depth(tree, right))


def _fill(tree: Mapping[str, Any], node: int, place: int, below: int, into: tuple[Any, Array, Array]) -> None:
    """Puts a node and all under it at `place`; a leaf that comes early stands for everything below it."""
    feature, threshold, leaf = into
    if tree["left_children"][node] < 0:
        begin = (place + 1) * 2**below - 1 - len(threshold)
        leaf[begin : begin + 2**below] = tree["split_conditions"][node]
        return
    if tree["split_indices"][node] > np.iinfo(np.uint8).max or tree.get("split_type", [0])[node]:
        raise ValueError("the trees have more than 256 features or categories")
    feature[place], threshold[place] = tree["split_indices"][node], tree["split_conditions"][node]
    _fill(tree, tree["left_children"][node], 2 * place + 1, below - 1, into)
    _fill(tree, tree["right_children"][node], 2 * place + 2, below - 1, into)
