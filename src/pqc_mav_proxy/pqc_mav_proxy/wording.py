# SPDX-License-Identifier: Apache-2.0
"""How a suite is written in sentences for people. Fields, topics and machine formats have the long ids."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=256)
def short_code(suite: str) -> str:
    """Short code of a suite given by its id; what this version does not know stays as it is."""
    import pqc_mav_tunnel

    try:
        return str(pqc_mav_tunnel.find_suite(suite).short_code) if suite else ""
    except pqc_mav_tunnel.TunnelError:
        return suite
