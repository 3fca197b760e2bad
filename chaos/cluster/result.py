# SPDX-License-Identifier: Apache-2.0
"""The page of the cluster, and what on it is not as it should be. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import tables

from cluster.reach import Attempt
from cluster.scenes import SCENES, Outcome
from cluster.sources import WANTED
from pqc_mav_bench.analysis.statistics import median_interval

_HEAD = (
    "scene",
    "runs",
    "longest silence s, median (95 %)",
    "worst",
    "goal",
    "lost",
    "twice",
    "besides, median (worst)",
)
_ABOUT = """# Ground stations on Kubernetes

Written by `make cluster`. Kubernetes {version}, containerd, runc and kube-router's network policies: a control plane
and {nodes} nodes in network namespaces of one machine, which give way to what is measured. Three stations of
[docker/k8s](../../docker/k8s), each in a `restricted` namespace, behind a service of type LoadBalancer by MetalLB
in layer 2 mode. {drones} drones outside, RTT {rtt} ms, with `standby` and `failback_s` {failback}. Ground
software in each pod sends every drone a numbered command every 10 ms. The worst drone counts: its longest time without
a command, commands missing between two of one station in a row, and those that came twice.

*{machine}*

"""


def problems(
    outcomes: Mapping[str, Sequence[Outcome]], attempts: Sequence[Attempt], sources: Mapping[str, str]
) -> list[str]:
    """In words."""
    found = []
    for name, runs in outcomes.items():
        scene = SCENES[name]
        slow = sum(run.silence_s > scene.goal_s for run in runs)
        lost, twice = sum(run.lost for run in runs), sum(run.twice for run in runs)
        words = []
        if slow:
            words.append(f"{slow} of {len(runs)} took more than {scene.goal_s:g} s")
        if scene.clean and lost:
            words.append(f"{lost} commands lost")
        if twice:
            words.append(f"{twice} commands came twice")
        if words:
            found.append(f"{name}: {', '.join(words)}")
    found += [f"{each.words}: {each.seen}, not {each.wanted}" for each in attempts if each.seen != each.wanted]
    return found + [f"{way}: the gcs sees {seen}" for way, seen in sources.items() if seen != WANTED]


def page(
    outcomes: Mapping[str, Sequence[Outcome]],
    attempts: Sequence[Attempt],
    sources: Mapping[str, str],
    about: Mapping[str, object],
) -> str:
    """The results page."""
    text = _ABOUT.format(**about) + tables.markdown(_HEAD, [_row(name, runs) for name, runs in outcomes.items()])
    if attempts:
        text += "\n## What reaches what\n\n"
        rows = [
            (each.words, each.seen + ("" if each.seen == each.wanted else f", not {each.wanted}")) for each in attempts
        ]
        text += tables.markdown(("tried", "came"), rows)
    if sources:
        text += "\n## Whose address the gcs sees\n\n"
        text += tables.markdown(("way of a drone's packets", "source"), list(sources.items()))
    found = problems(outcomes, attempts, sources)
    return text + f"\nVerdict: **{'ok' if not found else 'FAILED: ' + '; '.join(found)}**.\n"


def _row(name: str, runs: Sequence[Outcome]) -> tuple[object, ...]:
    scene = SCENES[name]
    times = [run.silence_s for run in runs]
    low, high = median_interval(times)
    middle = f"{statistics.median(times):.3f} ({low:.3f}-{high:.3f})"
    met = "met" if max(times) <= scene.goal_s else f"{sum(each > scene.goal_s for each in times)} above"
    besides = []
    for title in runs[0].figures:
        values = [run.figures[title] for run in runs]
        besides.append(f"{title} {statistics.median(values):.1f} ({max(values):.1f})")
    lost = sum(run.lost for run in runs) if scene.clean else "-"
    twice = sum(run.twice for run in runs)
    return (
        scene.title,
        len(runs),
        middle,
        f"{max(times):.3f}",
        f"{scene.goal_s:g}: {met}",
        lost,
        twice,
        "; ".join(besides),
    )
