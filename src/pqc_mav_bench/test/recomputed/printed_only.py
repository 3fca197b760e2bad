# SPDX-License-Identifier: Apache-2.0
"""Formulas of the documents that no report uses: only their printed figures are checked with them."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from itertools import product

import numpy as np

from pqc_mav_bench.analysis.tier import AEAD_POINTS, FAMILY_POINTS, LEVEL_POINTS, tier

#: Layout of the protected header, authenticated as associated data.
HEADER_BYTES = struct.calcsize("!BBBBB8sQB")


def overhead_bytes(tag_bytes: int) -> int:
    """Bytes added to every packet: header and AEAD tag."""
    return HEADER_BYTES + tag_bytes


def bandwidth_kbyte_s(rate_hz: float, packet_bytes: float) -> float:
    """Bandwidth of a packet stream [kB/s, 1 kB = 1000 B]."""
    return rate_hz * packet_bytes / 1e3


def packets_offered(rate_bit_s: float, packet_bytes: float, seconds: float) -> float:
    """Packets of a constant-rate workload: bit rate over packet size, times its duration."""
    return rate_bit_s / (packet_bytes * 8) * seconds


def interval_ms(rate_hz: float) -> float:
    """Time between two packets of a stream [ms]."""
    return 1e3 / rate_hz


def busy_us_per_s(each_us: float, rate_hz: float) -> float:
    """Processing time per second of a stream whose packets take `each_us` [us/s]."""
    return each_us * rate_hz


def clock_offset(t1: float, t2: float, t3: float, t4: float) -> float:
    """Offset of the remote clock from four time stamps (local send, remote receive, remote send, local receive)."""
    return ((t2 - t1) + (t3 - t4)) / 2


def decades(value: float, base: float) -> float:
    """Orders of magnitude between two positive values: log10(value / base). Raises ValueError for others."""
    if value <= 0 or base <= 0:
        raise ValueError("orders of magnitude need positive values")
    return math.log10(value / base)


def trapezoid_j(power_w: Sequence[float], seconds: Sequence[float]) -> float:
    """Energy of power samples by the trapezoidal rule [J]. Raises ValueError for unequal lengths or time running
    back."""
    power, time = np.asarray(power_w, dtype=float), np.asarray(seconds, dtype=float)
    if power.shape != time.shape or (np.diff(time) < 0).any():
        raise ValueError("the trapezoidal rule needs one time per sample, in rising order")
    return float(np.sum((power[1:] + power[:-1]) / 2 * np.diff(time)))


def per_bit_nj(power_w: float, throughput_mbps: float) -> float:
    """Energy per bit carried [nJ/bit] at a power [W] and throughput [Mb/s]; raises ValueError for a throughput <= 0."""
    if throughput_mbps <= 0:
        raise ValueError("energy per bit needs a throughput > 0")
    return 1e3 * power_w / throughput_mbps


def interval_share_percent(handshake_ms: float, interval_s: float) -> float:
    """100 T / R [%]: what one published figure (0.84 %) uses in place of Phi. Raises ValueError for R <= 0."""
    if interval_s <= 0:
        raise ValueError("a share of the interval needs an interval > 0")
    return 0.1 * handshake_ms / interval_s


def remaining_ms(handshake_ms: float, interval_s: float) -> float:
    """Telemetry time left of an interval that contains its handshake, R - T [ms] (the published text's view)."""
    return 1e3 * interval_s - handshake_ms


def blackout_s(startup_s: float, handshake_s: float) -> float:
    """Interruption of a suite change that restarts the proxies, T_startup + T_hs [s] (published system)."""
    return startup_s + handshake_s


def distinct_tiers() -> int:
    """Different tiers among the 27 (level, family, AEAD) triples; a total order would need 27."""
    triples = product(LEVEL_POINTS, FAMILY_POINTS, AEAD_POINTS)
    return len({tier(*triple) for triple in triples})


def reward(security: float, latency: float, power: float, weights: tuple[float, float, float]) -> float:
    """The scalar reward of the 2025 paper (6.2): w_sec S - w_lat L - w_pwr P, all normalised to 0..1."""
    return weights[0] * security - weights[1] * latency - weights[2] * power


def weighted_mean(means: Sequence[float], counts: Sequence[float]) -> float:
    """Mean over groups from their means and sizes. Raises ValueError when the lengths differ or all sizes are zero."""
    if len(means) != len(counts) or not sum(counts):
        raise ValueError("a weighted mean needs as many sizes as means, and a positive total")
    return sum(mean * count for mean, count in zip(means, counts, strict=True)) / sum(counts)
