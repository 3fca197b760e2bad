# SPDX-License-Identifier: Apache-2.0
"""Measures one run: suite change under traffic, data time, collection from both sides.

The suite changes live: traffic already runs when the drone's proxy is asked for new keys, so what a change costs is in
the figures. A run that fails comes back as a run too, with the phase and the reason in it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from pqc_mav_bench import metric_mapping
from pqc_mav_bench.aggregator import MetricsAggregator
from pqc_mav_bench.clock import ClockEstimate, between, estimate
from pqc_mav_bench.collectors.clock_id import machine_of
from pqc_mav_bench.collectors.environment import FIELDS, VERSIONS
from pqc_mav_bench.errors import AgentLostError, AgentTakenError, BenchError, StoppedError, SuiteFailedError
from pqc_mav_bench.options import CampaignOptions
from pqc_mav_bench.rekey_result import RekeyResult
from pqc_mav_bench.scenario import scenario_of
from pqc_mav_bench.scenario_load import EMULATED, NONE
from pqc_mav_bench.schedule import Item
from pqc_mav_bench.schema.run import RunMetrics
from pqc_mav_bench.workload.spec import EndSpec

if TYPE_CHECKING:  # they need ROS, and tests bring their own
    from pqc_mav_bench.controller_ends import RosDrone, RosGround

UP_LIMIT_S = 60.0
EXCHANGES = 8
ACTIVATE, RENEW, TRAFFIC, COLLECT = "activate", "renew", "traffic", "collect"
#: A run ends as failed when more of its renewals fail than this share of them, or one where there are few.
FAILING_SHARE = 0.1


@dataclass
class _Marks:
    """When the phases began (monotonic seconds); 0 = not reached."""

    start: float = 0.0
    renew: float = 0.0
    traffic: float = 0.0
    collect: float = 0.0
    end: float = 0.0

    def lifecycle(self) -> dict[str, Any]:
        """Fields of category C."""
        out: dict[str, Any] = {"total_s": self.end - self.start}
        if self.traffic:
            out["activate_s"] = (self.renew or self.traffic) - self.start
        if self.traffic and self.renew:
            out["renew_s"] = self.traffic - self.renew
        if self.collect:
            out["traffic_s"] = self.collect - self.traffic
            out["collect_s"] = self.end - self.collect
            out["wall_per_data"] = out["total_s"] / out["traffic_s"]
        return out


@dataclass
class Changes:
    """The changes of keys that a run asked for."""

    took_ms: list[float] = field(default_factory=list)  # of the good ones: request to switch
    failed: int = 0

    @property
    def asked(self) -> int:
        """All of them."""
        return len(self.took_ms) + self.failed

    def take(self, result: RekeyResult) -> str:
        """Counts one. Returns why it failed, "" when it did not."""
        if result.ok:
            self.took_ms.append(result.rekey_ms)
            return ""
        self.failed += 1
        return result.message or "The proxy refused the suite change."


class SuiteSession:
    """Both ends and what is the same for all runs of a campaign."""

    def __init__(
        self,
        drone: RosDrone,
        ground: RosGround,
        options: CampaignOptions,
        campaign_id: str,
        suite_info: Callable[[str], Mapping[str, Any]],
        stop: threading.Event,
    ) -> None:
        """`suite_info(id)`: the registry's entry. `stop`: set to end a run early, which raises StoppedError."""
        self._drone, self._ground, self._options = drone, ground, options
        self._campaign = campaign_id
        self._suite_info = suite_info
        self._stop = stop
        self._both: dict[str, Any] = {}
        self._shared_clock = False
        self._numbers = 0

    def prepare(self) -> dict[str, Any]:
        """Describes both sides, once. Returns fields of RunContext. Raises AgentLostError."""
        drone, ground = dict(self._drone.info()), dict(self._ground.info())
        clocks = drone.pop("clock_id"), ground.pop("clock_id")
        self._shared_clock = clocks[0] == clocks[1]
        if self._options.machine_name:
            for side in (drone, ground):
                side["host"] = self._options.machine_name
                side["kernel"] = str(side["kernel"]).partition("-")[0]  # what follows names the builder
        names = (*FIELDS, *VERSIONS)
        self._both = {name: drone[name] for name in names} | {f"gcs_{name}": ground[name] for name in names}
        self._both["same_host"] = machine_of(clocks[0]) == machine_of(clocks[1])
        self._both["same_clock"] = self._shared_clock
        return self._both

    def synchronise(self) -> ClockEstimate:
        """Several exchanges of time stamps. Raises AgentLostError."""
        return estimate(self._ground.exchange() for _ in range(EXCHANGES))

    def measure(
        self, item: Item, order_index: int, attempt: int, on_phase: Callable[[str], None]
    ) -> tuple[RunMetrics, MetricsAggregator]:
        """One run. Raises AgentLostError, AgentTakenError and StoppedError; every other failure is inside the run."""
        aggregator = MetricsAggregator()
        aggregator.start_suite(self._context(item, order_index), self._crypto(item.suite))
        marks = _Marks(start=time.monotonic())
        phase = ACTIVATE
        changes = Changes()
        gcs: dict[str, Any] | None = None

        def enter(name: str) -> None:
            nonlocal phase
            phase = name
            on_phase(name)

        try:
            enter(ACTIVATE)
            load = self._drone.set_load(item.scenario, emulate=self._options.emulate_detectors)
            memory = {EMULATED: scenario_of(item.scenario).memory_mib, NONE: 0.0}.get(load)
            aggregator.record_workload(self._options.workload, load, memory)
            clock, delay_ms = self._activate(item.suite, changes)
            if self._options.handshakes > 1:
                marks.renew = time.monotonic()
                enter(RENEW)
                self._renew(item.suite, changes)
            self._drone.begin_window()
            marks.traffic = time.monotonic()
            enter(TRAFFIC)
            if self._stop.wait(self._options.duration_s):
                raise StoppedError("The campaign was stopped.")
            marks.collect = time.monotonic()
            enter(COLLECT)
            drone, gcs = self._collect(item.suite, changes)
            if not self._shared_clock:
                clock = between(clock, self.synchronise(), (marks.traffic + marks.collect) / 2 * 1e9)
            wall = _wall_difference_s(drone, gcs, clock.offset_ns)
            aggregator.record_clock(clock, wall_difference_s=wall, agent_delay_ms=delay_ms)
            self._record_drone(aggregator, drone, item.suite, attempt)
            marks.end = time.monotonic()
            aggregator.record_lifecycle({**marks.lifecycle(), "success": True})
        except (AgentLostError, AgentTakenError, StoppedError):
            self._abort(item.suite)
            raise
        except BenchError as error:
            self._abort(item.suite)
            marks.end = time.monotonic()
            self._record_failure(aggregator, item.suite, attempt, error)
            where = error.phase if isinstance(error, SuiteFailedError) else phase
            failure = {"success": False, "failure_phase": where, "failure_reason": str(error)}
            aggregator.record_lifecycle({**marks.lifecycle(), **failure})
        aggregator.record_rekey(rekeys_ms=changes.took_ms, failed=changes.failed)
        return aggregator.finalize_suite(gcs, self._options.workload), aggregator

    # --- phases ---

    def _abort(self, suite: str) -> None:
        """Ends what runs at both ends: no later run may come to end it."""
        self._drone.abort()
        self._ground.abort(suite)

    def _activate(self, suite: str, changes: Changes) -> tuple[ClockEstimate, float]:
        """Traffic on, then the suite change. Returns the clocks' estimate and the agent's delay [ms]."""
        if not self._drone.wait_up(UP_LIMIT_S):
            raise SuiteFailedError(ACTIVATE, f"The tunnel had no session within {UP_LIMIT_S:g} s.")
        clock = self.synchronise()
        self._numbers = (self._numbers + 1) & 0xFFFFFFFF
        common = {
            "run": self._numbers,
            "shared_clock": self._shared_clock,
            "workload": self._options.workload.model_dump(mode="json"),
        }
        handshakes = self._options.handshakes
        self._drone.begin(suite, handshakes)
        began_ns = time.monotonic_ns()
        agent_ns = self._ground.start_suite(suite, handshakes)
        delay_ms = (agent_ns - clock.offset_ns - began_ns) / 1e6
        self._ground.start_traffic(common)
        address = self._drone.plain_address()
        self._drone.start_traffic(EndSpec.model_validate({**common, "side": "drone", "address": address}))
        if why := changes.take(self._drone.rekey(suite)):
            raise SuiteFailedError(ACTIVATE, why)
        return clock, delay_ms

    def _renew(self, suite: str, changes: Changes) -> None:
        """The rest of the handshakes: the keys are renewed in place, each renewal after the one before."""
        wanted = self._options.handshakes
        bearable = max(1, int(FAILING_SHARE * wanted))
        while len(changes.took_ms) < wanted:
            if self._stop.is_set():
                raise StoppedError("The campaign was stopped.")
            why = changes.take(self._drone.rekey(suite))
            if why and changes.failed > bearable:
                raise SuiteFailedError(
                    RENEW, f"{changes.failed} of {changes.asked} changes of keys failed, the last so: {why}"
                )

    def _collect(self, suite: str, changes: Changes) -> tuple[dict[str, Any], dict[str, Any]]:
        # Each end is told what the other sent, so that a slow machine's late packets are not taken for lost ones. The
        # vehicle goes on telling until it has heard everything, so the ground stops after it.
        sent_up = self._ground.quiet()
        self._drone.quiet()
        sent_down = self._drone.stop_traffic(sent_up)
        self._ground.stop_traffic(sent_down)
        pending = self._ground.begin_stop(suite)  # both sides wait for their last counters at the same time
        drone = self._drone.finish()
        gcs = self._ground.end_stop(pending)
        for end, side in (("drone", drone), ("ground", gcs)):
            if why := other_keys(suite, end, side, changes):
                raise SuiteFailedError(TRAFFIC, why)
        if not self._options.key_pool and (why := pooled_keys(suite, gcs)):
            raise SuiteFailedError(TRAFFIC, why)
        return drone, gcs

    def _record_drone(self, aggregator: MetricsAggregator, drone: Mapping[str, Any], suite: str, attempt: int) -> None:
        reports = metric_mapping.good(drone["handshakes"], suite)
        if reports:
            aggregator.record_handshakes(reports, attempt)
        aggregator.record_ratchets(drone["handshakes"])
        aggregator.record_data_plane(drone["counters"])
        aggregator.record_drone(drone)
        aggregator.record_power(self._drone.power())

    def _record_failure(self, aggregator: MetricsAggregator, suite: str, attempt: int, error: BenchError) -> None:
        """What is known of a failed run: above all its handshake."""
        report = metric_mapping.latest(self._drone.handshakes(), suite)
        if report is not None and aggregator.run.handshake.ok is None:
            aggregator.record_handshake(report, attempt)
        elif aggregator.run.handshake.ok is None:
            aggregator.run.handshake.ok = False
            aggregator.run.handshake.reason = str(error)

    # --- what a run is ---

    def _context(self, item: Item, order_index: int) -> dict[str, Any]:
        return {
            **self._both,
            "campaign_id": self._campaign,
            "run_id": f"{self._campaign}/{item.name}",
            "suite_id": item.suite,
            "scenario": item.scenario,
            "repetition": item.repetition,
            "order_index": order_index,
            "started_at": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            "rekey_interval_s": self._options.rekey_interval_s,
            "run_duration_s": self._options.duration_s,
            "seed": self._options.seed,
            "link": self._options.link or None,
        }

    def _crypto(self, suite: str) -> dict[str, Any]:
        info = self._suite_info(suite)
        return {
            "short_code": info["short_code"],
            "kem_algorithm": info["kem"],
            "kem_family": info["kem_family"],
            "kem_nist_level": info["level"],
            "sig_algorithm": info["sig"],
            "sig_family": info["sig_family"],
            "sig_nist_level": info["level"],
            "aead_algorithm": info["aead"],
        }


def other_keys(suite: str, end: str, side: Mapping[str, Any], changes: Changes) -> str:
    """Why an end's figures are not this suite's: "" when its keys changed as often as asked, to that suite, and stayed.

    An end may have finished a handshake that the other gave up: as many more as failed are no surprise.
    """
    keys = [(name, epoch) for name, epoch in side["keys"]]
    if not keys:
        return f"The {end}'s proxy reported no change to {suite}: it runs {side['suite']}, epoch {side['epoch']}."
    if side["suite"] != suite or any(name != suite for name, _ in keys) or keys[-1][1] != side["epoch"]:
        return _went(suite, end, keys)
    if len(changes.took_ms) == 1 and len(keys) == 1:
        return ""
    made = [each["epoch"] for each in metric_mapping.good(side["handshakes"], suite)]
    wanted = len(changes.took_ms)
    if {epoch for _, epoch in keys} <= set(made) and wanted <= len(made) <= wanted + changes.failed:
        return ""
    if wanted == 1:
        return _went(suite, end, keys)
    return (
        f"The {end}'s proxy made {len(made)} handshakes of the run's suite, {suite}, and {wanted} were asked for "
        f"(epochs of its keys: {', '.join(str(epoch) for _, epoch in keys)}). {_SOMETHING_ELSE}"
    )


def pooled_keys(suite: str, gcs: Mapping[str, Any]) -> str:
    """Why the ground's figures are not those of whole handshakes: "" when each of them made its key pair."""
    reports = metric_mapping.good(gcs["handshakes"], suite)
    count = sum(bool(each["keygen_pooled"]) for each in reports)
    if not count:
        return ""
    return (
        f"In {count} of {len(reports)} handshakes the ground's proxy took a key pair that it had made ahead of time, "
        "so they are without key generation. Start that proxy without its pool ('pqcmav up gcs --key-pool-depth 0'), "
        "or ask for --key-pool to measure it with the pool."
    )


_SOMETHING_ELSE = "Something else asks for keys, perhaps a policy or a rekey interval shorter than a run."


def _went(suite: str, end: str, keys: list[tuple[str, int]]) -> str:
    went = ", then ".join(f"{name} (epoch {epoch})" for name, epoch in keys)
    return f"The {end}'s proxy did not stay with the suite of the run, {suite}: it went to {went}. {_SOMETHING_ELSE}"


def _wall_difference_s(drone: Mapping[str, Any], gcs: Mapping[str, Any], offset_ns: float) -> float:
    """Ground's wall clock minus the drone's at one moment."""
    ahead = (gcs["wall_ns"] - gcs["monotonic_ns"]) - (drone["wall_ns"] - drone["monotonic_ns"]) + offset_ns
    return float(ahead / 1e9)
