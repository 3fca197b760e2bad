# SPDX-License-Identifier: Apache-2.0
"""The SROS 2 policy allows what the nodes of both ends really declare, and no more than they can come to need."""

from __future__ import annotations

from contextlib import suppress

import pytest
from every_node import running
from rclpy.node import Node

from pqc_mav_bringup.security_policy import ENDS, HEARS, Profile, profiles
from pqc_mav_common.testing import until

__all__ = ["running"]

ACTION = "/_action/"
# What depends on how it was started, or comes only while it records.
SOMETIMES = {*HEARS, "/diagnostics", "/drone/*", "/gcs/*"}


def full(profile: Profile, end: str, names: tuple[str, ...]) -> set[str]:
    """Names as the policy's templates expand them."""
    own = f"/{end}/{profile.node}"
    return {name if name[0] == "/" else own + name[1:] if name[0] == "~" else f"/{end}/{name}" for name in names}


def test_every_node_of_both_ends_has_a_profile(running: tuple[Node, dict[str, Node]]) -> None:
    assert set(running[1]) == {f"/{end}/{profile.node}" for end in ENDS for profile in profiles(end)}


@pytest.mark.parametrize(
    ("end", "profile"),
    [(end, profile) for end in ENDS for profile in profiles(end)],
    ids=lambda value: value if isinstance(value, str) else value.node,
)
def test_a_node_may_do_what_it_declares(running: tuple[Node, dict[str, Node]], end: str, profile: Profile) -> None:
    looking, _ = running
    where = profile.node, f"/{end}"

    def seen(kind: str) -> set[str]:
        found: list[tuple[str, list[str]]] = getattr(looking, f"get_{kind}_names_and_types_by_node")(*where)
        return {name for name, _ in found}

    def amiss() -> dict[str, set[str]]:
        """What is there and may not be, or the other way round; the graph fills bit by bit."""
        served, asked = seen("service"), seen("client")
        published, heard = seen("publisher"), seen("subscriber")
        found = {}
        for kind, names, allowed in (
            ("publishes", published, full(profile, end, profile.publishes)),
            ("serves", served, full(profile, end, profile.serves)),
            ("asks", asked, full(profile, end, profile.asks)),
        ):
            found[kind] = {name for name in names if ACTION not in name} ^ allowed
        may_hear = full(profile, end, profile.hears)
        found["hears"] = {name for name in heard if ACTION not in name} - may_hear
        found["never hears"] = {name for name in may_hear - heard - SOMETIMES if not name.startswith("/mavros/")}
        for kind, names, actions in (("executes", served, profile.executes), ("calls", asked, profile.calls)):
            of_actions = {name.partition(ACTION)[0] for name in names if ACTION in name}
            found[kind] = of_actions ^ full(profile, end, actions)
        return {kind: names for kind, names in found.items() if names}

    with suppress(AssertionError):
        until(lambda: not amiss(), f"{where} in the graph")
    assert amiss() == {}
