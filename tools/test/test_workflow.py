# SPDX-License-Identifier: Apache-2.0
"""The workflow of continuous integration: its systems, and the commands it calls."""

from __future__ import annotations

import os
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
JOB = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]["ci"]
CI = ROOT / ".ci" / "run"


def test_the_matrix_has_the_systems_that_the_documents_name() -> None:
    containers = JOB["strategy"]["matrix"]["container"]
    assert set(containers) == {
        *("", "debian:12", "debian:13", "ubuntu:24.04"),
        *("ros:jazzy-ros-base", "ros:kilted-ros-base"),
    }
    assert JOB["strategy"]["fail-fast"] is False, "one system's failure hides another's"


def test_it_runs_what_a_contributor_can_run() -> None:
    assert JOB["steps"][-1]["run"].splitlines()[-1] == "bash .ci/run"
    targets = re.findall(r"^([a-z]+):.* ## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    called = re.findall(r"\bmake ([a-z]+)", "\n".join(line for line in CI.read_text().splitlines() if line[:1] != "#"))
    assert called and set(called) <= set(targets)
    scripts = re.findall(r"\btools/[a-z_]+\.sh", CI.read_text())
    assert scripts and all(os.access(ROOT / script, os.X_OK) for script in [*scripts, ".ci/run"])
