# SPDX-License-Identifier: Apache-2.0
"""Whether mavros nodes of one ROS domain reach each other around the tunnel.

A mavros consists of a router, which has the connections, and a node for one vehicle. Both talk over the topics
`/uasN/mavlink_source` and `/uasN/mavlink_sink`, N being the vehicle's system id: in one domain the ground's mavros
commands through the drone's router, and no packet sees the tunnel. Our launch files put the topics into the namespace
of each mavros.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pqc_mav_common.diagnostics import Diagnostic, Level

_TOPIC = re.compile(r"(?P<link>(?P<before>/|/.*/)uas(?P<system>\d+))/mavlink_(?P<side>source|sink)")
# A node that died without a word is seen for 20 s (the lease of its participant) beside its successor.
LASTING_S = 30.0
# What rmw calls the node of a writer that it has found before the node; some writers have none.
_UNKNOWN = "_NODE_NAME_UNKNOWN_"
NAMELESS = "a node without a name so far"
CURE = "give one of them another ROS_DOMAIN_ID, or remap its topics (docs/mavros.md)"


@dataclass
class Link:
    """The topics of one vehicle in one place, with the full names of the nodes that write to them."""

    system: int
    private: bool  # below a namespace, where no other mavros looks for it
    routers: list[str] = field(default_factory=list)
    vehicles: list[str] = field(default_factory=list)


def links(writers: Iterable[tuple[str, Iterable[str]]]) -> dict[str, Link]:
    """Out of (topic, full names of its writers), one entry per writer. Topics of others are skipped."""
    found: dict[str, Link] = {}
    for topic, names in writers:
        if match := _TOPIC.fullmatch(topic):
            link = found.setdefault(match["link"], Link(int(match["system"]), match["before"] != "/"))
            (link.routers if match["side"] == "source" else link.vehicles).extend(sorted(names))
    return found


class MavrosGraph:
    """Judges the links of a domain; remembers since when two nodes of one name have been seen."""

    def __init__(self) -> None:
        self._doubled_s: dict[tuple[str, str], float] = {}

    def diagnostic(self, now_s: float, found: Mapping[str, Link]) -> Diagnostic:
        """What `/diagnostics` says of them."""
        problems = [*self._shared(now_s, found), *_shadowed(found)]
        routers = sorted({name for link in found.values() for name in link.routers})
        values = {"routers": ", ".join(routers), "links": ", ".join(sorted(found))}
        if problems:
            return Diagnostic("mavros", Level.ERROR, f"{'; '.join(problems)}: {CURE}", values)
        text = f"{', '.join(routers)}: no other mavros in reach" if routers else "no mavros in this ROS domain"
        return Diagnostic("mavros", Level.OK, text, values)

    def _shared(self, now_s: float, found: Mapping[str, Link]) -> Iterable[str]:
        doubled: dict[tuple[str, str], float] = {}
        for place, link in sorted(found.items()):
            for names in (link.routers, link.vehicles):
                several = sorted(set(names))
                if len(several) > 1:
                    yield f"{' and '.join(several)} share {place} and command the vehicle past the tunnel"
                elif len(names) > 1:
                    key = place, several[0]
                    doubled[key] = self._doubled_s.get(key, now_s)
                    if now_s - doubled[key] >= LASTING_S:
                        yield f"{len(names)} nodes {several[0]} share {place} and command the vehicle past the tunnel"
        self._doubled_s = doubled


def _shadowed(found: Mapping[str, Link]) -> Iterable[str]:
    """A mavros as it comes beside one that keeps to itself: the next one as it comes would be shared."""
    places = defaultdict(list)
    for place, link in sorted(found.items()):
        if link.routers:
            places[link.system].append(place)
    for system, several in sorted(places.items()):
        for place in several if len(several) > 1 else ():
            if not found[place].private:
                others = ", ".join(other for other in several if other != place)
                yield f"{found[place].routers[0]} is another mavros for vehicle {system}, at {place} beside {others}"


def writers(node: Any) -> Iterable[tuple[str, list[str]]]:
    """(topic, full names of its writers) of the ROS graph as a node sees it."""
    for topic, _ in node.get_topic_names_and_types():
        if _TOPIC.fullmatch(topic):
            publishers = node.get_publishers_info_by_topic(topic)
            yield topic, [_full_name(each.node_namespace, each.node_name) for each in publishers]


def _full_name(namespace: str, name: str) -> str:
    return NAMELESS if name == _UNKNOWN else f"{namespace.rstrip('/')}/{name}"
