# SPDX-License-Identifier: Apache-2.0
"""The tidy table the analysis works on: one row per scenario, suite and repetition, one column per quantity.

Units are in the names. A value that was not measured is NaN (or None), never zero. The functions of this package read
only the columns they name, so a table may lack the others.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

#: Who and what a row is about.
IDENTITY = ("scenario", "suite", "repetition", "passed", "kem", "sig", "aead", "kem_family", "sig_family", "nist_level")

#: Quantities of a row: column -> what it is.
QUANTITIES = {
    "public_key_bytes": "size of the KEM public key",
    "ciphertext_bytes": "size of the KEM ciphertext",
    "signature_bytes": "size of the signature",
    "handshake_bytes": "handshake messages both ways, without fragment headers",
    "handshake_ms": "full handshake, connection to keys",
    "kem_keygen_ms": "KEM key generation inside the handshake",
    "kem_encaps_ms": "KEM encapsulation inside the handshake",
    "kem_decaps_ms": "KEM decapsulation inside the handshake",
    "sig_sign_ms": "signing inside the handshake",
    "sig_verify_ms": "signature verification inside the handshake",
    "primitives_ms": "sum of the primitives inside the handshake",
    "rekey_ms": "rekey under traffic, request to new keys",
    "rekeys_ok": "rekeys completed",
    "rekeys_failed": "rekeys failed",
    "throughput_mbps": "payload delivered per second",
    "goodput_mbps": "payload delivered and used per second",
    "goodput_percent": "payload delivered of that offered",
    "sent_mbps": "payload the workload offered per second",
    "sent_packets": "packets the workload sent",
    "received_packets": "packets delivered",
    "loss_percent": "packets lost",
    "seal_mean_us": "AEAD encryption of one packet",
    "open_mean_us": "AEAD decryption of one packet",
    "rtt_mean_ms": "round trip through the tunnel, mean",
    "rtt_p50_ms": "round trip, median",
    "rtt_p95_ms": "round trip, 95th percentile",
    "rtt_p99_ms": "round trip, 99th percentile",
    "rtt_max_ms": "round trip, longest",
    "owd_down_p50_ms": "one-way delay drone to ground, median",
    "owd_up_p50_ms": "one-way delay ground to drone, median",
    "cpu_mean_percent": "CPU use of the drone's machine, mean",
    "cpu_peak_percent": "CPU use of the drone's machine, highest sample",
    "tunnel_cpu_percent": "CPU use of the drone's proxy, of one core",
    "bench_cpu_percent": "CPU use of the benchmark on the drone's side, of one core",
    "detector_cpu_percent": "CPU use of the scenario's detector, or of the load in its place, of one core",
    "tunnel_rss_mib": "resident memory",
    "temperature_mean_c": "SoC temperature, mean",
    "power_mean_w": "electrical power of the drone's computer, mean",
    "power_peak_w": "electrical power, highest sample",
    "energy_j": "energy of the data session",
    "wall_per_data": "wall time of the run over its data time",
}

#: Order in which scenarios, families and levels appear everywhere.
SCENARIOS = ("baseline", "xgboost", "tst")
FAMILIES = ("ML-KEM", "HQC", "Classic-McEliece", "FrodoKEM")
LEVELS = (1, 3, 5)

SCENARIO_NAMES = {"baseline": "Baseline", "xgboost": "+ XGBoost", "tst": "+ TST"}


def ordered(present: Iterable[str], order: tuple[str, ...]) -> list[str]:
    """The members of `present`, known ones in `order`, others after them by name."""
    found = {str(item) for item in present}
    return [item for item in order if item in found] + sorted(found - set(order))


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """The table with every column of the contract, absent ones as NaN, and numbers as floats.

    Raises ValueError naming the identity columns that are missing: without them nothing can be grouped.
    """
    required = ("scenario", "suite", "kem_family", "nist_level")
    missing = [name for name in required if name not in table.columns]
    if missing:
        raise ValueError(f"the table lacks the column(s) {', '.join(missing)}, without which no row can be placed")
    added: dict[str, object] = {name: np.nan for name in QUANTITIES if name not in table.columns}
    defaults = {"repetition": 1, "passed": True, "kem": "", "sig": "", "aead": "", "sig_family": ""}
    added |= {name: value for name, value in defaults.items() if name not in table.columns}
    whole = table.assign(**added)
    numeric = {name: pd.to_numeric(whole[name], errors="coerce").astype(float) for name in QUANTITIES}
    return whole.assign(**numeric, nist_level=whole["nist_level"].astype(int), passed=whole["passed"].astype(bool))


def per_suite(table: pd.DataFrame) -> pd.DataFrame:
    """One row per scenario and suite: medians of the quantities over the repetitions that passed, with
    `repetitions`."""
    passed = table[table["passed"]]
    keys = ["scenario", "suite"]
    identity = [name for name in IDENTITY if name not in (*keys, "repetition", "passed")]
    how = dict.fromkeys(identity, "first") | {name: "median" for name in QUANTITIES if name in passed.columns}
    grouped = passed.groupby(keys, sort=False)
    return grouped.agg(how).assign(repetitions=grouped.size()).reset_index()


def scenario(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of one scenario."""
    return table[table["scenario"] == name].reset_index(drop=True)


def wide(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """One row per suite, one column per scenario, cells the median of `column`; scenarios in the usual order."""
    pivot = table.pivot_table(index="suite", columns="scenario", values=column, aggfunc="median", sort=False)
    return pivot[ordered(pivot.columns, SCENARIOS)]


def rank(table: pd.DataFrame, column: str, ascending: bool = True) -> pd.DataFrame:
    """Rows with a finite `column`, sorted by it, with a 1-based column `rank`; equal values keep the table's order."""
    kept = table[np.isfinite(pd.to_numeric(table[column], errors="coerce"))]
    ordered = kept.sort_values(column, ascending=ascending, kind="stable").reset_index(drop=True)
    return ordered.assign(rank=np.arange(1, len(ordered) + 1))


def has(table: pd.DataFrame, *columns: str) -> bool:
    """Whether every column exists and holds at least one finite number."""
    return all(name in table.columns and bool(np.isfinite(table[name].astype(float)).any()) for name in columns)
