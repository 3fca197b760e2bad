# SPDX-License-Identifier: Apache-2.0
"""How campaigns are shown: the progress bar of a running one, tables of finished ones."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from pqc_mav_cli.console import console, note
from pqc_mav_cli.wording import short_code


def clock(seconds: float) -> str:
    """1:05:09, 5:09."""
    hours, rest = divmod(max(0, round(seconds)), 3600)
    minutes, seconds_left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds_left:02d}" if hours else f"{minutes}:{seconds_left:02d}"


@contextmanager
def progress(live: bool) -> Iterator[Callable[[Any], None]]:
    """A function that takes the campaign's feedback: a bar on a terminal, else a line on stderr per finished suite."""
    if not live:
        yield _lines()
        return
    bar = Progress(
        TextColumn("{task.fields[phase]:<10}"),
        TextColumn("{task.fields[suite]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[green]{task.fields[passed]} passed[/] [red]{task.fields[failed]} failed[/]"),
        TextColumn("{task.fields[left]} left"),
        console=console(),
        transient=True,
    )
    with bar:
        task = bar.add_task("campaign", total=None, phase="starting", suite="", passed=0, failed=0, left="?")

        def show(state: Any) -> None:
            bar.update(
                task, completed=state.done, total=state.total, phase=state.phase, suite=short_code(state.suite),
                passed=state.passed, failed=state.failed, left=clock(state.remaining_s),
            )  # fmt: skip

        yield show


def _lines() -> Callable[[Any], None]:
    shown = -1

    def show(state: Any) -> None:
        nonlocal shown
        if state.done != shown and state.phase == "save":
            shown = state.done
            note(
                f"{state.done}/{state.total}  {short_code(state.suite)}  {state.passed} passed, {state.failed} failed, "
                f"{clock(state.remaining_s)} left"
            )

    return show


def campaigns_table(manifests: Sequence[Mapping[str, Any]]) -> Table:
    """One row per campaign."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("campaign", "began", "runs", "passed", "failed", "state", "handshake median", "wall/data"):
        table.add_column(title, justify="right" if title in ("runs", "passed", "failed") else "left")
    for manifest in manifests:
        counts, summary = manifest.get("counts", {}), manifest.get("summary", {})
        median, ratio = summary.get("handshake_median_ms"), summary.get("wall_per_data")
        table.add_row(
            str(manifest.get("campaign_id", "?")),
            str(manifest.get("started_at", "?")),
            str(counts.get("total", "?")),
            str(counts.get("passed", "?")),
            str(counts.get("failed", "?")),
            "complete" if manifest.get("complete") else "interrupted",
            "" if median is None else f"{median:.2f} ms",
            "" if ratio is None else f"{ratio:.3f}",
        )
    return table


_COLUMNS = {
    "handshake.handshake_ms": "handshake ms",
    "rekey.phi_60s": "Phi(60 s)",
    "latency_jitter.rtt_p50_ms": "RTT p50 ms",
    "latency_jitter.rtt_p95_ms": "RTT p95 ms",
    "workload.loss_ratio": "loss",
    "workload.goodput_mbps": "goodput Mb/s",
    "system_drone.cpu_mean_percent": "CPU %",
    "system_drone.tunnel_cpu_percent": "tunnel CPU %",
    "power_energy.power_mean_w": "power W",
}


_POWER = "power_energy.power_mean_w"


def runs_table(table: Any) -> Table:
    """One row per run of the tidy table, fastest handshake first; columns without a value are left out."""
    from pqc_mav_bench.tidy import short_codes

    shown = {column: title for column, title in _COLUMNS.items() if table[column].notna().any()}
    if _POWER in shown and not (table["power_energy.measured"].fillna(0) == 1).all():
        shown[_POWER] = "modelled power W"
    view = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("suite", "scenario", "rep", "status"):
        view.add_column(title)
    for title in shown.values():
        view.add_column(title, justify="right")
    named = table.assign(suite=short_codes(table))
    for _, row in named.sort_values("handshake.handshake_ms").iterrows():
        values = ["" if row[column] != row[column] else f"{row[column]:.4g}" for column in shown]
        view.add_row(short_code(row["suite"]), row["scenario"], str(row["repetition"]), row["status"], *values)
    return view
