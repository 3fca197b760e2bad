# SPDX-License-Identifier: Apache-2.0
"""What a proxy shows to ROS: the same, whichever it is, and whether its engine is inside or in a pqcmav-tunneld."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
from pqc_mav_interfaces.msg import TunnelStatus
from pqc_mav_interfaces.srv import GetInfo, ListSuites, Rekey
from proxies import DRONES, KINDS, LIMIT_S, NODE, start
from rclpy.parameter import Parameter
from watcher import Watcher

from pqc_mav_common import qos
from pqc_mav_common.errors import ExitCode
from pqc_mav_common.key_values import flat
from pqc_mav_common.local_socket import ATTACH
from pqc_mav_common.parameters import ParameterSpec
from pqc_mav_common.testing import Running, until
from pqc_mav_common.testing_daemons import Daemon, needs_tunneld
from pqc_mav_common.testing_proxies import drone_parameters, gcs_parameters
from pqc_mav_proxy.parameters import AUTOSTART, TUNNEL, nested_specs, specs

RELIABLE = ("RELIABLE", "VOLATILE")
BEST_EFFORT = ("BEST_EFFORT", "VOLATILE")
LATCHED = ("RELIABLE", "TRANSIENT_LOCAL")
TOPICS = {
    "~/status": ("pqc_mav_interfaces/msg/TunnelStatus", *LATCHED),
    "~/stats": ("pqc_mav_interfaces/msg/TunnelStats", *RELIABLE),
    "~/link": ("pqc_mav_interfaces/msg/LinkQuality", *RELIABLE),
    "~/paths": ("pqc_mav_interfaces/msg/PathStatus", *RELIABLE),
    "~/server_stats": ("pqc_mav_interfaces/msg/ServerStats", *BEST_EFFORT),
    "~/handshake": ("pqc_mav_interfaces/msg/HandshakeReport", *LATCHED),
    "/diagnostics": ("diagnostic_msgs/msg/DiagnosticArray", *RELIABLE),
    "~/transition_event": ("lifecycle_msgs/msg/TransitionEvent", *RELIABLE),
    "~/rekey_action/_action/feedback": ("pqc_mav_interfaces/action/Rekey_FeedbackMessage", *RELIABLE),
    "~/rekey_action/_action/status": ("action_msgs/msg/GoalStatusArray", *LATCHED),
}
# Of the client library and of the services, which an unconfigured node answers too.
ALWAYS = ("~/transition_event", "~/rekey_action/_action/feedback", "~/rekey_action/_action/status")
SERVICES = {
    "~/rekey": "pqc_mav_interfaces/srv/Rekey",
    "~/list_suites": "pqc_mav_interfaces/srv/ListSuites",
    "~/get_info": "pqc_mav_interfaces/srv/GetInfo",
    "~/use_path": "pqc_mav_interfaces/srv/UsePath",
    "~/change_state": "lifecycle_msgs/srv/ChangeState",
    "~/get_state": "lifecycle_msgs/srv/GetState",
    "~/get_available_states": "lifecycle_msgs/srv/GetAvailableStates",
    "~/get_available_transitions": "lifecycle_msgs/srv/GetAvailableTransitions",
    "~/get_transition_graph": "lifecycle_msgs/srv/GetAvailableTransitions",
    "~/describe_parameters": "rcl_interfaces/srv/DescribeParameters",
    "~/get_parameter_types": "rcl_interfaces/srv/GetParameterTypes",
    "~/get_parameters": "rcl_interfaces/srv/GetParameters",
    "~/list_parameters": "rcl_interfaces/srv/ListParameters",
    "~/set_parameters": "rcl_interfaces/srv/SetParameters",
    "~/set_parameters_atomically": "rcl_interfaces/srv/SetParametersAtomically",
    "~/get_logger_levels": "rcl_interfaces/srv/GetLoggerLevels",
    "~/set_logger_levels": "rcl_interfaces/srv/SetLoggerLevels",
    "~/get_type_description": "type_description_interfaces/srv/GetTypeDescription",
}
# One of each type, set while it runs.
SET = {"dscp": 10, "keepalive_s": 0.4, "key_limit_action": "stop", "ratchet": False}
# The graph of a lifecycle node, of which each client library brings the same.
TRANSITIONS = 25


@dataclass
class Proxy:
    """An unconfigured proxy and what it was started with."""

    kind: str
    role: str
    given: dict[str, Any]
    process: Running
    daemon: Daemon | None

    @property
    def parameters(self) -> dict[str, Any]:
        """What the engine is given, and what the node is."""
        return {**self.given, "tunnel": ATTACH} if self.daemon else self.given

    @property
    def name(self) -> str:
        return f"/{self.space}/{NODE}"

    @property
    def space(self) -> str:
        return f"{self.kind}_{self.role}_{'daemon' if self.daemon else 'inside'}"

    @property
    def speaker(self) -> Running:
        """Whose log has what the engine says."""
        return self.process if self.daemon is None or self.daemon.running is None else self.daemon.running


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((kind, role, far), marks=needs_tunneld if far else (), id="-".join([kind, role, *far]))
        for kind in KINDS
        for role in ("drone", "gcs")
        for far in ((), ("daemon",))
    ],
)
def proxy(
    request: pytest.FixtureRequest, keys: Path, watcher: Watcher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    """One of each."""
    kind, role, far = request.param
    gcs = gcs_parameters(keys, DRONES)
    given = gcs if role == "gcs" else drone_parameters(keys, gcs["data_port"])
    daemon = Daemon(tmp_path_factory.mktemp("daemon"), given) if far else None
    if daemon is not None:
        given = daemon.config
    proxy = Proxy(kind, role, given, Running(["true"]), daemon)
    try:
        if daemon is not None:
            daemon.start("--paused")
        proxy.process = start(kind, {**proxy.parameters, "autostart": False}, proxy.space)
        until(lambda: watcher.sees(proxy.name) or proxy.process.process.poll() is not None, f"{proxy.name} up")
        assert proxy.process.process.poll() is None, proxy.process.lines
        yield proxy
    finally:
        proxy.process.kill()
        if daemon is not None:
            daemon.kill()


def described(spec: ParameterSpec, type_number: int) -> Any:
    """The descriptor that the schema of the engine stands for."""
    made = spec.descriptor(read_only=spec in (AUTOSTART, TUNNEL) or spec.fixed)
    made.type = type_number
    return made


def test_parameters(proxy: Proxy, watcher: Watcher) -> None:
    always = [AUTOSTART, TUNNEL] if proxy.daemon else [AUTOSTART]
    wanted = [*always, *specs(proxy.role, pqc_mav_tunnel.config_schema(proxy.role))]
    if proxy.role == "gcs":
        wanted += nested_specs("drone", ["d1", "d2"], pqc_mav_tunnel.per_drone_schema())
    found = watcher.parameters(proxy.name)
    assert set(found) == {spec.name for spec in wanted}
    given = {**proxy.parameters, "autostart": False}
    for spec in wanted:
        descriptor, value = found[spec.name]
        kind = (
            Parameter.Type.STRING_ARRAY if isinstance(spec.default, tuple) else Parameter(spec.name, value=value).type_
        )
        assert descriptor == described(spec, kind.value), spec.name
        default = list(spec.default) if isinstance(spec.default, tuple) else spec.default
        assert value == given.get(spec.name, default), spec.name


def test_what_opens_the_tunnel_cannot_be_set_and_the_rest_is_judged(proxy: Proxy, watcher: Watcher) -> None:
    answers = [watcher.put(proxy.name, *wish) for wish in (("keys", "/tmp"), ("dscp", 64))]
    assert not answers[0].successful and "read-only" in answers[0].reason
    assert not answers[1].successful
    for name, value in SET.items():
        answer = watcher.put(proxy.name, name, value)
        assert answer.successful, answer.reason
        proxy.process.wait_for(f"INFO '{name}' is set to {json.dumps(value)}; it counts from the next configure on.")


def test_services_and_actions(proxy: Proxy, watcher: Watcher) -> None:
    until(lambda: watcher.services(proxy.name) == SERVICES, f"{SERVICES}, not {watcher.services(proxy.name)}")
    assert watcher.actions(proxy.name) == {"~/rekey_action": "pqc_mav_interfaces/action/Rekey"}


def test_suites(proxy: Proxy, watcher: Watcher) -> None:
    for view, count in (("", 72), ("extended", 132), ("2025", 30), ("all", 234)):
        answer = watcher.call(ListSuites, f"{proxy.name}/list_suites", ListSuites.Request(view=view))
        known = pqc_mav_tunnel.suites(view=view or "core")
        assert answer.ok and len(answer.suites) == len(known) == count
        for found, suite in zip(answer.suites, known, strict=True):
            fields = found.get_fields_and_field_types()
            assert {field: getattr(found, field) for field in fields} == {
                field: value for field, value in suite.as_dict().items() if field in fields
            }
    answer = watcher.call(ListSuites, f"{proxy.name}/list_suites", ListSuites.Request(view="nonsense"))
    assert (answer.ok, answer.message) == (
        False,
        "The view is 'nonsense'; it must be core, extended, 2025, standard or all.",
    )


def test_lifecycle_and_information(proxy: Proxy, watcher: Watcher) -> None:
    """All states in turn; the configuration is what was given until it is checked, and complete afterwards."""
    name = proxy.name

    def information() -> Any:
        answer = watcher.call(GetInfo, f"{name}/get_info")
        assert (answer.role, answer.engine_version) == (proxy.role, pqc_mav_tunnel.engine_version())
        assert (answer.liboqs_version, answer.openssl_version) == (
            pqc_mav_tunnel.liboqs_version(),
            pqc_mav_tunnel.openssl_version(),
        )
        assert answer.host and answer.os and answer.kernel and answer.machine and answer.cpu_model
        assert answer.cpu_count and answer.ram_mib
        return flat(answer.config)

    assert len(watcher.transitions(name)) == TRANSITIONS
    assert watcher.state(name) == "unconfigured"
    given = {**proxy.given, **SET}  # set by the test above
    assert information() == proxy.given
    assert watcher.change(name, "configure") and watcher.state(name) == "inactive"
    config = information()
    assert config == pqc_mav_tunnel.Engine(given).config() and list(config) == sorted(config)
    answer = watcher.call(Rekey, f"{name}/rekey")
    sentence = "The node is not active, so there is no tunnel to rekey; activate it first."
    assert (answer.ok, answer.message) == (False, sentence)

    seen = watcher.collect(TunnelStatus, f"{name}/status", qos.latched(2))
    drones = ["d1"] if proxy.role == "drone" else ["d1", "d2"]
    for _ in range(2):  # the second time with a fresh engine
        assert watcher.change(name, "activate") and watcher.state(name) == "active"
        until(lambda: sorted({each.drone_id for each in seen}) == drones, "a status of each drone")
        assert watcher.change(name, "deactivate") and watcher.state(name) == "inactive"
    until(lambda: seen[-1].state == TunnelStatus.DOWN, "the last word")
    opened = (
        "info: .*: resume the tunnel." if proxy.daemon else f"INFO {proxy.role}: handshakes and packets on UDP port .*"
    )
    assert len([line for line in proxy.speaker.lines if re.fullmatch(opened, line)]) == 2, "\n".join(
        proxy.speaker.lines
    )
    assert watcher.change(name, "cleanup") and watcher.state(name) == "unconfigured"


def test_topics_come_with_configure_and_go_with_cleanup(proxy: Proxy, watcher: Watcher) -> None:
    def shows(wanted: dict[str, tuple[str, str, str]]) -> None:
        of_ros = ("/rosout", "/parameter_events")
        until(
            lambda: {topic: it for topic, it in watcher.topics(proxy.name).items() if topic not in of_ros} == wanted,
            f"{wanted}, not {watcher.topics(proxy.name)}",
        )

    at_rest = {topic: TOPICS[topic] for topic in ALWAYS}
    shows(at_rest)
    for _ in range(2):
        assert watcher.change(proxy.name, "configure")
        shows(TOPICS)
        assert watcher.change(proxy.name, "cleanup")
        shows(at_rest)


def test_a_parameter_overrides_the_qos_of_a_topic_and_a_finalized_proxy_leaves(proxy: Proxy, watcher: Watcher) -> None:
    name = f"/{proxy.space}_once/{NODE}"
    overrides = {f"qos_overrides.{name}/status.publisher.depth": 3, "autostart": False}
    process = start(proxy.kind, {**proxy.parameters, **overrides}, f"{proxy.space}_once")
    try:
        for _ in range(2):  # the publishers of the second time are others
            assert watcher.change(name, "configure")
            values = watcher.values(name)
            assert values[f"qos_overrides.{name}/status.publisher.depth"] == 3
            assert values[f"qos_overrides.{name}/stats.publisher.reliability"] == "reliable"
            assert watcher.change(name, "cleanup")
        assert watcher.change(name, "shutdown")
        assert process.process.wait(LIMIT_S) == ExitCode.FINALIZED, process.lines
    finally:
        process.kill()


def test_a_refused_configuration_is_said_and_can_be_put_right(
    proxy: Proxy, watcher: Watcher, keys: Path, tmp_path: Path
) -> None:
    if proxy.daemon is not None:
        pytest.skip("a daemon keeps its own configuration")
    later = tmp_path / "later"
    process = start(proxy.kind, {**proxy.given, "keys": str(later), "autostart": False}, f"{proxy.space}_later")
    name = f"/{proxy.space}_later/{NODE}"
    try:
        assert not watcher.change(name, "configure") and watcher.state(name) == "unconfigured"
        with pytest.raises(pqc_mav_tunnel.TunnelError) as refusal:
            pqc_mav_tunnel.Engine({**proxy.given, "keys": str(later)})
        process.wait_for(f"ERROR {refusal.value}")
        later.symlink_to(proxy.given["keys"])
        assert watcher.change(name, "configure") and watcher.state(name) == "inactive"
        assert watcher.change(name, "activate") and watcher.state(name) == "active"
    finally:
        process.kill()
