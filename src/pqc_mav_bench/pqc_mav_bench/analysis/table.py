# SPDX-License-Identifier: Apache-2.0
"""The tidy table the analysis works on: one row per scenario, suite and repetition, one column per quantity.

Units are in the names. A value that was not measured is NaN (or None), never zero. The functions of this package read
only the columns they name, so a table may lack the others.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

#: Who and what a row is about.
IDENTITY = ("scenario", "suite", "repetition", "passed", "kem", "sig", "aead", "kem_family", "sig_family", "nist_level")


@dataclass(frozen=True)
class Quantity:
    """Where a quantity comes from: the column of the tidy table (docs/metrics.md explains each; "": made from others),
    its heading in tables of the report ("": in none), and the factor of its unit.

    Each primitive is taken from the end that runs it.
    """

    tidy: str
    heading: str = ""
    factor: float = 1.0


#: Quantities of a row, by column.
QUANTITIES = {
    "public_key_bytes": Quantity("crypto_primitives.public_key_bytes", "Public key (B)"),
    "ciphertext_bytes": Quantity("crypto_primitives.ciphertext_bytes", "Ciphertext (B)"),
    "signature_bytes": Quantity("crypto_primitives.signature_bytes", "Signature (B)"),
    "handshake_bytes": Quantity("", "Handshake data (B)"),  # messages both ways, without fragment headers
    "handshake_ms": Quantity("handshake.handshake_ms", "Handshake (ms)"),
    "kem_keygen_ms": Quantity("crypto_primitives.gcs_kem_keygen_ms", "Keygen (ms)"),
    "kem_encaps_ms": Quantity("crypto_primitives.kem_encaps_ms", "Encaps (ms)"),
    "kem_decaps_ms": Quantity("crypto_primitives.gcs_kem_decaps_ms", "Decaps (ms)"),
    "sig_sign_ms": Quantity("crypto_primitives.gcs_sig_sign_ms", "Sign (ms)"),
    "sig_verify_ms": Quantity("crypto_primitives.sig_verify_ms", "Verify (ms)"),
    "primitives_ms": Quantity("crypto_primitives.primitives_ms", "Primitives (ms)"),
    "rekey_ms": Quantity("rekey.rekey_ms", "Rekey window (ms)"),
    "rekeys_ok": Quantity("rekey.rekeys_ok", "Rekeys OK"),
    "rekeys_failed": Quantity("rekey.rekeys_failed", "Rekeys failed"),
    "throughput_mbps": Quantity("workload.goodput_mbps", "Throughput (Mb/s)"),
    "goodput_mbps": Quantity("workload.goodput_mbps", "Goodput (Mb/s)"),
    "goodput_percent": Quantity("workload.goodput_ratio", "Goodput ratio (%)", 100.0),
    "sent_mbps": Quantity("workload.sent_mbps"),
    "sent_packets": Quantity("workload.sent_packets", "Packets sent"),
    "received_packets": Quantity("workload.received_packets", "Packets received"),
    "loss_percent": Quantity("workload.loss_ratio", "Loss (%)", 100.0),
    "seal_mean_us": Quantity("data_plane.seal_mean_ns", "", 1e-3),
    "open_mean_us": Quantity("data_plane.open_mean_ns", "", 1e-3),
    "rtt_mean_ms": Quantity("latency_jitter.rtt_mean_ms", "RTT mean (ms)"),
    "rtt_p50_ms": Quantity("latency_jitter.rtt_p50_ms", "RTT p50 (ms)"),
    "rtt_p95_ms": Quantity("latency_jitter.rtt_p95_ms", "RTT p95 (ms)"),
    "rtt_p99_ms": Quantity("latency_jitter.rtt_p99_ms"),
    "rtt_max_ms": Quantity("latency_jitter.rtt_max_ms", "RTT max (ms)"),
    "owd_down_p50_ms": Quantity("latency_jitter.owd_down_p50_ms"),
    "owd_up_p50_ms": Quantity("latency_jitter.owd_up_p50_ms"),
    "cpu_mean_percent": Quantity("system_drone.cpu_mean_percent", "Average CPU (%)"),
    "cpu_peak_percent": Quantity("system_drone.cpu_peak_percent", "Peak CPU (%)"),
    "tunnel_cpu_percent": Quantity("system_drone.tunnel_cpu_percent"),
    "bench_cpu_percent": Quantity("system_drone.bench_cpu_percent"),
    "detector_cpu_percent": Quantity("system_drone.load_cpu_percent"),
    "tunnel_rss_mib": Quantity("system_drone.tunnel_rss_mib", "RSS (MiB)"),
    "temperature_mean_c": Quantity("system_drone.temperature_mean_c", "Temperature (°C)"),
    "power_mean_w": Quantity("power_energy.power_mean_w", "Power (W)"),
    "power_peak_w": Quantity("power_energy.power_peak_w"),
    "energy_j": Quantity("power_energy.energy_j", "Energy (J)"),
    "energy_per_bit_nj": Quantity("power_energy.energy_per_bit_nj"),
    "wall_per_data": Quantity("lifecycle.wall_per_data"),
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
