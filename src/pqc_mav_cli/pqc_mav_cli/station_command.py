# SPDX-License-Identifier: Apache-2.0
"""`pqcmav station`: which of several ground stations a drone hears, and moving it to another one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from pqc_mav_cli.errors import CliError

_SERVICE_S = 5.0


def station(
    gcs_id: Annotated[str, typer.Argument(help="The ground station to use; without it they are listed.")] = "",
    namespace: Annotated[str, typer.Option(help="ROS namespace of the drone's proxy.")] = "drone",
    timeout: Annotated[float, typer.Option(help="Seconds to wait for the change.")] = 30.0,
) -> None:
    """List a drone's ground stations, or move the drone to one of them: it goes as soon as that one answers."""
    from pqc_mav_cli.ros_session import reachable, ros_node

    proxy = f"/{namespace.strip('/')}/pqc_proxy"
    newest: list[Any] = []
    with ros_node("pqcmav_station") as node:
        from pqc_mav_interfaces.msg import TunnelStatus

        from pqc_mav_common import qos

        node.create_subscription(TunnelStatus, f"{proxy}/status", newest.append, qos.latched(1))
        if not _until(lambda: bool(newest), _SERVICE_S):
            raise CliError(f"No status from {proxy} ({reachable(os.environ)}); is the proxy running?")
        stations = list(newest[-1].stations)
        if not stations:
            raise CliError("This drone has one ground station; give 'peer' a list for several (docs/stations.md).")
        if not gcs_id:
            print("\n".join(stations))
            return
        check(gcs_id, stations)
        _set(node, proxy, gcs_id)
        if not _until(lambda: newest[-1].station == gcs_id, timeout):
            heard = newest[-1].station or "none"
            raise CliError(
                f"'{gcs_id}' has not answered within {timeout:g} s; the drone hears {heard} and goes on trying."
            )
    print(f"{gcs_id}, term {newest[-1].term}")


def check(gcs_id: str, stations: Sequence[str]) -> None:
    """Raises CliError unless it is one of the drone's."""
    names = [each.split()[0] for each in stations]
    if gcs_id not in names:
        raise CliError(f"'{gcs_id}' is none of this drone's ground stations: {', '.join(names)}.")


def _set(node: Any, proxy: str, gcs_id: str) -> None:
    from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
    from rcl_interfaces.srv import SetParameters

    client = node.create_client(SetParameters, f"{proxy}/set_parameters")
    if not client.wait_for_service(timeout_sec=_SERVICE_S):
        raise CliError(f"No service {proxy}/set_parameters; is the proxy running?")
    value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=gcs_id)
    future = client.call_async(SetParameters.Request(parameters=[Parameter(name="station", value=value)]))
    if not _until(future.done, _SERVICE_S):
        raise CliError(f"No answer from {proxy}/set_parameters.")
    result = future.result().results[0]
    if not result.successful:
        raise CliError(result.reason)


def _until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
