# SPDX-License-Identifier: Apache-2.0
"""From recordings to the page of `pqcmav detect evaluate`."""

import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from multiprocessing import get_context
from pathlib import Path

from pqc_mav_detect.dataset import ends_of
from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.detectors import FILES, NAMES, make
from pqc_mav_detect.evaluation import cost, page
from pqc_mav_detect.evaluation.trials import Judged, judge, merged
from pqc_mav_detect.evaluation.trivial import Trivial
from pqc_mav_detect.score import CALM_LABELS, ScoreError, score, slots_of

TRIVIAL: dict[str, Callable[[], Trivial]] = {
    "count < 20": lambda: Trivial(few=True),
    "bytes/count > 125": lambda: Trivial(few=False),
}


KINDS = ("normal", "attacks", "unseen", "benign")


def over(path: Path, name: str, model: Path | None) -> Judged:
    """One detector, or trivial rule, over one recording."""
    return judge(((path.stem, rows) for rows in ends_of(path).values()), TRIVIAL.get(name, lambda: make(name, model)))


def judged(folder: Path, models: Mapping[str, Path | None], jobs: int) -> list[page.Result]:
    """Every detector over all recordings, several processes at once; Ctrl-C reaches their parent alone."""
    files = {kind: sorted(folder.glob(f"test-{kind}-*.parquet")) for kind in KINDS}
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=os.setsid) as pool:
        parts = {
            (name, kind): [pool.submit(over, path, name, models[name]) for path in files[kind]]
            for name in models
            for kind in KINDS
        }
        results = []
        for name in models:
            of = {kind: merged(each.result() for each in parts[name, kind]) for kind in KINDS}
            results.append(page.Result(name, of["attacks"], of["unseen"], of["normal"], of["benign"]))
            print(f"judged {name}", file=sys.stderr, flush=True)
    for result in results:
        result.cost = None if result.name in TRIVIAL else cost.measure(result.name, models[result.name])
    return results


def capture(path: Path) -> page.Capture:
    """A capture in the CSV form, judged by the rules and by the trivial ones. Raises ScoreError."""
    (found,) = score(path)
    slots = slots_of(path)
    trivial: dict[str, tuple[Sequence[float | None], int]] = {}
    for name, maker in TRIVIAL.items():
        rule = maker()
        said = [rule.take(slot.mavlink_packets or 0.0, slot.bytes or 0.0) for slot in slots]
        attacked = [slot.label.strip().lower() not in CALM_LABELS for slot in slots]
        begins = [i for i, now in enumerate(attacked) if now and not (i and attacked[i - 1])]
        delays: list[float | None] = []
        for begin in begins:
            end = next((i for i in range(begin, len(slots)) if not attacked[i]), len(slots))
            hit = next((i for i in range(begin, end) if said[i]), None)
            delays.append(None if hit is None else slots[hit].time_s - slots[begin].time_s)
        false = sum(s and not (i and said[i - 1]) and not attacked[i] for i, s in enumerate(said))
        trivial[name] = (delays, false)
    return page.Capture(path.name.partition(".")[0], found.span_s, found.delays_s, found.false_alarms, trivial)


def machine() -> str:
    """What the page is true of."""
    model = platform.machine()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    load = os.getloadavg()[1]
    today = datetime.now(timezone.utc).date().isoformat()
    return (
        f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {today}; load over 5 minutes {load:.1f}"
    )


def evaluate(
    folder: Path,
    captures: Sequence[Path] = (),
    names: Sequence[str] = NAMES,
    models: Path | None = None,
    note: str = "",
    jobs: int = 2,
) -> str:
    """The page. Raises ModelError where there are no recordings or a detector cannot be had."""
    if not list(folder.glob("test-*.parquet")):
        raise ModelError(f"there are no recordings for judging in '{folder}': 'pqcmav detect record' makes them")
    files = {name: models / FILES[name] if models else None for name in names}
    for name, file in files.items():
        make(name, file)  # what is missing shows before the work
    every = judged(folder, {**files, **dict.fromkeys(TRIVIAL)}, jobs)
    results, trivial = every[: len(names)], every[len(names) :]
    found = []
    for path in captures:
        try:
            found.append(capture(path))
        except ScoreError as error:
            raise ModelError(str(error)) from None
    return text(results, trivial, found, note)


def text(
    results: Sequence[page.Result], trivial: Sequence[page.Result], captures: Sequence[page.Capture], note: str
) -> str:
    """All sections in order."""
    every = [*results, *trivial]
    first = results[0]
    hours = first.normal.hours
    seen, unseen = len(first.attacks.first()), len(first.unseen.first())
    parts = [
        "# What the detectors are worth\n",
        f"Written by `pqcmav detect evaluate`. {machine()}. {note}\n",
        f"Judged with recordings that no threshold and no model has seen: {seen + unseen} attacks ({seen} with the "
        f"tools and rates of the training and other seeds, {unseen} with other tools and rates), {hours:.1f} h of "
        f"normal traffic (both ends counted, {hours / 2:.1f} h of flight), {len(first.benign.runs)} disturbances at an "
        "end. What was recorded: [the data sheet](../../docs/detection.md#the-recordings). In brackets 95 % "
        "intervals.\n",
        "## Goals\n",
        "An attack is named when its own class is, suspected or sure, at either end that it reaches. A "
        "detector that still speaks of the attack before begins anew 3 s before the next.\n",
        page.goals(results, found=captures),
        *_kept_time(results),
        "\n## Late or missed\n",
        page.missed(results),
        "\n## How soon, tools and rates of the training\n",
        page.delays(results, lambda each: each.attacks),
        "\n## How soon, tools and rates no training has seen\n",
        page.delays(results, lambda each: each.unseen),
        "\n## F1 of windows\n",
        "With tools and rates no training has seen, and with those of the training. Windows of an attack count from "
        "when it has to be named; those within 7 s after it do not count, because its figures still show. The trivial "
        "rules know no classes, and speak hundreds of times an hour without an attack.\n",
        page.scores(every),
        "\n## Normal traffic\n",
        page.alarms(every),
        "\n## Disturbances without an attacker\n",
        "Of so many ends and vehicles, how many said anything, and how many of the alarms were sure.\n",
        page.disturbances(results),
        "\n## Cost\n",
        page.costs(results),
        f"\nPython alone takes {first.cost.idle_mib:.0f} MiB of it.\n" if first.cost else "",
        page.together(results),
    ]
    if captures:
        parts += ["\n## Captures in the CSV form\n", page.captures(captures)]
    return "\n".join(parts)


def _kept_time(results: Sequence[page.Result]) -> list[str]:
    """What the goals are where the machine of the recordings kept time; nothing where it always did."""
    first = results[0]
    stood = sum(each.run in judged.stood for judged in (first.attacks, first.unseen) for each in judged.first())
    disturbed = len(first.benign.runs) - len(page.in_time_only(first).benign.runs)
    if not stood + disturbed:
        return []
    return [
        "\n## Goals where the machine kept time\n",
        f"In {stood} of the attacks and {disturbed} of the disturbances the machine that recorded stood still for more "
        "than 0.5 s, during them or up to 10 s before: processes of the laboratory itself, attackers among them, did "
        f"not run. All tables include these. {page.without_these(results)}\n",
    ]
