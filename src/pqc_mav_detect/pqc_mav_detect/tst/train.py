# SPDX-License-Identifier: Apache-2.0
"""Trains the transformer with PyTorch and writes it for ONNX Runtime (extra 'train' of the package)."""

import io
import json
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch import nn

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.examples import UNSURE, Seen
from pqc_mav_detect.history import Array
from pqc_mav_detect.learned import OUTPUTS
from pqc_mav_detect.trees.train import held_out, limits
from pqc_mav_detect.tst.inputs import COLUMNS, WINDOW, scaled
from pqc_mav_detect.tst.network import FORMS, Transformer

BATCH = 64
RATE = 1.5e-3
NORMAL_SHARE = 0.4  # of the examples
DISTURBED_SHARE = 0.5  # of the normal ones
CALM_EVERY = 5  # windows, where the limits are learned
OPSET = 17


class Examples:
    """Every recording as one array with room before each, and which windows are examples of what."""

    def __init__(self, found: Sequence[Seen]) -> None:
        parts: list[Array] = []
        self.by_class: list[list[int]] = [[] for _ in OUTPUTS]
        self.disturbed: list[int] = []  # of the normal ones, those in a recording of disturbances
        self.calm: list[list[int]] = []
        at = 0
        for seen in found:
            raw = np.array([[row.window.values[name] for name in CHANNELS] for row in seen.rows], np.float32)
            parts += [np.zeros((WINDOW, len(COLUMNS)), np.float32), scaled(raw)]
            at += WINDOW
            kept = held_out(seen)
            for index, target in enumerate(seen.targets):
                if target != UNSURE and not (target == 0 and kept[index]):
                    (self.disturbed if seen.disturbed and target == 0 else self.by_class[target]).append(at + index)
            self.calm.append([at + i for i, target in enumerate(seen.targets) if target == 0 and kept[i]])
            at += len(raw)
        self.rows = np.concatenate(parts)

    def windows(self, ends: Any) -> torch.Tensor:
        """[examples, WINDOW, columns]: those that end with these rows."""
        return torch.from_numpy(self.rows[np.asarray(ends)[:, None] + np.arange(1 - WINDOW, 1)])

    def draw(self, generator: np.random.Generator, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Examples, the classes but normal as often as each other."""
        there = [index for index, each in enumerate(self.by_class) if each and index]
        goals = np.where(generator.random(count) < NORMAL_SHARE, 0, generator.choice(there, count))
        pools = [self.disturbed if self.disturbed and goal == 0 and coin < DISTURBED_SHARE else self.by_class[goal]
                 for goal, coin in zip(goals, generator.random(count), strict=True)]  # fmt: skip
        ends = [pool[generator.integers(len(pool))] for pool in pools]
        return self.windows(ends), torch.from_numpy(goals)


def train(
    found: Sequence[Seen], form: str = "patch", seed: int = 1, steps: int = 3000, budget_s: float = math.inf
) -> tuple[bytes, int]:
    """The model as ONNX, and after how many steps; training ends early when the time is over. Without a limit of time,
    nothing depends on the clock."""
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    examples = Examples(found)
    model = Transformer(FORMS[form])
    optimiser = torch.optim.AdamW(model.parameters(), RATE, weight_decay=0.01)
    begun, done = time.monotonic(), 0
    while done < steps and time.monotonic() - begun < budget_s:
        part = max(done / steps, (time.monotonic() - begun) / budget_s)
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, (done + 1) / 100) * 0.5 * (1 + math.cos(math.pi * min(1.0, part)))
        windows, goals = examples.draw(generator, BATCH)
        loss = nn.functional.cross_entropy(model(windows), goals, label_smoothing=0.01)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        done += 1
        if done % 50 == 0:
            print(f"  {form}: step {done}, loss {loss.item():.3f}, {time.monotonic() - begun:.0f} s", flush=True)
    model.eval()
    return exported(model, {"form": form, "limits": _limits(model, examples), "steps": done}), done


def _limits(model: Transformer, examples: Examples) -> dict[str, float]:
    calm = []
    with torch.no_grad():
        for ends in examples.calm:
            chosen = ends[::CALM_EVERY]
            batches = [chosen[at : at + BATCH] for at in range(0, len(chosen), BATCH)]
            if batches:
                calm.append(np.concatenate([model(examples.windows(each)).numpy() for each in batches]))
    return limits(calm)


def exported(model: Transformer, words: Mapping[str, Any]) -> bytes:
    """As ONNX with weights of 16 bits, which are made 32 again when it is loaded."""
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, (torch.zeros(1, WINDOW, len(COLUMNS)),), out, input_names=["windows"], output_names=["classes"],
            opset_version=OPSET, dynamo=False,
        )  # fmt: skip
    graph = onnx.load_from_string(out.getvalue())
    _halve(graph.graph)
    more = {"columns": COLUMNS, "classes": OUTPUTS, **words}
    helper.set_model_props(graph, {"pqc_mav_detect": json.dumps(more)})
    graph.doc_string = graph.producer_name = graph.producer_version = ""
    for node in graph.graph.node:
        node.doc_string = ""
    return bytes(graph.SerializeToString())


def _halve(graph: Any) -> None:
    for weights in list(graph.initializer):
        values = numpy_helper.to_array(weights)
        if values.dtype != np.float32 or values.size < 64:
            continue
        graph.initializer.remove(weights)
        half = numpy_helper.from_array(values.astype(np.float16), f"{weights.name}.half")
        graph.initializer.append(half)
        graph.node.insert(0, helper.make_node("Cast", [half.name], [weights.name], to=onnx.TensorProto.FLOAT))
