# SPDX-License-Identifier: Apache-2.0
"""What the tests of liboqs_vendor share."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent


@pytest.fixture
def package_copy(tmp_path: Path) -> Path:
    """A copy of the package that a test may change."""
    copy = tmp_path / "liboqs_vendor"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "test"))
    return copy


@pytest.fixture
def liboqs_prefix() -> Path:
    """Prefix of the liboqs this workspace uses."""
    prefix = os.environ.get("OQS_INSTALL_PATH", "")
    if not (Path(prefix) / "lib" / "liboqs.so").exists():
        pytest.skip("OQS_INSTALL_PATH names no liboqs: run through tools/run")
    return Path(prefix)
