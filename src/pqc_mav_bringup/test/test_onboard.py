# SPDX-License-Identifier: Apache-2.0
"""Sensing and policy in one process: all nodes, each with its own parameters, one end for all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pqc_mav_bringup.description import resolve
from pqc_mav_bringup.executables import command, find_executable
from pqc_mav_bringup.onboard import WITH_DETECTOR
from pqc_mav_bringup.systems import DRONE, ONBOARD
from pqc_mav_common.siblings import WITH_GUARD
from pqc_mav_common.testing_onlooker import run_twice
from pqc_mav_detect.node_parameters import PARAMETERS
from pqc_mav_policy.node_parameters import node_specs
from pqc_mav_sensing.main import NODES, load

COMMAND = [sys.executable, "-m", "pqc_mav_bringup.onboard"]
DEADLINE_S = 60.0


def test_every_node_is_there_with_its_own_parameters_and_leaves_the_graph(tmp_path: Path) -> None:
    nodes = [*(f"pqc_{name}" for name in NODES), "pqc_policy", "pqc_detect", "pqc_guard"]
    given = ["-p", "tap:=127.0.0.1:0", "-p", "power_source:=model", "-p", "mode:=hold", "-p", "suites:=[]"]
    first, again = run_twice([*COMMAND, WITH_DETECTOR, WITH_GUARD], "/s", nodes, given, tmp_path)
    assert first == again
    shown = {name: block["ros__parameters"] for name, block in yaml.safe_load(first).items()}
    assert (shown["/s/pqc_battery"]["tap"], shown["/s/pqc_policy"]["mode"]) == ("127.0.0.1:0", "hold")
    assert "mode" not in shown["/s/pqc_battery"] and "tap" not in shown["/s/pqc_policy"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-p", "strategy:=whim"], "Parameter 'strategy' of pqc_policy"),
        (["-p", "pinned_suite:=ML-9"], "ML-9"),
        (["-p", "thermal_rate_hz:=500.0"], "Parameter 'thermal_rate_hz' of pqc_thermal"),
        (["-p", "chemisty:=lipo"], "Did you mean 'chemistry'"),
        (["--params-file", "/nowhere.yaml"], "Cannot read the configuration file /nowhere.yaml"),
    ],
)
def test_refusals_are_one_line_and_exit_code_2(arguments: list[str], sentence: str) -> None:
    ended = subprocess.run(
        [*COMMAND, "--ros-args", *arguments], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert ended.returncode == 2, ended.stderr
    (line,) = [line for line in ended.stderr.splitlines() if line.startswith(f"{ONBOARD}: error: ")]
    assert sentence in line and "Traceback" not in ended.stderr


def test_the_program_that_is_installed_brings_in_no_metadata_of_packages() -> None:
    """2 MB; setuptools' own scripts import it."""
    program = Path(find_executable("pqc_mav_bringup", f"{ONBOARD}.py"))
    code = f"import runpy; runpy.run_path({str(program)!r}, run_name='x')"
    shown = "import sys; import pqc_mav_bringup.onboard as o; o.run = lambda: print('email' in sys.modules); "
    ended = subprocess.run(
        [sys.executable, "-c", shown + code], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert (ended.stdout, ended.stderr) == ("False\n", "")


def test_no_parameter_means_one_thing_to_the_senses_and_another_to_the_policy() -> None:
    """What is given without a node's name reaches both."""
    of_senses = {spec.name for sense in load(NODES) for spec in sense.parameters}
    of_policy, of_detector = ({spec.name for spec in specs} for specs in (node_specs(), PARAMETERS))
    assert not of_senses & of_policy and not (of_senses | of_policy) & of_detector


def test_both_files_are_on_the_command_line() -> None:
    (process,) = [each for each in resolve(DRONE, {}) if each.executable == f"{ONBOARD}.py"]
    line = command(process)
    files = [Path(line[at + 1]).name for at, word in enumerate(line) if word == "--params-file"]
    assert files == ["sensing.yaml", "policy.yaml"]
