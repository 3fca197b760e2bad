# SPDX-License-Identifier: Apache-2.0
"""The launch actions are made of the same description as the supervised processes. Needs the launch packages."""

import pytest

pytest.importorskip(
    "launch_ros.actions", reason="launch is not installed; test_up.py of pqc_mav_cli drives 'pqcmav up'"
)

from launch.actions import DeclareLaunchArgument, ExecuteProcess, RegisterEventHandler
from launch.utilities import perform_substitutions
from launch_ros.actions import Node

from launch import LaunchContext
from pqc_mav_bringup import composed
from pqc_mav_bringup.demo_session import DemoSession
from pqc_mav_bringup.description import BringupError, resolve
from pqc_mav_bringup.executables import is_daemon
from pqc_mav_bringup.launch_actions import ContainerKeeper, argument_values, launch_description, process_actions
from pqc_mav_bringup.systems import DEMO, SYSTEMS


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
