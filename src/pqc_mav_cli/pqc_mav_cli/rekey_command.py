# SPDX-License-Identifier: Apache-2.0
"""`pqcmav rekey`: fresh keys, or another suite, for a running tunnel."""

from __future__ import annotations

import os
import time
from enum import Enum
from typing import Annotated

import typer

from pqc_mav_cli import quick
from pqc_mav_cli.errors import CliError, engine_errors
from pqc_mav_cli.wording import outcome
from pqc_mav_common.local_socket import nothing_here


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
        asked = {"on": on.value if on else "", "suite": suite, "reason": reason, "drone": drone, "kind": kind}
        if quick.rekey({**asked, "timeout": timeout, "socket": socket}) is not None:
            return
        raise nothing_here(os.environ)
    _by_ros(namespace or (on or End.drone).value, suite, reason, drone, timeout, kind)


def _by_ros(namespace: str, suite: str, reason: str, drone: str, timeout: float, kind: str) -> None:
    from pqc_mav_cli.ros_session import reachable, ros_node

    if suite:
        import pqc_mav_tunnel

        with engine_errors():
            suite = pqc_mav_tunnel.find_suite(suite).id
    service = f"/{namespace.strip('/')}/pqc_proxy/rekey"
    with ros_node("pqcmav_rekey") as node:
        from pqc_mav_interfaces.srv import Rekey

        client = node.create_client(Rekey, service)
        if not client.wait_for_service(timeout_sec=min(timeout, 5.0)):
            raise CliError(f"No service {service} ({reachable(os.environ)}); is the proxy running?")
        future = client.call_async(Rekey.Request(suite=suite, reason=reason, drone_id=drone, kind=kind))
        deadline = time.monotonic() + timeout
        while not future.done():
            if time.monotonic() > deadline:
                raise CliError(f"No answer from {service} within {timeout:g} s.")
            time.sleep(0.01)
        answer = future.result()
    if not answer.ok:
        raise CliError(answer.message)
    print(outcome(answer.suite, answer.epoch, answer.rekey_ms))
