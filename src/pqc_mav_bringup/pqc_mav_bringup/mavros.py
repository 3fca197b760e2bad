# SPDX-License-Identifier: Apache-2.0
"""mavros as a part of a system: its arguments, its process, and how it is never started."""

from __future__ import annotations

from collections.abc import Mapping

from pqc_mav_bringup.description import Argument, BringupError, ProcessDescription, Setting
from pqc_mav_bringup.mavros_url import refusal
from pqc_mav_common.siblings import ALLOWED

PACKAGE = "mavros"
PORT = 14555  # its own end of the way to the drone's proxy, as mavros itself would choose it
URLS = ("fcu_url", "gcs_url")
WATCHED: Mapping[str, str] = {ALLOWED: "{mavros_allow}"}  # environment of the proxy, which looks at open sockets
CHOICES = ("udp", "mavros")
HINT = (
    "mavlink:=mavros needs the ROS 2 package mavros (apt install ros-$ROS_DISTRO-mavros); mavlink:=udp works without it"
)
# Between mavros' own two nodes. The names are absolute: two mavros in one ROS domain would hear and command through
# each other, past the tunnel.
_ROUTES = ("uas{tgt_system}/mavlink_source", "uas{tgt_system}/mavlink_sink")
_LOCAL = "Its addresses are on 127.0.0.1, see mavros_allow."


def arguments(fcu: str, fcu_url: str, gcs: str, gcs_url: str, system_id: str) -> tuple[Argument, ...]:
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
        Argument("tgt_system", "With mavlink:=mavros: MAVLink system id of the vehicle.", "1"),
        Argument("mavros_system_id", "With mavlink:=mavros: mavros' own system id; empty = the vehicle's.", system_id),
    )


def process(namespace: str) -> ProcessDescription:
    """The mavros node, only if mavlink is mavros: fcu_url is its vehicle side, gcs_url its forwarding side."""
    return ProcessDescription(
        name="mavros",
        package=PACKAGE,
        executable="mavros_node",
        # mavros names its nodes itself; all of them live in this namespace.
        namespace=namespace,
        settings={
            "fcu_url": Setting("{fcu_url}"),
            "gcs_url": Setting("{gcs_url}"),
            "tgt_system": Setting("{tgt_system}", int),
            "tgt_component": Setting("1", int),
            "fcu_protocol": Setting("v2.0"),
            "system_id": Setting("{mavros_system_id}", int),
        },
        remaps={f"/{topic}": f"/{namespace}/{topic}" for topic in _ROUTES},
        when={"mavlink": "mavros"},
        check=check_urls,
        hint=HINT,
    )


def check_urls(values: Mapping[str, str]) -> None:
    """Raises BringupError where mavros would open a way past the tunnel."""
    allowed = [host.strip() for host in values["mavros_allow"].split(",")]
    for name in URLS:
        if said := refusal(name, values[name], allowed):
            raise BringupError(said)
