# SPDX-License-Identifier: Apache-2.0
"""Energy: of a flight, of its rekeys, per bit carried."""

from dataclasses import dataclass

import pandas as pd

from pqc_mav_bench.analysis import rekey
from pqc_mav_bench.analysis.change import percent
from pqc_mav_bench.analysis.table import has, rank

#: The published flight: 30 minutes, one rekey a minute ([rpi5-report] section 24).
PUBLISHED_FLIGHT_S = 1800.0
PUBLISHED_INTERVAL_S = 60.0
PER_BIT = "energy_per_bit_nj"


@dataclass(frozen=True)
class Budget:
    """Energy of one flight and of its rekeys."""

    flight_J: float  # noqa: N815 - the unit's own letter
    rekeys: float
    rekey_J: float  # noqa: N815
    rekeys_J: float  # noqa: N815
    share_percent: float


def energy_j(power_w: float, seconds: float) -> float:
    """Energy at constant power [J]."""
    return power_w * seconds


def rekey_budget(power_w: float, flight_s: float, interval_s: float, handshake_ms: float) -> Budget:
    """Energy of a flight at average power `power_w` and of rekeying every `interval_s` with that handshake."""
    flight = energy_j(power_w, flight_s)
    count = rekey.rekeys(flight_s, interval_s)
    each = energy_j(power_w, handshake_ms / 1e3)
    return Budget(flight, count, each, count * each, percent(count * each, flight))


def per_bit_ranking(
    table: pd.DataFrame, power: str = "power_mean_w", throughput: str = "throughput_mbps"
) -> pd.DataFrame:
    """Rows with power and throughput, with `energy_per_bit_nj` and `rank` (1 = least energy), best first.

    Published rows have no figure per bit of their own; their throughput is that of all traffic.
    """
    measured = table[(table[power] > 0) & (table[throughput] > 0)]
    if not has(measured, PER_BIT):
        measured = measured.assign(**{PER_BIT: 1e3 * measured[power] / measured[throughput]})
    return rank(measured, PER_BIT)
