# SPDX-License-Identifier: Apache-2.0
"""From a campaign's tidy table (`category.field` columns) to the columns of the analysis, with their units."""

from __future__ import annotations

import pandas as pd

from pqc_mav_bench.analysis.table import complete

#: analysis column -> (tidy column, factor of the unit). Each primitive is taken from the end that runs it.
NUMBERS: dict[str, tuple[str, float]] = {
    "nist_level": ("crypto_identity.kem_nist_level", 1.0),
    "public_key_bytes": ("crypto_primitives.public_key_bytes", 1.0),
    "ciphertext_bytes": ("crypto_primitives.ciphertext_bytes", 1.0),
    "signature_bytes": ("crypto_primitives.signature_bytes", 1.0),
    "handshake_ms": ("handshake.handshake_ms", 1.0),
    "kem_keygen_ms": ("crypto_primitives.gcs_kem_keygen_ms", 1.0),
    "kem_encaps_ms": ("crypto_primitives.kem_encaps_ms", 1.0),
    "kem_decaps_ms": ("crypto_primitives.gcs_kem_decaps_ms", 1.0),
    "sig_sign_ms": ("crypto_primitives.gcs_sig_sign_ms", 1.0),
    "sig_verify_ms": ("crypto_primitives.sig_verify_ms", 1.0),
    "primitives_ms": ("crypto_primitives.primitives_ms", 1.0),
    "rekey_ms": ("rekey.rekey_ms", 1.0),
    "rekeys_ok": ("rekey.rekeys_ok", 1.0),
    "rekeys_failed": ("rekey.rekeys_failed", 1.0),
    "throughput_mbps": ("workload.goodput_mbps", 1.0),
    "goodput_mbps": ("workload.goodput_mbps", 1.0),
    "goodput_percent": ("workload.goodput_ratio", 100.0),
    "sent_mbps": ("workload.sent_mbps", 1.0),
    "sent_packets": ("workload.sent_packets", 1.0),
    "received_packets": ("workload.received_packets", 1.0),
    "loss_percent": ("workload.loss_ratio", 100.0),
    "seal_mean_us": ("data_plane.seal_mean_ns", 1e-3),
    "open_mean_us": ("data_plane.open_mean_ns", 1e-3),
    "rtt_mean_ms": ("latency_jitter.rtt_mean_ms", 1.0),
    "rtt_p50_ms": ("latency_jitter.rtt_p50_ms", 1.0),
    "rtt_p95_ms": ("latency_jitter.rtt_p95_ms", 1.0),
    "rtt_p99_ms": ("latency_jitter.rtt_p99_ms", 1.0),
    "rtt_max_ms": ("latency_jitter.rtt_max_ms", 1.0),
    "owd_down_p50_ms": ("latency_jitter.owd_down_p50_ms", 1.0),
    "owd_up_p50_ms": ("latency_jitter.owd_up_p50_ms", 1.0),
    "cpu_mean_percent": ("system_drone.cpu_mean_percent", 1.0),
    "cpu_peak_percent": ("system_drone.cpu_peak_percent", 1.0),
    "tunnel_cpu_percent": ("system_drone.tunnel_cpu_percent", 1.0),
    "bench_cpu_percent": ("system_drone.bench_cpu_percent", 1.0),
    "detector_cpu_percent": ("system_drone.load_cpu_percent", 1.0),
    "tunnel_rss_mib": ("system_drone.tunnel_rss_mib", 1.0),
    "temperature_mean_c": ("system_drone.temperature_mean_c", 1.0),
    "power_mean_w": ("power_energy.power_mean_w", 1.0),
    "power_peak_w": ("power_energy.power_peak_w", 1.0),
    "energy_j": ("power_energy.energy_j", 1.0),
    "wall_per_data": ("lifecycle.wall_per_data", 1.0),
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
