# SPDX-License-Identifier: Apache-2.0
"""The documents' formulas with printed inputs, each expressed with the analysis function that the report uses too."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from pqc_mav_bench.analysis import change, energy, regression, rekey, reliability
from recomputed import printed_only
from recomputed.printed_only import weighted_mean

Inputs = Mapping[str, float]
Formula = Callable[[Inputs], float]


def _seconds(i: Inputs) -> float:
    """Handshake time in seconds, whichever unit the document prints."""
    return i["T_hs_s"] if "T_hs_s" in i else i["T_hs_ms"] / 1e3


def _phi(i: Inputs) -> float:
    return rekey.phi_percent(1e3 * _seconds(i), i["R_s"])


def _ratio(i: Inputs) -> float:
    return change.ratio(i["a"], i["b"])


def _delta(i: Inputs) -> float:
    return change.delta(i["a"], i["b"])


def _delta_percent(i: Inputs) -> float:
    return change.delta_percent(i["a"], i["b"])


def _product(i: Inputs) -> float:
    return math.prod(i.values())


def _total(i: Inputs) -> float:
    return sum(i.values())


def _rekeys_energy(i: Inputs) -> float:
    each = i["E_J"] if "E_J" in i else energy.energy_j(i["P_W"], _seconds(i))
    return i["n"] * each


def _difference_rate(i: Inputs) -> float:
    # 000 gives us/s, 001 ms/s; the smaller difference is the one of 001, and each formula row keeps its own unit.
    busy = printed_only.busy_us_per_s(i["d"], i["r"])
    return busy if i["d"] > 100 else busy / 1e3


def _blackout(i: Inputs) -> float:
    # III-E prints ML-KEM's handshake in ms and McEliece's in s.
    return printed_only.blackout_s(i["s"], i["h"] / 1e3 if i["h"] > 10 else i["h"])


def _trapezoid(i: Inputs) -> float:
    powers = [i["P0"], i["P1"], i["P2"]]
    return printed_only.trapezoid_j(powers, [n * i["dt"] for n in range(len(powers))])


def _energy_per_bit(i: Inputs) -> float:
    return printed_only.per_bit_nj(i["P_W"], i["thr"])


def _reward(i: Inputs) -> float:
    return printed_only.reward(i["S"], i["L"], i["P"], (i["w_sec"], i["w_lat"], i["w_pwr"]))


def _operations(i: Inputs) -> float:
    """KEM, SIG and AEAD (encrypt and decrypt at four sizes) operations of the primitive benchmark, plus suite runs."""
    return i["n"] * (9 * 3 + 8 * 3 + 3 * 2 * 4) + i.get("m", 0.0)


#: Ratios, by the names the check list gives them.
_RATIOS = (
    "energy ratio",
    "relative = enc/enc_Ascon",
    "keygen ratio",
    "median ratio HQC : ML-KEM",
    "median ratio McEliece : ML-KEM",
    "McEliece : ML-KEM, +XGBoost",
    "McEliece : ML-KEM, +TST",
    "ratio 13.3 % : 0.03 %",
    "ratio 13.3 % : 0.007 %",
    "handshake ratio",
    "public-key ratio",
    "McEliece-348864 : ML-KEM-1024",
    "mean L5 : mean L1",
    "relative encrypt ChaCha20",
    "relative encrypt Ascon",
    "RSS ratio lightweight : baseline",
    "RSS ratio transformer : baseline",
    "loss reduction baseline/transformer, ML-KEM family mean",
    "latency ratio of Table 5",
    "handshake spread",
    "SPHINCS+-256f : Falcon-512",
    "loss ratio heavy : light",
    "RTT ratio ML-768-AG-MD-65",
    "RTT ratio HQC-192-AG-MD-65",
)
_DELTAS = (
    "max difference",
    "delta = with - baseline",
    "delta = with - baseline (table inputs)",
    "CPU increase, percentage points",
    "temperature increase",
    "maximum AEAD difference (decrypt)",
    "peak CPU trimmed",
    "extra memory heavy - light",
    "heavy power penalty, 30-suite mean",
    "power spread max - min",
)
_DELTA_PERCENTS = (
    "delta_pct = 100*(with-baseline)/baseline",
    "delta_pct (table inputs)",
    "impact_pct = 100*(thr/thr_baseline - 1)",
    "power spread = 100*(max-min)/min",
    "power variance of Table 5",
    "MC-460-AG-MD-65 heavy vs baseline",
    "ML-768-AG-MD-65 heavy vs baseline",
)
_PRODUCTS = (
    "suites = KEMs*SIGs*AEADs at one level",
    "9 KEMs x 8 SIGs x 3 AEADs",
    "runs = suites*scenarios",
    "ideal packets",
    "n = KEM-SIG pairs*200",
    "lines per report = suites*metrics",
    "suite-mode combinations",
    "samples = rate*seconds",
)
_TOTALS = (
    "total suites",
    "succeeded + timed out",
    "KEM keygen + SIG sign of the failing suite",
    "sum of primitive medians",
    "tier = L + K + A",
    "n total",
    "suites at the level, by parameter set",
    "sum of # Suites",
    "header by the text: 1 + 5 + 8 + 8 + 1",
    "sum of suite counts",
    "L5 suites = MC-8192 + ML-1024 + HQC-256",
)

FORMULAS: dict[str, Formula] = {
    **dict.fromkeys(_RATIOS, _ratio),
    **dict.fromkeys(_DELTAS, _delta),
    **dict.fromkeys(_DELTA_PERCENTS, _delta_percent),
    **dict.fromkeys(_PRODUCTS, _product),
    **dict.fromkeys(_TOTALS, _total),
    "phi_pct = 100*T_hs/(R+T_hs)": _phi,
    "phi ratio McEliece-8192128 : ML-KEM-768": lambda i: change.ratio(
        rekey.phi_percent(i["a"], 60.0), rekey.phi_percent(i["b"], 60.0)
    ),
    "fraction_pct = 100*T_hs/R": lambda i: printed_only.interval_share_percent(1e3 * _seconds(i), i["R_s"]),
    "R - T_hs remaining telemetry per 60 s": lambda i: printed_only.remaining_ms(i["T_hs_ms"], i["R_s"]),
    "budget_J = P_avg*t_flight": lambda i: energy.energy_j(i["P_W"], i["t_s"]),
    "rekeys = t_flight/R": lambda i: rekey.rekeys(i["t_s"], i["R_s"]),
    "E_rekey = P_avg*T_hs": lambda i: energy.energy_j(i["P_W"], _seconds(i)),
    "E_total = rekeys*E_rekey": _rekeys_energy,
    "E_total = rekeys*E_rekey (with the printed rounded E_rekey)": _rekeys_energy,
    "E_total = rekeys*P_avg*T_hs": _rekeys_energy,
    "E_total ML-KEM": _rekeys_energy,
    "fraction_pct = 100*E_total/budget": lambda i: change.percent(i["E_J"], i["B_J"]),
    "fraction_pct": lambda i: change.percent(i["e"], i["b"]),
    "delta = ((t2-t1)+(t3-t4))/2": lambda i: printed_only.clock_offset(i["t1"], i["t2"], i["t3"], i["t4"]),
    "header bytes = 1+1+1+1+1+8+8+1": lambda i: printed_only.HEADER_BYTES,
    'struct.calcsize("!BBBBB8sQB")': lambda i: printed_only.HEADER_BYTES,
    "overhead = header + tag": lambda i: printed_only.overhead_bytes(int(i["t"])),
    "overhead_pct = 100*38/50": lambda i: change.percent(i["o"], i["m"]),
    "bandwidth = rate*packet": lambda i: printed_only.bandwidth_kbyte_s(i["r"], i["b"]),
    "nonce saving": lambda i: printed_only.bandwidth_kbyte_s(i["r"], i["b"]),
    "added time = enc*rate": lambda i: printed_only.busy_us_per_s(i["e_us"], i["r"]),
    "difference*rate": _difference_rate,
    "share of one second": lambda i: change.percent(i["d"], 1e3),
    'sum of "Suites Passed" over 3 scenarios': lambda i: 3 * i["a"],
    "minutes per scenario": lambda i: i["n"] * i["s"] / 60,
    "total minutes": lambda i: 3 * i["m"],
    "total hours": lambda i: i["m"] / 60,
    "message rate from packet count": lambda i: change.ratio(i["n"], i["t"]),
    "weighted mean over levels": lambda i: weighted_mean((i["a"], i["b"], i["c"]), (27, 18, 27)),
    "weighted mean over KEM families": lambda i: weighted_mean((i["a"], i["b"], i["c"]), (24, 24, 24)),
    "detection latency per window step, XGBoost 5 -> 3 s, so TST 400 ->": lambda i: (
        change.ratio(i["s5"], i["w5"]) * i["w"]
    ),
    "time to collect the window at 320 Hz": lambda i: change.ratio(i["w"], i["r"]),
    "E = sum (P_i+P_{i+1})/2*dt_i (trapezoidal)": _trapezoid,
    "distinct tier values over the 27 (level, KEM family, AEAD) triples": lambda i: printed_only.distinct_tiers(),
    "Ascon faster than AES-256-GCM, encrypt": lambda i: -change.delta_percent(i["a"], i["b"]),
    "packet interval": lambda i: printed_only.interval_ms(i["r"]),
    "share of packet interval": lambda i: change.percent(i["t"] / 1e3, i["i"]),
    "operations = n*(9*3 + 8*3 + 3*2*4)": _operations,
    "operations + 4,600 suite measurements": _operations,
    "T_bo = T_startup + T_hs": _blackout,
    "log10(T_hs) = -1.42 + 0.87*log10(pk) + 0.31*log10(sig)": lambda i: regression.PUBLISHED.predict(i["pk"], i["sig"]),
    "goodput_ratio_pct = 100*throughput/8": lambda i: reliability.goodput_percent(i["thr"]),
    "energy per bit of ML-KEM, best": _energy_per_bit,
    "orders of magnitude = log10(1637.2/4.22)": lambda i: printed_only.decades(i["a"], i["b"]),
    "offered packets = 8e6/(256*8)*45": lambda i: printed_only.packets_offered(i["r"], i["b"], i["t"]),
    # 100 (a - b) / a: the saving as a share of the worst policy.
    "power trimmed": lambda i: change.percent(i["a"] - i["b"], i["a"]),
    "energy_J = P_W*45": lambda i: energy.energy_j(i["P_W"], i["t"]),
    "R = w_sec*S - w_lat*L - w_pwr*P": _reward,
    "Wilson score interval, lower 95 %": lambda i: reliability.wilson_percent(int(i["k"]), int(i["n"]))[0],
    "Wilson score interval, upper 95 %": lambda i: reliability.wilson_percent(int(i["k"]), int(i["n"]))[1],
}

#: The document prints the multiplication itself, so its inputs are exact and their rounding excuses nothing.
PRINTED_ARITHMETIC = frozenset({"E_rekey = P_avg*T_hs", "E_total = rekeys*E_rekey (with the printed rounded E_rekey)"})

#: Named in a document without any number to hold it against.
NAMED_ONLY = frozenset({"Peukert equation with temperature compensation"})
