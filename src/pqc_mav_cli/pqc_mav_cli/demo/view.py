# SPDX-License-Identifier: Apache-2.0
"""How the demo looks: live on a terminal, as plain lines, and its summary. Pure: state in, renderables out."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.align import Align
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pqc_mav_cli.demo.result import Check, DemoResult, Direction
from pqc_mav_cli.demo.run import DRONE_PROXY, GCS_PROXY, DemoState
from pqc_mav_cli.status_view import duration, key_age_s, milliseconds, state_of
from pqc_mav_cli.wording import short_code

_STEP_WORDS = {"arm": "armed", "take off": "took off", "land": "told to land"}


def live(state: DemoState, now_s: float) -> RenderableType:
    """The whole live view."""
    left = Panel(_tunnel(state, now_s), title="tunnel", border_style="blue", padding=(0, 1))
    right = Panel(_vehicle(state), title="vehicle, as the ground sees it", border_style="blue", padding=(0, 1))
    return Panel(
        Group(_progress(state, now_s), Columns([left, right]), _traffic(state)),
        title="[bold]PQC-MAV demo[/bold]",
        border_style="bright_blue",
        box=box.ROUNDED,
    )


def _progress(state: DemoState, now_s: float) -> RenderableType:
    elapsed = state.elapsed_s(now_s)
    line = Table.grid(padding=(0, 1))
    line.add_row(
        Text(f"{state.phase:<22}", "bold"),
        ProgressBar(total=max(state.duration_s, 0.1), completed=elapsed, width=40),
        Text(f"{elapsed:4.0f} of {state.duration_s:g} s"),
    )
    return line


def _pairs(rows: list[tuple[str, RenderableType]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(min_width=30)
    for name, value in rows:
        grid.add_row(name, value)
    return grid


def _tunnel(state: DemoState, now_s: float) -> Table:
    drone, gcs = state.view(DRONE_PROXY), state.view(GCS_PROXY)
    made = state.handshake
    local = drone.links.get("local") if drone else None
    age = key_age_s(drone, now_s) if drone else None
    return _pairs(
        [
            ("drone", _state(drone)),
            ("ground", _state(gcs)),
            ("suite", short_code(drone.status.suite if drone else "") or "-"),
            ("handshake", f"{made.handshake_ms:.1f} ms{' with X25519' if made.hybrid else ''}" if made else "-"),
            ("key age", "-" if age is None else duration(age)),
            ("round trip", milliseconds(local.rtt_ms if local else None)),
        ]
    )


def _state(view: Any) -> Text:
    if view is None:
        return Text("starting", "dim")
    name = state_of(view)
    return Text(name, "bold green" if name == "UP" else "yellow")


def _vehicle(state: DemoState) -> Table:
    vehicle = state.ground.get("vehicle") or {}
    altitude = vehicle.get("relative_altitude_m")
    done = [words for step, words in _STEP_WORDS.items() if state.steps.get(step)]
    voltage = vehicle.get("battery_v")
    return _pairs(
        [
            ("mode", str(vehicle.get("mode") or "-")),
            ("state", Text("armed", "bold yellow") if vehicle.get("armed") else Text("disarmed")),
            ("landed", str(vehicle.get("landed") or "-").lower().replace("_", " ")),
            ("altitude", "-" if altitude is None else f"{altitude:.1f} m {'▁▂▃▄▅▆▇█'[_height(altitude)]}"),
            ("battery", "-" if voltage is None else f"{voltage:.2f} V, {vehicle.get('battery_percent')} %"),
            ("commands", ", ".join(done) or "-"),
        ]
    )


def _height(altitude_m: float) -> int:
    return max(0, min(7, int(altitude_m)))


def _traffic(state: DemoState) -> RenderableType:
    drone, gcs, ground = state.view(DRONE_PROXY), state.view(GCS_PROXY), state.ground
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("direction", min_width=16)
    for title in ("messages", "rate", "lost", "twice", "latency p50", "p99", "encrypted"):
        table.add_column(title, justify="right", min_width=9, no_wrap=True)
    latency = ground.get("downlink_latency") or {}
    rtt = ground.get("ping_rtt") or {}
    table.add_row(
        "drone to ground",
        f"{ground.get('received', 0):,}",
        f"{drone.stats.tx_packets_per_s:.0f}/s" if drone and drone.stats else "-",
        _bad_if(ground.get("lost", 0)),
        _bad_if(ground.get("duplicates", 0)),
        _us(latency.get("p50_us")),
        _us(latency.get("p99_us")),
        f"{drone.stats.tx_bytes_per_s * 8 / 1000:.0f} kb/s" if drone and drone.stats else "-",
    )
    table.add_row(
        "ground to drone",
        f"{ground.get('sent', 0):,}",
        f"{gcs.stats.tx_packets_per_s:.0f}/s" if gcs and gcs.stats else "-",
        "",
        "",
        *(f"{_us(rtt.get(key))} rtt" for key in ("p50_us", "p99_us")),
        f"{gcs.stats.tx_bytes_per_s * 8 / 1000:.0f} kb/s" if gcs and gcs.stats else "-",
    )
    return Align.left(table)


def _bad_if(count: int) -> Text:
    return Text(f"{count:,}", "bold red" if count else "green")


def _us(value: float | None) -> str:
    return "-" if value is None else f"{value / 1000:.2f} ms"


def plain_line(state: DemoState, now_s: float) -> str:
    """The state on one line, for output that is not a terminal."""
    drone, ground = state.view(DRONE_PROXY), state.ground
    vehicle = ground.get("vehicle") or {}
    parts = [
        f"{state.elapsed_s(now_s):5.1f} s",
        f"{state.phase:<20}",
        state_of(drone) if drone else "starting",
    ]
    if vehicle.get("heartbeats"):
        altitude = vehicle.get("relative_altitude_m")
        parts += [
            f"{vehicle['mode']}",
            "armed" if vehicle["armed"] else "disarmed",
            "-" if altitude is None else f"{altitude:.1f} m",
            f"down {ground['received']} lost {ground['lost']} twice {ground['duplicates']}",
            f"up {ground['sent']}",
        ]
    return "  ".join(parts)


def summary(result: DemoResult) -> RenderableType:
    """The figures and the verdict."""
    parts: list[RenderableType] = []
    if result.downlink is not None and result.uplink is not None:
        parts.append(_directions(result.downlink, result.uplink))
    if result.wire is not None and result.handshake is not None:
        wire, made = result.wire, result.handshake
        rtt = milliseconds(wire.rtt_ms)
        parts.append(
            Text(
                f"handshake {made.handshake_ms:.2f} ms (cryptography of both ends {made.primitives_ms:.2f} ms), "
                f"{made.bytes_sent + made.bytes_received:,} bytes\ntunnel round trip {rtt}, "
                f"{wire.overhead_per_packet:.1f} bytes added per packet"
            )
        )
    parts.append(Text(""))
    parts += verdict(
        result.checks(), result.error, result.passed, "real MAVLink crossed the post-quantum tunnel unharmed"
    )
    return Group(*parts)


def _directions(downlink: Direction, uplink: Direction) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("direction")
    for title in ("sent", "received", "lost", "twice", "reordered", "rate", "latency p50", "p95", "p99"):
        table.add_column(title, justify="right")
    for name, direction in (("drone to ground", downlink), ("ground to drone", uplink)):
        table.add_row(
            name,
            f"{direction.sent:,}",
            f"{direction.received:,}",
            _bad_if(direction.lost),
            _bad_if(direction.duplicates),
            f"{direction.reordered:,}",
            f"{direction.rate_hz:.0f}/s",
            *(_us(direction.latency_us.get(key)) for key in ("p50_us", "p95_us", "p99_us")),
        )
    return table


_MARKS = {True: Text("ok", "green"), False: Text("FAIL", "bold red"), None: Text("--", "yellow")}


def verdict(checks: Sequence[Check], error: str, passed: bool, proved: str) -> list[RenderableType]:
    """Every check on a line, what went wrong, and the last word: `proved` when all is well."""
    grid = Table.grid(padding=(0, 2))
    for check in checks:
        grid.add_row(_MARKS[check.ok], check.name, Text(check.text))
    last = Text(f"\nPASSED: {proved}.", "bold green") if passed else Text("\nFAILED", "bold red")
    return [grid, *([Text(error, "bold red")] if error else []), last]
