# SPDX-License-Identifier: Apache-2.0
"""Puts one run's measurements together, in the published order of calls:

    start_suite -> record_handshake -> record_crypto_primitives -> record_data_plane -> record_*
    -> finalize_suite -> save_suite_metrics

The merge only adds: a value that is there is never replaced by another, so the drone's and the ground's figures of
the same handshake stay side by side for an audit.
"""

from collections.abc import Mapping
from statistics import median
from typing import Any

from pqc_mav_bench import metric_mapping, sanity, status
from pqc_mav_bench.analysis.statistics import phi
from pqc_mav_bench.clock import ClockEstimate
from pqc_mav_bench.options import WorkloadOptions
from pqc_mav_bench.schedule import Item
from pqc_mav_bench.schema.field import Category
from pqc_mav_bench.schema.run import RunMetrics
from pqc_mav_bench.store import CampaignStore


class OverwriteError(Exception):
    """A merge would have replaced a value: an error of the program, never of the measurement."""


def put(category: Category, values: Mapping[str, Any]) -> None:
    """Adds values to a category; None says nothing. Raises OverwriteError where another value stands already."""
    for name, value in values.items():
        if value is None:
            continue
        present = getattr(category, name)
        if present is not None and present != value:
            raise OverwriteError(f"{name} is {present!r} already and would become {value!r}")
        setattr(category, name, value)


class MetricsAggregator:
    """One run at a time; `start_suite` forgets the one before."""

    def __init__(self) -> None:
        self.run = RunMetrics()
        self._drone: dict[str, Any] = {}
        self._clock_uncertainty_ms = 0.0

    def start_suite(self, context: Mapping[str, Any], crypto: Mapping[str, Any]) -> None:
        """A fresh run: nothing of the last one is left."""
        self.run, self._drone = RunMetrics(), {}
        put(self.run.run_context, context)
        put(self.run.crypto_identity, crypto)

    def record_handshakes(self, reports: list[dict[str, Any]], attempts: int = 1) -> None:
        """The drone's reports of the suite's good handshakes: medians, and each one's times."""
        typical = metric_mapping.typical(reports)
        self.record_handshake(typical, attempts)
        put(self.run.handshake, metric_mapping.handshake_figures(reports))
        self.record_crypto_primitives(typical)

    def record_handshake(self, report: Mapping[str, Any], attempts: int = 1) -> None:
        """The drone's report of a handshake that brought the suite up, or failed to."""
        put(self.run.handshake, metric_mapping.handshake_drone(report, attempts))
        put(self.run.crypto_identity, {"hybrid": report["hybrid"], "drone_signed": report["drone_signature_bytes"] > 0})

    def record_crypto_primitives(self, report: Mapping[str, Any]) -> None:
        """The drone's primitive times and sizes of a good handshake."""
        put(self.run.crypto_primitives, metric_mapping.primitives(report, "drone"))

    def record_rekey(self, *, rekeys_ms: list[float], failed: int) -> None:
        """The suite changes of the run: request to switch of each good one."""
        put(
            self.run.rekey,
            {
                "rekey_count": len(rekeys_ms) + failed,
                "rekeys_ok": len(rekeys_ms),
                "rekeys_failed": failed,
                "rekey_total_ms": sum(rekeys_ms),
                "rekey_mean_ms": sum(rekeys_ms) / len(rekeys_ms) if rekeys_ms else None,
                "rekey_ms": median(rekeys_ms) if rekeys_ms else None,
            },
        )

    def record_ratchets(self, reports: list[dict[str, Any]]) -> None:
        """How many changes of keys were none of the handshakes above."""
        count = sum(bool(report["ok"]) and not metric_mapping.is_full(report["kind"]) for report in reports)
        put(self.run.rekey, {"ratchets": count})

    def record_data_plane(self, counters: Mapping[str, Any]) -> None:
        """The drone's proxy counters over the run."""
        put(self.run.data_plane, metric_mapping.counters(counters))

    def record_drone(self, side: Mapping[str, Any]) -> None:
        """The rest of the drone's measurement: link, load, network, traffic."""
        self._drone = dict(side)
        put(self.run.latency_jitter, metric_mapping.link(side["link"]))
        put(self.run.system_drone, side["system"])
        put(self.run.network, side["network"])

    def record_power(self, values: Mapping[str, Any]) -> None:
        """Power during the data time; {} when there is none."""
        put(self.run.power_energy, values)

    def record_clock(
        self, clock: ClockEstimate, *, wall_difference_s: float | None, agent_delay_ms: float | None
    ) -> None:
        """The exchanges of time stamps before the run and, of two clocks, after it."""
        self._clock_uncertainty_ms = clock.uncertainty_ns / 1e6
        put(
            self.run.clock_sync,
            {
                "offset_ms": clock.offset_ns / 1e6,
                "round_trip_ms": clock.round_trip_ns / 1e6,
                "exchanges": clock.exchanges,
                "spread_ms": clock.spread_ns / 1e6,
                "wall_clock_difference_s": wall_difference_s,
                "agent_delay_ms": agent_delay_ms,
            },
        )

    def record_lifecycle(self, values: Mapping[str, Any]) -> None:
        """Times of the phases and how the run ended."""
        put(self.run.lifecycle, values)

    def record_workload(self, options: WorkloadOptions, scenario_load: str, memory_mib: float | None) -> None:
        """What traffic was asked for; the counts come with `finalize_suite`. No memory is asked of a detector: None."""
        put(
            self.run.workload,
            {"workload": options.kind, "scenario_load": scenario_load, "scenario_load_memory_mib": memory_mib},
        )

    def finalize_suite(self, gcs: Mapping[str, Any] | None, options: WorkloadOptions) -> RunMetrics:
        """Adds the ground's measurement (None: it is missing), computes what needs both sides, and judges the run."""
        if gcs is not None:
            self._merge(gcs, options)
        rates = [side.get("handed_bytes_per_s") for side in (self._drone, gcs or {})]
        self._handed_bytes_per_s = [rate for rate in rates if rate is not None]
        self._derive()
        sanity.apply(self.run)
        status.fill(self.run)
        return self.run

    def save_suite_metrics(self, store: CampaignStore, item: Item) -> str:
        """Signs and writes the run. Returns its SHA-256. Raises StoreError."""
        return store.save_run(item, self.run)

    def _merge(self, gcs: Mapping[str, Any], options: WorkloadOptions) -> None:
        run, drone = self.run, self._drone
        suite = run.run_context.suite_id or ""
        reports = metric_mapping.good(gcs["handshakes"], suite)
        if reports:
            typical = metric_mapping.typical(reports)
            put(run.handshake, metric_mapping.handshake_gcs(typical))
            put(run.handshake, {"gcs_samples_ms": metric_mapping.samples(reports, "gcs")})
            put(run.crypto_primitives, metric_mapping.primitives(typical, "gcs"))
        elif (failed := metric_mapping.latest(gcs["handshakes"], suite)) is not None:
            put(run.handshake, metric_mapping.handshake_gcs(failed))
        put(run.data_plane, metric_mapping.prefixed(metric_mapping.counters(gcs["counters"])))
        put(run.latency_jitter, metric_mapping.prefixed(metric_mapping.link(gcs["link"])))
        put(run.system_gcs, gcs["system"])
        put(run.network, metric_mapping.prefixed(gcs["network"]))
        if not drone:
            return
        shared = bool(run.run_context.same_clock)
        put(run.data_plane, {"loss_ratio": metric_mapping.data_plane_loss(drone["counters"], gcs["counters"])})
        blackout = sum(side["counters"]["plain_dropped_no_session"] for side in (drone, gcs))
        put(run.rekey, {"blackout_packets": blackout})
        put(run.validation, {"sides_agree": (drone["suite"], drone["epoch"]) == (gcs["suite"], gcs["epoch"])})
        if not options.generated:
            self._merge_counted(drone, gcs)
            return
        ours, theirs = drone["workload"], gcs["workload"]
        if not ours or not theirs:
            return
        offset_ms = run.clock_sync.offset_ms or 0.0
        uncertainty = 0.0 if shared else self._clock_uncertainty_ms
        put(
            run.latency_jitter,
            {**metric_mapping.latency(ours, theirs, offset_ms, shared), "owd_uncertainty_ms": uncertainty},
        )
        put(run.workload, metric_mapping.workload(options, ours, theirs))
        if options.kind == "mavlink":
            put(run.mavproxy_drone, metric_mapping.mavlink_drone(ours))
            put(run.mavproxy_gcs, metric_mapping.mavlink_gcs(theirs))
            put(run.mavlink_integrity, metric_mapping.integrity(ours, theirs))

    def _merge_counted(self, drone: Mapping[str, Any], gcs: Mapping[str, Any]) -> None:
        """Applications that only the proxies see."""
        run, found = self.run, metric_mapping.counted_integrity(drone, gcs)
        put(run.mavproxy_drone, {"simulated": False, **metric_mapping.counted_end(drone)})
        put(run.mavproxy_drone, {"sent_bytes": drone["counters"]["plain_rx_bytes"]})
        put(run.mavproxy_gcs, metric_mapping.counted_end(gcs))
        put(run.mavproxy_gcs, {"received_bytes": gcs["counters"]["plain_tx_bytes"]})
        put(run.mavlink_integrity, found)
        put(run.workload, metric_mapping.counted_workload(found, drone, gcs))

    def _derive(self) -> None:
        run = self.run
        total = run.handshake.handshake_ms
        if total is not None and run.handshake.ok:
            interval = run.run_context.rekey_interval_s
            put(run.rekey, {"phi": phi(total / 1e3, interval) if interval else None, "phi_60s": phi(total / 1e3, 60.0)})
        times = [
            value
            for name, value in run.crypto_primitives
            if name.endswith("_ms") and name != "primitives_ms" and value is not None
        ]
        put(run.crypto_primitives, {"primitives_ms": sum(times) if times else None})
        self._derive_foreign_load()
        power_w, ends = run.power_energy.power_mean_w, self._handed_bytes_per_s
        if power_w is not None and len(ends) == 2 and sum(ends):
            put(run.power_energy, {"energy_per_bit_nj": power_w * 1e9 / (8 * sum(ends))})

    def _derive_foreign_load(self) -> None:
        """What else each machine did: on one machine, both ends' processes are the campaign's own."""
        run = self.run
        sides = (run.system_drone, run.run_context.cpu_count), (run.system_gcs, run.run_context.gcs_cpu_count)
        own = [_own_percent(side) for side, _ in sides]
        if run.run_context.same_host:
            own = [None if None in own else sum(share or 0.0 for share in own)] * 2
        for (side, cores), share in zip(sides, own, strict=True):
            if side.cpu_mean_percent is not None and share is not None and cores:
                put(side, {"foreign_cpu_percent": max(0.0, side.cpu_mean_percent - share / cores)})


def _own_percent(side: Category) -> float | None:
    """Processor time of one end's processes as share of one core; None where its proxy's is not known."""
    if side.tunnel_cpu_percent is None:
        return None
    names = ("tunnel", "bench", "workload", "load")
    return sum(getattr(side, f"{name}_cpu_percent") or 0.0 for name in names)
