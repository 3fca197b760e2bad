# SPDX-License-Identifier: Apache-2.0
"""`chaos/run lab`: the fault laboratory (also `make chaos`)."""

import argparse
import time
from typing import Any

import tables
from air import AirError, need_root
from children import ChildError
from clocks import ClockError
from conditions import CONDITIONS, Condition, select
from laboratory import Laboratory, laboratory
from verdicts import Observation, problems, to_dict


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument(
        "--only", default="", metavar="NAME,NAME", help="conditions, or beginnings such as 'loss' (default: all)"
    )
    parser.add_argument("--quick", action="store_true", help="a few conditions, one of each kind")
    parser.add_argument("--list", action="store_true", help="list the conditions and stop")
    parser.add_argument("--seed", type=int, default=1, help="of the link's and the stranger's randomness")


def run(options: argparse.Namespace) -> int:
    """Run the chosen conditions and print one table; 0 when every row is as expected, 3 when this machine cannot."""
    if options.list:
        print("\n".join(f"{each.name:18} {each.title}" for each in CONDITIONS))
        return 0
    try:
        chosen = select(options.only, options.quick)
    except ValueError as error:
        print(f"chaos: {error}")
        return 2
    reason = need_root()
    if reason:
        print(f"chaos: the fault laboratory {reason}.")
        return 3
    begin, machine = time.monotonic(), tables.machine()
    rows: list[tuple[str, ...]] = []
    details: list[dict[str, Any]] = []
    notes: list[str] = []
    repeated: list[str] = []
    with laboratory(seed=options.seed) as lab:
        for condition in chosen:
            started = time.monotonic()
            seen, found = observe(lab, condition)
            if stood_still(seen, found):
                print(f"again  {condition.name:18} this machine stood still: {'; '.join(found)}", flush=True)
                repeated.append(f"{condition.title}: {seen.late_sends} messages sent late; {'; '.join(found)}")
                seen, found = observe(lab, condition)
            line = tables.row(condition, seen, found)
            rows.append(line)
            details.append(to_dict(condition, seen, found))
            notes += [f"{condition.title}: {each}" for each in found]
            print(progress(condition, line, found, time.monotonic() - started), flush=True)
    seconds = time.monotonic() - begin
    print("\n" + tables.aligned(tables.HEAD, rows))
    verdict = summary(len(rows), notes, seconds)
    print("\n" + verdict)
    whole = {"machine": machine, "seed": options.seed, "verdict": verdict, "repeated": repeated, "rows": details}
    text = page(rows, notes, repeated, machine, verdict)
    tables.keep(options.output, "chaos", text, whole, part=len(chosen) < len(CONDITIONS))
    return 1 if notes else 0


def stood_still(seen: Observation, found: list[str]) -> bool:
    """Tell whether what was found may be the machine's doing: the traffic itself came late."""
    return bool(found and seen.late_sends)


def observe(lab: Laboratory, condition: Condition) -> tuple[Observation, list[str]]:
    """Run one condition; what was seen, and what was not as expected."""
    try:
        seen = lab.run(condition)
    except (AirError, ChildError, ClockError) as error:
        return Observation(), [f"could not be run: {error}"]
    return seen, problems(condition, seen)


def progress(condition: Condition, line: tuple[str, ...], found: list[str], seconds: float) -> str:
    """One line while the run goes on."""
    figures = dict(zip(tables.HEAD, line, strict=True))
    text = f"{figures['verdict']:6} {condition.name:18} lost {figures['lost']} of {figures['sent']}"
    text += f", gap {figures['longest gap ms']} ms, recovered {figures['recovered s']}, rekeys {figures['rekeys']}"
    text += f" ({seconds:.0f} s)"
    return "\n       ".join([text, *found])


def summary(count: int, notes: list[str], seconds: float) -> str:
    """The last line."""
    failed = len({note.split(":")[0] for note in notes})
    return f"{count - failed} of {count} conditions as expected, in {seconds:.0f} s."


def without_equal(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> tuple[str, list[str], list[tuple[str, ...]]]:
    """Columns that are the same in every row as a sentence, and the table without them and without what others say."""
    kept = [number for number, name in enumerate(head) if name != "delivered" and not name.startswith("RSS")]
    same = [number for number in kept if len(rows) > 1 and len({row[number] for row in rows}) == 1]
    kept = [number for number in kept if number not in same]
    told = f" In every row: {', '.join(f'{head[number]} {rows[0][number]}' for number in same)}." if same else ""
    return told, [head[number] for number in kept], [tuple(row[number] for number in kept) for row in rows]


def page(rows: list[tuple[str, ...]], notes: list[str], repeated: list[str], machine: str, verdict: str) -> str:
    """The results page."""
    text = "# Fault laboratory\n\nWritten by `make chaos`; chaos/README.md says what each condition does and what must "
    text += "hold. 320 messages/s each way of MAVLink's sizes, counts of both ways together. "
    text += "*Unexplained* are lost messages that no counter of link or tunnel shows; "
    text += "*recovered* is the time from the end of the disturbance until messages flow both ways.\n\n"
    told, head, shown = without_equal(tables.HEAD, rows)
    text += f"*{machine}*\n\n{verdict}{told}\n\n" + tables.markdown(head, shown)
    if notes:
        text += "\n## Not as expected\n\n" + "".join(f"* {note}\n" for note in notes)
    if repeated:
        text += (
            "\n## Repeated\n\nRun a second time, because in the first the machine itself stood still and the traffic "
        )
        text += "was sent more than 0.25 s late. What the first showed:\n\n"
        text += "".join(f"* {each}\n" for each in repeated)
    return text
