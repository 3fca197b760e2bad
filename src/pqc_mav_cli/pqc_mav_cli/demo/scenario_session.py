# SPDX-License-Identifier: Apache-2.0
"""What a scenario needs that must not be reused: fresh keys, free ports, a folder for the simulated board."""

from collections.abc import Iterator
from contextlib import contextmanager

import pqc_mav_tunnel
import yaml

from pqc_mav_bringup.demo_session import DemoSession
from pqc_mav_bringup.description import BringupError
from pqc_mav_bringup.share import config_file
from pqc_mav_bringup.systems import PORTS
from pqc_mav_cli.demo.scenarios import Scenario
from pqc_mav_cli.errors import CliError

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
        made = DemoSession({}, suites, what="scenario", ports=(*PORTS, *MORE_PORTS))
    except BringupError as error:
        raise CliError(str(error)) from None
    with made as session:
        yield {
            **session.values,
            **({} if scenario.relayed else {"air_data_port": session.values["data_port"]}),
            "suite": pqc_mav_tunnel.find_suite(target).id,
            "rate": f"{rate_hz:g}",
            "altitude": f"{scenario.altitude_m:g}",
            "battery": f"{scenario.battery_percent:g}",
            "param": scenario.param,
            "thermal_root": str(session.folder / "thermal"),
            "policy_config": str(config_file(scenario.policy)),
        }
