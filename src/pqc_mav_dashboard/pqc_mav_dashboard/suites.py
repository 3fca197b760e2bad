# SPDX-License-Identifier: Apache-2.0
"""Suites by name where no engine is asked: a recording, or proxies of other machines."""

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def known_suites() -> list[dict[str, Any]]:
    """id, short_code, available of every suite of this version; empty where the engine is not installed."""
    try:
        import pqc_mav_tunnel
    except ImportError:
        return []
    return [
        {"id": suite.id, "short_code": suite.short_code, "available": suite.available}
        for suite in pqc_mav_tunnel.suites(view="all")
    ]
