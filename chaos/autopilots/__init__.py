# SPDX-License-Identifier: Apache-2.0
"""`chaos/run autopilots`: real autopilots flown with the tunnel and without (needs root; `make autopilots`)."""

import argparse
import gzip
import json
import os
from pathlib import Path
from typing import Any

import air
import courses
import tables
from children import ChildError
from pair import in_processes
from stations import StationsError

from autopilots.flight import flight
from autopilots.ground import LateError
from autopilots.scenes import SCENES, Scene
from autopilots.vehicles import MODELS, MissingError
from pqc_mav_bench.analysis.statistics import shown_mean
from pqc_mav_common.child import ProgramError

_PAGE = "autopilots"
_AMISS = "not as it should be"
_WAYS = {True: "tunnel", False: "direct"}
Row = dict[str, Any]  # scene, autopilot, way, machine, load, runs: figures each, or {"failed": sentence}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--autopilots", nargs="+", choices=tuple(MODELS), default=["ardupilot", "px4"])
    parser.add_argument("--scenes", nargs="+", choices=tuple(SCENES), default=list(SCENES))
    parser.add_argument("--ways", nargs="+", choices=tuple(_WAYS.values()), default=list(_WAYS.values()))
    parser.add_argument("--runs", type=int, default=5, help="of each scene, with the tunnel and without")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, each with a network of its own")
    parser.add_argument("--seed", type=int, default=1, help="of the link")
    parser.add_argument("--record", action="store_true", help="put the figures in place of those of the same scenes")


def run(options: argparse.Namespace) -> int:
    """Fly, print and write; 0 when every run was as it should be, 3 when this machine cannot."""
    able = []
    for name in options.autopilots:
        try:
            MODELS[name].folder()
            able.append(name)
        except MissingError as error:
            print(f"{_PAGE}: {error}.")
    if not able:
        return 3
    rows: list[Row] = []
    for scene in (SCENES[name] for name in options.scenes):
        for name in able:
            for tunnel, way in _WAYS.items():
                if way in options.ways and (tunnel or not scene.tunnel_only):
                    rows.append(series(scene, name, tunnel, options))
    folder = options.output if options.record else ""
    whole = merged(recorded(Path(options.output)), rows) if folder else rows
    tables.publish(folder, _PAGE, page(whole), {"rows": whole})
    if folder and (found := rates_of(whole)):
        tables.write_json(Path(folder) / f"{_PAGE}-rates.json", found)
    for row in rows if folder else ():
        if row["scene"] == "telemetry" and not failures(row):
            courses.keep(row["autopilot"])
    return 0 if all(not failures(row) for row in rows) else 1


def series(scene: Scene, autopilot: str, tunnel: bool, options: argparse.Namespace) -> Row:
    """One line of the table."""
    row: Row = {"scene": scene.name, "autopilot": autopilot, "way": _WAYS[tunnel], "machine": tables.machine()}
    row["runs"] = []
    tasks = [(scene.name, autopilot, tunnel, options.seed + turn) for turn in range(options.runs)]
    for figures in in_processes(once, tasks, options.jobs):
        row["runs"].append(figures)
        print(f"{scene.name}, {autopilot}, {_WAYS[tunnel]}: {figures}", flush=True)
    return row


def once(task: tuple[str, str, bool, int]) -> Row:
    """One run, in a process of its own: scene, autopilot, with the tunnel, seed."""
    name, autopilot, tunnel, seed = task
    scene = SCENES[name]
    load = os.getloadavg()[0]
    try:
        with flight(
            MODELS[autopilot], tunnel, seed=seed, both=scene.both, drone=scene.drone, wiring=scene.wiring
        ) as made:
            figures: Row = dict(scene.fly(made))
    except (LateError, ChildError, ProgramError, StationsError, air.AirError) as error:
        return {"failed": str(error), "load": load}
    if not scene.good(figures):
        figures["failed"] = _AMISS
    return {**figures, "load": load}


def failures(row: Row) -> list[str]:
    """Why runs of a line failed."""
    return [one["failed"] for one in row["runs"] if "failed" in one]


def recorded(folder: Path) -> list[Row]:
    """What is on record."""
    file = folder / f"{_PAGE}.json.gz"
    return list(json.loads(gzip.decompress(file.read_bytes()))["rows"]) if file.exists() else []


def merged(old: list[Row], new: list[Row]) -> list[Row]:
    """New lines in place of old ones of the same kind, in the order of the scenes."""

    def key(row: Row) -> tuple[str, str, str]:
        return row["scene"], row["autopilot"], row["way"]

    lines = {key(row): row for row in (*old, *new) if row["scene"] in SCENES and row["autopilot"] in MODELS}
    scenes, models, ways = list(SCENES), list(MODELS), list(_WAYS.values())
    return sorted(
        lines.values(),
        key=lambda row: (scenes.index(row["scene"]), models.index(row["autopilot"]), ways.index(row["way"])),
    )


def rates_of(rows: list[Row]) -> dict[str, dict[str, dict[str, float]]]:
    """What each autopilot sent without the tunnel, messages a second by when and message, the mean of all runs."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        if (row["scene"], row["way"]) != ("rates", _WAYS[False]):
            continue
        runs = [one for one in row["runs"] if "failed" not in one]
        names = sorted({name for one in runs for name in one if "/" in name})
        for name in names:
            when, _, message = name.partition("/")
            mean = sum(one.get(name, 0.0) for one in runs) / len(runs)
            found.setdefault(row["autopilot"], {}).setdefault(when, {})[message] = round(mean, 2)
    return found


def page(rows: list[Row]) -> str:
    """The results page."""
    text = "# Real autopilots\n\nBy `make autopilots ARGS=--record`: the autopilots' own programs in their simulators. "
    text += "Good runs/all; means ± 95 %; an empty cell is as above. Scenes without a line were not flown.\n\n"
    pairs = [(scene, model) for scene in SCENES.values() for model in MODELS.values()]
    lines, sentences = [], []
    shown = "", ""
    for scene, model in pairs:
        mine = {row["way"]: row for row in rows if (row["scene"], row["autopilot"]) == (scene.name, model.name)}
        if not mine:
            continue
        loads = [round(one["load"]) for row in mine.values() for one in row["runs"]]
        cells = [_cell(scene, mine[way]) if way in mine else "-" for way in _WAYS.values()]
        figures = "; ".join(scene.columns.values())
        head = ["" if new == above else new for new, above in zip((scene.title, figures), shown, strict=True)]
        shown = scene.title, figures
        lines.append((*head, model.title, *cells, "-".join(str(each) for each in sorted({min(loads), max(loads)}))))
        name = f"{scene.title}, {model.title}"
        sentences += [
            f"{name}, {row['way']}: {why}." for row in mine.values() for why in sorted(set(failures(row)) - {_AMISS})
        ]
    text += tables.markdown(("scene", "figures", "autopilot", *_WAYS.values(), "load"), lines)
    text += "".join(f"\n{each}\n" for each in sentences)
    seen = sorted({row["machine"].partition(", load")[0].partition(", ")[::2] for row in rows})
    for machine in dict.fromkeys(machine for _, machine in seen):
        days = [date for date, other in seen if other == machine]
        text += f"\n*{' to '.join(dict.fromkeys((days[0], days[-1])))}: {machine}*\n"
    return text


def _cell(scene: Scene, row: Row) -> str:
    runs = row["runs"]
    cells = [f"{len(runs) - len(failures(row))}/{len(runs)}"]
    for name in scene.columns:
        values = [float(one[name]) for one in runs if name in one]
        whole = all(value == int(value) for value in values)
        same = len(set(values)) == 1
        mean = sum(values) / max(1, len(values))
        digits = 2 if mean < 10 else int(mean < 100)
        cells.append("-" if not values else f"{values[0]:g}" if whole and same else shown_mean(values, digits))
    return "; ".join(cells)
