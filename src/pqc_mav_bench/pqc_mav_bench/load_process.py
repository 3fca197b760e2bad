# SPDX-License-Identifier: Apache-2.0
"""A scenario's emulated load: a share of one core in every second, and memory held.

    python3 -m pqc_mav_bench.load_process BUSY_FRACTION MEMORY_MIB

One thread, like both published detectors. The work is spread over ten slices a second, as windows of packets come.
Ends with its standard input.
"""

import select
import sys
import time

SLICE_S = 0.1
_PAGE = 4096


def hold(memory_mib: int) -> bytearray:
    """Memory whose every page has been written, so that it is resident."""
    held = bytearray(memory_mib << 20)
    held[::_PAGE] = b"\1" * len(held[::_PAGE])
    return held


def burn(seconds: float) -> int:
    """Keeps the processor busy for `seconds` of processor time. Returns a number that depends on the work."""
    end, mixed = time.thread_time() + seconds, 1
    while time.thread_time() < end:
        for _ in range(200):
            mixed = (mixed * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
    return mixed


def main(arguments: list[str]) -> int:
    """Runs until standard input ends."""
    busy, memory_mib = float(arguments[0]), int(arguments[1])
    held = hold(memory_mib)
    due = time.monotonic()
    while True:
        burn(busy * SLICE_S)
        # Late slices are left out, not made up for: a detector would skip windows too.
        due = max(due + SLICE_S, time.monotonic() - SLICE_S)
        if select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0] and not sys.stdin.read(1):
            return 0 if len(held) == memory_mib << 20 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
