"""The systems of PQC-MAV as data: `drone`, `gcs` and `demo`. This is the one place that says what runs where."""

from __future__ import annotations

from collections.abc import Mapping

from pqc_mav_bringup.description import Argument, ProcessDescription, Setting, SystemDescription
from pqc_mav_bringup.share import config_file

NODE = "pqc_proxy"
PLAIN_PORT = 14590  # the drone proxy's plaintext side, default of `plain_bind`
GROUND_PORT = 14550  # where ground software listens, default of `drone.<id>.plain_peer`

MAVLINK_CHOICES = ("udp", "mavros")
_MAVROS_HINT = (
    "mavlink:=mavros needs the ROS 2 package mavros (apt install ros-$ROS_DISTRO-mavros); mavlink:=udp works without it"
)
_SIM_HINT = "the demo needs the package pqc_mav_sim"

_KEYS = Argument("keys", "Folder with this end's keys; empty = as the configuration file says.")
_MAVLINK = Argument(
    "mavlink",
    "How MAVLink reaches the proxy: udp = an autopilot, router or ground software sends it to the proxy's plaintext "
    "port; mavros = start mavros in between.",
    "udp",
    MAVLINK_CHOICES,
)


def _namespace(default: str) -> Argument:
    return Argument("namespace", "ROS namespace of the proxy.", default)


def _config(role: str) -> Argument:
    return Argument("config", "Configuration file; it documents every key.", str(config_file(f"{role}.yaml")))


def _mavros(namespace: str) -> ProcessDescription:
    """The mavros node, only where mavlink is mavros: fcu_url is its vehicle side, gcs_url its forwarding side."""
    return ProcessDescription(
        name="mavros",
        package="mavros",
        executable="mavros_node",
        # mavros names its nodes itself; all of them live in this namespace.
        namespace=namespace,
        settings={
            "fcu_url": Setting("{fcu_url}"),
            "gcs_url": Setting("{gcs_url}"),
            "tgt_system": Setting("1", int),
            "tgt_component": Setting("1", int),
            "fcu_protocol": Setting("v2.0"),
        },
        when={"mavlink": "mavros"},
        hint=_MAVROS_HINT,
    )


DRONE = SystemDescription(
    name="drone",
    description="The airborne end: the proxy between the autopilot and the encrypted link, with mavros where wanted.",
    arguments=(
        _namespace("drone"),
        _config("drone"),
        _KEYS,
        Argument("drone_id", "Name of this drone; empty = as the configuration file says."),
        Argument("peer", "Host name or address of the gcs; empty = as the configuration file says."),
        Argument("suite", "Cipher suite, id or short code ('pqcmav suites'); empty = as the configuration file says."),
        _MAVLINK,
        Argument("fcu_url", "With mavlink:=mavros: where the autopilot is.", "/dev/ttyACM0:57600"),
        Argument(
            "gcs_url",
            "With mavlink:=mavros: where mavros forwards MAVLink to, i.e. the proxy's plaintext port.",
            f"udp://@127.0.0.1:{PLAIN_PORT}",
        ),
    ),
    processes=(
        ProcessDescription(
            name=NODE,
            package="pqc_mav_proxy",
            executable=NODE,
            node=NODE,
            namespace="{namespace}",
            config="{config}",
            settings={
                "role": Setting("drone"),
                "keys": Setting("{keys}"),
                "drone_id": Setting("{drone_id}"),
                "peer": Setting("{peer}"),
                "suite": Setting("{suite}"),
            },
        ),
        _mavros("mavros"),
    ),
)

GCS = SystemDescription(
    name="gcs",
    description="The ground end: the proxy that serves the drones, with mavros as ground software where wanted.",
    arguments=(
        _namespace("gcs"),
        _config("gcs"),
        _KEYS,
        Argument("drones", "Ids of the drones to serve, separated by commas; empty = as the configuration file says."),
        Argument("suite", "Only suite to accept, id or short code; empty = as the configuration file says."),
        Argument("peer", "Local address to serve drones on; empty = as the configuration file says (every address)."),
        _MAVLINK,
        Argument(
            "fcu_url",
            "With mavlink:=mavros: where mavros takes the drone's MAVLink from the proxy.",
            f"udp://127.0.0.1:{GROUND_PORT}@",
        ),
        Argument("gcs_url", "With mavlink:=mavros: ground software mavros forwards MAVLink to; empty = none."),
    ),
    processes=(
        ProcessDescription(
            name=NODE,
            package="pqc_mav_proxy",
            executable=NODE,
            node=NODE,
            namespace="{namespace}",
            config="{config}",
            settings={
                "role": Setting("gcs"),
                "keys": Setting("{keys}"),
                "drones": Setting("{drones}", list),
                "allowed_suites": Setting("{suite}", list),
                "bind": Setting("{peer}"),
            },
        ),
        _mavros("gcs/mavros"),
    ),
)
SYSTEMS: Mapping[str, SystemDescription] = {system.name: system for system in (DRONE, GCS)}
