# SPDX-License-Identifier: Apache-2.0
"""The machine and the software of one side, as GetInfo describes them."""

from __future__ import annotations

from typing import Any

import pqc_mav_tunnel

from pqc_mav_common.host_info import host_info

FIELDS = ("host", "os", "kernel", "machine", "cpu_model", "cpu_count", "ram_mib", "python_version")
VERSIONS = ("engine_version", "liboqs_version", "openssl_version")


def environment() -> dict[str, Any]:
    """Fields of RunContext that describe a side."""
    return {
        **host_info(),
        "engine_version": pqc_mav_tunnel.engine_version(),
        "liboqs_version": pqc_mav_tunnel.liboqs_version(),
        "openssl_version": pqc_mav_tunnel.openssl_version(),
    }
