# SPDX-License-Identifier: Apache-2.0
"""The services `~/list_suites` and `~/get_info`: what a configuration can be made of, and what was asked for."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from typing import Any

import pqc_mav_tunnel
from pqc_mav_interfaces.msg import SuiteInfo
from pqc_mav_interfaces.srv import GetInfo, ListSuites

from pqc_mav_common.errors import one_line
from pqc_mav_common.key_values import to_key_values
from pqc_mav_proxy.conversions import fill, message_of


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
