# SPDX-License-Identifier: Apache-2.0
"""What a campaign measured of each suite, as the table the policy's expert strategy looks things up in.

The file's format has its home in `pqc_mav_policy.strategies.expert.performance`.
"""

from pathlib import Path

import pandas as pd

from pqc_mav_bench import tidy
from pqc_mav_bench.errors import StoreError
from pqc_mav_policy.strategies.expert.performance import Performance, save

SCENARIO = "baseline"


def performance_rows(table: pd.DataFrame, source: str) -> list[Performance]:
    """One row per suite that passed in the scenario `baseline`: medians over its runs, of the handshake over those of
    its KEM and signature with whatever cipher, which make the same one.

    Handshake in ms, loss as a fraction, power in W and the handshake's energy in J. Power that a model computed from
    the load is left out: the strategy would take it for a measurement.
    """
    passed = table[(table["status"] == tidy.PASSED) & (table["scenario"] == SCENARIO)]
    pairs = passed.groupby(["crypto_identity.kem_algorithm", "crypto_identity.sig_algorithm"])
    of_pair = pairs["handshake.handshake_ms"].transform("median").fillna(passed["handshake.handshake_ms"])
    rows = []
    for suite, runs in passed.groupby("suite", sort=True):
        handshake_ms = _median(of_pair[runs.index])
        if handshake_ms is None:
            continue
        power_w = _median(runs.loc[runs["power_energy.measured"] == 1, "power_energy.power_mean_w"])
        rows.append(
            Performance(
                suite=str(suite),
                handshake_ms=round(handshake_ms, 3),
                power_w=None if power_w is None else round(power_w, 4),
                energy_j=None if power_w is None else round(power_w * handshake_ms / 1000, 5),
                loss=_median(runs["data_plane.loss_ratio"]),
                source=source,
                simulated=False,
            )
        )
    return rows


def write(folder: Path, output: Path) -> int:
    """Writes the table of the campaign in `folder` and returns how many suites it holds. Raises StoreError."""
    try:
        table = tidy.read(folder)
    except (OSError, ValueError) as error:
        raise StoreError(f"The campaign's table cannot be read: {error}.") from None
    rows = performance_rows(table, f"campaign {folder.resolve().name}")
    if not rows:
        raise StoreError(f"No suite of {folder} passed in the scenario '{SCENARIO}': there is nothing to look up.")
    try:
        save(output, rows)
    except OSError as error:
        raise StoreError(f"Cannot write {output}: {error.strerror}.") from None
    return len(rows)


def _median(values: pd.Series) -> float | None:
    known = values.dropna()
    return float(known.median()) if len(known) else None
