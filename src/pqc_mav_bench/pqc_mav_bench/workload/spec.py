# SPDX-License-Identifier: Apache-2.0
"""The instructions of one end of a workload, as JSON: the controller writes it, both ends' worker processes read it."""

from typing import Literal

from pqc_mav_bench.models import BaseModel, ConfigDict
from pqc_mav_bench.options import WorkloadOptions


class EndSpec(BaseModel):
    """One end of the traffic of one run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    side: Literal["drone", "gcs"]
    address: str  # drone: the proxy's plaintext side, to send to; gcs: where ground software listens
    run: int  # number of the run, so that stragglers of another are not counted
    shared_clock: bool  # both ends read one monotonic clock
    workload: WorkloadOptions

    @property
    def sends(self) -> bool:
        """Whether this end is a source."""
        if self.workload.kind != "bulk":
            return True
        return self.workload.direction in ("both", "down" if self.side == "drone" else "up")


def endpoint(text: str) -> tuple[str, int]:
    """host:port as a pair. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 <= int(port) <= 65535:
        raise ValueError(f"'{text}' is no address: write host:port")
    return host.strip("[]"), int(port)
