# SPDX-License-Identifier: Apache-2.0
"""mavros as a part of a system: its arguments, its process, and how it is never started."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pqc_mav_bringup import geoid
from pqc_mav_bringup.description import Argument, BringupError, Process, ProcessDescription, Setting
from pqc_mav_bringup.mavros_url import refusal
from pqc_mav_bringup.share import config_file
from pqc_mav_common.errors import one_line
from pqc_mav_common.siblings import ALLOWED

PACKAGE = "mavros"
PORT = 14555  # its own end of the way to the drone's proxy, as mavros itself would choose it
URLS = ("fcu_url", "gcs_url")
WATCHED: Mapping[str, str] = {ALLOWED: "{mavros_allow}"}  # environment of whoever looks at open sockets
CHOICES = ("udp", "mavros")
HINT = (
    "mavlink:=mavros needs the ROS 2 package mavros (apt install ros-$ROS_DISTRO-mavros); mavlink:=udp works without it"
)
# Between mavros' own two nodes. The names are absolute: two mavros in one ROS domain would hear and command through
# each other, past the tunnel.
_ROUTES = ("uas{tgt_system}/mavlink_source", "uas{tgt_system}/mavlink_sink")
_CONNECTIONS = frozenset({"fcu_url", "gcs_url", "fcu_urls", "gcs_urls", "uas_url", "uas_urls"})
_NAMESPACE = re.compile(r"[A-Za-z_]\w*(/[A-Za-z_]\w*)*", re.ASCII)
_LOCAL = "Its addresses are on 127.0.0.1, see mavros_allow."


def arguments(fcu: str, fcu_url: str, gcs: str, gcs_url: str, namespace: str, system_id: str) -> tuple[Argument, ...]:
    """What a system with mavros takes; `fcu` and `gcs` say what its two sides are for."""
    return (
        Argument(
            "mavlink",
            "How MAVLink reaches the proxy: udp = an autopilot, router or ground software talks to the proxy's "
            "plaintext port directly; mavros = start mavros in between.",
            "udp",
            CHOICES,
        ),
        Argument("fcu_url", f"With mavlink:=mavros: {fcu}. {_LOCAL}", fcu_url),
        Argument("gcs_url", f"With mavlink:=mavros: {gcs}. {_LOCAL}", gcs_url),
        Argument(
            "mavros_allow",
            "With mavlink:=mavros: addresses beyond this machine that fcu_url and gcs_url may name, separated by "
            "commas; whoever reaches them commands the vehicle without a key.",
        ),
        Argument("mavros_namespace", "With mavlink:=mavros: ROS namespace of its topics and services.", namespace),
        Argument("tgt_system", "With mavlink:=mavros: MAVLink system id of the vehicle.", "1"),
        Argument("tgt_component", "With mavlink:=mavros: MAVLink component id of its autopilot.", "1"),
        Argument("mavros_system_id", "With mavlink:=mavros: mavros' own system id; empty = the vehicle's.", system_id),
        Argument(
            "pluginlists_yaml",
            "With mavlink:=mavros: parameter file with the plugins it loads; the default lists what the suite needs.",
            str(config_file("mavros_plugins.yaml")),
        ),
        Argument("config_yaml", "With mavlink:=mavros: further parameter file for it; empty = none."),
    )


def process() -> ProcessDescription:
    """The mavros node, only if mavlink is mavros: fcu_url is its vehicle side, gcs_url its forwarding side."""
    return ProcessDescription(
        name="mavros",
        package=PACKAGE,
        executable="mavros_node",
        # mavros names its nodes itself; all of them live in this namespace.
        namespace="{mavros_namespace}",
        files=("{pluginlists_yaml}", "{config_yaml}"),
        settings={
            "fcu_url": Setting("{fcu_url}"),
            "gcs_url": Setting("{gcs_url}"),
            "tgt_system": Setting("{tgt_system}", int),
            "tgt_component": Setting("{tgt_component}", int),
            "fcu_protocol": Setting("v2.0"),
            "system_id": Setting("{mavros_system_id}", int),
        },
        remaps={f"/{topic}": f"/{{mavros_namespace}}/{topic}" for topic in _ROUTES},
        when={"mavlink": "mavros"},
        check=check,
        hint=HINT,
    )


def check(values: Mapping[str, str]) -> None:
    """Raises BringupError where mavros would open a way past the tunnel, or could not start."""
    allowed = [host.strip() for host in values["mavros_allow"].split(",")]
    for name in URLS:
        if said := refusal(name, values[name], allowed):
            raise BringupError(said)
    for name in ("tgt_system", "tgt_component", "mavros_system_id"):
        value = values[name]
        if value == "" and name == "mavros_system_id":
            continue
        if not (value.isascii() and value.isdigit() and 1 <= int(value) <= 255):
            raise BringupError(f"'{name}' is '{value}'; it must be a MAVLink id, 1 to 255.")
    if _NAMESPACE.fullmatch(values["mavros_namespace"]) is None:
        raise BringupError(
            f"'mavros_namespace' is '{values['mavros_namespace']}'; it must be a ROS namespace without a slash in "
            "front, such as mavros or gcs/mavros."
        )
    for name in ("pluginlists_yaml", "config_yaml"):
        if values[name] and Path(values[name]).is_file():
            _check_file(name, values[name])


def check_data(process: Process, environment: Mapping[str, str]) -> None:
    """Raises BringupError for a mavros that has to abort; to be called where it is known to be installed."""
    if process.package == PACKAGE and (said := geoid.problem({**environment, **process.environment})):
        raise BringupError(f"{said}.")


def _check_file(name: str, path: str) -> None:
    """The connections are the arguments' affair: those of a file would be opened unseen."""
    import yaml  # not above: the arguments are read where there is no PyYAML, too

    try:
        found = _keys(yaml.safe_load(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BringupError(f"{name} '{path}' cannot be read: {one_line(error)}") from None
    if forbidden := sorted(found & _CONNECTIONS):
        raise BringupError(
            f"{name} '{path}' sets '{forbidden[0]}'; give connections as arguments (fcu_url, gcs_url, tgt_system), "
            "where they are checked."
        )


def _keys(tree: object) -> set[str]:
    if not isinstance(tree, dict):
        return set()
    return {str(key) for key in tree}.union(*(_keys(value) for value in tree.values()))
