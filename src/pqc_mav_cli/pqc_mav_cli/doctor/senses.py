# SPDX-License-Identifier: Apache-2.0
"""Checks of what the policy goes by: whether this machine can feel its temperature, and what a running policy lacks."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pqc_mav_cli.doctor.finding import Finding, ok, warn
from pqc_mav_cli.errors import CliError

DECISION_TYPE = "pqc_mav_interfaces/msg/PolicyDecision"
LOOK_S, LISTEN_S = 0.1, 1.5
_CURES = {
    "battery": "let the autopilot send BATTERY_STATUS (ArduPilot: SR0_EXT_STAT, from 4.7 on MAV1_EXT_STAT), and set "
    "'cells' of pqc_battery",
    "vehicle": "look whether the autopilot's MAVLink reaches the proxy and its 'plain_tap'",
    "thermal": "set 'thermal_root' or 'thermal_zone' of pqc_thermal, if this machine has a sensor elsewhere",
    "link": "look whether the ground station is connected; it reports how it hears the drone",
}


def thermal(root: Path) -> Finding:
    """Whether there is a thermal zone: virtual machines have none."""
    from pqc_mav_sensing import thermal_tree

    zone = thermal_tree.read(root).zone()
    if zone is None:
        return warn(
            "senses",
            f"no thermal zone in {root}: the policy's rules of temperature are out, the others act",
            "fine on a virtual machine or a ground station",
        )
    return ok("senses", f"temperature from zone {zone.type}")


def of_policies(decisions: Mapping[str, Any]) -> list[Finding]:
    """One line for each sense a running policy lacks; `decisions` are the newest by topic."""
    from pqc_mav_policy import senses
    from pqc_mav_policy.parameters import PolicyParameters
    from pqc_mav_policy.telemetry import snapshot

    found = []
    for topic, message in sorted(decisions.items()):
        policy = topic.rpartition("/")[0]
        try:
            inputs, _ = snapshot.of_decision(message)
            limits = snapshot.limits(message) or PolicyParameters()
        except snapshot.SnapshotError:
            found.append(warn("senses", f"{policy} is of another version", "restart it"))
            continue
        lacking = senses.lacking(senses.usable(inputs, limits))
        found += [
            warn("senses", f"{policy} does without {text}; its rules are out", _CURES[text.partition(":")[0]])
            for text in lacking
        ]
        if not lacking:
            found.append(ok("senses", f"{policy} has all of its senses"))
    return found


def listened(listen_s: float = LISTEN_S) -> dict[str, Any]:
    """The newest decision of each policy that can be heard from here; {} without ROS."""
    try:
        from pqc_mav_interfaces.msg import PolicyDecision

        from pqc_mav_cli.ros_session import ros_node
        from pqc_mav_common import qos
    except ImportError:
        return {}
    heard: dict[str, Any] = {}
    asked: set[str] = set()
    with ros_node("pqcmav_doctor") as node:
        until = time.monotonic() + listen_s
        while time.monotonic() < until and not (asked and asked == set(heard)):
            for topic, types in node.get_topic_names_and_types():
                if DECISION_TYPE in types and topic not in asked:
                    asked.add(topic)
                    node.create_subscription(
                        PolicyDecision, topic, lambda message, name=topic: heard.update({name: message}), qos.latched(1)
                    )
            time.sleep(LOOK_S)
    return heard


def checks() -> list[Finding]:
    """All of the above here."""
    from pqc_mav_sensing import thermal_tree

    found = [thermal(thermal_tree.ROOT)]
    try:
        return [*found, *of_policies(listened())]
    except CliError as error:
        return [*found, warn("senses", str(error), "set it as at the other end, or not at all")]
