# SPDX-License-Identifier: Apache-2.0
"""Services beside the rekeys: `~/list_suites` and `~/get_info`, which need no tunnel, and `~/use_path`, which does."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from typing import Any

import pqc_mav_tunnel
from pqc_mav_interfaces.msg import SuiteInfo
from pqc_mav_interfaces.srv import GetInfo, ListSuites, UsePath

from pqc_mav_common.errors import one_line
from pqc_mav_common.key_values import to_key_values
from pqc_mav_proxy.conversions import answered, fill, message_of
from pqc_mav_proxy.daemon_host import DaemonHost
from pqc_mav_proxy.engine_host import EngineHost


def offer_facts(node: Any, config: Callable[[], Mapping[str, Any]]) -> None:
    """Serves both at a node with a role; they ask for its `config` each time and need no tunnel."""

    def get_info(_request: GetInfo.Request, response: GetInfo.Response) -> GetInfo.Response:
        fill(response, pqc_mav_tunnel.host_info())
        response.python_version = platform.python_version()
        response.engine_version = pqc_mav_tunnel.engine_version()
        response.liboqs_version = pqc_mav_tunnel.liboqs_version()
        response.openssl_version = pqc_mav_tunnel.openssl_version()
        response.role = node.role
        response.config = to_key_values(dict(sorted(config().items())))
        return response

    node.create_service(ListSuites, "~/list_suites", list_suites)
    node.create_service(GetInfo, "~/get_info", get_info)


def list_suites(request: ListSuites.Request, response: ListSuites.Response) -> ListSuites.Response:
    """The suites of a view, or one sentence that says why there is no such view."""
    try:
        found = pqc_mav_tunnel.suites(view=request.view or "core", only_available=request.only_available)
    except (pqc_mav_tunnel.TunnelError, ValueError) as error:
        response.message = one_line(error)
        return response
    response.ok = True
    response.suites = [message_of(SuiteInfo, suite.as_dict()) for suite in found]
    return response


def offer_paths(node: Any, running: Callable[[], EngineHost | DaemonHost | None]) -> None:
    """Serves the operator's word about a drone's paths; `running` is the engine, None while there is none."""

    def use_path(request: UsePath.Request, response: UsePath.Response) -> UsePath.Response:
        fields = {"path": request.path, "use": request.use}
        return answered(response, running(), "steer", "path", fields)

    node.create_service(UsePath, "~/use_path", use_path)
