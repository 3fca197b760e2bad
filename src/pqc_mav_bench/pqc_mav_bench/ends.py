# SPDX-License-Identifier: Apache-2.0
"""What a campaign needs of the two ends; the ROS implementations are in controller_ends.py, tests bring their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pqc_mav_bench.clock import Exchange
from pqc_mav_bench.workload.spec import EndSpec


@dataclass(frozen=True)
class RekeyResult:
    """How a suite change ended."""

    ok: bool
    rekey_ms: float
    message: str


class GroundEnd(Protocol):
    """The agent. Every method raises AgentLostError when it does not answer, BenchError when it refuses."""

    def ready(self) -> bool:
        """Whether it answers and its proxy has a session; raises nothing."""

    def info(self) -> dict[str, Any]:
        """Its machine and software: fields of RunContext, and `clock_id`."""

    def exchange(self) -> Exchange:
        """One exchange of time stamps."""

    def start_suite(self, suite: str, handshakes: int) -> int:
        """Collectors reset; the data time begins after `handshakes` good ones. Returns its monotonic clock [ns]."""

    def start_traffic(self, workload: Mapping[str, Any]) -> None:
        """Generator on."""

    def quiet(self) -> int:
        """Generator off, the data time is over. Returns how many it sent."""

    def stop_traffic(self, expected: int) -> None:
        """Ends the generator when the `expected` packets of the drone are there, or no more come."""

    def begin_stop(self, suite: str) -> Any:
        """Asks for the measurement; `end_stop` of what it returns waits for it."""

    def end_stop(self, pending: Any) -> dict[str, Any]:
        """The measurement."""

    def shutdown(self) -> None:
        """Ends the agent; raises nothing."""


class DroneEnd(Protocol):
    """The controller's own side. Methods raise BenchError."""

    def info(self) -> dict[str, Any]:
        """Own machine and software, and `clock_id`."""

    def wait_up(self, limit_s: float) -> bool:
        """Waits for a session."""

    def begin(self, suite: str, handshakes: int) -> None:
        """Collectors reset. The data time begins after so many good handshakes."""

    def plain_address(self) -> str:
        """Where the drone's application sends to, host:port."""

    def start_traffic(self, spec: EndSpec) -> None:
        """Generator on."""

    def rekey(self, suite: str) -> RekeyResult:
        """Changes the suite of the running tunnel."""

    def begin_window(self) -> None:
        """The data time begins."""

    def quiet(self) -> None:
        """The data time is over."""

    def stop_traffic(self, expected: int) -> int:
        """Ends the generator when the `expected` packets of the ground are there, or no more come.

        Returns how many it sent.
        """

    def finish(self) -> dict[str, Any]:
        """The measurement."""

    def abort(self) -> None:
        """Ends what runs; raises nothing."""

    def handshakes(self) -> list[dict[str, Any]]:
        """Reports since `begin`."""

    def power(self) -> dict[str, Any]:
        """Power during the data time; {} without a sensor."""

    def set_load(self, scenario: str, *, emulate: bool) -> str:
        """Puts a scenario's load on. Returns "none", "detector" or "emulated". Raises OptionsError."""
