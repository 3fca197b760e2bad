# SPDX-License-Identifier: Apache-2.0
"""The page of the drone side's footprint: totals of the newest measurements, and the processes of the last."""

import statistics
from collections.abc import Mapping
from typing import Any

import report

from pqc_mav_bench.analysis.statistics import shown_mean
from pqc_mav_common.markdown import table

GOAL_CPU_PERCENT = 4.0
GOAL_PSS_MB = {"py": 150.0, "cpp": 110.0}  # by the kind of proxy
PROXY = "pqc_proxy"
LISTED = 7  # measurements on the page, the newest
SHOWN = 1  # of them with their processes
_COLUMNS = ("CPU %", "RSS MB", "PSS MB", "alone MB", "threads")


def megabytes(kib: float) -> str:
    """MB of a million bytes, one decimal."""
    return f"{kib * 1024 / 1e6:.1f}"


def held_kib(memory: Mapping[str, Mapping[str, Any]]) -> float:
    """PSS of all processes together, as on a machine that runs nothing else where that could be read."""
    return sum(each["pss_alone_kib"] or each["pss_kib"] for each in memory.values())


def render(results: Mapping[str, Any]) -> str:
    """The whole page."""
    text = (
        "# Footprint of the drone side\n\n"
        "Written by `tools/run bench/footprint.py`. `pqcmav up drone` with sensing and policy, a gcs "
        "(`pqcmav-tunneld`) and a simulated vehicle with 320 messages/s, all on one machine; with `mavlink=mavros` the "
        "messages pass mavros before the proxy, and the goals do not count. CPU is user and system "
        "time of each process in percent of one core: the mean of the windows with its 95 % interval. `alone` is the "
        "PSS as it would be if nothing else ran on the machine: page frames are counted, and divided among the drone's "
        "processes only. The forwarder carries the vehicle's datagrams to the proxy in the same windows. On a busy "
        "machine datagrams wait for each other and a wake-up takes several, so the same program costs less; `ahead of "
        f"other work` avoids that by a negative nice value. The newest {LISTED} measurements; all are in "
        "`footprint.json.gz`.\n\n"
    )
    head = ("measurement", "CPU %", "over the forwarder", "RSS MB", "PSS MB", "alone MB", "processes", "machine idle %")
    listed = dict(list(results.items())[-LISTED:])
    text += table(head, [_total(label, result) for label, result in listed.items()])
    judged = [item for item in results.items() if "mavlink" not in item[1]["options"]]
    text += "".join(_goals(*each) for each in judged[-1:])
    newest = list(listed.items())[-SHOWN:]
    return text + _proxies(listed) + "\n## By process\n" + "".join(_section(*each) for each in newest)


def _goals(label: str, result: Mapping[str, Any]) -> str:
    cpu, held = result["cpu_percent_total"], held_kib(result["memory"]) * 1024 / 1e6
    goal = GOAL_PSS_MB[result["options"].get("proxy", "py")]
    return (
        f"\n`{label}`: {cpu} % of a core, goal <= {GOAL_CPU_PERCENT:g} %: {report.verdict(cpu <= GOAL_CPU_PERCENT)}; "
        f"{held:.1f} MB of PSS, goal <= {goal:g} MB: {report.verdict(held <= goal)}.\n"
    )


def _totals(result: Mapping[str, Any]) -> list[float]:
    return [sum(row["cpu_percent"][name] for name in result["memory"]) for row in result["windows"]]


def _total(label: str, result: Mapping[str, Any]) -> tuple[object, ...]:
    memory = result["memory"].values()
    alone = [each["pss_alone_kib"] for each in memory]
    return (
        label,
        shown_mean(_totals(result), 2),
        f"{result['over_forwarder']:.1f}",
        megabytes(sum(each["rss_kib"] for each in memory)),
        megabytes(sum(each["pss_kib"] for each in memory)),
        "-" if None in alone else megabytes(sum(alone)),
        len(memory),
        f"{statistics.mean(row['machine_idle_percent'] for row in result['windows']):.0f}",
    )


def _proxies(results: Mapping[str, Any]) -> str:
    """The process of the proxy alone, where the kind was chosen: in Python beside in C++."""
    rows = [(label, *_row(result, PROXY)[1:]) for label, result in results.items() if _has_proxy(result)]
    if not rows:
        return ""
    return "\n## The proxy alone\n\n" + table(("measurement", *_COLUMNS), rows)


def _has_proxy(result: Mapping[str, Any]) -> bool:
    """Whether its kind was chosen, and it has a process of its own."""
    return "proxy" in result["options"] and PROXY in result["memory"]


def _row(result: Mapping[str, Any], name: str) -> tuple[object, ...]:
    share = shown_mean([row["cpu_percent"][name] for row in result["windows"]], 2)
    held = result["memory"].get(name)
    if held is None:
        return (f"({name})", share, "-", "-", "-", "-")
    alone = held["pss_alone_kib"]
    figures = map(megabytes, (held["rss_kib"], held["pss_kib"]))
    return (name, share, *figures, "-" if alone is None else megabytes(alone), held["threads"])


def _section(label: str, result: Mapping[str, Any]) -> str:
    machine = result["environment"]
    options = ", ".join(f"`{name}={value}`" for name, value in result["options"].items())
    if result["nice"]:
        options = f"nice {result['nice']}{', ' if options else ''}{options}"
    text = (
        f"\n### {label}\n\n*{machine['date']}, {machine['machine']}, Linux {machine['kernel']}; "
        f"{len(result['windows'])} windows of {result['window_s']:g} s{'; ' + options if options else ''}*\n\n"
    )
    if note := result.get("note"):
        text += f"{note}\n\n"
    rows = [_row(result, name) for name in (*result["memory"], "forwarder")]
    return text + table(("process", *_COLUMNS), rows)
