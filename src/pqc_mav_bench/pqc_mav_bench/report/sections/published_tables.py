# SPDX-License-Identifier: Apache-2.0
"""Published tables with readable headings."""

from __future__ import annotations

import re
from functools import cache

import pandas as pd

from pqc_mav_bench.analysis.published import source
from pqc_mav_bench.report.blocks import PUBLISHED, Table
from pqc_mav_bench.report.report_input import published_source


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


#: Endings of column names and the unit they stand for.
_UNITS = _pairs(
    "_ms=ms _us=µs _s=s _pct=% _Mbps=Mb/s _W=W _J=J _nJ=nJ/bit _MiB=MiB _MB=MB _kB=kB _bytes=B _Hz=Hz _GHz=GHz "
    "_C=°C _V=V _min=min"
)
#: How readers write parts of column names.
_WORDS = _pairs(
    "kem=KEM sig=Signature aead=AEAD nist=NIST cpu=CPU rss=RSS rtt=RTT phi=Φ os=OS ip=IP ram=RAM avg=average "
    "n=n ddos=DDoS pqc=PQC mavlink=MAVLink rekeys=rekeys aesgcm=AES-256-GCM soc=SoC ascon=Ascon ok=OK"
)
#: Columns that only say how the document printed a name.
_HIDDEN = {"printed_as", "suite_token_printed_in_documents", "sig_suite_token", "short_code"}


def heading(column: str) -> str:
    """A column name as a table heading, its unit in brackets: 'handshake_min_ms' -> 'Handshake min (ms)'."""
    stem, unit = column, ""
    for ending in sorted(_UNITS, key=len, reverse=True):
        # 'handshake_min' is a minimum, 'flight_min' minutes.
        if column.endswith(ending) and not (ending == "_min" and not column.startswith("flight")):
            stem, unit = column.removesuffix(ending), _UNITS[ending]
            break
    stem = re.sub(r"R(\d+)s", r"R = \1 s", stem)
    words = [_WORDS.get(word, word) for word in stem.split("_")]
    text = " ".join(words)
    text = text[0].upper() + text[1:] if not text.startswith("Φ") else text
    return f"{text} ({unit})" if unit else text


@cache
def _codes() -> dict[str, str]:
    """Short code by the id of a published suite."""
    return {row["suite"]: row["short_code"] for row in source.text_rows("derived_short_codes_30")}


def published_frame(name: str) -> pd.DataFrame:
    """A published table as the report shows it: cells as printed, suites by short code, headings readable."""
    rows = pd.DataFrame(source.text_rows(name)).replace(_codes())
    kept = [column for column in rows.columns if column not in _HIDDEN]
    return rows[kept].rename(columns=heading)


_SE = "[endurance-paper] Table"
#: The published tables of the page: key -> (what, where in the documents, file).
_TABLES = {
    "kem-published": ("KEM operations", "[rpi5-report] section 6 (Raspberry Pi 5)", "rpi5_kem_primitives_report"),
    "sig-published": ("Signatures", "[rpi5-report] section 8 (Raspberry Pi 5)", "rpi5_sig_primitives_report"),
    "aead-published": ("AEADs per packet", "[rpi5-report] section 10 (Raspberry Pi 5)", "rpi5_aead_per_packet_report"),
    "by-level-published": ("By level", "[rpi5-report] section 12", "rpi5_handshake_by_level_report"),
    "by-family-published": ("By family", "[rpi5-report] section 12", "rpi5_handshake_by_family"),
    "pareto-published": ("Pareto table", "[rpi5-report] section 15", "rpi5_pareto_report"),
    "overhead-published": ("Detector overhead", "[rpi5-report] section 22", "rpi5_ddos_overhead_report"),
    "scenario-load-published": ("", "[rpi5-report] section 23", "rpi5_cross_scenario_report"),
    "cross-published": ("", "[rpi5-report] section 23", "rpi5_cross_scenario_report"),
    "energy-published": ("Energy budget", "[rpi5-report] section 24", "rpi5_energy_budget_report"),
    "phi-published": ("Φ(R)", "[pqcmav-paper] Table IX", "rpi5_rekey_overhead_paper"),
    "registry-published": ("Registry", "[pqcmav-paper] Table I", "rpi5_registry_paper"),
    "cascade": ("Policy cascade", "[pqcmav-paper] Table II", "rpi5_policy_cascade"),
    "testbed-published": ("Testbed", "[pqcmav-paper] Table III", "rpi5_hardware_testbed_paper"),
    "kem-paper": ("KEM operations", "[pqcmav-paper] Table IV", "rpi5_kem_primitives_paper"),
    "sig-paper": ("Signature operations", "[pqcmav-paper] Table V", "rpi5_sig_primitives_paper"),
    "aead-paper": ("AEAD operations", "[pqcmav-paper] Table VI", "rpi5_aead_primitives_paper"),
    "levels-published": ("Handshake by level", "[pqcmav-paper] Table VII", "rpi5_handshake_by_level_paper"),
    "fastest-published": ("Pareto-optimal suites", "[pqcmav-paper] Table VIII", "rpi5_pareto_paper"),
    "phi-paper": ("Rekey overhead", "[pqcmav-paper] Table IX", "rpi5_rekey_overhead_paper"),
    "steady-published": ("Steady state", "[pqcmav-paper] Table X", "rpi5_steady_state_paper"),
    "load-1-published": ("Posture", "[rpi4-analysis] Table 1", "rpi4_ddos_posture_summary"),
    "load-2-published": ("Level aggregate", "[rpi4-analysis] Table 2", "rpi4_nist_level_aggregate"),
    "load-3-published": ("Primitive breakdown", "[rpi4-analysis] Table 3", "rpi4_primitive_breakdown_baseline"),
    "load-4-published": ("Energy per bit", "[rpi4-analysis] Table 4", "rpi4_energy_per_bit_ranking"),
    "load-5-published": ("Resource use", "[rpi4-analysis] Table 5", "rpi4_resource_utilization_baseline"),
    "load-6-published": ("Loss and resilience", "[rpi4-analysis] Table 6", "rpi4_loss_resilience"),
    "load-7-published": ("Rekey statistics", "[rpi4-analysis] Table 7", "rpi4_rekey_statistics"),
    "load-8-published": ("Per-suite metrics", "[rpi4-analysis] Table 8", "rpi4_suites_all_modes"),
    "load-9-published": ("Complexity classes", "[rpi4-analysis] Table 9", "rpi4_complexity_class"),
    "composition-published": ("Example composition", f"{_SE} 1", "suite_short_code_examples"),
    "legend-published": ("Legend of short codes", f"{_SE} 2", "suite_short_code_legend"),
    "performance-baseline-published": ("Baseline performance", f"{_SE} 3", "rpi4_se_baseline_performance"),
    "level-ranges-published": ("Ranges by level", f"{_SE} 4", "rpi4_se_baseline_by_level"),
    "latency-power-published": ("Latency against power", f"{_SE} 5", "rpi4_se_latency_vs_power"),
    "bands-published": ("Power bands", f"{_SE} 6", "rpi4_se_power_bands_by_family"),
    "family-7-published": ("ML-KEM results", f"{_SE} 7", "rpi4_se_mlkem_results"),
    "performance-xgboost-published": ("Lightweight performance", f"{_SE} 8", "rpi4_se_lightweight_performance"),
    "performance-tst-published": ("Heavyweight performance", f"{_SE} 9", "rpi4_se_heavyweight_performance"),
    "scenario-power-published": ("Power in three scenarios", f"{_SE} 10", "rpi4_se_power_three_scenarios"),
    "scenario-resources-published": ("Resources", f"{_SE} 11", "rpi4_se_resource_by_scenario"),
    "family-12-published": ("Classic-McEliece results", f"{_SE} 12", "rpi4_se_mceliece_results"),
    "family-13-published": ("HQC results", f"{_SE} 13", "rpi4_se_hqc_results"),
    "best-worst-published": ("Worst and best", f"{_SE} 14", "rpi4_se_scheduler_best_worst"),
}


def published(key: str) -> Table:
    """A published table by its key on the page, folded, with its provenance."""
    return published_table(key, *_TABLES[key])


def published_table(key: str, what: str, where: str, name: str) -> Table:
    """The published table `name`, folded, with its provenance."""
    title = f"{what}, published, {where}" if what else f"Published, {where}"
    return Table(key, title, published_frame(name), PUBLISHED, published_source(name), folded=True)
