# SPDX-License-Identifier: Apache-2.0
"""Load of the machine and of our processes, twice a second during the data time.

Reading and judging are apart: `read_sample` looks at the machine, `summarise` is arithmetic over samples. Means come
from the first and the last sample exactly; peaks and spread from the steps between.
"""

import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil

from pqc_mav_bench.collectors.governor import FOLDER, governor

INTERVAL_S = 0.5
SHORTEST_STEP_S = 0.2  # shorter steps, as at the end of the window, would make peaks of rounding
_MIB = 1 << 20
_THERMAL = Path("/sys/class/thermal")


@dataclass(frozen=True)
class Sample:
    """State of the machine at one moment; counters since boot or process start."""

    at_s: float
    busy_s: tuple[float, ...]  # per core
    memory_mib: float
    temperature_c: float | None = None
    cpu_mhz: float | None = None
    read_bytes: int = 0
    write_bytes: int = 0
    process_s: Mapping[str, float] = field(default_factory=dict)  # processor time by role
    rss_mib: Mapping[str, float] = field(default_factory=dict)


def temperature_c(folder: Path = _THERMAL) -> float | None:
    """The hottest zone of the processor, or of any kind when none says it is the processor's; None without zones."""
    zones: list[tuple[bool, float]] = []
    for zone in sorted(folder.glob("thermal_zone*")):
        try:
            kind = (zone / "type").read_text().strip().lower()
            value = int((zone / "temp").read_text()) / 1000.0
        except (OSError, ValueError):
            continue
        zones.append((any(word in kind for word in ("cpu", "soc", "pkg")), value))
    return max(zones)[1] if zones else None


def _process_figures(pids: Mapping[str, int]) -> tuple[dict[str, float], dict[str, float]]:
    seconds, memory = {}, {}
    for role, pid in pids.items():
        try:
            process = psutil.Process(pid)
            times, rss = process.cpu_times(), process.memory_info().rss
        except psutil.Error:
            continue
        seconds[role] = times.user + times.system
        memory[role] = rss / _MIB
    return seconds, memory


def read_sample(pids: Mapping[str, int]) -> Sample:
    """The machine now. `pids`: our processes by role."""
    cores = psutil.cpu_times(percpu=True)
    frequency = psutil.cpu_freq()
    disk = psutil.disk_io_counters()
    seconds, memory = _process_figures(pids)
    return Sample(
        at_s=time.monotonic(),
        busy_s=tuple(
            sum(core) - core.idle - getattr(core, "iowait", 0.0) - getattr(core, "guest", 0.0) for core in cores
        ),
        memory_mib=psutil.virtual_memory().used / _MIB,
        temperature_c=temperature_c(),
        cpu_mhz=frequency.current if frequency and frequency.current else None,
        read_bytes=disk.read_bytes if disk else 0,
        write_bytes=disk.write_bytes if disk else 0,
        process_s=seconds,
        rss_mib=memory,
    )


def _share(first: Sample, last: Sample) -> list[float]:
    """Busy share of each core between two samples [%]."""
    span = last.at_s - first.at_s
    return [min(100.0, max(0.0, 100.0 * (b - a) / span)) for a, b in zip(first.busy_s, last.busy_s, strict=True)]


def summarise(samples: Sequence[Sample], interval_s: float = INTERVAL_S) -> dict[str, Any]:
    """Fields of SystemLoad over the samples; what was never there is None. Two samples at least, or all is None."""
    if len(samples) < 2 or samples[-1].at_s <= samples[0].at_s:
        return {"samples": len(samples)}
    first, last = samples[0], samples[-1]
    span = last.at_s - first.at_s
    cores = _share(first, last)
    mean = statistics.fmean(cores)
    # With the mean among them, peak and minimum enclose it also where no step is long enough to be judged.
    steps = [
        mean,
        *(statistics.fmean(_share(a, b)) for a, b in pairwise(samples) if b.at_s - a.at_s >= SHORTEST_STEP_S),
    ]
    temperatures = [sample.temperature_c for sample in samples if sample.temperature_c is not None]
    clocks = [sample.cpu_mhz for sample in samples if sample.cpu_mhz is not None]
    memory = [sample.memory_mib for sample in samples]

    def process(role: str) -> float | None:
        if role not in first.process_s or role not in last.process_s:
            return None
        return max(0.0, 100.0 * (last.process_s[role] - first.process_s[role]) / span)

    def resident(role: str) -> float | None:
        return max((sample.rss_mib[role] for sample in samples if role in sample.rss_mib), default=None)

    return {
        "samples": len(samples),
        "interval_s": interval_s,
        "cpu_mean_percent": mean,
        "cpu_peak_percent": max(steps),
        "cpu_min_percent": min(steps),
        "cpu_std_percent": statistics.pstdev(steps[1:]) if len(steps) > 2 else 0.0,
        "core_mean_percent": cores,
        "tunnel_cpu_percent": process("tunnel"),
        "bench_cpu_percent": process("bench"),
        "workload_cpu_percent": process("workload"),
        "load_cpu_percent": process("load"),
        "load_rss_mib": resident("load"),
        "tunnel_rss_mib": resident("tunnel"),
        "memory_mean_mib": statistics.fmean(memory),
        "memory_peak_mib": max(memory),
        "temperature_mean_c": statistics.fmean(temperatures) if temperatures else None,
        "temperature_peak_c": max(temperatures, default=None),
        "cpu_mhz": statistics.fmean(clocks) if clocks else None,
        "disk_read_bytes": last.read_bytes - first.read_bytes,
        "disk_write_bytes": last.write_bytes - first.write_bytes,
    }


class SystemCollector:
    """Samples between `begin` and `end`. `pids` is asked at each sample, since processes come and go."""

    def __init__(self, pids: Callable[[], Mapping[str, int]], interval_s: float = INTERVAL_S) -> None:
        self._pids = pids
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._samples: list[Sample] = []

    def begin(self) -> None:
        """Starts a window; an open one is forgotten."""
        self._halt()
        self._stop = threading.Event()
        self._samples = [read_sample(self._pids())]
        self._thread = threading.Thread(target=self._run, args=(self._stop, self._samples), name="system", daemon=True)
        self._thread.start()

    def end(self) -> dict[str, Any]:
        """Ends the window and returns the fields of SystemLoad; all of them missing when none was begun."""
        self._halt()
        if self._samples:
            self._samples.append(read_sample(self._pids()))
        samples, self._samples = self._samples, []
        if not samples:
            return {}
        return {
            **summarise(samples, self._interval_s),
            "load_1": psutil.getloadavg()[0],
            "governor": governor(FOLDER / "cpu0") or None,
        }

    def _halt(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._stop.set()
            thread.join()

    def _run(self, stop: threading.Event, samples: list[Sample]) -> None:
        while not stop.wait(self._interval_s):
            samples.append(read_sample(self._pids()))
