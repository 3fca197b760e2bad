# SPDX-License-Identifier: Apache-2.0
"""docs/detection.md has the table of classes as the code has it, and counts its channels."""

from __future__ import annotations

from pathlib import Path

import pytest

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.classes import CLASSES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "detection.md"


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return PAGE.read_text(encoding="utf-8").splitlines()


def test_channels(lines: list[str]) -> None:
    assert f"is the table of all {len(CHANNELS)}: unit" in " ".join(lines)


def test_classes(lines: list[str]) -> None:
    for each in CLASSES.values():
        assert f"| `{each.name}` | {each.title} | `{each.response}`: {each.what} |" in lines


def test_every_channel_that_speaks_has_words_and_a_class() -> None:
    for channel in CHANNELS.values():
        assert not channel.kind or channel.kind in CLASSES
        assert not channel.limit or ("{rate}" in channel.words and channel.kind and channel.allowance > 0)
