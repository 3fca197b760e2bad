# SPDX-License-Identifier: Apache-2.0
"""The process that runs one end of the traffic, run after run, on commands of its parent.

    python3 -m pqc_mav_bench.workload.worker

A separate process, so that the collectors do not disturb the traffic they measure and its processor time is known.
Its commands, in the form of `pqc_mav_common.helper`: start (spec), quiet, stop (expected). Ends with its input.
"""

import signal
import sys
import time
from typing import TYPE_CHECKING, Any, Union

from pqc_mav_bench.workload.bulk import BulkEnd, BulkSpec
from pqc_mav_bench.workload.spec import EndSpec, endpoint
from pqc_mav_common.helper import serve

if TYPE_CHECKING:  # importing the MAVLink dialect takes a second on a slow machine
    from pqc_mav_bench.workload.mavlink_ends import GroundEnd, VehicleEnd

DRAIN_S = 1.0  # nothing new for this long although more was sent: the rest is lost, not late
DRAIN_LIMIT_S = 5.0
POLL_S = 0.01


End = Union[BulkEnd, "GroundEnd", "VehicleEnd"]


def make_end(spec: EndSpec) -> End:
    """The end a specification asks for. Raises ValueError and OSError."""
    if spec.workload.kind == "mavlink":
        from pqc_mav_bench.workload.mavlink_ends import GroundEnd, VehicleEnd

        return VehicleEnd(spec) if spec.side == "drone" else GroundEnd(spec)
    drone = spec.side == "drone"
    address = endpoint(spec.address)
    local = "127.0.0.1" if address[0].startswith("127.") else "0.0.0.0"  # noqa: S104
    return BulkEnd(
        BulkSpec(
            bind=(local, 0) if drone else address,
            peer=address if drone else None,
            run=spec.run,
            sends=spec.sends,
            mbps=spec.workload.mbps,
            packet_bytes=spec.workload.packet_bytes,
            echo_every=spec.workload.echo_every,
        )
    )


def drain(end: End, expected: int) -> None:
    """Waits until all that the other end sent has arrived, or nothing more for DRAIN_S."""
    limit = time.monotonic() + DRAIN_LIMIT_S
    count, since = end.received, time.monotonic()
    while end.received < expected and time.monotonic() - since < DRAIN_S and time.monotonic() < limit:
        time.sleep(POLL_S)
        if end.received != count:
            count, since = end.received, time.monotonic()


class Worker:
    """What the commands do."""

    def __init__(self) -> None:
        self._end: End | None = None

    def obey(self, command: dict[str, Any]) -> Any:
        """One command; what it gave."""
        name = command["do"]
        if name == "start":
            self.close()
            end = make_end(EndSpec.model_validate(command["spec"]))
            end.start()
            self._end = end
            return time.monotonic_ns()
        if self._end is None:
            raise ValueError(f"'{name}' without traffic")
        if name == "quiet":
            self._end.quiet()
            return self._end.sent
        if name == "stop":
            drain(self._end, int(command.get("expected", 0)))
            end, self._end = self._end, None
            return end.stop()
        raise ValueError(f"unknown command '{name}'")

    def close(self) -> None:
        """Ends what runs."""
        end, self._end = self._end, None
        if end is not None:
            end.stop()


def main() -> int:
    """Serves commands until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when; Ctrl-C is for it
    worker = Worker()
    try:
        serve(worker.obey)
    finally:
        worker.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
