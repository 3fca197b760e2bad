# SPDX-License-Identifier: Apache-2.0
"""A detector alone, on what this machine's kernel counts: what a benchmark runs beside a proxy.

    python3 -m pqc_mav_detect.watch rules|xgboost|tst

Says `ready` once it judges, or in one line why it cannot, and ends with its standard input. Ten windows a second, as in
the node; the proxy's own counters reach only the node.
"""

import select
import sys
import time
from collections.abc import Sequence

from pqc_mav_detect.detector import ModelError
from pqc_mav_detect.detectors import NAMES, make
from pqc_mav_detect.episodes import Episodes
from pqc_mav_detect.kernel import Files
from pqc_mav_detect.window import PERIOD_S, Reading, Windows

READY = "ready"


def main(arguments: Sequence[str]) -> int:
    """Runs until standard input ends."""
    if len(arguments) != 1 or arguments[0] not in NAMES:
        print(f"usage: python3 -m pqc_mav_detect.watch {'|'.join(NAMES)}", flush=True)
        return 2
    try:
        detector = make(arguments[0])
    except ModelError as error:
        print(error, flush=True)
        return 2
    windows, episodes, files = Windows(), Episodes(), Files()
    print(READY, flush=True)
    due = time.monotonic()
    while True:
        now_s = time.monotonic()
        window = windows.update(Reading(now_s, {}, {}, files.read()))
        if window is not None:
            episodes.update(detector.update(window), now_s)
        due = max(due + PERIOD_S, now_s)
        if select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0] and not sys.stdin.read(1):
            return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
