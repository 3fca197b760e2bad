# SPDX-License-Identifier: Apache-2.0
"""What one proxy says about one tunnel: status, counters, link quality and handshakes, with their times of arrival."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pqc_mav_interfaces.msg import HandshakeReport, LinkQuality, TunnelStats, TunnelStatus

from pqc_mav_bench.collectors.counters import READING
from pqc_mav_common import qos

UP_STATES = (TunnelStatus.UP, TunnelStatus.DEGRADED, TunnelStatus.REKEYING)
KEPT = 2048  # a run may have a thousand handshakes, and some fail
KEYS_KEPT = 2048
HANDED_KEPT = 8192  # once a second: more than two hours


@dataclass(frozen=True)
class Arrived:
    """A message and when it came, on this process's monotonic clock."""

    at_s: float
    message: Any


def as_dict(message: Any, *leave_out: str) -> dict[str, Any]:
    """Fields of a flat message as plain Python values."""
    names = [name for name in message.get_fields_and_field_types() if name not in ("header", *leave_out)]
    values = {name: getattr(message, name) for name in names}
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in values.items()}


class ProxyWatch:
    """Subscribes to the proxy `name` ("/drone/pqc_proxy"). `drone_id` "": the first tunnel heard of."""

    def __init__(self, node: Any, name: str, drone_id: str = "") -> None:
        self.name = name
        self._drone_id = drone_id
        self._changed = threading.Condition()
        self._status: Arrived | None = None
        self._stats: Arrived | None = None
        self._links: dict[str, Arrived] = {}
        self._handshakes: list[Arrived] = []
        self._keys: list[tuple[float, str, int]] = []  # when, suite and epoch: each change
        self._handed: deque[tuple[float, int]] = deque(maxlen=HANDED_KEPT)  # when, bytes handed to applications
        self._on_handshake: Callable[[Any], None] | None = None
        make = node.create_subscription
        make(TunnelStatus, f"{name}/status", self._take_status, qos.latched(64))
        make(TunnelStats, f"{name}/stats", self._take_stats, qos.periodic(32))
        make(LinkQuality, f"{name}/link", self._take_link, qos.periodic(64))
        make(HandshakeReport, f"{name}/handshake", self._take_handshake, qos.event())

    # --- what is known ---

    @property
    def drone_id(self) -> str:
        """The tunnel looked at; "" before anything was heard."""
        return self._drone_id

    @property
    def status(self) -> Any:
        """The newest TunnelStatus, None before one came."""
        return None if self._status is None else self._status.message

    @property
    def is_up(self) -> bool:
        """Whether a session carries data."""
        return self.status is not None and self.status.state in UP_STATES

    def counters(self) -> dict[str, Any] | None:
        """The newest counters, None before any came."""
        stats = self._stats
        if stats is None:
            return None
        values = as_dict(stats.message)
        return {name: values[name] for name in READING}

    @property
    def counters_s(self) -> float:
        """When those came (monotonic)."""
        return 0.0 if self._stats is None else self._stats.at_s

    def handed_bytes_per_s(self, begin_s: float, end_s: float) -> float | None:
        """What it handed to applications in a window, between its first and last reading there; None of fewer."""
        with self._changed:
            inside = [(at_s, count) for at_s, count in self._handed if begin_s <= at_s <= end_s]
        if len(inside) < 2:
            return None
        (first_s, first), (last_s, last) = inside[0], inside[-1]
        return (last - first) / (last_s - first_s)

    def link(self) -> dict[str, Any]:
        """The newest LinkQuality of what this end receives; {} before one came."""
        arrived = self._links.get("local")
        return {} if arrived is None else as_dict(arrived.message)

    def handshakes_since(self, at_s: float) -> list[dict[str, Any]]:
        """Reports of handshakes that ended after `at_s` (monotonic), oldest first."""
        with self._changed:
            return [as_dict(arrived.message) for arrived in self._handshakes if arrived.at_s >= at_s]

    def keys_since(self, at_s: float) -> list[tuple[str, int]]:
        """Suite and epoch of each change of keys after `at_s` (monotonic), oldest first."""
        with self._changed:
            return [(suite, epoch) for when, suite, epoch in self._keys if when >= at_s]

    def on_handshake(self, call: Callable[[Any], None] | None) -> None:
        """`call(report)` for each report from now on, in the executor's thread."""
        self._on_handshake = call

    # --- waiting ---

    def wait(self, condition: Callable[[], object], limit_s: float) -> bool:
        """Waits until `condition()` holds, looked at whenever something arrives. Not to be called in a callback."""
        with self._changed:
            return bool(self._changed.wait_for(condition, limit_s))

    def wait_counters_after(self, at_s: float, limit_s: float) -> bool:
        """Waits for counters that were published after `at_s` (monotonic)."""
        return self.wait(lambda: self._stats is not None and self._stats.at_s > at_s, limit_s)

    def wait_up(self, limit_s: float) -> bool:
        """Waits for a session."""
        return self.wait(lambda: self.is_up, limit_s)

    # --- callbacks ---

    def _ours(self, message: Any) -> bool:
        if not self._drone_id:
            self._drone_id = message.drone_id
        return bool(message.drone_id == self._drone_id)

    def _take_status(self, message: Any) -> None:
        if self._ours(message):
            with self._changed:
                self._status = now = Arrived(time.monotonic(), message)
                keys = (message.suite, message.epoch)
                if message.state in UP_STATES and (not self._keys or self._keys[-1][1:] != keys):
                    self._keys = [*self._keys[-KEYS_KEPT:], (now.at_s, *keys)]
                self._changed.notify_all()

    def _take_stats(self, message: Any) -> None:
        if self._ours(message):
            with self._changed:
                self._stats = now = Arrived(time.monotonic(), message)
                self._handed.append((now.at_s, message.plain_tx_bytes))
                self._changed.notify_all()

    def _take_link(self, message: Any) -> None:
        if self._ours(message):
            with self._changed:
                self._links[message.side] = Arrived(time.monotonic(), message)

    def _take_handshake(self, message: Any) -> None:
        if not self._ours(message):
            return
        with self._changed:
            self._handshakes = [*self._handshakes[-KEPT:], Arrived(time.monotonic(), message)]
            self._changed.notify_all()
        if self._on_handshake is not None:
            self._on_handshake(message)
