# SPDX-License-Identifier: Apache-2.0
from typing import Any

import pqc_mav_tunnel
import pytest
import yaml
from test_systems import PORTS, known_keys

from pqc_mav_bringup.description import resolve
from pqc_mav_bringup.scenario_system import SCENARIO
from pqc_mav_bringup.share import config_file
from pqc_mav_bringup.systems import DEMO
from pqc_mav_policy.node_parameters import node_specs
from pqc_mav_policy.ros_parameters import parse
from pqc_mav_sensing.config_template import render

VALUES = {
    **PORTS,
    "keys": "/k",
    "tap_port": "22000",
    "air_data_port": "22001",
    "thermal_root": "/t",
}


def test_it_is_the_demo_with_senses_and_policy() -> None:
    by_label = {process.label: process for process in resolve(SCENARIO, VALUES)}
    demo = {process.label for process in resolve(DEMO, {**PORTS, "keys": "/k"})}
    assert set(by_label) == demo - {"gcs/pqc_guard"} | {
        "drone/pqc_sensing",
        "drone/pqc_policy",
        "drone/pqc_detect",
    }
    drone, sensing = by_label["drone/pqc_proxy"].parameters, by_label["drone/pqc_sensing"].parameters
    assert drone["plain_tap"] == sensing["tap"] == "127.0.0.1:22000" and sensing["thermal_root"] == "/t"
    assert drone["data_port"] == 22001, "the link may lie in between"
    assert by_label["gcs/pqc_proxy"].parameters["data_port"] == int(PORTS["data_port"])
    assert set(drone) - {"tunnel"} <= set(known_keys("drone"))
    assert {**by_label["drone/tunneld"].parameters, "tunnel": "auto"} == drone, "its tunnel has what it has"
    assert by_label["vehicle"].arguments[-4:] == ("--battery", "90", "--param", "COM_LOW_BAT_ACT=3")


def parameters(file: str) -> dict[str, Any]:
    return dict(yaml.safe_load(config_file(file).read_text())["/**"]["pqc_policy"]["ros__parameters"])


FILES = pytest.mark.parametrize("file", ["scenario_policy.yaml", "scenario_attack_policy.yaml"])


@FILES
def test_the_policys_file_names_suites_there_are_and_parameters_it_knows(file: str) -> None:
    given = parameters(file)
    assert parse(given).node.suites == tuple(given["suites"])
    assert all(pqc_mav_tunnel.find_suite(suite).available for suite in given["suites"])
    assert given["target_suite"] in given["suites"]


@FILES
def test_only_strategy_times_suites_and_the_lowest_level_differ_from_the_policys_defaults(file: str) -> None:
    """The scenarios show the thresholds a real flight has."""
    given = parameters(file)
    changed = {spec.name for spec in node_specs() if spec.name in given}
    assert all(
        name.endswith("_s") or name in ("strategy", "suites", "allow_drafts", "target_suite", "minimum_level")
        for name in changed
    ) and changed == set(given)


def test_the_attack_is_answered_by_the_default_strategy() -> None:
    """And by one renewal at once, whenever the flight begins: alarms leave the rate limit's room to those by age."""
    policy = parse(parameters("scenario_attack_policy.yaml"))
    assert policy.node.strategy == parse({}).node.strategy == "measured"
    assert policy.settings.policy.rekey_mlkem_s >= policy.settings.policy.rate_limit_window_s


def test_the_senses_file_has_parameters_the_nodes_know() -> None:
    known = yaml.safe_load(render())["/**"]
    for node, block in yaml.safe_load(config_file("scenario_sensing.yaml").read_text())["/**"].items():
        assert set(block["ros__parameters"]) <= set(known[node]["ros__parameters"])
