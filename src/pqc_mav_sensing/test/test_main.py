# SPDX-License-Identifier: Apache-2.0
"""The process as a supervisor sees it: which nodes, signals, exit codes, one line for an error."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from pqc_mav_common.testing_onlooker import run_twice
from pqc_mav_sensing.errors import SensingError
from pqc_mav_sensing.main import NODES, wanted_nodes

DEADLINE_S = 60.0


def start(*arguments: str) -> subprocess.Popen[str]:
    line = "import sys; from pqc_mav_sensing.main import run; run()"
    return subprocess.Popen(
        [sys.executable, "-c", line, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ,
    )


@pytest.mark.parametrize(
    ("given", "nodes"),
    [([], ["battery", "thermal", "power", "system"]), (["--nodes", "power, battery,power"], ["power", "battery"])],
)
def test_which_nodes(given: list[str], nodes: list[str]) -> None:
    arguments = ["program", *given, "--ros-args", "-r", "__ns:=/drone"]
    assert wanted_nodes(arguments) == nodes
    assert arguments == ["program", "--ros-args", "-r", "__ns:=/drone"]


@pytest.mark.parametrize("given", [["--nodes"], ["--nodes", ""], ["--nodes", "battery,sonar"]])
def test_unknown_nodes(given: list[str]) -> None:
    with pytest.raises(SensingError, match="battery,thermal,power,system"):
        wanted_nodes(["program", *given])


def test_it_can_be_dumped_relaunched_from_that_and_leaves_the_graph(tmp_path: Path) -> None:
    arguments = ["-p", "tap:=127.0.0.1:0", "-p", "power_source:=model", "-p", "interface:=lo"]
    nodes = [f"pqc_{name}" for name in NODES]
    first, again = run_twice([sys.executable, "-m", "pqc_mav_sensing.main"], "/s", nodes, arguments, tmp_path)
    assert first == again
    assert yaml.safe_load(first)["/s/pqc_system"]["ros__parameters"]["interface"] == "lo"


def test_a_parameter_file_that_is_not_there_is_one_line() -> None:
    process = start("--ros-args", "--params-file", "/none.yaml")
    output, _ = process.communicate(timeout=DEADLINE_S)
    line = "pqc_sensing: error: Cannot read the configuration file /none.yaml: No such file or directory.\n"
    assert (process.returncode, output) == (2, line)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_all_in_one_process_until_a_signal(number: signal.Signals) -> None:
    process = start("--ros-args", "-p", "tap:=127.0.0.1:0", "-p", "power_source:=model")
    try:
        line = process.stdout.readline()
        deadline = time.monotonic() + DEADLINE_S
        while "model" not in line and time.monotonic() < deadline:
            line = process.stdout.readline()
        assert "no measurement, source model" in line
        process.send_signal(number)
        assert process.wait(DEADLINE_S) == 0
        assert process.stdout.read() == ""
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-p", "thermal_rate_hz:=500.0"], "between 0.5 and 50 Hz"),
        (["-p", "chemisty:=lipo"], "Did you mean 'chemistry'"),
        (["-p", "::"], "Bad arguments"),
    ],
)
def test_bad_parameters_are_one_line_and_exit_code_2(arguments: list[str], said: str) -> None:
    process = start("--ros-args", *arguments)
    output, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 2, output
    (line,) = [line for line in output.splitlines() if line.startswith("pqc_sensing: error: ")]
    assert said in line and "Traceback" not in output
