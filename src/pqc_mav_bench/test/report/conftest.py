# SPDX-License-Identifier: Apache-2.0
"""Campaigns the report tests read: the published one, and one made of rows of its own."""

import itertools

import numpy as np
import pandas as pd
import pytest

from pqc_mav_bench import handshake_table, tidy
from pqc_mav_bench.report.contents import sections
from pqc_mav_bench.report.page import render
from pqc_mav_bench.report.report_input import load, published_2025
from pqc_mav_bench.schema.run import RunMetrics

KEMS = {
    1: [("ML-KEM-512", 800, 0.1), ("HQC-128", 2249, 4.0)],
    3: [("ML-KEM-768", 1184, 0.2)],
    5: [("Classic-McEliece-8192128", 1357824, 300.0)],
}
SIGS = {
    1: [("Falcon-512", 655, 0.3), ("SPHINCS+-SHA2-128s", 7856, 180.0)],
    3: [("ML-DSA-65", 3309, 0.2)],
    5: [("ML-DSA-87", 4627, 0.3)],
}
AEADS = [("AES-256-GCM", "aesgcm", 300.0), ("Ascon-128a", "ascon128a", 800.0)]
SCENARIOS = {"baseline": 1.0, "tst": 1.5}

#: The 24 pairs of KEM and signature and the three ciphers of the core suites, with made times [ms].
CORE_KEMS = {
    1: [("ML-KEM-512", 800, 0.1), ("HQC-128", 2249, 4.0), ("Classic-McEliece-348864", 261120, 40.0)],
    3: [("ML-KEM-768", 1184, 0.2), ("HQC-192", 4522, 12.0), ("Classic-McEliece-460896", 524160, 120.0)],
    5: [("ML-KEM-1024", 1568, 0.3), ("HQC-256", 7245, 22.0), ("Classic-McEliece-8192128", 1357824, 300.0)],
}
CORE_SIGS = {
    1: [("ML-DSA-44", 2420, 0.2), ("Falcon-512", 655, 0.3), ("SPHINCS+-SHA2-128s", 7856, 180.0)],
    3: [("ML-DSA-65", 3309, 0.2), ("SPHINCS+-SHA2-192s", 16224, 330.0)],
    5: [("ML-DSA-87", 4627, 0.3), ("Falcon-1024", 1280, 0.6), ("SPHINCS+-SHA2-256s", 29792, 290.0)],
}
CORE_AEADS = [*AEADS, ("ChaCha20-Poly1305", "chacha20poly1305", 500.0)]
#: What each scenario of the made campaign with detectors does to handshakes; the first detector nothing that scatter
#: would not hide.
DETECTED = {"baseline": 1.0, "xgboost": 1.0, "tst": 1.3}
#: Processor time of the made detectors [% of one core].
DETECTOR_CPU = {"xgboost": 2.0, "tst": 25.0}


def family(name):
    return next(
        stem for stem in ("ML-KEM", "HQC", "Classic-McEliece", "ML-DSA", "Falcon", "SPHINCS+") if name.startswith(stem)
    )


def short_code(kem_name, token, sig_name):
    """As the registry makes them: ML-512-AG-MD-44."""
    stems = {"ML-KEM": "ML", "HQC": "HQC", "Classic-McEliece": "MC", "ML-DSA": "MD", "Falcon": "FA", "SPHINCS+": "SP"}
    kem, sig = (f"{stems[family(name)]}{name.removeprefix(family(name))}" for name in (kem_name, sig_name))
    return f"{kem.removesuffix('864')}-{ {'aesgcm': 'AG', 'chacha20poly1305': 'CP', 'ascon128a': 'AS'}[token] }-{sig}"


def made_run(scenario, level, kem, sig, aead, handshakes=30, factor=None):
    """A run whose figures follow from its algorithms; the second scenario takes half as long again, or each `factor`
    as long."""
    (kem_name, key_bytes, keygen), (sig_name, sig_bytes, sign), (aead_name, token, seal) = kem, sig, aead
    factor = SCENARIOS[scenario] if factor is None else factor
    run = RunMetrics()
    suite = f"cs-{kem_name.lower().replace('-', '')}-{token}-{sig_name.lower().replace('-', '').replace('+', '')}"
    context, crypto, times = run.run_context, run.crypto_identity, run.crypto_primitives
    context.suite_id, context.scenario, context.repetition = suite, scenario, 1
    context.host, context.cpu_model, context.cpu_count, context.same_host = "secret-host-name", "Test CPU <&>", 2, True
    crypto.kem_algorithm, crypto.kem_family, crypto.kem_nist_level = kem_name, family(kem_name), level
    crypto.short_code = short_code(kem_name, token, sig_name)
    crypto.sig_algorithm, crypto.sig_family, crypto.aead_algorithm = sig_name, family(sig_name), aead_name
    run.lifecycle.success, run.lifecycle.traffic_s, run.lifecycle.wall_per_data = True, 3.0, 1.1
    run.handshake.handshake_ms = factor * (2 + keygen + sign)
    # Symmetric around the median, a percent to each side.
    spread = [0.01 * (2 * i / (handshakes - 1) - 1) for i in range(handshakes)] if handshakes > 1 else [0.0]
    samples = [run.handshake.handshake_ms * (1 + each) for each in spread]
    run.handshake.handshakes, run.handshake.samples_ms = handshakes, {"handshake_ms": samples}
    times.gcs_kem_keygen_ms, times.kem_encaps_ms, times.gcs_kem_decaps_ms = factor * keygen, 0.1, 0.2
    times.gcs_sig_sign_ms, times.sig_verify_ms = factor * sign, 0.1
    times.primitives_ms = factor * (keygen + sign) + 0.4
    times.public_key_bytes, times.ciphertext_bytes, times.signature_bytes = key_bytes, 700, sig_bytes
    run.handshake.bytes_sent, run.handshake.bytes_received = 900 + key_bytes, 800 + sig_bytes
    run.rekey.rekeys_ok, run.rekey.rekeys_failed, run.rekey.rekey_ms = 1, 0, factor * (3 + keygen)
    run.data_plane.seal_mean_ns, run.data_plane.open_mean_ns = seal, seal + 10
    trips = run.latency_jitter
    trips.rtt_mean_ms, trips.rtt_p50_ms, trips.rtt_p95_ms, trips.rtt_max_ms = 0.4, 0.35, 0.8, 5.0
    run.system_drone.cpu_mean_percent, run.system_drone.cpu_peak_percent = 20 * factor, 40 * factor
    run.system_drone.tunnel_rss_mib = 80.0
    power = run.power_energy
    power.power_source, power.measured, power.power_mean_w, power.energy_j = "model", False, 4 * factor, 12 * factor
    load = run.workload
    load.workload, load.sent_packets, load.received_packets = "mavlink", 1000, 1000 if factor == 1 else 990
    load.loss_ratio, load.sent_mbps, load.goodput_mbps = 0.0 if factor == 1 else 0.01, 0.2, 0.2
    load.scenario_load = "none" if scenario == "baseline" else "emulated"
    return run


@pytest.fixture(scope="session")
def runs():
    """Every suite of the made registry in two scenarios."""
    return list(made_runs())


def made_runs(**options):
    for scenario, level in itertools.product(SCENARIOS, KEMS):
        for kem, sig, aead in itertools.product(KEMS[level], SIGS[level], AEADS):
            yield made_run(scenario, level, kem, sig, aead, **options)


def detector_runs():
    """A made campaign as the full one is recorded: 72 suites in three scenarios, with the detectors themselves. Every
    figure scatters by three per cent, seeded; nothing of it was measured."""
    dice = np.random.default_rng(20261123)
    for scenario, level in itertools.product(DETECTED, CORE_KEMS):
        for kem, sig, aead in itertools.product(CORE_KEMS[level], CORE_SIGS[level], CORE_AEADS):
            run = made_run(scenario, level, kem, sig, aead, factor=DETECTED[scenario] * float(dice.normal(1, 0.03)))
            run.handshake.gcs_samples_ms = {
                name: [value * each for each in dice.lognormal(0, 0.05, 30)]
                for name, value in (
                    ("kem_keygen_ms", run.crypto_primitives.gcs_kem_keygen_ms),
                    ("sig_sign_ms", run.crypto_primitives.gcs_sig_sign_ms),
                )
            }
            load = run.workload
            load.scenario_load = "none" if scenario == "baseline" else "detector"
            load.received_packets, load.loss_ratio = load.sent_packets, 0.0
            if scenario != "baseline":
                run.system_drone.load_cpu_percent = DETECTOR_CPU[scenario] * float(dice.normal(1, 0.03))
            yield run


@pytest.fixture(scope="session")
def with_detectors(tmp_path_factory):
    """The made campaign with detectors."""
    folder = tmp_path_factory.mktemp("detectors")
    write(folder, detector_runs())
    return load(folder)


@pytest.fixture(scope="session")
def detector_sections(with_detectors):
    """Every section of its report."""
    return sections(with_detectors)


@pytest.fixture(scope="session")
def detector_page(with_detectors, detector_sections):
    """Its page."""
    return render(with_detectors, detector_sections, "A report")


@pytest.fixture(scope="session")
def run_dir(tmp_path_factory, runs):
    """The folder of a finished campaign."""
    folder = tmp_path_factory.mktemp("campaign")
    write(folder, made_runs())
    return folder


def write(folder, made):
    """The tables of a finished campaign."""
    runs = list(made)
    names = [f"runs/{run.run_context.scenario}/{run.run_context.suite_id}/metrics.json" for run in runs]
    tidy.write(tidy.frame(map(tidy.row, runs, names)), folder)
    handshake_table.write(handshake_table.frame(runs), folder)


@pytest.fixture(scope="session")
def of_single_handshakes(tmp_path_factory):
    """A campaign with one handshake of each suite."""
    folder = tmp_path_factory.mktemp("single")
    write(folder, made_runs(handshakes=1))
    return load(folder)


@pytest.fixture(scope="session")
def with_links(tmp_path_factory):
    """A campaign with campaigns over two links beside it; over one of them a handshake takes longer."""
    root = tmp_path_factory.mktemp("results")
    for folder in ("mine", "campaign-links/lan", "campaign-links/radio-64k"):
        (root / folder).mkdir(parents=True)
        kept = [run for run in made_runs() if run.run_context.scenario == "baseline"]
        if folder.endswith("64k"):
            for run in kept:
                run.handshake.handshake_ms += 1000
                times = run.handshake.samples_ms["handshake_ms"]
                run.handshake.samples_ms = {"handshake_ms": [1000 + each for each in times]}
        for run, late in zip(kept, (7, *[0] * len(kept)), strict=False):
            for side in ("", "gcs_"):
                for name, value in (("late", late), ("skipped", late + 2), ("missing", 2), ("deepest", late)):
                    setattr(run.data_plane, f"{side}window_{name}", value)
                setattr(run.data_plane, f"{side}enc_rx_packets", 1000)
        write(root / folder, kept)
    return load(root / "mine")


@pytest.fixture(scope="session")
def campaign(run_dir):
    return load(run_dir)


@pytest.fixture(scope="session")
def paper():
    return published_2025()


@pytest.fixture
def values():
    return pd.DataFrame({"suite": ["a", "b"], "handshake_ms": [1.0, 4.0]})
