# SPDX-License-Identifier: Apache-2.0
"""Categories A to C: which run it was, which algorithms, and what its phases took."""

from __future__ import annotations

from typing import ClassVar

from pqc_mav_bench.schema.field import Category, Side, metric


class RunContext(Category):
    """A: what identifies a run and the machines it ran on."""

    letter: ClassVar[str] = "A"
    title: ClassVar[str] = "RunContext"
    side: ClassVar[Side] = Side.CONTROLLER

    campaign_id: str | None = metric("campaign this run belongs to")
    run_id: str | None = metric("this run: campaign, scenario, suite and repetition in one name")
    suite_id: str | None = metric("suite measured, e.g. cs-mlkem768-aesgcm-mldsa65")
    scenario: str | None = metric("load profile: baseline, xgboost or tst")
    repetition: int | None = metric("which measurement of this suite, from 1", "count")
    order_index: int | None = metric("position in the campaign's (randomised) order, from 0", "count", zero="the first")
    started_at: str | None = metric("start of the run, UTC, ISO 8601")
    rekey_interval_s: float | None = metric("rekey interval R for which Phi(R) is given", "s")
    run_duration_s: float | None = metric("data time asked for", "s")
    seed: int | None = metric("seed of the campaign's order", "", zero="a seed like any other")
    same_host: bool | None = metric("both ends ran on one machine, so they shared its processors")
    same_clock: bool | None = metric("both ends read the same monotonic clock")
    link: str | None = metric("the impaired link between the ends: delay each way, loss and rate")
    host: str | None = metric("name of the drone's machine", side=Side.DRONE)
    os: str | None = metric("operating system", side=Side.DRONE)
    kernel: str | None = metric("kernel release", side=Side.DRONE)
    machine: str | None = metric("processor architecture", side=Side.DRONE)
    cpu_model: str | None = metric("processor", side=Side.DRONE)
    cpu_count: int | None = metric("logical processors", "count", Side.DRONE)
    ram_mib: int | None = metric("main memory", "MiB", Side.DRONE)
    python_version: str | None = metric("Python of the nodes", side=Side.DRONE)
    engine_version: str | None = metric("tunnel engine", side=Side.DRONE)
    liboqs_version: str | None = metric("liboqs", side=Side.DRONE)
    openssl_version: str | None = metric("OpenSSL", side=Side.DRONE)
    gcs_host: str | None = metric("name of the ground machine", side=Side.GCS)
    gcs_os: str | None = metric("operating system", side=Side.GCS)
    gcs_kernel: str | None = metric("kernel release", side=Side.GCS)
    gcs_machine: str | None = metric("processor architecture", side=Side.GCS)
    gcs_cpu_model: str | None = metric("processor", side=Side.GCS)
    gcs_cpu_count: int | None = metric("logical processors", "count", Side.GCS)
    gcs_ram_mib: int | None = metric("main memory", "MiB", Side.GCS)
    gcs_python_version: str | None = metric("Python of the nodes", side=Side.GCS)
    gcs_engine_version: str | None = metric("tunnel engine", side=Side.GCS)
    gcs_liboqs_version: str | None = metric("liboqs", side=Side.GCS)
    gcs_openssl_version: str | None = metric("OpenSSL", side=Side.GCS)


class CryptoIdentity(Category):
    """B: the algorithms of the suite."""

    letter: ClassVar[str] = "B"
    title: ClassVar[str] = "CryptoIdentity"
    side: ClassVar[Side] = Side.CONTROLLER

    short_code: str | None = metric("the suite's short code, e.g. ML-768-AG-MD-65")
    kem_algorithm: str | None = metric("key encapsulation mechanism")
    kem_family: str | None = metric("its family: ML-KEM, HQC, Classic-McEliece, FrodoKEM")
    kem_nist_level: int | None = metric("NIST level of the KEM's parameter set (1, 3, 5)", "1")
    sig_algorithm: str | None = metric("signature algorithm of the ground station")
    sig_family: str | None = metric("its family: ML-DSA, Falcon, SPHINCS+")
    sig_nist_level: int | None = metric("NIST level of the signature's parameter set (1, 3, 5)", "1")
    aead_algorithm: str | None = metric("cipher of the packets")
    hybrid: bool | None = metric("X25519 combined with the KEM in this handshake", zero="the tunnel is configured pure")
    drone_signed: bool | None = metric(
        "the drone signed too", zero="the drone authenticates by its PSK unless told to sign"
    )


class Lifecycle(Category):
    """C: the phases of the run, on the controller's monotonic clock."""

    letter: ClassVar[str] = "C"
    title: ClassVar[str] = "Lifecycle"
    side: ClassVar[Side] = Side.CONTROLLER

    activate_s: float | None = metric("start of collectors and traffic, and the suite change", "s")
    renew_s: float | None = metric("renewals of the keys with the same suite, under traffic", "s")
    traffic_s: float | None = metric("data time achieved: traffic on the new suite", "s")
    collect_s: float | None = metric("stop of the traffic, draining, last counters, results of the ground", "s")
    total_s: float | None = metric("the whole run", "s")
    wall_per_data: float | None = metric("total_s / traffic_s: wall time per data time", "1")
    success: bool | None = metric("the suite was activated and its data collected")
    failure_phase: str | None = metric("phase in which the run failed")
    failure_reason: str | None = metric("why it failed, as one sentence")
