# SPDX-License-Identifier: Apache-2.0
"""The SROS 2 policy of both ends: what each node publishes, hears, serves and asks for, and nothing else.

`make docs` writes `sros2_policy.xml` and what it includes for each node, as sros2 reads it; a test compares both with
what running nodes declare.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from xml.etree import ElementTree

FILE, EVERY_NODE, EVERY_MANAGED = "sros2_policy.xml", "sros2_node.xml", "sros2_lifecycle.xml"
XINCLUDE = "http://www.w3.org/2001/XInclude"
HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- What the nodes of both ends may do, for 'ros2 security create_permission KEYSTORE /drone (or /gcs) THIS_FILE'.
     Written by 'make docs'; docs/launch.md says how to use it. With other namespaces, change ns and the full names. -->
"""


@dataclass(frozen=True)
class Profile:
    """One node. Names without a slash in front are relative to its namespace, those with ~ to the node itself."""

    node: str
    publishes: tuple[str, ...] = ()
    hears: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    executes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    managed: bool = True  # has a lifecycle
    namespace: str = ""  # of a process that is not ours; it has no more than what is named here, in whole names


# What rclpy and rclcpp give every node, and what a lifecycle adds.
PUBLISHES = ("/parameter_events", "/rosout")
HEARS = ("/clock", "/parameter_events")  # with use_sim_time:=true; each node of rclcpp
SERVES = tuple(
    f"~/{name}"
    for name in (
        *("describe_parameters", "get_parameter_types", "get_parameters", "list_parameters"),
        *("set_parameters", "set_parameters_atomically", "get_type_description"),
    )
)
MANAGED_PUBLISHES = ("~/transition_event",)
MANAGED_SERVES = tuple(
    f"~/{name}"
    for name in (
        *("change_state", "get_available_states", "get_available_transitions", "get_state", "get_transition_graph"),
        *("get_logger_levels", "set_logger_levels"),
    )
)
DIAGNOSTICS = "/diagnostics"
PROXY_TOPICS = ("handshake", "link", "stats", "status")
OF_PROXY = tuple(f"pqc_proxy/{topic}" for topic in PROXY_TOPICS)  # as its neighbours name them
AGENT_SERVICES = ("clock_sync", "get_info", "ping", "set_traffic", "shutdown", "start_suite", "stop_suite")
PROXY = Profile(
    "pqc_proxy",
    publishes=(DIAGNOSTICS, *(f"~/{topic}" for topic in sorted((*PROXY_TOPICS, "paths", "server_stats")))),
    hears=("threat",),
    serves=("~/get_info", "~/list_suites", "~/rekey", "~/use_path"),
    executes=("~/rekey_action",),
)
DETECT = Profile(
    "pqc_detect",
    publishes=(DIAGNOSTICS, "threat"),
    hears=tuple(f"pqc_proxy/{topic}" for topic in ("link", "server_stats", "status")),
)
GUARD = Profile("pqc_guard", publishes=(DIAGNOSTICS,))
# It records whatever is below the namespaces of both ends.
RECORDER = Profile("flight_recorder", publishes=(DIAGNOSTICS,), hears=(DIAGNOSTICS, "/drone/*", "/gcs/*"))
MAVROS_TOPICS = (
    *("altitude", "battery", "extended_state", "global_position/raw/gps_vel", "global_position/rel_alt"),
    *("local_position/velocity_local", "state", "vfr_hud"),
)
ENDS: dict[str, tuple[Profile, ...]] = {
    "drone": (
        PROXY,
        Profile(
            "pqc_battery",
            publishes=(DIAGNOSTICS, "battery", "battery_state", "vehicle"),
            hears=tuple(f"/mavros/{topic}" for topic in MAVROS_TOPICS),
        ),
        Profile("pqc_thermal", publishes=(DIAGNOSTICS, "thermal")),
        Profile("pqc_power", publishes=(DIAGNOSTICS, "power"), serves=("~/record",)),
        Profile("pqc_system", publishes=(DIAGNOSTICS, "system")),
        Profile(
            "pqc_policy",
            publishes=(DIAGNOSTICS, "~/decision"),
            hears=(
                *("battery", "system", "thermal", "threat", "vehicle"),
                *("pqc_proxy/handshake", "pqc_proxy/link", "pqc_proxy/status"),
            ),
            serves=("~/pin_suite", "~/set_mode"),
            asks=tuple(f"pqc_proxy/{name}" for name in ("get_info", "list_suites", "rekey", "set_parameters")),
        ),
        DETECT,
        GUARD,
        RECORDER,
        Profile(
            "bench_controller",
            serves=("~/ping",),
            executes=("~/run_campaign",),
        ),
        Profile(
            "bench_controller_observer",
            hears=("power", "pqc_policy/decision", *OF_PROXY),
            asks=("pqc_policy/set_mode", *(f"/gcs/bench_agent/{name}" for name in AGENT_SERVICES)),
            calls=("pqc_proxy/rekey_action",),
            managed=False,
        ),
    ),
    "gcs": (
        PROXY,
        DETECT,
        GUARD,
        RECORDER,
        Profile(
            "bench_agent",
            hears=OF_PROXY,
            serves=tuple(f"~/{name}" for name in AGENT_SERVICES),
        ),
    ),
}


def _mavros(namespace: str) -> Profile:
    """Its nodes, one for each plugin, which talk to each other below their namespace."""
    own = (f"{namespace}/*",)
    tree = ("/tf", "/tf_static")
    return Profile(
        "mavros",
        publishes=(*PUBLISHES, DIAGNOSTICS, *tree, *own),
        hears=(*HEARS, *tree, *own),
        serves=own,
        asks=own,
        namespace=namespace,
    )


def _guests(end: str, mavros: str) -> tuple[Profile, ...]:
    """Who else runs in an end's enclave: a container, mavros, and the node of 'ros2 launch', which loads components."""
    container, loader = f"/{end}/pqc_container*", "/launch_ros_*"
    loads = (f"{container}/_container/*",)
    return (
        Profile("pqc_container", PUBLISHES, HEARS, serves=(f"{container}/*",), namespace=f"/{end}"),
        Profile("launch_ros", PUBLISHES, HEARS, serves=(f"{loader}/*",), asks=loads, namespace="/"),
        _mavros(mavros),
    )


_BOTH_ENDS = tuple(f"/{end}/*" for end in ENDS)
# By enclave. The operator's is for 'pqcmav' and 'ros2': it hears everything and may ask for everything.
GUESTS = {
    "drone": _guests("drone", "/mavros"),
    "gcs": _guests("gcs", "/gcs/mavros"),
    "operator": (
        Profile(
            "operator",
            publishes=PUBLISHES,
            hears=(*HEARS, "/rosout", DIAGNOSTICS, "/mavros/*", *_BOTH_ENDS),
            serves=("/pqcmav_*/*", "/_ros2cli_*/*"),
            asks=("/mavros/*", *_BOTH_ENDS),
            namespace="/",
        ),
    ),
}


def profiles(end: str) -> Iterator[Profile]:
    """The nodes of one end, each with what every node has."""
    for profile in ENDS[end]:
        yield replace(
            profile,
            publishes=(*PUBLISHES, *(MANAGED_PUBLISHES if profile.managed else ()), *profile.publishes),
            hears=(*HEARS, *profile.hears),
            serves=(*SERVES, *(MANAGED_SERVES if profile.managed else ()), *profile.serves),
        )


def render() -> str:
    """The text of the file."""
    ElementTree.register_namespace("xi", XINCLUDE)
    policy = ElementTree.Element("policy", version="0.2.0")
    enclaves = ElementTree.SubElement(policy, "enclaves")
    for name, guests in GUESTS.items():
        enclave = ElementTree.SubElement(enclaves, "enclave", path=f"/{name}")
        nodes = ElementTree.SubElement(enclave, "profiles")
        for profile in (*ENDS.get(name, ()), *guests):
            element = ElementTree.SubElement(nodes, "profile", ns=profile.namespace or f"/{name}", node=profile.node)
            if not profile.namespace:
                for file in (EVERY_NODE, *((EVERY_MANAGED,) if profile.managed else ())):
                    words = {"href": file, "xpointer": "xpointer(/profile/*)"}
                    ElementTree.SubElement(element, f"{{{XINCLUDE}}}include", words)
            _add(element, profile)
    return _text(policy, HEAD)


def files() -> dict[str, str]:
    """All files by name."""
    common = {
        EVERY_NODE: Profile("", PUBLISHES, HEARS, SERVES),
        EVERY_MANAGED: Profile("", MANAGED_PUBLISHES, serves=MANAGED_SERVES),
    }
    found = {FILE: render()}
    for name, profile in common.items():
        element = ElementTree.Element("profile")
        _add(element, profile)
        found[name] = _text(element, f"{HEAD.splitlines()[0]}\n<!-- Included in {FILE} for each node. -->\n")
    return found


def _text(element: ElementTree.Element, head: str) -> str:
    ElementTree.indent(element)
    return head + ElementTree.tostring(element, encoding="unicode") + "\n"


def _add(element: ElementTree.Element, profile: Profile) -> None:
    for kind, allowed, names in (
        ("topic", "publish", profile.publishes),
        ("topic", "subscribe", profile.hears),
        ("service", "reply", profile.serves),
        ("service", "request", profile.asks),
        ("action", "execute", profile.executes),
        ("action", "call", profile.calls),
    ):
        if names:
            group = ElementTree.SubElement(element, f"{kind}s", {allowed: "ALLOW"})
            for name in sorted(names):
                ElementTree.SubElement(group, kind).text = name
