# SPDX-License-Identifier: Apache-2.0
"""The machine and the software of one side, as GetInfo describes them."""

import platform
from typing import Any

import pqc_mav_tunnel

FIELDS = ("host", "os", "kernel", "machine", "cpu_model", "cpu_count", "ram_mib", "python_version")
VERSIONS = ("engine_version", "liboqs_version", "openssl_version")


def environment() -> dict[str, Any]:
    """Fields of RunContext that describe a side."""
    return {
        **pqc_mav_tunnel.host_info(),
        "python_version": platform.python_version(),
        "engine_version": pqc_mav_tunnel.engine_version(),
        "liboqs_version": pqc_mav_tunnel.liboqs_version(),
        "openssl_version": pqc_mav_tunnel.openssl_version(),
    }
