# SPDX-License-Identifier: Apache-2.0
"""Categories Q and R: the workload with its throughput and loss, and what validation found."""

from __future__ import annotations

from typing import ClassVar

from pqc_mav_bench.schema.field import Category, Side, metric

_CLEAN = "nothing is lost in a clean run"


class Workload(Category):
    """Q: what traffic was offered and what arrived. Rates are of UDP payload, without headers."""

    letter: ClassVar[str] = "Q"
    title: ClassVar[str] = "Workload"
    side: ClassVar[Side] = Side.BOTH

    workload: str | None = metric(
        "mavlink: telemetry and commands; bulk: constant rate of equal packets (October 2025)", side=Side.CONTROLLER
    )
    direction: str | None = metric("ways the traffic goes: up, down or both", side=Side.CONTROLLER)
    target_mbps: float | None = metric("bulk: rate asked for, per direction", "Mbit/s", Side.CONTROLLER)
    target_messages_per_s: float | None = metric(
        "mavlink: messages per second asked for, per direction", "1/s", Side.CONTROLLER
    )
    packet_bytes: int | None = metric("bulk: size of a packet", "B", Side.CONTROLLER)
    duration_s: float | None = metric("time between the first and the last packet sent", "s")
    sent_packets: int | None = metric("packets or messages sent, all directions", "count")
    received_packets: int | None = metric("different ones received", "count")
    lost_packets: int | None = metric("sent_packets - received_packets", "count", zero=_CLEAN)
    duplicate_packets: int | None = metric("received more than once", "count", zero=_CLEAN)
    reordered_packets: int | None = metric("received after a later one", "count", zero=_CLEAN)
    late_packets: int | None = metric(
        "left unsent because the generator fell behind", "count", zero="the generator kept its pace"
    )
    loss_ratio: float | None = metric("lost_packets / sent_packets", "1", zero=_CLEAN)
    loss_wilson_low: float | None = metric("lower end of the 95 % Wilson score interval of the loss", "1", zero=_CLEAN)
    loss_wilson_high: float | None = metric("upper end of the 95 % Wilson score interval of the loss", "1")
    sent_mbps: float | None = metric("rate sent", "Mbit/s")
    goodput_mbps: float | None = metric("rate of different packets received", "Mbit/s")
    goodput_ratio: float | None = metric("goodput_mbps / target_mbps", "1")
    scenario_load: str | None = metric("none, emulated (documented load) or detector", side=Side.CONTROLLER)
    scenario_load_memory_mib: float | None = metric(
        "memory that an emulated load was asked to hold", "MiB", Side.CONTROLLER, zero="the baseline scenario has none"
    )


class Validation(Category):
    """R: what the sanity checks of this run said; their sentences are in `findings` of the file."""

    letter: ClassVar[str] = "R"
    title: ClassVar[str] = "Validation"
    side: ClassVar[Side] = Side.CONTROLLER

    passed: bool | None = metric("no check failed")
    checks: int | None = metric("checks made", "count")
    errors: int | None = metric("findings that make the run unusable", "count", zero="a good run")
    warnings: int | None = metric("findings a reader should know", "count", zero="a good run")
    counters_balance: bool | None = metric("received = delivered + control + drops, at both ends")
    sides_agree: bool | None = metric("both ends report the same suite and epoch")
    mavlink_no_messages: bool | None = metric("no MAVLink message arrived", zero="a good run")
    mavlink_latency_invalid: bool | None = metric("latencies missing, negative or absurd", zero="a good run")
    data_plane_no_traffic: bool | None = metric("the tunnel delivered nothing", zero="a good run")
    handshake_timeout: bool | None = metric("the handshake ran into its limit", zero="a good run")
    handshake_auth_fail: bool | None = metric("the handshake failed to authenticate", zero="a good run")
