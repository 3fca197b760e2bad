# SPDX-License-Identifier: Apache-2.0
"""The catalogue made from the engine's registry, where suites are defined. Needs the engine, not ROS."""

from functools import lru_cache

from pqc_mav_policy.suites import Catalogue, Suite


@lru_cache(maxsize=1)
def engine_catalogue() -> Catalogue:
    """Every suite of the registry, whether its algorithms are built in or not."""
    import pqc_mav_tunnel

    return Catalogue(Suite.from_registry(entry.as_dict()) for entry in pqc_mav_tunnel.suites(view="all"))


@lru_cache(maxsize=1)
def engine_available() -> tuple[str, ...]:
    """Ids of the core suites whose algorithms this machine's engine has."""
    import pqc_mav_tunnel

    return tuple(entry.id for entry in pqc_mav_tunnel.suites(view="core", only_available=True))
