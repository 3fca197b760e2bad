# SPDX-License-Identifier: Apache-2.0
"""What of the tunnels a terminal has room for: the most that fits its width and height, and said what is left out."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console, Group, RenderableType
from rich.text import Text

from pqc_mav_cli import status_shaping
from pqc_mav_cli.ros_session import TunnelView
from pqc_mav_cli.status_view import (
    EXPENDABLE,
    SILENT,
    Cells,
    cells_of,
    paths,
    problems,
    radios,
    stations,
    table,
    tall_table,
    tall_width,
    width,
    word,
)
from pqc_mav_cli.wording import counted
from pqc_mav_proxy.names import SHAPE_CLASSES, keys_are_old

# Where not all fit, those that need someone come first.
_URGENT = (SILENT, "DOWN", "DEGRADED", "HANDSHAKING", "REKEYING", "UP")


def fitted(
    out: Console, views: Sequence[TunnelView], dangers: Sequence[str], now_s: float, height: int | None = None
) -> RenderableType:
    """Everything about the tunnels in the width of `out` and in `height` lines; None = as many as it takes."""
    remarks = [*(Text(danger, "bold red") for danger in dangers), *(Text(line, "yellow") for line in problems(views))]
    remarks += [Text(line, "dim") for line in (*stations(views, now_s), *paths(views, now_s), *radios(views, now_s))]
    if height is not None and len(views) >= height:
        return _cropped(out, views, remarks, now_s, height)
    forms = _forms(out, [cells_of(view, now_s) for view in views])
    shaped = status_shaping.shaped(views, now_s)
    if height is None:
        return Group(*forms[0].made, *remarks, *_details(shaped))
    used = sum(_lines(out, remark) for remark in remarks)
    details = len(SHAPE_CLASSES) * len(shaped) + 2 if shaped else 0  # with a blank line and the titles
    for form in forms:
        if form.lines + used + details <= height:
            return Group(*form.made, *remarks, *_details(shaped))
    for form in forms:
        if form.lines + used + bool(shaped) <= height:
            unsaid = [Text("A taller terminal also shows what shaping did.", "dim")] if shaped else []
            return Group(*form.made, *remarks, *unsaid)
    return _cropped(out, views, remarks, now_s, height)


class _Form(NamedTuple):
    """A way to show tunnels, and how many lines it takes."""

    made: list[RenderableType]
    lines: int


def _details(shaped: Sequence[TunnelView]) -> list[RenderableType]:
    return [Text(), status_shaping.table(shaped)] if shaped else []


def _forms(out: Console, cells: Sequence[Cells]) -> list[_Form]:
    """The ways to show all tunnels that are not too wide, the best one first."""
    if width(cells) <= out.width:
        return [_Form([table(cells)], 1 + len(cells))]
    tall = [_Form([tall_table(cells)], 2 + 2 * len(cells))] if tall_width(cells) <= out.width else []
    return [*tall, _narrow(out, cells)]


def _narrow(out: Console, cells: Sequence[Cells]) -> _Form:
    """One line per tunnel, with as few columns left out as will do."""
    counts = range(len(EXPENDABLE))
    count = next((count for count in counts if width(cells, EXPENDABLE[:count]) <= out.width), len(EXPENDABLE))
    left_out = EXPENDABLE[:count]
    said = [Text(f"A wider terminal adds: {', '.join(left_out)}.", "dim")] if left_out else []
    return _Form([table(cells, left_out), *said], 1 + len(cells) + sum(_lines(out, line) for line in said))


def _cropped(
    out: Console, views: Sequence[TunnelView], remarks: Sequence[Text], now_s: float, height: int
) -> RenderableType:
    """As many tunnels as there are lines for, the urgent ones first, and a line each for as many remarks."""
    ranked = sorted(views, key=lambda view: _rank(view, now_s))
    cells = [cells_of(view, now_s) for view in ranked[:height]]
    for remark in remarks:
        remark.no_wrap, remark.overflow = True, "ellipsis"
    for room in range(len(cells), 0, -1):
        left = Counter(word(view, now_s) for view in ranked[room:])
        named = ", ".join(f"{left[state]} {state}" for state in _URGENT if left[state])
        rest = [Text(f"... and {counted(left.total(), 'tunnel')} more: {named}", "dim")] if left else []
        form = _narrow(out, cells[:room])
        spare = height - form.lines - sum(_lines(out, line) for line in rest)
        if spare >= min(len(remarks), height // 3):
            return Group(*form.made, *rest, *remarks[:spare])
    return table(cells[: max(1, height - 1)], EXPENDABLE)


def _rank(view: TunnelView, now_s: float) -> tuple[int, bool]:
    state = word(view, now_s)
    # A state of a newer version, which this one has no word for, is not known to be good.
    return _URGENT.index(state) if state in _URGENT else 0, not keys_are_old(view.status.last_error)


def _lines(out: Console, text: Text) -> int:
    return len(text.wrap(out, out.width))
