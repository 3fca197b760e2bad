# SPDX-License-Identifier: Apache-2.0
"""`pqcmav rekey`: fresh keys, or another suite, for a running tunnel."""

import os
from enum import Enum
from typing import Annotated, Any

import typer

from pqc_mav_cli import quick
from pqc_mav_cli.errors import CliError, engine_errors
from pqc_mav_cli.wording import outcome
from pqc_mav_common.local_socket import nothing_here

PIN_USUAL_S = 600.0  # of a suite that is asked for by name, as through the control socket


class End(str, Enum):
    """An end of the tunnel."""

    drone = "drone"
    gcs = "gcs"


def rekey(
    on: Annotated[
        End | None,
        typer.Option(help="Which end to ask; a gcs passes the request on to the drone. Default: the one that is here."),
    ] = None,
    suite: Annotated[str, typer.Option(help="Suite to change to: short code or id. Default: the current one.")] = "",
    ratchet: Annotated[
        bool,
        typer.Option("--ratchet", help="Fresh keys in two small messages, for the current suite; see docs/rekey.md."),
    ] = False,
    pin_for: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=604800.0,
            help="For how many seconds the drone's policy keeps the suite; 0 = as long as it likes. Default: 600 with "
            "--suite, else 0.",
        ),
    ] = None,
    reason: Annotated[str, typer.Option(help="Reason, for logs and reports.")] = "requested on the command line",
    drone: Annotated[str, typer.Option(help="Which drone, if there are several.")] = "",
    namespace: Annotated[str, typer.Option(help="ROS namespace of the proxy. Default: the name of the end.")] = "",
    timeout: Annotated[float, typer.Option(help="Seconds to wait for the answer.")] = 60.0,
    socket: Annotated[str, typer.Option(help="Control socket of the engine, if not in its usual folder.")] = "",
    ros: Annotated[bool, typer.Option("--ros", help="Ask through ROS, also on another machine.")] = False,
) -> None:
    """Renew the keys of a running tunnel without interrupting it.

    Asks an engine of this machine through its control socket; with --ros or --namespace, a proxy that ROS reaches.
    """
    kind = "ratchet" if ratchet else ""
    if not (ros or namespace):
        here = {"on": on.value if on else "", "suite": suite, "reason": reason, "drone": drone, "kind": kind}
        pin = "" if pin_for is None else str(pin_for)
        if quick.rekey({**here, "timeout": timeout, "socket": socket, "pin-for": pin}) is not None:
            return
        raise nothing_here(os.environ)
    asked: dict[str, Any] = {"suite": suite, "reason": reason, "drone_id": drone, "kind": kind}
    asked["pin_for_s"] = (PIN_USUAL_S if suite else 0.0) if pin_for is None else pin_for
    _by_ros(namespace or (on or End.drone).value, asked, timeout)


def _by_ros(namespace: str, asked: dict[str, Any], timeout: float) -> None:
    from pqc_mav_cli.ros_session import DISCOVERY_S, ask, in_namespace, ros_node

    if asked["suite"]:
        import pqc_mav_tunnel

        with engine_errors():
            asked["suite"] = pqc_mav_tunnel.find_suite(asked["suite"]).id
    with ros_node("pqcmav_rekey") as node:
        from pqc_mav_interfaces.srv import Rekey

        service = in_namespace(namespace, "pqc_proxy/rekey")
        answer = ask(node, Rekey, service, Rekey.Request(**asked), timeout, min(timeout, DISCOVERY_S))
    if not answer.ok:
        raise CliError(answer.message)
    print(outcome(answer.suite, answer.epoch, answer.rekey_ms, answer.pin_for_s))
