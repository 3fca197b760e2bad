# SPDX-License-Identifier: Apache-2.0
"""Categories L to P: the load of both machines, power, the network interface, the clocks."""

from __future__ import annotations

from typing import ClassVar

from pqc_mav_bench.schema.field import Category, Side, metric

_CLEAN = "none in a clean run"
_IDLE = "nothing of it in this run"


class SystemLoad(Category):
    """Load of one machine during the data time, sampled twice a second; the base of L and M."""

    letter: ClassVar[str] = ""
    title: ClassVar[str] = ""

    samples: int | None = metric("samples taken", "count")
    interval_s: float | None = metric("time between two samples", "s")
    cpu_mean_percent: float | None = metric("all cores together, mean", "%")
    cpu_peak_percent: float | None = metric("all cores together, largest sample", "%")
    cpu_min_percent: float | None = metric("all cores together, smallest sample", "%", zero=_IDLE)
    cpu_std_percent: float | None = metric("all cores together, standard deviation", "%", zero="all samples are equal")
    core_mean_percent: list[float] | None = metric("per core, mean", "%")
    tunnel_cpu_percent: float | None = metric("the proxy's processor time, as share of one core", "%")
    bench_cpu_percent: float | None = metric(
        "the benchmark's own processor time (controller or agent), as share of one core", "%"
    )
    workload_cpu_percent: float | None = metric("the traffic generator's processor time, as share of one core", "%")
    load_cpu_percent: float | None = metric(
        "processor time of the scenario's detector or of the load in its place, as share of one core",
        "%",
        zero="the baseline scenario has none",
    )
    load_rss_mib: float | None = metric(
        "resident memory of the scenario's detector or of the load in its place, largest sample", "MiB"
    )
    foreign_cpu_percent: float | None = metric(
        "all cores together, mean, less what the campaign's own processes took: what else the machine did",
        "%",
        zero=_IDLE,
    )
    tunnel_rss_mib: float | None = metric("resident memory of the proxy, largest sample", "MiB")
    memory_mean_mib: float | None = metric("main memory in use, mean", "MiB")
    memory_peak_mib: float | None = metric("main memory in use, largest sample", "MiB")
    temperature_mean_c: float | None = metric("processor temperature, mean", "Cel")
    temperature_peak_c: float | None = metric("processor temperature, largest sample", "Cel")
    load_1: float | None = metric("load average over a minute at the end", "1", zero=_IDLE)
    cpu_mhz: float | None = metric("clock of the cores, mean", "MHz")
    governor: str | None = metric("frequency governor of the first core")
    governor_pinned: bool | None = metric(
        "every core's governor was 'performance' for the time of the run, pinned by the benchmark if it was not",
        zero="not allowed, or the kernel shows no governor",
    )
    disk_read_bytes: int | None = metric("read from disks", "B", zero=_IDLE)
    disk_write_bytes: int | None = metric("written to disks", "B", zero=_IDLE)


class SystemDrone(SystemLoad):
    """L: load of the drone's computer."""

    letter: ClassVar[str] = "L"
    title: ClassVar[str] = "SystemDrone"


class SystemGcs(SystemLoad):
    """M: load of the ground's computer."""

    letter: ClassVar[str] = "M"
    title: ClassVar[str] = "SystemGCS"
    side: ClassVar[Side] = Side.GCS


class PowerEnergy(Category):
    """N: electrical power of the drone's computer during the data time, from the sensing node."""

    letter: ClassVar[str] = "N"
    title: ClassVar[str] = "PowerEnergy"

    power_source: str | None = metric("ina219, hwmon or model; model is computed from the load, not measured")
    measured: bool | None = metric("a sensor's reading", zero="the figures come from a model")
    duration_s: float | None = metric("time the figures cover", "s")
    power_mean_w: float | None = metric("mean power", "W")
    power_peak_w: float | None = metric("largest sample", "W")
    power_min_w: float | None = metric("smallest sample", "W")
    energy_j: float | None = metric("energy over duration_s, trapezoidal rule", "J")
    voltage_v: float | None = metric("mean bus voltage", "V")
    current_a: float | None = metric("mean current", "A")
    energy_per_bit_nj: float | None = metric(
        "energy_j per bit delivered to applications, both ends", "nJ/bit", Side.BOTH
    )
    samples: int | None = metric("sensor samples behind the figures", "count")
    rate_hz: float | None = metric("samples per second achieved", "Hz")
    duplicates: int | None = metric("reads that found no new conversion", "count", zero=_CLEAN)
    errors: int | None = metric("reads that failed", "count", zero=_CLEAN)


class NetworkInterface(Category):
    """O: counters of the network interface that carries the tunnel, over the whole run."""

    letter: ClassVar[str] = "O"
    title: ClassVar[str] = "NetworkInterface"

    interface: str | None = metric("name of the interface")
    rx_bytes: int | None = metric("received", "B")
    tx_bytes: int | None = metric("sent", "B")
    rx_packets: int | None = metric("received", "count")
    tx_packets: int | None = metric("sent", "count")
    errors: int | None = metric("receive and send errors", "count", zero=_CLEAN)
    drops: int | None = metric("packets dropped by the interface", "count", zero=_CLEAN)
    gcs_interface: str | None = metric("name of the interface", side=Side.GCS)
    gcs_rx_bytes: int | None = metric("received", "B", Side.GCS)
    gcs_tx_bytes: int | None = metric("sent", "B", Side.GCS)
    gcs_rx_packets: int | None = metric("received", "count", Side.GCS)
    gcs_tx_packets: int | None = metric("sent", "count", Side.GCS)
    gcs_errors: int | None = metric("receive and send errors", "count", Side.GCS, zero=_CLEAN)
    gcs_drops: int | None = metric("packets dropped by the interface", "count", Side.GCS, zero=_CLEAN)


class ClockSync(Category):
    """P: the exchange of time stamps before the run: delta = ((t2 - t1) + (t3 - t4)) / 2."""

    letter: ClassVar[str] = "P"
    title: ClassVar[str] = "ClockSync"
    side: ClassVar[Side] = Side.BOTH

    offset_ms: float | None = metric(
        "ground's monotonic clock minus the drone's, of the exchange with the shortest round trip",
        "ms",
        zero="one machine, one clock",
    )
    round_trip_ms: float | None = metric("round trip of that exchange; the offset is at most half of it wrong", "ms")
    exchanges: int | None = metric("exchanges made", "count")
    spread_ms: float | None = metric(
        "largest minus smallest offset of all exchanges", "ms", zero="every exchange gave the same offset"
    )
    wall_clock_difference_s: float | None = metric(
        "ground's wall clock minus the drone's", "s", zero="one machine, one clock"
    )
    agent_delay_ms: float | None = metric("start of the ground's collectors after the drone's", "ms")
