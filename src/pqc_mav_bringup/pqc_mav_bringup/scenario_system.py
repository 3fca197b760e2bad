# SPDX-License-Identifier: Apache-2.0
"""The demo's system with sensing, policy and the detector on the drone: what `pqcmav demo --scenario` runs.

Made from the demo's own description, so that what both have in common is written once.
"""

from __future__ import annotations

from dataclasses import replace

from pqc_mav_bringup import systems
from pqc_mav_bringup.description import Argument, ProcessDescription, Setting, SystemDescription
from pqc_mav_bringup.share import config_file
from pqc_mav_bringup.systems import DEMO, NODE, VEHICLE

DRONE = "drone"


def _adapted(process: ProcessDescription) -> ProcessDescription:
    if process.node == NODE and process.namespace == DRONE:  # its tunnel, too
        changes = {
            "data_port": Setting("{air_data_port}", int),
            "plain_tap": Setting("127.0.0.1:{tap_port}"),
        }
        return replace(process, settings={**process.settings, **changes})
    if process.name == VEHICLE:
        return replace(process, arguments=(*process.arguments, "--battery", "{battery}", "--param", "{param}"))
    return process


SCENARIO = SystemDescription(
    name="scenario",
    description="The demo with senses, policy and detector on the drone; the caller simulates board and air link.",
    arguments=(
        *DEMO.arguments,
        Argument("battery", "Initial charge of the simulated battery [%].", "90"),
        Argument("param", "A parameter of the simulated autopilot, NAME=VALUE.", "COM_LOW_BAT_ACT=3"),
        Argument("air_data_port", "UDP port at which the drone finds the gcs, or the link in between."),
        Argument("tap_port", "UDP port of the battery node."),
        Argument("thermal_root", "Folder of the simulated thermal tree."),
        Argument(
            "sensing_config", "Configuration file of the sensing nodes.", str(config_file("scenario_sensing.yaml"))
        ),
        Argument("policy_config", "Configuration file of the policy.", str(config_file("scenario_policy.yaml"))),
    ),
    processes=(
        *(_adapted(process) for process in DEMO.processes if process.name != systems.GUARD),
        systems._sensing(
            DRONE, {"tap": Setting("127.0.0.1:{tap_port}"), "thermal_root": Setting("{thermal_root}")}, {}
        ),
        systems._policy(DRONE, {}, {}),
        systems._detect(DRONE, {}, {}),
    ),
)
