# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures of the analysis tests."""

from pathlib import Path

import pytest


@pytest.fixture
def repository():
    """The checkout's root; skips where only the package is installed."""
    root = next((folder for folder in Path(__file__).resolve().parents if (folder / "colcon.meta").exists()), None)
    if root is None:
        pytest.skip("needs the checkout: no colcon.meta above the tests")
    return root
