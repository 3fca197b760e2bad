# SPDX-License-Identifier: Apache-2.0
"""`pqcmav rekey`: fresh keys, or another suite, for a running tunnel."""

from __future__ import annotations

import os
import time
from enum import Enum
from typing import Annotated

import typer

from pqc_mav_cli.errors import CliError, engine_errors
from pqc_mav_cli.wording import both_names


class End(str, Enum):
    """An end of the tunnel."""

    drone = "drone"
    gcs = "gcs"


def rekey(
    on: Annotated[End, typer.Option(help="Which end to ask; a gcs passes the request on to the drone.")] = End.drone,
    suite: Annotated[str, typer.Option(help="Suite to change to: short code or id. Default: the current one.")] = "",
    reason: Annotated[str, typer.Option(help="Reason, for logs and reports.")] = "requested on the command line",
    drone: Annotated[str, typer.Option(help="Which drone, if the gcs serves several.")] = "",
    namespace: Annotated[str, typer.Option(help="ROS namespace of the proxy. Default: the name of the end.")] = "",
    timeout: Annotated[float, typer.Option(help="Seconds to wait for the answer.")] = 60.0,
) -> None:
    """Renew the keys of a running tunnel without interrupting it."""
    from pqc_mav_cli.ros_session import reachable, ros_node

    if suite:
        import pqc_mav_tunnel

        with engine_errors():
            suite = pqc_mav_tunnel.find_suite(suite).id
    service = f"/{(namespace or on.value).strip('/')}/pqc_proxy/rekey"
    with ros_node("pqcmav_rekey") as node:
        from pqc_mav_interfaces.srv import Rekey

        client = node.create_client(Rekey, service)
        if not client.wait_for_service(timeout_sec=min(timeout, 5.0)):
            raise CliError(f"No service {service} ({reachable(os.environ)}); is the proxy running?")
        future = client.call_async(Rekey.Request(suite=suite, reason=reason, drone_id=drone))
        deadline = time.monotonic() + timeout
        while not future.done():
            if time.monotonic() > deadline:
                raise CliError(f"No answer from {service} within {timeout:g} s.")
            time.sleep(0.01)
        answer = future.result()
    if not answer.ok:
        raise CliError(answer.message)
    print(f"{both_names(answer.suite)}, epoch {answer.epoch}, after {answer.rekey_ms:.1f} ms")
