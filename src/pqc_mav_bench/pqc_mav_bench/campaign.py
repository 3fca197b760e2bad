# SPDX-License-Identifier: Apache-2.0
"""Runs a campaign: what the schedule says is next, is measured, saved, and only then confirmed.

Ends when nothing is pending, when it is stopped, or when going on makes no sense (disk full, the agent gone for good);
in each case everything measured is on disk and `resume` continues.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from pqc_mav_bench import handshake_table, repeated_runs, tidy
from pqc_mav_bench.errors import LEASE_S, AgentLostError, AgentTakenError, BenchError
from pqc_mav_bench.manifest import summary
from pqc_mav_bench.options import CampaignOptions
from pqc_mav_bench.sanity import why_again
from pqc_mav_bench.schedule import Action, Item, Schedule, State
from pqc_mav_bench.schema.run import RunMetrics, SchemaError
from pqc_mav_bench.store import CampaignStore, storage_error
from pqc_mav_bench.suite_session import SuiteSession

if TYPE_CHECKING:
    from pqc_mav_bench.controller_ends import RosGround

AGENT_BACK_S = 60.0
AGENT_POLL_S = 0.5
TAKEN_S = LEASE_S + 10.0  # a controller that was killed holds the agent for so long
AGENT_LOSSES = 3  # of one run; then it counts as failed, for it may be what kills the agent
CLOCK_SYNC, SAVE = "clock_sync", "save"


@dataclass(frozen=True)
class Progress:
    """Where a campaign is."""

    suite: str
    phase: str
    done: int
    total: int
    passed: int
    failed: int
    elapsed_s: float
    remaining_s: float


class Campaign:
    """One campaign in its folder; made for both `run` and `resume`, since the schedule says what is left."""

    def __init__(
        self,
        store: CampaignStore,
        options: CampaignOptions,
        schedule: Schedule,
        session: SuiteSession,
        ground: RosGround,
        on_progress: Callable[[Progress], None],
        log: Callable[[str], None],
        stop: threading.Event,
    ) -> None:
        self._store, self._options, self._schedule = store, options, schedule
        self._session, self._ground = session, ground
        self._on_progress, self._log, self._stop = on_progress, log, stop
        self._began = time.monotonic()
        self._measured = 0
        self._taken_since: float | None = None
        self._losses: dict[Item, int] = {}
        self._busy: dict[Item, int] = {}
        self._index = {item: index for index, item in enumerate(schedule.items)}

    def run(self) -> bool:
        """Runs to the end. True when nothing is pending any more. Raises BenchError; all that was measured is kept."""
        try:
            self._prepare()
            while not self._stop.is_set():
                decision = self._schedule.evaluate()
                if decision.action is Action.COMPLETE or decision.item is None:
                    break
                if decision.action is Action.HOLD:
                    self._log(f"{decision.item.name}: {decision.reason}")
                self._one(decision.item)
        except BaseException:
            try:  # so that there is a table of what was measured
                self._finish()
            except BenchError as error:  # a full disk must not hide the cause
                self._log(str(error))
            raise
        self._finish()
        return self._schedule.counts().pending == 0

    def _prepare(self) -> None:
        self._progress("", CLOCK_SYNC)
        self._wait_for_agent()
        environment = self._session.prepare()
        clock = self._session.synchronise()
        manifest = self._store.manifest()
        manifest["environment"] = environment
        manifest["clock_offset_ms"] = clock.offset_ns / 1e6
        self._store.save_manifest(manifest)
        self._store.save_state(self._schedule)

    def _one(self, item: Item) -> None:
        """Measures a run, saves it, then advances."""
        try:
            with self._ground.kept():
                run, aggregator = self._session.measure(
                    item,
                    self._index[item],
                    self._schedule.tries(item) + 1,
                    lambda name: self._progress(item.suite, name),
                )
        except AgentLostError as error:
            self._agent_lost(item, error)
            return
        except AgentTakenError as error:
            self._agent_taken(error)
            return
        self._taken_since = None
        if self._is_repeated(item, run):
            return
        self._progress(item.suite, SAVE)
        aggregator.save_suite_metrics(self._store, item)
        reason = run.lifecycle.failure_reason or ""
        self._advance(item, passed=bool(run.lifecycle.success), reason=reason)
        if self._schedule.state(item) is State.PENDING:
            repeated_runs.keep(self._store, item, run, f"It failed: {reason}")
        self._measured += 1

    def _is_repeated(self, item: Item, run: RunMetrics) -> bool:
        """Whether a good run is measured again because a machine, or the benchmark, was busy: each run's last attempt
        counts, with its finding, so that a campaign on a machine that stays busy ends."""
        if not run.lifecycle.success or not (why := why_again(run)):
            return False
        self._busy[item] = tries = self._busy.get(item, 0) + 1
        repeated = tries < self._options.attempts
        self._log(f"{item.name}: {why} {'It is measured again.' if repeated else 'The run is kept, and says so.'}")
        if repeated:
            repeated_runs.keep(self._store, item, run, why)
        return repeated

    def _advance(self, item: Item, *, passed: bool, reason: str) -> None:
        state = self._schedule.confirm_advance(item, passed=passed, reason=reason)
        self._store.save_state(self._schedule)
        if state is State.FAILED:
            self._log(f"{item.name} failed: {reason}")
        self._progress(item.suite, SAVE)

    def _agent_lost(self, item: Item, error: AgentLostError) -> None:
        """The run in hand is lost with the agent; it is measured again when the agent is back."""
        self._losses[item] = self._losses.get(item, 0) + 1
        self._log(f"{item.name}: {error} Waiting for the agent.")
        self._wait_for_agent()
        if self._losses[item] >= AGENT_LOSSES:
            reason = f"The agent was lost {AGENT_LOSSES} times during this run."
            while self._schedule.state(item) is State.PENDING:
                self._advance(item, passed=False, reason=reason)

    def _agent_taken(self, error: AgentTakenError) -> None:
        """Waits a little for the other controller to end. Raises what it was given after TAKEN_S of that."""
        if self._taken_since is None:
            self._taken_since = time.monotonic()
            self._log(f"{error} Waiting for up to {TAKEN_S:g} s.")
        if time.monotonic() - self._taken_since >= TAKEN_S:
            raise error
        self._stop.wait(AGENT_POLL_S)

    def _wait_for_agent(self) -> None:
        """Raises AgentLostError when it does not come (back)."""
        deadline = time.monotonic() + AGENT_BACK_S
        while not self._ground.ready():
            if time.monotonic() > deadline:
                raise AgentLostError(
                    f"The agent on the ground did not answer for {AGENT_BACK_S:g} s; start it and resume the campaign."
                )
            if self._stop.wait(AGENT_POLL_S):
                return

    def _progress(self, suite: str, phase: str) -> None:
        counts = self._schedule.counts()
        elapsed = time.monotonic() - self._began
        each = elapsed / self._measured if self._measured else 1.1 * self._options.duration_s + 1.0
        done = counts.completed + counts.failed
        self._on_progress(
            Progress(suite, phase, done, counts.total, counts.completed, counts.failed, elapsed, each * counts.pending)
        )

    def _finish(self) -> None:
        """Tidy table and manifest of what there is. Raises BenchError."""
        finish(self._store, self._schedule, time.monotonic() - self._began)


def finish(store: CampaignStore, schedule: Schedule, elapsed_s: float) -> None:
    """Writes the tables and completes the manifest. Raises StoreError."""
    runs: list[tuple[str, RunMetrics]] = []
    for item in schedule.items:
        if not store.metrics_path(item).is_file():
            continue
        try:
            runs.append((str(store.metrics_path(item).relative_to(store.folder)), store.load_run(item)))
        except (BenchError, SchemaError):
            continue  # `verify` names damaged files; the table holds what can be read
    table = tidy.frame(tidy.row(run, path) for path, run in runs)
    try:
        tidy.write(table, store.folder)
        handshake_table.write(handshake_table.frame(run for _, run in runs), store.folder)
    except OSError as error:
        raise storage_error(store.folder / "tidy.csv", error) from None
    manifest = store.manifest()
    manifest.update(closing(store, schedule, table, elapsed_s, manifest))
    store.save_manifest(manifest)


def closing(
    store: CampaignStore, schedule: Schedule, table: Any, elapsed_s: float, manifest: Mapping[str, Any]
) -> dict[str, Any]:
    """What the manifest says at the end: counts, failures, costs, and the hash of every file."""
    counts = schedule.counts()
    failures = [
        {"run": item.name, "reason": schedule.reason(item)}
        for item in schedule.items
        if schedule.state(item) is State.FAILED
    ]
    return {
        "ended_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "complete": counts.pending == 0,
        "counts": {
            "total": counts.total,
            "pending": counts.pending,
            "passed": counts.completed,
            "failed": counts.failed,
        },
        "failures": failures,
        "elapsed_s": float(manifest.get("elapsed_s", 0.0)) + elapsed_s,
        "summary": summary(table),
        "files": store.file_hashes(),
    }
