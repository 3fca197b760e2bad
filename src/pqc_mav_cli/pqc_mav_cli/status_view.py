# SPDX-License-Identifier: Apache-2.0
"""How tunnels look on a terminal and as JSON. Pure: messages and times in, tables out."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import compress
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from pqc_mav_cli.ros_session import TunnelView
from pqc_mav_cli.wording import short_code
from pqc_mav_proxy.names import DROPS, KEY_OLD, keys_are_old, state_name

STALE_S = 3.0  # stats come once a second; silence for longer means that the node is gone or hangs
_STATE_STYLES = {
    "UP": "bold green",
    "REKEYING": "bold cyan",
    "HANDSHAKING": "yellow",
    "DEGRADED": "bold yellow",
    "DOWN": "bold red",
}

_COLUMNS: tuple[tuple[str, Literal["left", "right"]], ...] = (
    ("node", "left"),
    ("drone", "left"),
    ("state", "left"),
    ("suite", "left"),
    ("epoch", "right"),
    ("key age", "right"),
    ("peer", "left"),
    ("sent", "right"),
    ("received", "right"),
    ("drops", "right"),
    ("loss", "right"),
    ("RTT", "right"),
)


def state_of(view: TunnelView) -> str:
    """Name of the state in a view's newest status."""
    return state_name(view.status.state)


def suite_of(view: TunnelView) -> str:
    """Short code of the suite in use, marked when it runs without X25519; a dash without a session."""
    status = view.status
    return short_code(status.suite) + ("" if status.hybrid or not status.suite else " (pure)") or "-"


def duration(seconds: float) -> str:
    """Seconds for people: 8.2 s, 2:05, 3:04:05."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def milliseconds(value: float | None) -> str:
    """Milliseconds for people; unknown is a dash."""
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.2f} ms" if value < 10 else f"{value:.0f} ms"


def rate(packets_per_s: float, bytes_per_s: float) -> str:
    """Packets and bits per second."""
    bits = bytes_per_s * 8
    for unit, size in (("Mb/s", 1e6), ("kb/s", 1e3)):
        if bits >= size:
            return f"{packets_per_s:.0f}/s {bits / size:.1f} {unit}"
    return f"{packets_per_s:.0f}/s {bits:.0f} b/s"


def key_age_s(view: TunnelView, now_s: float) -> float | None:
    """Age of the keys now: the latched status says how old they were when it was sent."""
    status = view.status
    return status.key_age_s + (now_s - view.status_at_s) if status.suite else None


def drops(stats: Any) -> int:
    """Received packets that were dropped, whatever for."""
    return sum(int(getattr(stats, field)) for field in DROPS)


# What a narrow terminal does without first.
EXPENDABLE = ("peer", "epoch", "received", "sent")


def table(views: Sequence[TunnelView], now_s: float, left_out: Collection[str] = ()) -> Table:
    """One row per tunnel."""
    made = Table(box=None, pad_edge=False, header_style="bold", expand=False)
    shown = [title not in left_out for title, _ in _COLUMNS]
    for title, justify in compress(_COLUMNS, shown):
        made.add_column(title, justify=justify, no_wrap=title in ("node", "state", "suite", "RTT"), overflow="fold")
    for view in views:
        made.add_row(*compress(_cells(view, now_s), shown))
    return made


def _cells(view: TunnelView, now_s: float) -> list[Any]:
    status, stats = view.status, view.stats
    state = state_of(view)
    stale = now_s - max(view.status_at_s, view.stats_at_s) > STALE_S
    shown = Text("SILENT", "bold red") if stale else Text(state, _STATE_STYLES.get(state, ""))
    if keys_are_old(status.last_error):
        shown.append(f" {KEY_OLD}", "bold red")
    age = key_age_s(view, now_s)
    cells: list[Any] = [
        view.node,
        view.drone_id,
        shown,
        suite_of(view),
        str(status.epoch) if status.suite else "-",
        "-" if age is None else duration(age),
        status.peer or "-",
    ]
    if stats is None:
        cells += ["-", "-", "-"]
    else:
        dropped = drops(stats)
        cells += [
            rate(stats.tx_packets_per_s, stats.tx_bytes_per_s),
            rate(stats.rx_packets_per_s, stats.rx_bytes_per_s),
            Text(str(dropped), "yellow" if dropped else ""),
        ]
    local = view.links.get("local")
    loss = "-" if local is None or math.isnan(local.loss) else f"{local.loss:.1%}"
    return [*cells, loss, milliseconds(None if local is None else local.rtt_ms)]


def problems(views: Sequence[TunnelView]) -> list[str]:
    """One line per tunnel that is not up, or up with old keys, and has said why."""
    return [
        f"{view.node} {view.drone_id}: {view.status.last_error}"
        for view in views
        if keys_are_old(view.status.last_error) or (view.status.last_error and state_of(view) not in ("UP", "REKEYING"))
    ]


def as_json(views: Sequence[TunnelView], now_s: float) -> list[dict[str, Any]]:
    """Everything known, for scripts; unknown numbers are null."""
    return [
        {
            "node": view.node,
            "drone_id": view.drone_id,
            "key_age_s": key_age_s(view, now_s),
            "key_old": keys_are_old(view.status.last_error),
            "status": {**_fields(view.status), "state": state_of(view)},
            "stats": None if view.stats is None else _fields(view.stats),
            "links": {side: _fields(link) for side, link in view.links.items()},
        }
        for view in views
    ]


def _fields(message: Any) -> dict[str, Any]:
    values = {name: getattr(message, name) for name in message.get_fields_and_field_types() if name != "header"}
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):  # a field of several numbers
        return value.tolist()
    return None if isinstance(value, float) and math.isnan(value) else value
