# SPDX-License-Identifier: Apache-2.0
"""The published campaigns in the form of the tidy table, so that everything that reads a campaign reads them too."""

import pandas as pd

from pqc_mav_bench.analysis.published.source import table
from pqc_mav_bench.analysis.reliability import TARGET_MBPS, goodput_percent
from pqc_mav_bench.analysis.table import complete

_SCENARIOS = {"Baseline": "baseline", "Lightweight": "xgboost", "Heavyweight": "tst"}
_MODE = {"baseline": "baseline", "xgboost": "lightweight", "tst": "transformer"}
_KEMS = {"mlkem": "ML-KEM-", "hqc": "HQC-", "classicmceliece": "Classic-McEliece-", "frodokem": "FrodoKEM-"}
_SIGS = {"mldsa": "ML-DSA", "falcon": "Falcon", "sphincs": "SPHINCS+"}
_AEADS = {"aesgcm": "AES-256-GCM", "chacha20poly1305": "ChaCha20-Poly1305", "ascon128a": "Ascon-128a"}

#: Column of a document's table -> column of the analysis.
_COLUMNS = {
    "power_avg_W": "power_mean_w",
    "energy_total_J": "energy_j",
    "rss_MiB": "tunnel_rss_mib",
    "cpu_avg_pct": "cpu_mean_percent",
    "cpu_max_pct": "cpu_peak_percent",
    "packets_sent": "sent_packets",
    "packets_received": "received_packets",
    "loss_pct": "loss_percent",
    "kem_decap_ms": "kem_decaps_ms",
    "primitives_total_ms": "primitives_ms",
}


def _kem_name(token: str) -> str:
    stem = next(stem for stem in _KEMS if token.startswith(stem))
    return _KEMS[stem] + token[len(stem) :].removesuffix("aes")


def _sig_name(token: str) -> str:
    stem = next(stem for stem in _SIGS if token.startswith(stem))
    return f"{_SIGS[stem]}-{token[len(stem) :].removesuffix('sha2')}"


def _identity() -> pd.DataFrame:
    """The 30 suites of 2025 with their algorithms, by suite id."""
    codes = table("derived_short_codes_30").rename(columns={"nist_level_by_parameter_set": "nist_level"})
    sig_family = [next(name for stem, name in _SIGS.items() if sig.startswith(stem)) for sig in codes["sig"]]
    return codes.assign(
        kem=codes["kem"].map(_kem_name),
        sig=codes["sig"].map(_sig_name),
        aead=codes["aead"].map(_AEADS),
        sig_family=sig_family,
    ).set_index("suite")


def pi4_2025() -> pd.DataFrame:
    """The 30-suite campaign of October 2025 on a Raspberry Pi 4: 90 rows, three scenarios.

    Handshakes are printed for Baseline ([rpi4-analysis] Table 8) and Lightweight ([rpi4-results] Table 8), primitives
    and mean round trips for Lightweight, RTT percentiles for Heavyweight; other cells are NaN. ML-512-AG-MD-44 carries
    521.9 ms in Baseline although [endurance-paper] and [rpi4-results] print 14.29 ms for it.
    """
    modes = table("rpi4_suites_all_modes").set_index("suite")
    power = table("rpi4_power_energy").rename(columns=_COLUMNS)
    load = table("rpi4_cpu_memory").rename(columns=_COLUMNS)
    packets = table("rpi4_packets_by_policy").rename(columns=_COLUMNS)
    rows = power.merge(load, on=["suite", "ddos_policy"]).merge(packets, on=["suite", "ddos_policy"])
    rows["scenario"] = rows["ddos_policy"].map(_SCENARIOS)
    rows["throughput_mbps"] = [modes.at[r.suite, f"throughput_{_MODE[r.scenario]}_Mbps"] for r in rows.itertuples()]
    rows["sent_mbps"] = TARGET_MBPS
    rows["goodput_percent"] = rows["throughput_mbps"].map(goodput_percent)
    rows["power_measured"], rows["power_source"], rows["scenario_load"] = True, "published", "published"
    rows["handshake_ms"] = float("nan")
    baseline, light, heavy = (rows["scenario"] == name for name in ("baseline", "xgboost", "tst"))
    rows.loc[baseline, "handshake_ms"] = rows.loc[baseline, "suite"].map(modes["handshake_baseline_ms"])
    gcs = table("rpi4_handshake_lightweight").set_index("suite")["handshake_gcs_ms"]
    rows.loc[light, "handshake_ms"] = rows.loc[light, "suite"].map(gcs)
    primitives = table("rpi4_primitives_lightweight").rename(columns=_COLUMNS).set_index("suite")
    for column in primitives.columns:
        rows.loc[light, column] = rows.loc[light, "suite"].map(primitives[column])
    network = table("rpi4_suites_lightweight_network").set_index("suite")
    rows.loc[light, "rtt_mean_ms"] = rows.loc[light, "suite"].map(network["rtt_avg_ms"])
    rows.loc[light, "goodput_mbps"] = rows.loc[light, "suite"].map(network["goodput_Mbps"])
    for column in ("rtt_p50_ms", "rtt_p95_ms", "rtt_max_ms"):
        rows.loc[heavy, column] = rows.loc[heavy, "suite"].map(table("rpi4_rtt_heavyweight").set_index("suite")[column])
    return complete(rows.drop(columns="ddos_policy").join(_identity(), on="suite"))


def pi5_summary(key: str) -> pd.DataFrame:
    """Handshake statistics of the 72-suite campaign of February 2026, by 'nist_level' or 'kem_family'.

    From [rpi5-report] section 12: columns n, mean_ms, median_ms, p95_ms, max_ms. The documents print no per-suite
    handshakes of this campaign.
    """
    name = {"nist_level": "rpi5_handshake_by_level_report", "kem_family": "rpi5_handshake_by_family"}[key]
    return table(name).rename(columns={"n_suites": "n"}).set_index(key)
