# SPDX-License-Identifier: Apache-2.0
"""What must hold between the values of one run: sums, ratios and intervals that follow from others."""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median

from pqc_mav_bench import sanity
from pqc_mav_bench.analysis.statistics import FEWEST_FOR_AN_INTERVAL, median_interval, phi, wilson
from pqc_mav_bench.metric_mapping import LIMITS_MS
from pqc_mav_bench.schema.run import RunMetrics, all_fields
from pqc_mav_common.delay_classes import within

TOLERANCE = 1e-6  # relative; values pass through JSON and float32 messages unchanged, sums do not quite
_UNEVEN = 0.1  # traffic of the data time against that of the whole run

Relation = Callable[[RunMetrics], Iterator[str]]


def close(a: float, b: float) -> bool:
    """Equal up to rounding."""
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-9)


def _expect(name: str, value: float | None, wanted: float | None) -> Iterator[str]:
    if value is not None and wanted is not None and not close(value, wanted):
        yield f"{name} is {value!r} but must be {wanted!r}"


def phi_of_handshake(run: RunMetrics) -> Iterator[str]:
    """Phi(R) = T_hs / (R + T_hs)."""
    total, interval = run.handshake.handshake_ms, run.run_context.rekey_interval_s
    if total is not None and run.handshake.ok:
        yield from _expect("rekey.phi", run.rekey.phi, phi(total / 1e3, interval) if interval else None)
        yield from _expect("rekey.phi_60s", run.rekey.phi_60s, phi(total / 1e3, 60.0))


def lifecycle_adds_up(run: RunMetrics) -> Iterator[str]:
    """The phases make up the whole."""
    life = run.lifecycle
    if life.activate_s is not None and life.traffic_s is not None and life.collect_s is not None:
        phases = life.activate_s + (life.renew_s or 0.0) + life.traffic_s + life.collect_s
        yield from _expect("lifecycle.total_s", life.total_s, phases)
    if life.total_s is not None and life.traffic_s:
        yield from _expect("lifecycle.wall_per_data", life.wall_per_data, life.total_s / life.traffic_s)


def rekeys_add_up(run: RunMetrics) -> Iterator[str]:
    """Counts and the mean of the suite changes."""
    rekey = run.rekey
    if rekey.rekeys_ok is not None and rekey.rekeys_failed is not None:
        yield from _expect("rekey.rekey_count", rekey.rekey_count, rekey.rekeys_ok + rekey.rekeys_failed)
    if rekey.rekeys_ok and rekey.rekey_total_ms is not None:
        yield from _expect("rekey.rekey_mean_ms", rekey.rekey_mean_ms, rekey.rekey_total_ms / rekey.rekeys_ok)


def primitives_add_up(run: RunMetrics) -> Iterator[str]:
    """The total is the sum of all primitives."""
    times = [
        value
        for name, value in run.crypto_primitives
        if name.endswith("_ms") and name != "primitives_ms" and value is not None
    ]
    if times:
        yield from _expect("crypto_primitives.primitives_ms", run.crypto_primitives.primitives_ms, sum(times))


def medians_are_of_the_samples(run: RunMetrics) -> Iterator[str]:
    """Each time of a handshake and of its primitives is the median of the single ones."""
    for prefix in ("", "gcs_"):
        samples = getattr(run.handshake, f"{prefix}samples_ms") or {}
        for name, values in samples.items():
            if run.handshake.handshakes is not None and prefix == "" and len(values) != run.handshake.handshakes:
                yield f"handshake.samples_ms has {len(values)} values of {name}, not {run.handshake.handshakes}"
            known = [value for value in values if value is not None]
            if name == "kem_keygen_ms" and run.crypto_primitives.gcs_keygen_pooled is None:
                continue  # recorded before it was said whether key pairs were made ahead
            if name != "kem_keygen_ms" and len(known) != len(values):
                yield f"handshake.{prefix}samples_ms has gaps among the values of {name}"
            for category in ("handshake", "crypto_primitives"):
                value = getattr(getattr(run, category), f"{prefix}{name}", None)
                if known:
                    yield from _expect(f"{category}.{prefix}{name}", value, median(known))
    times = [value for value in (run.handshake.samples_ms or {}).get("handshake_ms", []) if value is not None]
    if len(times) >= FEWEST_FOR_AN_INTERVAL:
        low, high = median_interval(times)
        yield from _expect("handshake.handshake_low_ms", run.handshake.handshake_low_ms, low)
        yield from _expect("handshake.handshake_high_ms", run.handshake.handshake_high_ms, high)


def pooled_key_pairs_are_counted(run: RunMetrics) -> Iterator[str]:
    """Key pairs that were made ahead have no time, and are as many as the run says."""
    primitives, samples = run.crypto_primitives, run.handshake.gcs_samples_ms
    count = primitives.gcs_pooled_handshakes
    if count is None or not samples:
        return
    every = len(samples["handshake_ms"])
    made = sum(value is not None for value in samples.get("kem_keygen_ms", []))
    yield from _expect("crypto_primitives.gcs_pooled_handshakes", count, every - made)
    yield from _expect("crypto_primitives.gcs_keygen_pooled", primitives.gcs_keygen_pooled, count > 0)
    if made == 0 and primitives.gcs_kem_keygen_ms is not None:
        yield "crypto_primitives.gcs_kem_keygen_ms has a value, but every key pair was made ahead of time"


def losses_add_up(run: RunMetrics) -> Iterator[str]:
    """Lost = sent - received, ratios and the Wilson interval follow from the counts."""
    work, mavlink = run.workload, run.mavlink_integrity
    sent, received, lost = work.sent_packets, work.received_packets, work.lost_packets
    if sent is not None and received is not None and lost is not None:
        yield from _expect("workload.lost_packets", lost, sent - received)
        if sent and 0 <= lost <= sent:
            low, high = wilson(lost, sent)
            yield from _expect("workload.loss_ratio", work.loss_ratio, lost / sent)
            yield from _expect("workload.loss_wilson_low", work.loss_wilson_low, low)
            yield from _expect("workload.loss_wilson_high", work.loss_wilson_high, high)
    if work.goodput_mbps is not None and work.target_mbps:
        yield from _expect("workload.goodput_ratio", work.goodput_ratio, work.goodput_mbps / work.target_mbps)
    for way in ("down", "up"):
        expected, got = getattr(mavlink, f"expected_{way}"), getattr(mavlink, f"received_{way}")
        if expected is not None and got is not None:
            yield from _expect(f"mavlink_integrity.lost_{way}", getattr(mavlink, f"lost_{way}"), expected - got)


def counters_add_up(run: RunMetrics) -> Iterator[str]:
    """Received = delivered + control + drops; what is delivered is handed on; bytes follow packets."""
    plane = run.data_plane
    for prefix in ("", "gcs_"):
        parts = [getattr(plane, f"{prefix}{name}") for name in ("delivered", "control", *sanity.DATA_DROPS)]
        if None not in parts:
            yield from _expect(
                f"data_plane.{prefix}enc_rx_packets", getattr(plane, f"{prefix}enc_rx_packets"), sum(parts)
            )
        packets, size = getattr(plane, f"{prefix}enc_tx_packets"), getattr(plane, f"{prefix}enc_tx_bytes")
        if packets is not None and size is not None and size < packets:
            yield f"data_plane.{prefix}enc_tx_bytes is {size}, less than one byte for each of {packets} packets"


def energy_is_power_times_time(run: RunMetrics) -> Iterator[str]:
    """E = P t; energy per bit is above that of all bits, which more time than that of E had; the mean lies between
    minimum and peak."""
    power, plane = run.power_energy, run.data_plane
    if power.power_mean_w is not None and power.duration_s is not None:
        yield from _expect("power_energy.energy_j", power.energy_j, power.power_mean_w * power.duration_s)
    if power.energy_j is not None and plane.plain_tx_bytes is not None and plane.gcs_plain_tx_bytes is not None:
        bits = 8 * (plane.plain_tx_bytes + plane.gcs_plain_tx_bytes)
        least = power.energy_j * 1e9 / bits if bits else 0.0
        if power.energy_per_bit_nj is not None and power.energy_per_bit_nj < (1 - _UNEVEN) * least:
            yield f"power_energy.energy_per_bit_nj is {power.energy_per_bit_nj:g}, and all bits give {least:g} already"


def percentiles_are_ordered(run: RunMetrics) -> Iterator[str]:
    """p50 <= p95 <= p99 <= max; averages between the extremes."""
    for name in ("rtt", "owd_down", "owd_up"):
        values = [getattr(run.latency_jitter, f"{name}_{part}_ms") for part in ("p50", "p95", "p99", "max")]
        known = [value for value in values if value is not None]
        if any(a > b * (1 + TOLERANCE) + 1e-9 for a, b in pairwise(known) if b >= 0):
            yield f"latency_jitter.{name}: percentiles are not in order ({', '.join(f'{v:g}' for v in known)} ms)"
    for side in ("system_drone", "system_gcs"):
        load = getattr(run, side)
        if (
            load.cpu_mean_percent is not None
            and load.cpu_peak_percent is not None
            and load.cpu_mean_percent > load.cpu_peak_percent + 1.0
        ):
            yield f"{side}.cpu_mean_percent is {load.cpu_mean_percent:g}, above its peak {load.cpu_peak_percent:g}"


def distributions_are_whole(run: RunMetrics) -> Iterator[str]:
    """The classes of a delay hold every one of them, and the shares within a limit follow from the classes."""
    latency = run.latency_jitter
    for name, limits in LIMITS_MS.items():
        classes = getattr(latency, f"{name}_classes")
        if classes is None:
            continue
        yield from _expect(f"latency_jitter.{name}_count", getattr(latency, f"{name}_count"), sum(classes.values()))
        for limit in limits:
            field = f"{name}_within_{limit}ms_ratio"
            yield from _expect(f"latency_jitter.{field}", getattr(latency, field), within(classes, limit))


def window_adds_up(run: RunMetrics) -> Iterator[str]:
    """What was overtaken came late or never; the deepest of the late ones has a class."""
    plane = run.data_plane
    for prefix in ("", "gcs_"):
        skipped, late = getattr(plane, f"{prefix}window_skipped"), getattr(plane, f"{prefix}window_late")
        if skipped is None or late is None:
            continue
        missing, deepest = getattr(plane, f"{prefix}window_missing"), getattr(plane, f"{prefix}window_deepest")
        yield from _expect(f"data_plane.{prefix}window_missing", missing, max(0, skipped - late))
        if (late == 0) != (deepest == 0):
            yield f"data_plane.{prefix}window_deepest is {deepest}, but {late} packets came late"


def window_classes_are_whole(run: RunMetrics) -> Iterator[str]:
    """The classes hold every late packet, and the deepest is the last of them."""
    for prefix in ("", "gcs_"):
        classes = getattr(run.data_plane, f"{prefix}window_classes")
        if classes is None:
            continue
        name = f"data_plane.{prefix}window_"
        yield from _expect(f"{name}late", getattr(run.data_plane, f"{prefix}window_late"), sum(classes.values()))
        deepest = max((int(places) for places, count in classes.items() if count), default=0)
        yield from _expect(f"{name}deepest", getattr(run.data_plane, f"{prefix}window_deepest"), deepest)


def missing_values_are_explained(run: RunMetrics) -> Iterator[str]:
    """Every null has a status."""
    for field in all_fields():
        if run.value(field.path) is None and field.path not in run.metric_status:
            yield f"{field.path} is null and metric_status does not say why"


def verdict_matches(run: RunMetrics) -> Iterator[str]:
    """The stored findings are what the checks find in the stored values."""
    again = sorted((finding.name, tuple(finding.fields)) for finding in sanity.check_again(run))
    stored = sorted((finding.name, tuple(finding.fields)) for finding in run.findings)
    if again != stored:
        missing = sorted({name for name, _ in set(again) - set(stored)}) or sorted(
            {name for name, _ in set(stored) - set(again)}
        )
        yield f"the stored findings are not what the checks find ({', '.join(missing)})"


RELATIONS: tuple[Relation, ...] = (
    phi_of_handshake,
    lifecycle_adds_up,
    rekeys_add_up,
    primitives_add_up,
    medians_are_of_the_samples,
    pooled_key_pairs_are_counted,
    losses_add_up,
    counters_add_up,
    window_adds_up,
    energy_is_power_times_time,
    percentiles_are_ordered,
    distributions_are_whole,
    window_classes_are_whole,
    missing_values_are_explained,
    verdict_matches,
)
#: Those that need no more than the values: they hold for a row of the table too.
_OF_FILES = (
    medians_are_of_the_samples,
    pooled_key_pairs_are_counted,
    distributions_are_whole,
    window_classes_are_whole,
    missing_values_are_explained,
    verdict_matches,
)
OF_VALUES = tuple(relation for relation in RELATIONS if relation not in _OF_FILES)
