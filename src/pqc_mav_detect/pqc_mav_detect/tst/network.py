# SPDX-License-Identifier: Apache-2.0
"""The transformer in PyTorch (extra 'train'): the published form takes each window as a token, the patch form eight."""

import math
from dataclasses import dataclass

import torch
from torch import nn

from pqc_mav_detect.learned import OUTPUTS
from pqc_mav_detect.tst.inputs import COLUMNS, WINDOW


@dataclass(frozen=True)
class Form:
    """Its measures. `patch`: windows a token."""

    patch: int
    layers: int
    heads: int
    width: int
    inner: int


FORMS = {"published": Form(1, 3, 16, 128, 256), "patch": Form(8, 3, 16, 64, 128)}


class Layer(nn.Module):
    """Attention and two linear layers, each with what it was given added, normalised first."""

    def __init__(self, form: Form, dropout: float) -> None:
        super().__init__()
        self.heads = form.heads
        self.before, self.between = nn.LayerNorm(form.width), nn.LayerNorm(form.width)
        self.ask = nn.Linear(form.width, 3 * form.width)
        self.answer = nn.Linear(form.width, form.width)
        self.widen, self.narrow = nn.Linear(form.width, form.inner), nn.Linear(form.inner, form.width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """[batch, tokens, width] -> the same."""
        batch, count, width = tokens.shape
        asked = self.ask(self.before(tokens)).reshape(batch, count, 3, self.heads, width // self.heads)
        query, key, value = asked.permute(2, 0, 3, 1, 4).unbind(0)
        weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(width // self.heads), -1)
        heard = (weights @ value).transpose(1, 2).reshape(batch, count, width)
        tokens = tokens + self.dropout(self.answer(heard))
        return tokens + self.dropout(self.narrow(torch.relu(self.widen(self.between(tokens)))))


class Transformer(nn.Module):
    """Probabilities of the classes from the newest windows; in training the logits."""

    def __init__(self, form: Form, dropout: float = 0.1) -> None:
        super().__init__()
        self.form = form
        self.embed = nn.Linear(form.patch * len(COLUMNS), form.width)
        self.place = nn.Parameter(torch.randn(WINDOW // form.patch, form.width) * 0.02)
        self.layers = nn.ModuleList(Layer(form, dropout) for _ in range(form.layers))
        self.last = nn.LayerNorm(form.width)
        self.judge = nn.Linear(2 * form.width, len(OUTPUTS))

    def forward(self, windows: torch.Tensor) -> torch.Tensor:
        """[batch, WINDOW, columns] -> [batch, classes]."""
        tokens = windows.reshape(windows.shape[0], WINDOW // self.form.patch, -1)
        tokens = self.embed(tokens) + self.place
        for layer in self.layers:
            tokens = layer(tokens)
        tokens = self.last(tokens)
        judged = self.judge(torch.cat((tokens[:, -1], tokens.mean(1)), -1))
        return judged if self.training else torch.softmax(judged, -1)
