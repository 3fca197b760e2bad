"""Helpers of the tests are importable by their folder's name; ROS tests have a domain of their own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(scope="session", autouse=True)
def own_domain() -> Iterator[None]:
    """Under tools/run_tests.py the run has a domain of its own already; elsewhere one is taken here."""
    if "ROS_DOMAIN_ID" in os.environ:
        yield
        return
    try:
        from domain_coordinator import domain_id
    except ImportError:
        yield
        return
    with domain_id() as number:
        os.environ["ROS_DOMAIN_ID"] = str(number)
        yield
        del os.environ["ROS_DOMAIN_ID"]
