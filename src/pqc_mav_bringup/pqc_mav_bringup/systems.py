# SPDX-License-Identifier: Apache-2.0
"""The systems of PQC-MAV as data: `drone`, `gcs` and `demo`. Only this file says what runs where."""

from __future__ import annotations

from collections.abc import Mapping

from pqc_mav_bringup import composed, mavros, proxy
from pqc_mav_bringup.description import (
    NODE_ARGUMENTS,
    PARAMS_FILE,
    Argument,
    ProcessDescription,
    Setting,
    SystemDescription,
)
from pqc_mav_bringup.respawn import LASTING, Respawn
from pqc_mav_bringup.share import config_file

NODE = proxy.NODE
VEHICLE = "vehicle"
GROUND = "ground"
DEMO_DRONE = "demo"
PLAIN_PORT = 14590  # the drone proxy's plaintext side, default of `plain_bind`
GROUND_PORT = 14550  # where ground software listens, default of `drone.<id>.plain_peer`
GROUND_SYSTEM = "255"  # MAVLink system id of ground software, to which ArduPilot's failsafe listens (SYSID_MYGCS)
TAP_PORT = 14591  # where the battery node listens, default of its `tap`
SENSING = "pqc_sensing"
POLICY = "pqc_policy"
ONBOARD = "pqc_onboard"
DETECT = "pqc_detect"
GUARD = "pqc_guard"
RECORDER = "flight_recorder"
GIVES_WAY = 5  # as the engine's own threads that compute handshakes

SWITCH = ("true", "false")
_SENSING_HINT = "sensing:=true needs the package pqc_mav_sensing; sensing:=false works without it"
_POLICY_HINT = "policy:=true needs the package pqc_mav_policy; policy:=false works without it"
_RECORDER_HINT = "record:= needs the package pqc_mav_recorder; leave it empty to fly without a recording"
_DETECT_HINT = "detect:=true needs the package pqc_mav_detect; detect:=false works without it"
_SIM_HINT = "the demo needs the package pqc_mav_sim"

_KEYS = Argument("keys", "Folder with this end's keys; empty = as in the configuration file.")
_SENSING_CONFIG = Argument(
    "sensing_config",
    "Configuration file of the sensing nodes; it documents every parameter.",
    str(config_file("sensing.yaml")),
)

_POLICY_CONFIG = Argument(
    "policy_config",
    "Configuration file of the policy node; it documents every parameter.",
    str(config_file("policy.yaml")),
)


_DETECT = Argument(
    "detect",
    "Whether to look for attacks in the counters of the proxy and the kernel, and to publish a ThreatReport.",
    "true",
    SWITCH,
)
_TOGETHER = Argument(
    "together",
    "Whether sensing and policy, where both run, share one process with the detector: that saves half of the memory. "
    "false = one each, so that none can take another down.",
    "true",
    SWITCH,
)
_SENSING_SETTINGS = {
    "mavlink": Setting("{mavlink}"),
    "tap": Setting("{tap}"),
    "mavros_namespace": Setting("/{mavros_namespace}", when={"mavlink": "mavros"}),
}
_POLICY_SETTINGS = {"strategy": Setting("{strategy}")}
_BOTH = {"sensing": "true", "policy": "true"}
_ONE = {**_BOTH, "together": "true"}
# Where there is no common process.
_APART: tuple[Mapping[str, str], ...] = (
    {"together": "false"},
    {"together": "true", "sensing": "false"},
    {"together": "true", "sensing": "true", "policy": "false"},
)
# The proxy in C++ is watched from the first of these that runs: pqc_onboard, pqc_detect, pqc_guard.
_GUARDED = "--guard={proxy}"

_RECORD = Argument(
    "record",
    "Where to record the flight: a file (*.mcap), or a folder that gets a new file, named after the time, at every "
    "start; empty = no recording.",
)


def _namespace(default: str) -> Argument:
    return Argument("namespace", "ROS namespace of the proxy.", default)


def _config(role: str) -> Argument:
    return Argument("config", "Configuration file; it documents every key.", str(config_file(f"{role}.yaml")))


_PARAMS_FILE = Argument(PARAMS_FILE, "The same as config, by the name that other launch files use; wins over it.")


def _sensing(namespace: str, settings: Mapping[str, Setting], when: Mapping[str, str]) -> ProcessDescription:
    """The four sensing nodes in one process; they name themselves, and each takes its own settings."""
    return ProcessDescription(
        name=SENSING,
        nice=GIVES_WAY,
        package="pqc_mav_sensing",
        executable=SENSING,
        namespace=namespace,
        config="{sensing_config}",
        settings=settings,
        when=when,
        hint=_SENSING_HINT,
    )


def _policy(namespace: str, settings: Mapping[str, Setting], when: Mapping[str, str]) -> ProcessDescription:
    """The policy node next to the drone's proxy."""
    return ProcessDescription(
        name=POLICY,
        nice=GIVES_WAY,
        package="pqc_mav_policy",
        executable=POLICY,
        node=POLICY,
        namespace=namespace,
        config="{policy_config}",
        settings=settings,
        when=when,
        hint=_POLICY_HINT,
    )


def _onboard(namespace: str, settings: Mapping[str, Setting], when: Mapping[str, str]) -> ProcessDescription:
    """Sensing and policy in one process, with the settings and configuration files of both."""
    return ProcessDescription(
        arguments=("--detect={detect}", _GUARDED),
        environment=mavros.WATCHED,
        name=ONBOARD,
        nice=GIVES_WAY,
        package="pqc_mav_bringup",
        executable=f"{ONBOARD}.py",  # a program of our own, see there
        namespace=namespace,
        config="{sensing_config}",
        files=("{policy_config}",),
        settings=settings,
        when=when,
    )


def _detect(
    namespace: str, when: Mapping[str, str], environment: Mapping[str, str] = mavros.WATCHED
) -> ProcessDescription:
    """The detector next to a proxy."""
    return ProcessDescription(
        name=DETECT,
        nice=GIVES_WAY,
        package="pqc_mav_detect",
        executable=DETECT,
        node=DETECT,
        namespace=namespace,
        arguments=(_GUARDED,),
        environment=environment,
        when=when,
        hint=_DETECT_HINT,
    )


def _guard(
    namespace: str, when: Mapping[str, str], environment: Mapping[str, str] = mavros.WATCHED
) -> ProcessDescription:
    """The guard in a process of its own."""
    return ProcessDescription(
        name=GUARD,
        nice=GIVES_WAY,
        package=proxy.PACKAGES[proxy.PY],
        executable=GUARD,
        node=GUARD,
        namespace=namespace,
        environment=environment,
        when={**when, proxy.ARGUMENT.name: proxy.CPP},
    )


def _recorder(namespace: str) -> ProcessDescription:
    """The flight recorder: the topics of both ends, as far as they can be heard here."""
    return ProcessDescription(
        name=RECORDER,
        nice=GIVES_WAY,
        package="pqc_mav_recorder",
        executable="pqc_recorder",
        node=RECORDER,
        namespace=namespace,
        settings={"path": Setting("{record}"), "namespaces": Setting("/{namespace},drone,gcs", list)},
        unless={"record": ""},
        # A recorder never takes the link with it, not even if the disk is full already when a drone starts in flight.
        respawn=Respawn(never_first=LASTING, vital=False),
        hint=_RECORDER_HINT,
    )


DRONE = SystemDescription(
    name="drone",
    description="The airborne end: the proxy between the autopilot and the encrypted link, and optionally mavros.",
    arguments=(
        _namespace("drone"),
        _config("drone"),
        _PARAMS_FILE,
        _KEYS,
        Argument("drone_id", "Name of this drone; empty = as in the configuration file."),
        Argument("peer", "Host name or address of the gcs; empty = as in the configuration file."),
        Argument("suite", "Cipher suite, short code or id (see 'pqcmav suites'); empty = as configured."),
        *mavros.arguments(
            "where it finds the autopilot",
            "/dev/ttyACM0:57600",
            "where it forwards MAVLink to, i.e. the proxy's plaintext port",
            f"udp://127.0.0.1:{mavros.PORT}@127.0.0.1:{PLAIN_PORT}",
            "mavros",
            "",
        ),
        Argument("sensing", "Whether to monitor and publish battery, temperature, power and load.", "true", SWITCH),
        _SENSING_CONFIG,
        Argument(
            "tap",
            "With sensing:=true and mavlink:=udp: where the proxy sends a copy of the autopilot's MAVLink for the "
            "battery node, host:port on this machine. Two drones on one machine need different ones.",
            f"127.0.0.1:{TAP_PORT}",
        ),
        Argument("policy", "Whether to run the adaptive policy, which chooses suites.", "true", SWITCH),
        _POLICY_CONFIG,
        Argument(
            "strategy",
            "Strategy of the policy; empty = as in policy_config.",
            choices=("measured", "cascade", "expert", "rl", "hybrid"),
        ),
        _DETECT,
        _TOGETHER,
        _RECORD,
        proxy.ARGUMENT,
        proxy.TUNNEL,
        composed.ARGUMENT,
        *NODE_ARGUMENTS,
    ),
    processes=(
        *proxy.processes(
            "{namespace}",
            {
                "role": Setting("drone"),
                "keys": Setting("{keys}"),
                "drone_id": Setting("{drone_id}"),
                "peer": Setting("{peer}"),
                "suite": Setting("{suite}"),
                "plain_tap": Setting("{tap}", when={"sensing": "true", "mavlink": "udp"}),
                "plain_tap_requests": Setting("true", bool, when={"sensing": "true", "mavlink": "udp"}),
            },
            mavros.WATCHED,
        ),
        _onboard("{namespace}", {**_SENSING_SETTINGS, **_POLICY_SETTINGS}, _ONE),
        _sensing("{namespace}", _SENSING_SETTINGS, {**_BOTH, "together": "false"}),
        _sensing("{namespace}", _SENSING_SETTINGS, {"sensing": "true", "policy": "false"}),
        _policy("{namespace}", _POLICY_SETTINGS, {**_BOTH, "together": "false"}),
        _policy("{namespace}", _POLICY_SETTINGS, {"sensing": "false", "policy": "true"}),
        *(_detect("{namespace}", {**when, "detect": "true"}) for when in _APART),
        *(_guard("{namespace}", {**when, "detect": "false"}) for when in _APART),
        _recorder("{namespace}"),
        mavros.process(),
    ),
)

GCS = SystemDescription(
    name="gcs",
    description="The ground end: the proxy that serves the drones, with mavros as ground software where wanted.",
    arguments=(
        _namespace("gcs"),
        _config("gcs"),
        _PARAMS_FILE,
        _KEYS,
        Argument("drones", "Ids of the drones to serve, separated by commas; empty = as in the configuration file."),
        Argument("suite", "Only suite to accept, short code or id; empty = as in the configuration file."),
        Argument(
            "key_pool_depth",
            "Key pairs to make ahead of time for each KEM, 0 = none; empty = as in the configuration file.",
        ),
        Argument("bind", "Local address to serve drones on; empty = as in the configuration file."),
        *mavros.arguments(
            "where it takes the drone's MAVLink from the proxy; it answers to where that comes from",
            # Empty behind the @: the proxy sends from a port of its own, which mavros learns from the first packet.
            f"udp://127.0.0.1:{GROUND_PORT}@",
            "ground software to which it forwards MAVLink; empty = none",
            "",
            "gcs/mavros",
            GROUND_SYSTEM,
        ),
        _DETECT,
        _RECORD,
        proxy.ARGUMENT,
        proxy.TUNNEL,
        composed.ARGUMENT,
        *NODE_ARGUMENTS,
    ),
    processes=(
        *proxy.processes(
            "{namespace}",
            {
                "role": Setting("gcs"),
                "keys": Setting("{keys}"),
                "drones": Setting("{drones}", list),
                "allowed_suites": Setting("{suite}", list),
                "key_pool_depth": Setting("{key_pool_depth}", int),
                "bind": Setting("{bind}"),
            },
            mavros.WATCHED,
        ),
        _detect("{namespace}", {"detect": "true"}),
        _guard("{namespace}", {"detect": "false"}),
        _recorder("{namespace}"),
        mavros.process(),
    ),
)

_CHOSEN = "empty = chosen at start."
# Ports that both ends on one machine and their applications need.
PORTS = ("data_port", "drone_data_port", "plain_port", "ground_port")


def both_ends(drone: str) -> tuple[dict[str, Setting], dict[str, Setting]]:
    """Settings of a gcs and a drone that find each other on this machine; `keys` and PORTS are arguments."""
    here = {"bind": Setting("127.0.0.1"), "data_port": Setting("{data_port}", int)}
    gcs = {
        "role": Setting("gcs"),
        "keys": Setting("{keys}/gcs"),
        "drones": Setting(drone, list),
        f"drone.{drone}.plain_peer": Setting("127.0.0.1:{ground_port}"),
    }
    air = {
        "role": Setting("drone"),
        "keys": Setting("{keys}/drones/" + drone),
        "drone_id": Setting(drone),
        "peer": Setting("127.0.0.1"),
        "local_data_port": Setting("{drone_data_port}", int),
        "plain_bind": Setting("127.0.0.1:{plain_port}"),
    }
    return {**here, **gcs}, {**here, **air}


_DEMO_GCS, _DEMO_AIR = both_ends(DEMO_DRONE)

DEMO = SystemDescription(
    name="demo",
    description="A simulated vehicle, both ends and a ground client on this machine; 'pqcmav status' watches them.",
    arguments=(
        _config("demo"),
        Argument("keys", "Root of the keys as made by 'pqcmav keys init'; empty = fresh keys, removed at the end."),
        Argument("suite", "Cipher suite, short code or id (see 'pqcmav suites'); empty = as configured."),
        Argument("rate", "Messages per second of the vehicle.", "320"),
        Argument("profile", "Behaviour of the vehicle.", "auto", ("auto", "hover", "client")),
        Argument("altitude", "How high the vehicle flies, in metres.", "10"),
        Argument("data_port", f"UDP port of the gcs; {_CHOSEN}"),
        Argument("drone_data_port", f"UDP port of the drone towards the gcs; {_CHOSEN}"),
        Argument("plain_port", f"UDP port on which the drone's proxy receives plaintext; {_CHOSEN}"),
        Argument("ground_port", f"UDP port of the ground client; {_CHOSEN}"),
        proxy.ARGUMENT,
        proxy.TUNNEL,
        *NODE_ARGUMENTS,
    ),
    processes=(
        *proxy.processes("gcs", _DEMO_GCS),
        *proxy.processes("drone", {**_DEMO_AIR, "suite": Setting("{suite}")}),
        _guard("gcs", {}, {}),
        ProcessDescription(
            name=GROUND,
            package="pqc_mav_sim",
            executable="pqcmav-sim-ground",
            arguments=("--listen", "127.0.0.1:{ground_port}", "--uplink-rate", "20", "--shared-clock"),
            respawn=None,
            hint=_SIM_HINT,
        ),
        ProcessDescription(
            name=VEHICLE,
            package="pqc_mav_sim",
            executable="pqcmav-sim-vehicle",
            arguments=(
                *("--connect", "127.0.0.1:{plain_port}", "--rate", "{rate}", "--profile", "{profile}"),
                *("--altitude", "{altitude}", "--shared-clock"),
            ),
            respawn=None,
            hint=_SIM_HINT,
        ),
    ),
)

SYSTEMS: Mapping[str, SystemDescription] = {system.name: system for system in (DRONE, GCS, DEMO)}
