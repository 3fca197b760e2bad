# SPDX-License-Identifier: Apache-2.0
"""How tunnels look on a terminal and as JSON. Pure: messages and times in, tables out."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from pqc_mav_cli.ros_session import TunnelView
from pqc_mav_cli.wording import short_code
from pqc_mav_proxy.names import DROPS, KEY_OLD, keys_are_old, plain_is_down, radio_is_down, state_name

SILENT = "SILENT"
STANDBY = "standby"  # a ground station whose session only waits
STALE_S = 3.0  # stats come once a second; silence for longer means that the node is gone or hangs
_STATE_STYLES = {
    "UP": "bold green",
    "REKEYING": "bold cyan",
    "HANDSHAKING": "yellow",
    "DEGRADED": "bold yellow",
    "DOWN": "bold red",
}

_COLUMNS: tuple[tuple[str, Literal["left", "right"]], ...] = (
    ("end", "left"),
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
    ("handshakes", "right"),
)
EPOCH_AND_AGE = "epoch, key age"
GAP = 2  # between columns
# The same in two lines for each tunnel.
_PAIRS: tuple[tuple[str, str, Literal["left", "right"]], ...] = (
    ("end", "drone", "left"),
    ("state", "peer", "left"),
    ("suite", EPOCH_AND_AGE, "left"),
    ("sent", "received", "right"),
    ("loss", "drops", "right"),
    ("RTT", "handshakes", "right"),
)


def end_of(view: TunnelView) -> str:
    """Which end says so: the proxy's namespace."""
    return view.node.strip("/").removesuffix("/pqc_proxy")


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
EXPENDABLE = ("handshakes", "peer", "epoch", "key age", "drops", "received", "sent", "RTT")


def is_silent(view: TunnelView, now_s: float) -> bool:
    """Whether a proxy has said nothing for so long that its figures tell nothing any more."""
    return now_s - max(view.status_at_s, view.stats_at_s, view.seen_at_s) > STALE_S


def word(view: TunnelView, now_s: float) -> str:
    """The state for people: what a proxy last said counts for nothing once it is silent."""
    return SILENT if is_silent(view, now_s) else state_of(view)


Cells = Mapping[str, Text]  # by title, of one tunnel


def width(cells: Sequence[Cells], left_out: Collection[str] = ()) -> int:
    """Columns that `table` takes. Counted, not rendered: a live view asks for several."""
    return _width([[(title, title)] for title, _ in _COLUMNS if title not in left_out], cells)


def tall_width(cells: Sequence[Cells]) -> int:
    """Columns that `tall_table` takes."""
    return _width([[(first, first), (second, second)] for first, second, _ in _PAIRS], cells)


def _width(columns: Sequence[Sequence[tuple[str, str]]], cells: Sequence[Cells]) -> int:
    widths = [
        max(max(len(title), *(row[key].cell_len for row in cells)) for key, title in column) for column in columns
    ]
    return sum(widths) + GAP * (len(widths) - 1)


def table(cells: Sequence[Cells], left_out: Collection[str] = ()) -> Table:
    """One row per tunnel."""
    made = _empty_table()
    shown = [(title, justify) for title, justify in _COLUMNS if title not in left_out]
    for title, justify in shown:
        made.add_column(title, justify=justify, no_wrap=True)
    for row in cells:
        made.add_row(*(row[title] for title, _ in shown))
    return made


def tall_table(cells: Sequence[Cells]) -> Table:
    """Two lines per tunnel, which say as much in 80 columns."""
    made = _empty_table()
    for first, second, justify in _PAIRS:
        made.add_column(f"{first}\n{second}", justify=justify, no_wrap=True)
    for row in cells:
        made.add_row(*(Text("\n").join((row[first], _dimmed(row[second]))) for first, second, _ in _PAIRS))
    return made


def _empty_table() -> Table:
    return Table(box=None, pad_edge=False, header_style="bold", expand=False)


def _dimmed(text: Text) -> Text:
    return text if text.style else Text(text.plain, "dim")


def cells_of(view: TunnelView, now_s: float) -> Cells:
    """What is shown of a tunnel, by title; of a proxy that fell silent only what does not change on its own."""
    status, stats = view.status, view.stats
    shown = dict.fromkeys((*(title for title, _ in _COLUMNS), EPOCH_AND_AGE), "-") | {
        "end": end_of(view),
        "drone": view.drone_id,
        "suite": suite_of(view),
        "peer": status.peer or "-",
    }
    cells = {title: Text(text) for title, text in shown.items()}
    cells["state"] = _state_cell(view, now_s)
    if is_silent(view, now_s):
        return cells
    cells["handshakes"] = Text(f"{status.handshakes_ok} + {status.rekeys_ok}")  # first and renewed
    age_s = key_age_s(view, now_s)
    if age_s is not None:
        cells["epoch"] = Text(str(status.epoch))
        cells["key age"] = Text(duration(age_s))
        cells[EPOCH_AND_AGE] = Text(f"{status.epoch}, {duration(age_s)}")
    if stats is not None:
        dropped = drops(stats)
        cells["sent"] = Text(rate(stats.tx_packets_per_s, stats.tx_bytes_per_s))
        cells["received"] = Text(rate(stats.rx_packets_per_s, stats.rx_bytes_per_s))
        cells["drops"] = Text(str(dropped), "yellow" if dropped else "")
    local = view.links.get("local")
    if local is not None:
        cells["loss"] = Text("-" if math.isnan(local.loss) else f"{local.loss:.1%}")
        cells["RTT"] = Text(milliseconds(local.rtt_ms))
    return cells


def _state_cell(view: TunnelView, now_s: float) -> Text:
    if is_silent(view, now_s):
        return Text(f"{SILENT} {duration(now_s - max(view.status_at_s, view.stats_at_s))}", "bold red")
    state = state_of(view)
    shown = Text(state, _STATE_STYLES.get(state, ""))
    if view.status.station_role == STANDBY:
        shown.append(f" {STANDBY}", "dim")
    if keys_are_old(view.status.last_error):
        shown.append(f" {KEY_OLD}", "bold red")
    return shown


_ALARMS = {1: "a suspicion", 2: "an attack"}


def problems(views: Sequence[TunnelView]) -> list[str]:
    """One line per alarm of another end, and per tunnel that is not up, or up with old keys or a lost port."""
    alarms = [
        f"{end_of(view)} {view.drone_id}: the {'ground station' if view.status.role == 'drone' else 'drone'} tells of "
        f"{_ALARMS[view.status.peer_alarm]}: {view.status.peer_alarm_kind or 'of no kind'}"
        for view in views
        if getattr(view.status, "peer_alarm", 0) in _ALARMS  # an older engine has none
    ]
    return alarms + [
        f"{end_of(view)} {view.drone_id}: {view.status.last_error}"
        for view in views
        if keys_are_old(view.status.last_error)
        or plain_is_down(view.status.last_error)
        or radio_is_down(view.status.last_error)
        or (view.status.last_error and state_of(view) not in ("UP", "REKEYING"))
    ]


def stations(views: Sequence[TunnelView], now_s: float) -> list[str]:
    """One line per drone with several ground stations: what each is for it."""
    return [
        f"{view.drone_id}: {', '.join(' '.join(each.split()[:2]) for each in view.status.stations)}"
        f" (term {view.status.term})"
        for view in views
        if view.status.stations and not is_silent(view, now_s)
    ]


def paths(views: Sequence[TunnelView], now_s: float) -> list[str]:
    """One line per path of a drone with several."""
    return [
        f"{view.drone_id}: {path_line(each)}"
        for view in views
        for each in view.paths.values()
        if not is_silent(view, now_s)
    ]


def path_line(path: Any) -> str:
    """A PathStatus: which it is, how it is, and what it carried."""
    loss = "-" if math.isnan(path.loss) else f"{path.loss:.0%}"
    words = [f"{path.name} {path.state}", milliseconds(path.rtt_ms), f"loss {loss}"]
    words.append(f"{path.tx_bytes / 1e6:.1f} MB up, {path.rx_bytes / 1e6:.1f} MB down")
    return ", ".join(words) + (f" ({path.problem})" if path.problem else "")


def radios(views: Sequence[TunnelView], now_s: float) -> list[str]:
    """One line per end whose link goes by a serial radio: what that says of itself."""
    out = []
    for view in views:
        local = view.links.get("local")
        if local is None or not local.radio_kbit > 0 or is_silent(view, now_s):
            continue
        words = [f"radio {local.radio_kbit:.0f} kbit/s"]
        if not math.isnan(local.radio_rssi):
            words.append(f"signal {local.radio_rssi:.0f}/{local.radio_remote_rssi:.0f}")
            words.append(f"noise {local.radio_noise:.0f}/{local.radio_remote_noise:.0f}")
            words.append(f"buffer {local.radio_fill:.0%}")
        words += [
            f"{count} {name}"
            for name, count in (
                ("damaged", local.radio_line_errors),
                ("not mine", local.radio_not_mine),
                ("stuck", local.radio_stuck),
            )
            if count
        ]
        out.append(f"{end_of(view)} {view.drone_id}: {', '.join(words)}")
    return out


def as_json(views: Sequence[TunnelView], now_s: float) -> list[dict[str, Any]]:
    """Everything known, for scripts; unknown numbers are null."""
    return [
        {
            "node": view.node,
            "drone_id": view.drone_id,
            "key_age_s": key_age_s(view, now_s),
            "silent": is_silent(view, now_s),
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
