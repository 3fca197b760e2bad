# SPDX-License-Identifier: Apache-2.0
"""The laboratory's table, as text for a terminal and as Markdown. Pure."""

import gzip
import os
import platform
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from conditions import Condition
from pqc_mav_tunnel import host_info
from verdicts import Observation, RekeyResult, unexplained_losses

from pqc_mav_bench.json_text import as_lines, rounded
from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_common.markdown import table as markdown  # noqa: F401 - its name for every page here

RESULTS = Path(__file__).resolve().parent.parent / "bench" / "results"
HEAD = (
    "condition", "sent", "delivered", "lost", "unexplained", "twice", "reordered", "longest gap ms", "recovered s",
    "rekeys", "drops", "RSS MiB drone", "RSS MiB gcs", "verdict",
)  # fmt: skip
_REKEYS_SHOWN = 3
_SHORT = {"drop_": "", "plain_dropped_": "plain ", "enc_dropped_": "enc ", "hs_": "hs "}


def machine() -> str:
    """When and on what kind of machine; no names."""
    model = host_info()["cpu_model"] or platform.machine()
    day = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    kernel = platform.release().split("-")[0]
    return f"{day}, {os.cpu_count()} cores, {model}, Linux {kernel}, load average at start {os.getloadavg()[0]:.1f}"


def short_counter(name: str) -> str:
    """`drop_replay` as `replay`, and the like."""
    for long, short in _SHORT.items():
        if name.startswith(long):
            return (short + name.removeprefix(long)).replace("_", " ")
    return name


def row(condition: Condition, seen: Observation, found: Sequence[str]) -> tuple[str, ...]:
    """One line of the table; counts both ways together, gap and recovery of the slower way."""
    ways = list(seen.ways.values())
    recoveries = [way.recovery_s for way in ways]
    unexplained = sum(unexplained_losses(way) for way in ways)
    accounted = condition.expect.accounted and all(way.lost_on_link is not None for way in ways)
    if not any(event.heals for event in condition.events):
        recovered = "-"
    else:
        known = [each for each in recoveries if each is not None]
        recovered = f"{max(known):.3f}" if known and len(known) == len(recoveries) else "never"
    return (
        condition.title,
        str(sum(way.sent for way in ways)),
        str(sum(way.delivered for way in ways)),
        str(sum(way.lost for way in ways)),
        str(unexplained) if accounted else "-",
        str(sum(way.duplicated for way in ways)),
        str(sum(way.reordered for way in ways)),
        f"{max((way.longest_gap_ms for way in ways), default=0):.1f}",
        recovered,
        _rekeys(seen.rekeys),
        ", ".join(f"{short_counter(name)} {count}" for name, count in seen.drops.items()) or "none",
        *(_memory(seen, end) for end in ("drone", "gcs")),
        "ok" if not found else "FAILED",
    )


def _rekeys(results: Sequence[RekeyResult]) -> str:
    if len(results) <= _REKEYS_SHOWN:
        return ", ".join(_rekey(result) for result in results)
    times = [result.ms for result in results]
    return f"{sum(result.ok for result in results)} of {len(results)} ok, {min(times):.0f} to {max(times):.0f} ms"


def _rekey(result: RekeyResult) -> str:
    word = "ok" if result.ok else "failed" if result.must_succeed else "failed (may)"
    tries = f" at try {result.attempts}" if result.attempts > 1 else ""
    return f"{word}{tries} {result.ms:.0f} ms"


def _memory(seen: Observation, end: str) -> str:
    before, after = seen.rss_before_kib.get(end, 0), seen.rss_after_kib.get(end, 0)
    return f"{before / 1024:.1f} -> {after / 1024:.1f}" + (" (new process)" if end in seen.killed else "")


def aligned(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The same for a terminal: columns padded to their widest cell."""
    cells = [[str(cell) for cell in each] for each in (head, *rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def publish(folder: str, name: str, text: str, content: dict[str, Any], *, part: bool = False) -> None:
    """Show a page, and keep it."""
    print("\n" + text)
    keep(folder, name, text, content, part=part)


def keep(folder: str, name: str, text: str, content: dict[str, Any], *, part: bool) -> None:
    """Keep a page and its figures if a folder is named; one without all rows (`part`) replaces none on record."""
    if folder and part and Path(folder).resolve() == RESULTS:
        print("Not all rows were asked for: the page on record stays, and --output FOLDER keeps this one.")
    elif folder:
        write_page(Path(folder) / f"{name}.md", text)
        write_json(Path(folder) / f"{name}.json.gz", content)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write the figures behind a page, in one step: a row per line, six digits of what was measured.

    Where the name ends in .gz the file is compressed, to the same bytes each time.
    """
    text = as_lines(rounded(content, 6), 2) + "\n"
    write_page(path, gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text)


def write_page(path: Path, content: str | bytes) -> None:
    """Write a results page, in one step, into a folder that need not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, content)
