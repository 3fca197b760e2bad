# SPDX-License-Identifier: Apache-2.0
"""What a detector costs in a process of its own without ROS: CPU and memory, the sampling of counters included."""

import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

TURNS = 600


@dataclass(frozen=True)
class Cost:
    """At ten windows a second. `call_ms`: of one window, sampling included; `idle_mib`: what Python itself takes."""

    cpu_percent: float
    call_ms: float
    memory_mib: float
    idle_mib: float


def measure(detector: str, model: Path | None = None) -> Cost:
    """In a process of its own. Raises subprocess.CalledProcessError where it cannot run."""
    words = [sys.executable, "-m", __name__, detector, *([str(model)] if model else [])]
    return Cost(**json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout))


def memory_mib() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def run(detector: str, model: Path | None) -> Cost:
    """What `measure` runs: samples this machine's own counters, with made-up ones of an engine, as fast as it can."""
    idle = memory_mib()
    from pqc_mav_detect.detectors import make
    from pqc_mav_detect.episodes import Episodes
    from pqc_mav_detect.kernel import Files
    from pqc_mav_detect.window import PERIOD_S, LinkView, Reading, Windows

    judge, episodes, windows, files = make(detector, model), Episodes(), Windows("gcs"), Files()

    def turn(index: int) -> None:
        now_s = index * PERIOD_S
        view = LinkView(now_s, 0.0, 1.0)
        totals = {"delivered": 32 * index, "enc_rx_datagrams": 32 * index, "enc_rx_bytes": 3200 * index}
        reading = Reading(now_s, totals, {"d": 32 * index}, files.read(), {"d": view}, {"d": view})
        window = windows.update(reading)
        if window is not None:
            episodes.update(judge.update(window), now_s)

    for index in range(TURNS):
        turn(index)
    begun = time.process_time()
    for index in range(TURNS, 2 * TURNS):
        turn(index)
    call_s = (time.process_time() - begun) / TURNS
    return Cost(100 * call_s / PERIOD_S, 1e3 * call_s, memory_mib(), idle)


if __name__ == "__main__":
    print(json.dumps(asdict(run(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else None))))
