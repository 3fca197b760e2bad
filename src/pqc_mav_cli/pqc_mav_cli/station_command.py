# SPDX-License-Identifier: Apache-2.0
"""`pqcmav station`: which of several ground stations a drone hears, and moving it to another one."""

import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from pqc_mav_cli.engine_here import engine
from pqc_mav_cli.errors import CliError
from pqc_mav_common.local_socket import Control
from pqc_mav_common.waiting import wait_until

_ANSWER_S = 10.0
_STEP_S = 0.01


def station(
    gcs_id: Annotated[str, typer.Argument(help="The ground station to use; without it they are listed.")] = "",
    drone: Annotated[str, typer.Option(help="Which drone's engine, if this machine has several.")] = "",
    namespace: Annotated[str, typer.Option(help="ROS namespace of the drone's proxy. Default: drone.")] = "",
    timeout: Annotated[float, typer.Option(help="Seconds to wait for the change.")] = 30.0,
    socket: Annotated[str, typer.Option(help="Control socket of the engine, if not in its usual folder.")] = "",
    ros: Annotated[bool, typer.Option("--ros", help="Ask through ROS, also on another machine.")] = False,
) -> None:
    """List a drone's ground stations, or move the drone to one of them: it goes as soon as that one answers.

    Asks an engine of this machine through its control socket; with --ros or --namespace, a proxy that ROS reaches.
    """
    if not (ros or namespace):
        with engine(socket, "drone", drone) as control:
            _by_socket(control, gcs_id, timeout)
    else:
        _by_ros(namespace or "drone", gcs_id, timeout)


def _by_socket(control: Control, gcs_id: str, timeout: float) -> None:
    def newest() -> dict[str, Any]:
        return dict(control.ask("status")["tunnels"][0])

    stations = newest()["stations"]
    if _listed(gcs_id, stations):
        return
    control.ask("station", gcs_id=gcs_id)
    _arrived(gcs_id, timeout, lambda: (newest()["station"], newest()["term"]), 0.1)


def _by_ros(namespace: str, gcs_id: str, timeout: float) -> None:
    from pqc_mav_cli.ros_session import in_namespace, reachable, ros_node

    newest: list[Any] = []
    with ros_node("pqcmav_station") as node:
        from pqc_mav_interfaces.msg import TunnelStatus

        from pqc_mav_common import qos

        proxy = in_namespace(namespace, "pqc_proxy")
        node.create_subscription(TunnelStatus, f"{proxy}/status", newest.append, qos.latched(1))
        if not wait_until(lambda: bool(newest), _ANSWER_S, _STEP_S):
            raise CliError(f"No status from {proxy} ({reachable(os.environ)}); is the proxy running?")
        if _listed(gcs_id, list(newest[-1].stations)):
            return
        _set(node, proxy, gcs_id)
        _arrived(gcs_id, timeout, lambda: (newest[-1].station, newest[-1].term))


def _listed(gcs_id: str, stations: Sequence[str]) -> bool:
    """Lists them where none is named."""
    if not stations:
        raise CliError("This drone has one ground station; give 'peer' a list for several (docs/stations.md).")
    if gcs_id:
        check(gcs_id, stations)
    else:
        print("\n".join(stations))
    return not gcs_id


def _arrived(gcs_id: str, timeout: float, heard: Callable[[], tuple[str, int]], step_s: float = _STEP_S) -> None:
    if not wait_until(lambda: heard()[0] == gcs_id, timeout, step_s):
        now = heard()[0] or "none"
        raise CliError(f"'{gcs_id}' has not answered within {timeout:g} s; the drone hears {now} and goes on trying.")
    print(f"{gcs_id}, term {heard()[1]}")


def check(gcs_id: str, stations: Sequence[str]) -> None:
    """Raises CliError unless it is one of the drone's."""
    names = [each.split()[0] for each in stations]
    if gcs_id not in names:
        raise CliError(f"'{gcs_id}' is none of this drone's ground stations: {', '.join(names)}.")


def _set(node: Any, proxy: str, gcs_id: str) -> None:
    from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
    from rcl_interfaces.srv import SetParameters

    from pqc_mav_cli.ros_session import ask

    value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=gcs_id)
    request = SetParameters.Request(parameters=[Parameter(name="station", value=value)])
    (result,) = ask(node, SetParameters, f"{proxy}/set_parameters", request, _ANSWER_S).results
    if not result.successful:
        raise CliError(result.reason)
