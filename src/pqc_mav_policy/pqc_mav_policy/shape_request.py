# SPDX-License-Identifier: Apache-2.0
"""Asks the proxy to shape, by its parameter `shape_kbit`, without ever waiting for the answer."""

from typing import Any

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters

from pqc_mav_common.errors import one_line

NAME = "shape_kbit"
ANSWER_S = 5.0
AGAIN_S = 10.0  # after a refusal, or none


class ShapeRequest:
    """`problem` is why the proxy does not shape as asked, "" where it does."""

    def __init__(self, node: Any, proxy: str) -> None:
        self.problem = ""
        self._client = node.create_client(SetParameters, f"{proxy}/set_parameters")
        self._waiting: tuple[Any, int, float] | None = None  # the answer, what was asked, until when it counts
        self._next_s = 0.0

    @property
    def waiting(self) -> bool:
        """Whether an answer is still to come."""
        return self._waiting is not None

    def ask(self, kbit: int, now: float) -> None:
        """Asks unless it is waiting for an answer, or was refused a moment ago."""
        if self._waiting is not None or now < self._next_s:
            return
        if not self._client.service_is_ready():
            self._failed("the proxy does not offer its parameters", now)
            return
        self._waiting = self._client.call_async(self._request(kbit)), kbit, now + ANSWER_S

    def answered(self, now: float) -> int | None:
        """The rate that the proxy has taken since the last call, None where there is no news."""
        if self._waiting is None:
            return None
        future, kbit, until = self._waiting
        if not future.done():
            if now > until:
                self._client.remove_pending_request(future)
                self._waiting = None
                self._failed("the proxy did not answer in time", now)
            return None
        self._waiting = None
        answer = future.result().results[0]
        if not answer.successful:
            self._failed(f"the proxy refused: {one_line(answer.reason)}", now)
            return None
        self.problem = ""
        return kbit

    def leave(self, kbit: int) -> None:
        """The last word of a node that ends."""
        if self._client.service_is_ready():
            self._client.call_async(self._request(kbit))

    def _failed(self, problem: str, now: float) -> None:
        self.problem, self._next_s = problem, now + AGAIN_S

    @staticmethod
    def _request(kbit: int) -> SetParameters.Request:
        value = ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=kbit)
        return SetParameters.Request(parameters=[Parameter(name=NAME, value=value)])
