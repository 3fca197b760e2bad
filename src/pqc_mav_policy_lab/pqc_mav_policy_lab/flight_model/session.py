# SPDX-License-Identifier: Apache-2.0
"""A simulated tunnel session: handshakes that take their time, fail on a dead link, and never interrupt the data.

Rekeys are make-before-break, as the engine's are (bench/results/rekeys.md: none of 1,440 lost a packet): the old keys
carry data until the new ones are confirmed. A session that hears nothing reconnects as the engine does.
"""

from dataclasses import dataclass

from pqc_mav_policy.suites import Catalogue
from pqc_mav_policy.telemetry.inputs import Outcome, Session, TunnelState
from pqc_mav_policy_lab.flight_model.conditions import Conditions
from pqc_mav_policy_lab.flight_model.costs import ROUND_TRIPS, Costs

# Defaults of the engine's liveness timers (docs/configuration.md).
DEGRADED_AFTER_S = 3
RECONNECT_AFTER_S = 5
HANDSHAKE_TIMEOUT_S = 60.0
# A throttled Raspberry Pi 5 falls from 2.4 to 1.5 GHz.
THROTTLED_FACTOR = 2.4 / 1.5


@dataclass
class _Handshake:
    suite: str
    compute_s: float  # still to be computed
    transfer_kbit: float  # still to be sent
    waits: float  # round trips still to be waited for
    elapsed_s: float = 0.0
    rekey: bool = True


@dataclass(frozen=True)
class SecondOfWork:
    """What handshakes did within one second; `under_way_s` is how long one ran, computing, sending or waiting."""

    computing_s: float = 0.0
    transferring_s: float = 0.0
    under_way_s: float = 0.0
    finished: str = ""  # suite of a handshake that completed
    failed: str = ""
    rekey: bool = False  # it renewed a session that was there
    took_s: float = 0.0  # how long the one that ended took, from first to last message


class SessionModel:
    """The drone's end of the tunnel. `request` what the policy decides, `step` once a second, then read `session`."""

    def __init__(self, suite: str, catalogue: Catalogue, costs: Costs) -> None:
        self._catalogue = catalogue
        self._costs = costs
        self._suite = suite
        self._epoch = 0
        self._keys_since_s = 0.0
        self._last_switch_s: float | None = None
        self._running: _Handshake | None = None
        self._outcomes: list[Outcome] = []
        self._silent_s = 0

    @property
    def suite(self) -> str:
        """Suite in use."""
        return self._suite

    @property
    def last_switch_s(self) -> float | None:
        """When suite or keys last changed."""
        return self._last_switch_s

    def session(self, now: float) -> Session:
        """As the tunnel's status shows it."""
        state = TunnelState.UP
        if self._silent_s >= DEGRADED_AFTER_S:
            state = TunnelState.DEGRADED
        elif self._running is not None:
            state = TunnelState.REKEYING
        pending = self._running.suite if self._running is not None and self._running.rekey else None
        return Session(state, self._suite, self._epoch, now - self._keys_since_s, self._last_switch_s, pending)

    def take_outcomes(self) -> tuple[Outcome, ...]:
        """Answers since the last call."""
        taken, self._outcomes = tuple(self._outcomes), []
        return taken

    def request(self, suite: str, now: float) -> None:
        """Asks for a rekey; refused at once while another runs, as the proxy refuses it."""
        if self._running is not None:
            self._outcomes.append(Outcome(suite, False, now, self._suite, "another handshake is running", "state"))
            return
        self._begin(suite, rekey=True)

    def step(self, conditions: Conditions, now: float, throttled: bool) -> SecondOfWork:
        """The second that begins at `now`."""
        reconnecting = not conditions.silent and self._silent_s >= RECONNECT_AFTER_S and self._running is None
        self._silent_s = self._silent_s + 1 if conditions.silent else 0
        if reconnecting:
            self._begin(self._suite, rekey=False)
        if self._running is None:
            return SecondOfWork()
        return self._work(self._running, conditions, now, THROTTLED_FACTOR if throttled else 1.0)

    def _begin(self, suite: str, *, rekey: bool) -> None:
        entry = self._catalogue[suite]
        self._running = _Handshake(
            suite, self._costs.compute_s[suite], entry.handshake_bytes * 8 / 1e3, ROUND_TRIPS, rekey=rekey
        )

    def _work(self, running: _Handshake, conditions: Conditions, now: float, slowness: float) -> SecondOfWork:
        left = 1.0
        computing = min(left, running.compute_s * slowness)
        running.compute_s -= computing / slowness
        left -= computing
        transferring = 0.0
        if not conditions.silent and left > 0.0:
            # Half of the link is the telemetry's; what is lost has to be sent again.
            rate = 0.5 * conditions.bandwidth_kbit_s * (1.0 - conditions.loss)
            if rate > 0.0:
                transferring = min(left, running.transfer_kbit / rate)
                running.transfer_kbit = max(0.0, running.transfer_kbit - rate * transferring)
                left -= transferring
            waited = running.waits if conditions.rtt_s <= 0.0 else min(running.waits, left / conditions.rtt_s)
            running.waits -= waited
            left -= waited * conditions.rtt_s
        if running.compute_s <= 1e-12 and running.transfer_kbit <= 1e-9 and running.waits <= 1e-9:
            took = running.elapsed_s + 1.0 - left
            self._finish(running, now + 1.0 - left, took)
            return SecondOfWork(computing, transferring, 1.0 - left, running.suite, "", running.rekey, took)
        running.elapsed_s += 1.0
        given_up = conditions.silent and self._silent_s >= RECONNECT_AFTER_S
        if given_up or running.elapsed_s >= HANDSHAKE_TIMEOUT_S:
            self._fail(running, now + 1.0)
            return SecondOfWork(computing, transferring, 1.0, "", running.suite, running.rekey, running.elapsed_s)
        return SecondOfWork(computing, transferring, 1.0)

    def _finish(self, running: _Handshake, at: float, took_s: float) -> None:
        self._running = None
        before, self._suite = self._suite, running.suite
        self._epoch = self._epoch + 1 if running.rekey else 0
        self._keys_since_s = at
        self._last_switch_s = at
        if running.rekey:
            self._outcomes.append(Outcome(running.suite, True, at, before, "done", "", took_s))

    def _fail(self, running: _Handshake, at: float) -> None:
        self._running = None
        if running.rekey:
            self._outcomes.append(Outcome(running.suite, False, at, self._suite, "the handshake timed out", "timeout"))
