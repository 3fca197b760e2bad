"""Shared by the tests of the bringup package: small supervised programs, and a ROS domain of their own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pqc_mav_bringup.description import Process, Respawn


@pytest.fixture(scope="session", autouse=True)
def own_domain() -> Iterator[None]:
    """Under tools/run_tests.py the run has a domain of its own already; elsewhere one is taken here."""
    if "ROS_DOMAIN_ID" in os.environ:
        yield
        return
    from pqc_mav_bringup.free_ports import free_domain

    os.environ["ROS_DOMAIN_ID"] = str(free_domain())
    yield
    del os.environ["ROS_DOMAIN_ID"]


def python_process(label: str, code: str, respawn: Respawn | None = None) -> Process:
    """A process that runs Python code; the interpreter is found on PATH, so PATH must begin with its folder."""
    return Process(
        label=label,
        package="none",
        executable=Path(sys.executable).name,
        node="",
        namespace="",
        config="",
        parameters={},
        arguments=("-u", "-c", code),
        respawn=respawn,
        hint="",
    )


@pytest.fixture(autouse=True)
def interpreter_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that `python_process` finds this very interpreter."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
