# SPDX-License-Identifier: Apache-2.0
"""From a campaign's tidy table (`category.field` columns) to the columns of the analysis, with their units."""

import pandas as pd

from pqc_mav_bench.analysis.table import QUANTITIES, complete

#: analysis column -> (tidy column, factor of the unit).
NUMBERS: dict[str, tuple[str, float]] = {
    **{name: (each.tidy, each.factor) for name, each in QUANTITIES.items() if each.tidy},
    "nist_level": ("crypto_identity.kem_nist_level", 1.0),
    "power_measured": ("power_energy.measured", 1.0),
    "same_host": ("run_context.same_host", 1.0),
}

TEXTS: dict[str, str] = {
    "short_code": "crypto_identity.short_code",
    "kem": "crypto_identity.kem_algorithm",
    "sig": "crypto_identity.sig_algorithm",
    "aead": "crypto_identity.aead_algorithm",
    "kem_family": "crypto_identity.kem_family",
    "sig_family": "crypto_identity.sig_family",
    "power_source": "power_energy.power_source",
    "scenario_load": "workload.scenario_load",
    "workload": "workload.workload",
    "metrics_file": "metrics_file",
    "metrics_sha256": "metrics_sha256",
}

#: Spellings of one family in the registry and in the documents.
_FAMILY_NAMES = {"Classic McEliece": "Classic-McEliece"}


def from_tidy(tidy: pd.DataFrame) -> pd.DataFrame:
    """The tidy table of a campaign as the analysis reads it. Rows without a known suite identity are left out.

    Raises ValueError when a column the schema promises is absent, naming it.
    """
    wanted = [column for column, _ in NUMBERS.values()] + list(TEXTS.values())
    absent = sorted(set(wanted) - set(tidy.columns))
    if absent:
        raise ValueError(f"the tidy table lacks {absent[0]!r}; it was written by another version of the schema")
    columns: dict[str, object] = {name: tidy[column] * factor for name, (column, factor) in NUMBERS.items()}
    columns |= {name: tidy[column].fillna("") for name, column in TEXTS.items()}
    rows = tidy[["scenario", "suite", "repetition"]].assign(passed=tidy["status"] == "passed", **columns)
    rows["kem_family"] = rows["kem_family"].replace(_FAMILY_NAMES)
    # The documents name SPHINCS+ by its size and speed alone; all its variants here use SHA-2.
    rows["sig"] = rows["sig"].str.replace("-SHA2-", "-", regex=False)
    rows["kem"] = rows["kem"].str.replace("Classic McEliece", "Classic-McEliece", regex=False)
    rows["handshake_bytes"] = tidy["handshake.bytes_sent"] + tidy["handshake.bytes_received"]
    # The MAVLink workload has no target rate: what was sent is what was offered.
    own_share = 100.0 * rows["goodput_mbps"] / rows["sent_mbps"]
    rows["goodput_percent"] = rows["goodput_percent"].fillna(own_share)
    return complete(rows[rows["nist_level"].notna()].reset_index(drop=True))
