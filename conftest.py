# SPDX-License-Identifier: Apache-2.0
"""For all tests: launch_testing, where it is installed, must not hide them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Any:
    """launch_testing imports a file to look into it. One that skips itself as a whole took its whole folder with it."""
    outcome = yield
    if outcome.excinfo and issubclass(outcome.excinfo[0], pytest.skip.Exception):
        outcome.force_result(pytest.Module.from_parent(parent, path=module_path))
