"""Items 166 to 169: KEM, signature and AEAD operations as the handshakes and packets of the campaign timed them."""

from __future__ import annotations

import math

import pandas as pd

from pqc_mav_bench.analysis.table import has
from pqc_mav_bench.report import palette, sentences
from pqc_mav_bench.report.blocks import MIXED, PUBLISHED, Block, Chart, Explanation, Section, Table
from pqc_mav_bench.report.charts import bars
from pqc_mav_bench.report.items.common import (
    aead_order,
    kem_order,
    medians,
    published_values,
    scenario_note,
    scenario_series,
    sig_order,
    with_values,
    without,
)
from pqc_mav_bench.report.items.reference import published_table
from pqc_mav_bench.report.numbers import count, duration, times
from pqc_mav_bench.report.report_input import ReportInput, published_source

_PI5 = "published, Raspberry Pi 5 (000)"


def _wide(c: ReportInput, key: str, order: list[str], columns: dict[str, str]) -> pd.DataFrame:
    """One row per algorithm, the medians of the main scenario under the given headings."""
    rows = with_values(c, next(iter(columns)))
    found = {heading: medians(rows, key, column) for column, heading in columns.items()}
    return pd.DataFrame(
        [[name, *(values.get(name, math.nan) for values in found.values())] for name in order],
        columns=[{"kem": "KEM", "sig": "Signature"}[key], *found],
    )


def item_166(c: ReportInput) -> Section:
    """KEM key generation by scenario."""
    title = "KEM key generation, nine KEMs by scenario"
    if not has(c.suites, "kem_keygen_ms"):
        return Section(166, title, [without(c, "key generation times", "no handshake reported its primitives")])
    order = [name for name in kem_order(c.suites) if name in medians(c.suites, "kem", "kem_keygen_ms")]
    series = scenario_series(c, "kem", order, "kem_keygen_ms")
    published = published_values("rpi5_kem_primitives_report", "algorithm", "keygen_ms")
    reference = [published.get(name, math.nan) for name in order]
    panel = bars.Panel(order, series, "Key generation (ms, log scale)", "ms", True, (_PI5, reference))
    base = medians(with_values(c, "kem_keygen_ms"), "kem", "kem_keygen_ms")
    ratios = {name: published[name] / base[name] for name in base if name in published and base[name] > 0}
    faster = [name for name, ratio in ratios.items() if ratio > 1]
    versus = (
        f"{len(faster)} of the {count(len(ratios), 'KEM')} that the documents time too generate keys faster here."
        if ratios
        else ""
    )
    frame = pd.DataFrame({"KEM": order} | {s.label: list(s.values) for s in series} | {_PI5: reference})
    explanation = Explanation(
        "Median time to generate an ephemeral KEM key pair inside the handshakes, per KEM and scenario.",
        "The axis is logarithmic: one step of the labelled grid is ten times. Diamonds are the published "
        "Raspberry Pi 5 "
        "figures; their machine differs, so compare the pattern rather than the height.",
        [sentences.fastest_slowest(base, "key generation"), versus],
        [
            "Key generation happens on the ground station for every handshake; the key pool can take it off the "
            "critical path."
        ],
    )
    chart = Chart(
        "keygen",
        title,
        f"Bars of key generation time for {count(len(order), 'KEM')}, logarithmic axis.",
        bars.grouped([panel], 420, tilt=32),
        MIXED if not c.is_published else PUBLISHED,
        [*c.sources, *published_source("rpi5_kem_primitives_report")],
        frame,
        explanation,
    )
    return Section(166, title, [chart, *scenario_note(c)])


def item_167(c: ReportInput) -> Section:
    """KEM medians and key sizes."""
    title = "KEM operations and public-key sizes"
    columns = {
        "kem_keygen_ms": "Keygen (ms)",
        "kem_encaps_ms": "Encaps (ms)",
        "kem_decaps_ms": "Decaps (ms)",
        "public_key_bytes": "Public key (B)",
        "ciphertext_bytes": "Ciphertext (B)",
    }
    blocks: list[Block] = []
    if has(c.suites, "kem_keygen_ms"):
        frame = _wide(c, "kem", kem_order(c.suites), columns).dropna(axis=1, how="all")
        sizes = medians(c.baseline, "kem", "public_key_bytes")
        explanation = Explanation(
            "Median times of the three KEM operations inside the handshakes of the main scenario, and what "
            "crosses the link.",
            "The ground station generates keys and decapsulates, the drone encapsulates.",
            [
                sentences.fastest_slowest(
                    medians(with_values(c, "kem_encaps_ms"), "kem", "kem_encaps_ms"), "encapsulation"
                ),
                sentences.extremes(sizes, "public key", "B", "smallest", "largest"),
            ],
            ["A large public key costs transfer time on a slow radio link even where the computation is fast."]
            if sizes
            else [],
        )
        blocks.append(Table("kem-operations", title, frame, c.origin(), c.sources, explanation))
    else:
        blocks.append(without(c, "KEM operation times", "no handshake reported its primitives"))
    blocks.append(
        published_table(
            "kem-published", "KEM operations, published (000 s.6, Raspberry Pi 5)", "rpi5_kem_primitives_report"
        )
    )
    return Section(167, title, blocks)


def item_168(c: ReportInput) -> Section:
    """Signatures, SPHINCS+ apart."""
    title = "Signing and verification, SPHINCS+ on its own scale"
    if not has(c.suites, "sig_sign_ms"):
        blocks: list[Block] = [without(c, "signature times", "no handshake reported its primitives")]
    else:
        order = [name for name in sig_order(c.suites) if name in medians(c.suites, "sig", "sig_sign_ms")]
        rows = with_values(c, "sig_sign_ms")
        sign, verify = medians(rows, "sig", "sig_sign_ms"), medians(rows, "sig", "sig_verify_ms")
        panels = []
        for names, axis in (
            ([n for n in order if not n.startswith("SPHINCS")], "Lattice signatures (ms)"),
            ([n for n in order if n.startswith("SPHINCS")], "SPHINCS+ (ms)"),
        ):
            if names:
                series = [
                    bars.Series("Sign", [sign.get(n, math.nan) for n in names], palette.light("blue")),
                    bars.Series("Verify", [verify.get(n, math.nan) for n in names], palette.light("orange"), "///"),
                ][: 2 if verify else 1]
                panels.append(bars.Panel(names, series, axis, "ms"))
        slow = {n: v for n, v in sign.items() if n.startswith("SPHINCS")}
        quick = {n: v for n, v in sign.items() if not n.startswith("SPHINCS")}
        compare = ""
        if slow and quick:
            compare = (
                f"Signing with the fastest SPHINCS+ variant ({duration(min(slow.values()))}) takes "
                f"{times(min(slow.values()) / max(quick.values()))} as long as with the slowest lattice signature "
                f"({duration(max(quick.values()))})."
            )
        frame = _wide(
            c,
            "sig",
            order,
            {"sig_sign_ms": "Sign (ms)", "sig_verify_ms": "Verify (ms)", "signature_bytes": "Signature (B)"},
        ).dropna(axis=1, how="all")
        explanation = Explanation(
            "Median time to sign and to verify the handshake, per signature algorithm, in the main scenario.",
            "Two scales: the right panel is for SPHINCS+ alone, whose bars would hide all others.",
            [sentences.fastest_slowest(sign, "signing time"), compare],
            ["The ground station signs, the drone verifies: the drone pays only the verification."],
        )
        chart = Chart(
            "signatures",
            title,
            "Bars of signing and verification time per signature algorithm in two panels.",
            bars.grouped(panels, 380, tilt=32, widths=[max(2, len(p.categories)) for p in panels]),
            c.origin(),
            c.sources,
            None,
            explanation,
        )
        blocks = [chart, Table("signature-sizes", "Signature times and sizes", frame, c.origin(), c.sources)]
    blocks.append(
        published_table(
            "sig-published", "Signatures, published (000 s.8, Raspberry Pi 5)", "rpi5_sig_primitives_report"
        )
    )
    return Section(168, title, blocks)


def _budget(seal_mean_us: float) -> str:
    """What the slowest cipher takes of every second of telemetry."""
    busy = 320 * seal_mean_us / 1e3
    text = f"At 320 packets a second the slowest spends {duration(busy)} of every second on encryption"
    return f"{text}; the choice of cipher does not limit telemetry." if busy < 50 else f"{text}."


def item_169(c: ReportInput) -> Section:
    """AEADs per packet."""
    title = "AEAD encryption and decryption per packet, relative to Ascon"
    published = published_table(
        "aead-published", "AEADs per packet, published (000 s.10, Raspberry Pi 5)", "rpi5_aead_per_packet_report"
    )
    if not has(c.suites, "seal_mean_us"):
        return Section(169, title, [without(c, "AEAD times", "the proxies counted no packet"), published])
    order = aead_order(c.suites)
    seal, opening = medians(c.baseline, "aead", "seal_mean_us"), medians(c.baseline, "aead", "open_mean_us")
    series = [
        bars.Series("Encrypt", [seal.get(n, math.nan) for n in order], palette.light("blue")),
        bars.Series("Decrypt", [opening.get(n, math.nan) for n in order], palette.light("orange"), "///"),
    ]
    ascon = seal.get("Ascon-128a", math.nan)
    frame = pd.DataFrame(
        {
            "AEAD": order,
            "Encrypt (µs)": series[0].values,
            "Decrypt (µs)": series[1].values,
            "Encrypt, relative to Ascon": [seal.get(n, math.nan) / ascon for n in order],
        }
    )
    fastest = min(seal, key=seal.__getitem__) if seal else ""
    agrees = (
        "As published, Ascon-128a is the fastest of the three."
        if fastest == "Ascon-128a"
        else f"Published, Ascon-128a is the fastest; here {fastest} is."
    )
    explanation = Explanation(
        "Median time of the tunnel's engine to seal and to open one packet of the workload, sampled while traffic ran.",
        "Only the cipher and its framing are timed, not the system calls that carry the packet.",
        [sentences.extremes(seal, "encryption time", "µs"), agrees if len(seal) == 3 else ""],
        [_budget(max(seal.values()))],
    )
    chart = Chart(
        "aead",
        title,
        "Bars of encryption and decryption time per packet for each cipher.",
        bars.grouped([bars.Panel(order, series, "Time per packet (µs)", "µs")], 340),
        c.origin(),
        c.sources,
        None,
        explanation,
    )
    return Section(169, title, [chart, Table("aead-relative", "AEAD times", frame, c.origin(), c.sources), published])
