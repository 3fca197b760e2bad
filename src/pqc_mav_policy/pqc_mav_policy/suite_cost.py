# SPDX-License-Identifier: Apache-2.0
"""What a handshake costs in computation, by KEM and by signature: the published medians on a Raspberry Pi 5.

Source: [rpi5-report] sections 6 and 8 (`rpi5_kem_primitives_report.csv`, `rpi5_sig_primitives_report.csv`): key
generation + encapsulation + decapsulation, and signing + verification, in ms. Algorithms those tables lack are marked.
The figures only order suites (see suite_order); they never replace a measurement of the machine at hand.
"""

KEM_WORK_MS = {
    "mlkem512": 0.66,
    "mlkem768": 0.75,
    "mlkem1024": 0.66,
    "hqc128": 53.09,
    "hqc192": 156.55,
    "hqc256": 283.08,
    "classicmceliece348864": 153.51,
    "classicmceliece460896": 239.24,
    "classicmceliece8192128": 521.08,
    # [rpi4-results] lightweight policy on a Raspberry Pi 4: key generation + decapsulation.
    "frodokem640aes": 5.34,
    "frodokem976aes": 6.90,
    # Not published: the 976's, scaled by the matrices' size (1344/976 squared).
    "frodokem1344aes": 13.1,
}
# Not published: the later edition of HQC over the one before, side by side (bench/results/engine.md, liboqs 0.16
# over 0.13): HQC-5 takes 1.26 times as long (95 % interval 1.15 to 1.34), the others are not told apart.
KEM_WORK_MS |= {
    "hqc1": KEM_WORK_MS["hqc128"],
    "hqc3": KEM_WORK_MS["hqc192"],
    "hqc5": 1.26 * KEM_WORK_MS["hqc256"],
}

SIG_WORK_MS = {
    "mldsa44": 1.30,
    "mldsa65": 1.62,
    "mldsa87": 2.55,
    "falcon512": 1.22,
    "falcon1024": 1.50,
    "sphincs128s": 643.81,
    "sphincs192s": 1344.74,
    "sphincs256s": 1140.12,
    # [rpi4-analysis] Raspberry Pi 4: signing with the fast variants; 192f, not published, is put between.
    "sphincs128fsha2": 68.8,
    "sphincs192fsha2": 82.0,
    "sphincs256fsha2": 96.0,
}
# SLH-DSA hashes as often as SPHINCS+ of the same parameters; neither published nor measured.
SIG_WORK_MS |= {
    token.replace("sphincs", "slhdsa").replace("sha2", ""): ms
    for token, ms in SIG_WORK_MS.items()
    if token.startswith("sphincs")
}


def work_ms(kem_token: str, sig_token: str) -> float:
    """Published computation of one handshake, both ends together [ms]. Raises KeyError for an unknown algorithm."""
    return KEM_WORK_MS[kem_token] + SIG_WORK_MS[sig_token]
