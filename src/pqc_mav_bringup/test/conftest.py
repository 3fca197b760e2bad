"""A ROS domain of their own for the tests of the bringup package, and the interpreter on PATH."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_domain() -> Iterator[None]:
    """Under tools/run_tests.py the run has a domain of its own already; elsewhere one is taken here."""
    if "ROS_DOMAIN_ID" in os.environ:
        yield
        return
    from pqc_mav_bringup.free_ports import held_domain

    with held_domain() as domain:
        os.environ["ROS_DOMAIN_ID"] = str(domain)
        yield
        del os.environ["ROS_DOMAIN_ID"]


@pytest.fixture(autouse=True)
def interpreter_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that `programs.python_process` finds this very interpreter."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
