# SPDX-License-Identifier: Apache-2.0
"""The launch actions are made of the same description as the supervised processes. Needs the launch packages."""

import pytest

pytest.importorskip(
    "launch_ros.actions", reason="launch is not installed; test_up.py of pqc_mav_cli drives 'pqcmav up'"
)

from launch.actions import DeclareLaunchArgument, ExecuteProcess, GroupAction, OpaqueFunction, RegisterEventHandler
from launch.launch_introspector import LaunchIntrospector
from launch.utilities import perform_substitutions
from launch_ros.actions import Node, PushRosNamespace, SetRemap

from launch import LaunchContext
from pqc_mav_bringup import composed
from pqc_mav_bringup.demo_session import DemoSession
from pqc_mav_bringup.description import BringupError, resolve
from pqc_mav_bringup.executables import is_daemon
from pqc_mav_bringup.launch_actions import ContainerKeeper, argument_values, launch_description, process_actions
from pqc_mav_bringup.systems import DEMO, DRONE, SYSTEMS


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))
def test_every_argument_is_declared_with_its_default(system) -> None:
    context = LaunchContext()
    declared = [e for e in launch_description(system).entities if isinstance(e, DeclareLaunchArgument)]
    assert [each.name for each in declared] == [argument.name for argument in system.arguments]
    for each, argument in zip(declared, system.arguments, strict=True):
        assert each.description.startswith(argument.description)
        each.visit(context)
    assert argument_values(context, system) == {argument.name: argument.default for argument in system.arguments}


def test_a_process_per_description_and_respawn_where_it_says_so() -> None:
    with DemoSession({}) as session:
        processes = resolve(DEMO, session.values)
        actions = process_actions(processes)
    started = [action for action in actions if isinstance(action, ExecuteProcess)]
    assert [isinstance(action, Node) for action in started] == [
        bool(process.node) and not is_daemon(process) for process in processes
    ]
    watched = [action for action in actions if isinstance(action, RegisterEventHandler)]
    assert len(watched) == sum(1 for process in processes if process.respawn)


def test_mavros_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    only = [process for process in resolve(SYSTEMS["drone"], {"mavlink": "mavros"}) if process.package == "mavros"]
    monkeypatch.setattr("pqc_mav_bringup.executables.prefixes", list)  # it may be installed here
    with pytest.raises(BringupError, match="mavlink:=udp works without it"):
        process_actions(only)


def test_the_name_of_a_container_is_said_before_the_namespace_of_all_its_nodes() -> None:
    inside = resolve(SYSTEMS["drone"], {"mavlink": "mavros", "proxy": "cpp"})[:2]
    *_, name = composed.names(inside, 1)
    try:
        keeper = ContainerKeeper(inside, "true", {})
    except BringupError as error:
        pytest.skip(str(error))
    started = next(action for action in keeper.start() if isinstance(action, Node))
    said = [perform_substitutions(LaunchContext(), part) for part in started.cmd]
    assert said[said.index("--ros-args") + 1 :][: len(name)] == name


def test_a_configuration_that_is_not_there_is_one_sentence() -> None:
    """launch itself would warn and start the node with its defaults."""
    with pytest.raises(BringupError, match="There is no configuration file '/no/such'"):
        process_actions(resolve(SYSTEMS["gcs"], {"config": "/no/such"}))


def visit(entity, context: LaunchContext) -> None:
    """Run an action of launch and what comes of it."""
    for each in entity.visit(context) or ():
        visit(each, context)


def resolved(node: Node, context: LaunchContext) -> list[str]:
    """The namespace and the remaps with which launch starts a node."""
    node._perform_substitutions(context)
    return [node.expanded_node_namespace, *(f"{old}:={new}" for old, new in node.expanded_remapping_rules or ())]


def test_two_drones_in_two_groups_run_side_by_side_under_the_names_of_their_groups() -> None:
    """As an included file runs: in a scope of its own, below what the group pushed, with its remaps."""
    seen: dict[str, list[str]] = {}

    def started(context: LaunchContext, name: str) -> None:
        (opaque,) = (each for each in launch_description(DRONE).entities if isinstance(each, OpaqueFunction))
        actions = opaque.execute(context)
        nodes = [each for each in actions if isinstance(each, Node)]
        seen[name] = [text for node in nodes for text in resolved(node, context)]

    groups = []
    for name in ("one", "two"):
        declared = [each for each in launch_description(DRONE).entities if isinstance(each, DeclareLaunchArgument)]
        groups.append(
            GroupAction(
                [
                    PushRosNamespace(f"fleet/{name}"),
                    SetRemap("~/status", f"/seen/{name}"),
                    *declared,
                    OpaqueFunction(function=started, args=[name]),
                ]
            )
        )
    context = LaunchContext()
    context.launch_configurations["autostart"] = "false"  # no keys here
    for group in groups:
        visit(group, context)
    for name, other in (("one", "two"), ("two", "one")):
        assert f"/fleet/{name}/drone" in seen[name]
        assert f"~/status:=/seen/{name}" in seen[name]
        assert not any(f"fleet/{other}" in text or f"seen/{other}" in text for text in seen[name])


def test_a_mistyped_argument_is_refused_with_the_closest(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(command: list[str]) -> None:
        monkeypatch.setattr("sys.argv", command)
        context = LaunchContext(argv=["drone_jd:=d2"])
        context.launch_configurations["autostart"] = "false"  # no keys here
        for entity in launch_description(DRONE).entities:
            entity.visit(context)

    with pytest.raises(BringupError, match=r"'drone_jd' is not an argument of 'drone'.* 'drone_id'"):
        start(["ros2", "launch", "pqc_mav_bringup", "drone.launch.py", "drone_jd:=d2"])
    start(["ros2", "launch", "mine", "fleet.launch.py", "drone_jd:=d2"])  # an argument of the including file


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))
def test_a_printed_description_shows_what_runs(system) -> None:
    printed = LaunchIntrospector().format_launch_description(launch_description(system))
    for process in system.processes:
        assert f"runs {process.package}/{process.executable} in namespace '{process.namespace}'" in printed
    assert "if record is not ''" in printed or system is DEMO
