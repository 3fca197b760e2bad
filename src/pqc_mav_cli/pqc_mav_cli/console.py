# SPDX-License-Identifier: Apache-2.0
"""Where output goes: results on stdout, messages and errors on stderr."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Collection, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from pqc_mav_bringup.printer import say as note
from pqc_mav_common.errors import one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

__all__ = ["PROGRAM", "WIDE", "console", "fitted", "note", "print_error", "print_json"]  # note: no part of a result

PROGRAM = "pqcmav"
_FILLING = re.compile(r"[ ]+$", re.MULTILINE)
WIDE = 240  # columns where there is no terminal: no table of ours is cut


def console() -> Console:
    """For results. Colours only on a terminal; a pipe gets whole tables, without blanks that fill up their lines.

    Brackets are printed: data and units have them. What has a style is a Text.
    """
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(markup=False, highlight=False, soft_wrap=False)
    out = cast(IO[str], _Unfilled())
    return Console(file=out, width=WIDE, markup=False, highlight=False, soft_wrap=False)


class _Unfilled(io.TextIOBase):
    """Standard output without blanks at the ends of lines."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return sys.stdout.encoding

    def write(self, text: str) -> int:
        return sys.stdout.write(_FILLING.sub("", text))

    def flush(self) -> None:
        sys.stdout.flush()


def fitted(out: Console, table: Callable[[Collection[str]], Table], expendable: Sequence[str]) -> RenderableType:
    """`table(left_out)` in the width of `out`: as few of the `expendable` columns left out as will do, and said so."""
    from rich.console import Group
    from rich.measure import Measurement
    from rich.text import Text

    made = table(())
    for count in range(len(expendable) + 1):
        made = table(expendable[:count])
        if Measurement.get(out, out.options.update(max_width=WIDE), made).maximum <= out.width:
            break
    if count == 0:
        return made
    return Group(made, Text(f"A wider terminal adds: {', '.join(expendable[:count])}.", "dim"))


def print_json(value: Any) -> None:
    """A result for a script: one JSON document."""
    print(json.dumps(value, indent=2, allow_nan=False))


def print_error(sentence: object) -> None:
    """One line on stderr."""
    note(f"{PROGRAM}: error: {one_line(sentence)}")
