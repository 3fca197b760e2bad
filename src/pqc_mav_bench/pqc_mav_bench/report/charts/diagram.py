# SPDX-License-Identifier: Apache-2.0
"""Diagrams of boxes, arrows and lifelines as SVG that follows the page's colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_ARROW = (
    '<marker id="{0}-head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
    'orient="auto-start-reverse">'
    '<path d="M0 0L10 5L0 10z" style="fill:var(--muted)"/></marker>'
)


class Sheet:
    """A drawing of fixed size [px]; methods add to it, `svg` gives the element."""

    def __init__(self, key: str, width: float, height: float) -> None:
        self.key, self.width, self.height = key, width, height
        self._parts: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, lines: Sequence[str], colour: str = "blue") -> None:
        """A rectangle with centred lines of text; the first line is bold."""
        self._parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" '
            f'style="fill:var(--wash);stroke:var(--{colour});stroke-width:1.6"/>'
        )
        top = y + height / 2 - 8 * (len(lines) - 1) + 4.5
        for i, line in enumerate(lines):
            self.text(x + width / 2, top + 16 * i, line, "middle", bold=i == 0 and len(lines) > 1)

    def text(
        self,
        x: float,
        y: float,
        line: str,
        anchor: str = "start",
        size: float = 12,
        bold: bool = False,
        colour: str = "ink",
    ) -> None:
        """One line of text."""
        weight = ";font-weight:600" if bold else ""
        self._parts.append(
            f'<text x="{x}" y="{y}" text-anchor="{anchor}" '
            f'style="font-size:{size}px;fill:var(--{colour}){weight}">{escape(line)}</text>'
        )

    def arrow(
        self, x1: float, y1: float, x2: float, y2: float, label: str = "", both: bool = False, dashed: bool = False
    ) -> None:
        """A line with a head at its end (or at both), its label above the middle."""
        start = f' marker-start="url(#{self.key}-head)"' if both else ""
        dash = ";stroke-dasharray:5 4" if dashed else ""
        self._parts.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" style="stroke:var(--muted);stroke-width:1.6{dash}" '
            f'marker-end="url(#{self.key}-head)"{start}/>'
        )
        if label:
            self.text((x1 + x2) / 2, (y1 + y2) / 2 - 6, label, "middle", 11)

    def line(self, x1: float, y1: float, x2: float, y2: float, dashed: bool = True) -> None:
        """A plain line."""
        dash = ";stroke-dasharray:3 4" if dashed else ""
        self._parts.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" style="stroke:var(--grid);stroke-width:1.5{dash}"/>'
        )

    def frame(self, x: float, y: float, width: float, height: float, label: str) -> None:
        """A dashed frame around things that belong together."""
        self._parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" '
            'style="fill:none;stroke:var(--muted);stroke-dasharray:4 4;stroke-width:1"/>'
        )
        self.text(x + 10, y + 17, label, size=12, bold=True, colour="muted")

    def svg(self, title: str, description: str) -> str:
        """The element, named for screen readers."""
        return (
            f'<svg class="diagram" role="img" aria-labelledby="{self.key}-t {self.key}-d" viewBox="0 0 '
            f'{self.width} {self.height}">'
            f'<title id="{self.key}-t">{escape(title)}</title><desc id="{self.key}-d">{escape(description)}</desc>'
            f"<defs>{_ARROW.format(self.key)}</defs>{''.join(self._parts)}</svg>"
        )
