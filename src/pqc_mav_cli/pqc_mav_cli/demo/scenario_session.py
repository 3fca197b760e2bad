# SPDX-License-Identifier: Apache-2.0
"""What a scenario needs that must not be reused: fresh keys, free ports, a folder for the simulated board."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pqc_mav_tunnel
import yaml

from pqc_mav_bringup.demo_session import PORTS
from pqc_mav_bringup.share import config_file
from pqc_mav_bringup.systems import DEMO_DRONE
from pqc_mav_cli.demo.scenarios import Scenario
from pqc_mav_cli.errors import CliError
from pqc_mav_common.free_ports import free_ports

MORE_PORTS = ("tap_port", "air_data_port")


def policy_suites(file: str) -> tuple[list[str], str]:
    """Suites that a scenario's policy may choose, and the one it begins with, as its configuration file says."""
    block = yaml.safe_load(config_file(file).read_text(encoding="utf-8"))
    parameters = block["/**"]["pqc_policy"]["ros__parameters"]
    return [pqc_mav_tunnel.find_suite(name).id for name in parameters["suites"]], parameters["target_suite"]


@contextmanager
def scenario_session(scenario: Scenario, rate_hz: float) -> Iterator[dict[str, str]]:
    """Values for all arguments of the scenario's system; everything made for them is removed at the end."""
    suites, target = policy_suites(scenario.policy)
    try:
        ports = dict(zip((*PORTS, *MORE_PORTS), map(str, free_ports(len(PORTS) + len(MORE_PORTS))), strict=True))
    except OSError as error:
        raise CliError(f"The scenario finds no free ports: {error}.") from None
    if not scenario.relayed:
        ports["air_data_port"] = ports["data_port"]
    folder = Path(tempfile.mkdtemp(prefix="pqcmav-scenario-"))
    try:
        default = next(entry["default"] for entry in pqc_mav_tunnel.config_schema("drone") if entry["key"] == "suite")
        tokens = {pqc_mav_tunnel.find_suite(suite).sig_token for suite in (*suites, default)}
        pqc_mav_tunnel.init_keys(str(folder / "keys"), [DEMO_DRONE], sig_tokens=sorted(tokens))
        yield {
            **ports,
            "keys": str(folder / "keys"),
            "suite": pqc_mav_tunnel.find_suite(target).id,
            "rate": f"{rate_hz:g}",
            "altitude": f"{scenario.altitude_m:g}",
            "battery": f"{scenario.battery_percent:g}",
            "param": scenario.param,
            "thermal_root": str(folder / "thermal"),
            "policy_config": str(config_file(scenario.policy)),
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)
