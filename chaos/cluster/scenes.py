# SPDX-License-Identifier: Apache-2.0
"""What happens to the cluster while its drones are commanded, and what has to hold."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cluster.control import ClusterError
from cluster.fleet import STATIONS
from cluster.hearing import judged
from cluster.laboratory import Laboratory

_SETTLE_S = 3.0
_AWAY_S = 6.0
_FULL_MIB = 80
_DRAIN = ("--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=60s")


@dataclass(frozen=True)
class Outcome:
    """One run: of all drones the longest silence, all commands lost or executed twice; further figures of the scene.

    `gaps`: whose commands were lost, where and when.
    """

    silence_s: float
    lost: int
    twice: int
    figures: dict[str, float] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Scene:
    """What happens.

    Attributes:
        title: for the page.
        goal_s: the longest silence allowed.
        clean: whether no command may be lost.
        act: does it, and returns further figures, by their titles.
    """

    title: str
    goal_s: float
    clean: bool
    act: Callable[[Laboratory], dict[str, float]]


def play(scene: Scene, lab: Laboratory) -> Outcome:
    """One run: every drone is with its own station before it."""
    lab.settle()
    watched = list(lab.drones.started)
    since = time.time()
    figures = scene.act(lab)
    time.sleep(_SETTLE_S)
    if lost := lab.network.lost():
        raise ClusterError(f"the laboratory's own link lost {lost} frames")
    heard = [judged(lab.drones.autopilots.commands(drone), since, time.time()) for drone in watched]
    silence = max(each.silence_s for each in heard)
    gaps = [f"{drone}: {gap}" for drone, each in zip(watched, heard, strict=True) for gap in each.gaps]
    return Outcome(silence, sum(each.lost for each in heard), sum(each.twice for each in heard), figures, gaps)


def _timed(work: Callable[[], object]) -> float:
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def _rolled(lab: Laboratory) -> dict[str, float]:
    longest = max(_timed(lambda name=name: lab.stations.restart(name)) for name in STATIONS)  # type: ignore[misc]
    return {"a station is back after, s": longest}


def _drained(lab: Laboratory) -> dict[str, float]:
    node = lab.stations.node(STATIONS[0])
    seconds = _timed(lambda: lab.control.kubectl("drain", node, *_DRAIN, limit_s=90.0))
    for name in STATIONS:
        lab.stations.wait(name)
    lab.control.kubectl("uncordon", node)
    return {"empty after, s": seconds}


def _evicted(lab: Laboratory) -> dict[str, float]:
    name, before = STATIONS[0], lab.stations.pod(STATIONS[0])["metadata"]["uid"]
    # More than its folder for temporary files may have: the kubelet looks every 10 s.
    fill = ["dd", "if=/dev/zero", "of=/tmp/full", "bs=1M", f"count={_FULL_MIB}"]
    lab.control.kubectl("exec", "--namespace", name, "pqcmav-0", "--container", "metrics", "--", *fill)

    def another() -> bool:
        return bool(lab.stations.pod(name).get("metadata", {}).get("uid", before) != before)

    lab.control.wait(another, f"station {name} was not evicted")
    return {"a station is back after, s": _timed(lambda: lab.stations.wait(name))}


def _deleted(lab: Laboratory) -> dict[str, float]:
    name = STATIONS[0]
    lab.control.kubectl("delete", "pod", "pqcmav-0", "--namespace", name, "--force", "--grace-period=0")
    return {"a station is back after, s": _timed(lambda: lab.stations.wait(name))}


def _killed(lab: Laboratory) -> dict[str, float]:
    node = lab.nodes[lab.stations.node(STATIONS[0])]
    node.kill()
    time.sleep(_AWAY_S)

    def back() -> None:
        node.start()
        lab.control.wait(lambda: lab.ready(node.name), f"{node.name} is not back")
        for name in STATIONS:
            lab.stations.wait(name)

    return {"node and stations are back after, s": _timed(back)}


def _added(lab: Laboratory) -> dict[str, float]:
    drone = lab.stations.add()

    def told() -> None:
        for name in STATIONS:
            lab.stations.update(name)

    seconds = _timed(told)
    lab.drones.start(drone)
    return {"all stations know it after, s": seconds, "it hears after, s": _timed(lambda: lab.drones.wait([drone]))}


def _rotated(lab: Laboratory) -> dict[str, float]:
    drone = lab.drones.started[0]
    lab.stations.renew(drone)

    def told() -> None:
        for name in STATIONS:
            lab.stations.give_keys(name)
            lab.stations.restart(name)
            lab.drones.reload(drone)  # once is enough, and no harm

    return {"all stations have it after, s": _timed(told)}


SCENES = {
    "rolled": Scene("all three stations are restarted, one after the other", 0.1, True, _rolled),
    "drained": Scene("a node is drained, and taken back", 0.1, True, _drained),
    "evicted": Scene("the kubelet evicts a station's pod, whose disk is full", 0.1, True, _evicted),
    "added": Scene("a drone is added: keys, configuration, `kubectl apply -k`", 0.1, True, _added),
    "rotated": Scene("a drone's PSK is renewed: secret, restart; the drone reads its keys again", 0.1, True, _rotated),
    "deleted": Scene("a station's pod is deleted by force", 2.22, False, _deleted),
    "killed": Scene("a node is killed, and switched on again", 2.5, False, _killed),
}
