# SPDX-License-Identifier: Apache-2.0
"""What shaping did, class by class, for `pqcmav status`."""

from collections.abc import Sequence
from typing import Literal

from rich.table import Table
from rich.text import Text

from pqc_mav_cli.ros_session import TunnelView
from pqc_mav_cli.status_view import end_of, is_silent
from pqc_mav_proxy.names import SHAPE_CLASSES

_COLUMNS: tuple[tuple[str, Literal["left", "right"]], ...] = (
    ("end", "left"),
    ("drone", "left"),
    ("shaped to", "right"),
    ("class", "left"),
    ("taken", "right"),
    ("sent", "right"),
    ("replaced", "right"),
    ("dropped", "right"),
    ("oldest", "right"),
)
LATE_MS = 1000  # a datagram that has waited for longer is worth a colour


def shaped(views: Sequence[TunnelView], now_s: float) -> list[TunnelView]:
    """The tunnels whose sending is shaped now."""
    return [view for view in views if view.stats is not None and view.status.shape_kbit and not is_silent(view, now_s)]


def table(views: Sequence[TunnelView]) -> Table:
    """One row per class of each of these tunnels; the oldest is the one that has waited longest."""
    made = Table(box=None, pad_edge=False, header_style="bold", expand=False)
    for title, justify in _COLUMNS:
        made.add_column(title, justify=justify, no_wrap=True)
    for view in views:
        owner = [end_of(view), view.drone_id, f"{view.status.shape_kbit} kbit/s"]
        stats = view.stats
        for index, name in enumerate(SHAPE_CLASSES):
            dropped, oldest_ms = int(stats.shape_dropped[index]), int(stats.shape_oldest_ms[index])
            made.add_row(
                *owner,
                name,
                *(f"{int(counts[index]):,}" for counts in (stats.shape_taken, stats.shape_sent, stats.shape_replaced)),
                Text(f"{dropped:,}", "yellow" if dropped else ""),
                Text(f"{oldest_ms:,} ms", "yellow" if oldest_ms > LATE_MS else ""),
            )
            owner = ["", "", ""]
    return made
