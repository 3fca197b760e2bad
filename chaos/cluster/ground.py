# SPDX-License-Identifier: Apache-2.0
"""Ground software in a station's pod: sends each drone a numbered command 100 times a second.

    ground.py STATION PORT [PORT...]    the ports at which the gcs takes what is for a drone

It has no part of this project: its container has Python alone.
"""

import contextlib
import signal
import socket
import sys
import time

_EVERY_S = 0.01


def main() -> int:
    """Speak until the pod ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # as the first process of a container it has no default
    station, ports = sys.argv[1], [int(word) for word in sys.argv[2:]]
    start = time.time_ns()
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.bind(("127.0.0.1", 0))
    number, due = 0, time.monotonic()
    while True:
        number += 1
        for port in ports:
            with contextlib.suppress(OSError):  # nobody there yet, or no longer
                out.sendto(f"{station} {start} {number}".encode(), ("127.0.0.1", port))
        due += _EVERY_S
        time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    sys.exit(main())
