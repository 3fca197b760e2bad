# SPDX-License-Identifier: Apache-2.0
"""Runs one condition: builds the network, starts both ends and the traffic, lets things happen, and measures."""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import air
import messages
import pqc_mav_tunnel
from children import Child, ChildError
from clocks import SteppableClock, build_shim
from conditions import SUITES, Condition, Event, Rekey
from ends import (
    DATA_PORT,
    DRONE_ID,
    DRONE_PLAIN,
    GCS_PLAIN,
    GROUND,
    End,
    drone_config,
    gcs_config,
)
from pair import Pair, connected
from tally import longest_gap_ns, recovered_ns
from traffic import application_socket
from verdicts import PLAIN_DROPS, Observation, RekeyResult, Way, accounted_for

from pqc_mav_common.waiting import wait_until

_REKEY_WAIT_S = 70.0
_SETTLE_S = 1.0
_WAY_OF_LINK = {"down": air.A_TO_B, "up": air.B_TO_A}
_SENDER = {"down": "drone", "up": "gcs"}
_RECEIVER = {"down": "gcs", "up": "drone"}


class Laboratory:
    """Fresh keys for one run of the laboratory, and the folder for logs and the clock shim."""

    def __init__(self, folder: Path, *, seed: int = 1) -> None:
        self._folder = folder
        self._seed = seed
        self._shim: Path | None = None
        pqc_mav_tunnel.init_keys(str(folder / "keys"), [DRONE_ID])

    def run(self, condition: Condition) -> Observation:
        """Run a condition; raises AirError, ClockError or ChildError when it cannot be run at all."""
        with _Run(condition, self._folder, self._seed, self._clocks(condition)) as run:
            return run.measure()

    def _clocks(self, condition: Condition) -> dict[str, SteppableClock]:
        if condition.steppable and self._shim is None:
            self._shim = build_shim(self._folder)
        return {
            end: SteppableClock(self._shim, self._folder / f"clock-{end}") for end in condition.steppable if self._shim
        }


@contextmanager
def laboratory(*, seed: int = 1) -> Iterator[Laboratory]:
    """A laboratory whose files vanish with it."""
    with tempfile.TemporaryDirectory(prefix="pqcmav-chaos-") as folder:
        yield Laboratory(Path(folder), seed=seed)


class _Run(ExitStack):
    """One run of one condition."""

    def __init__(self, condition: Condition, folder: Path, seed: int, clocks: dict[str, SteppableClock]) -> None:
        super().__init__()
        self._condition = condition
        self._folder = folder
        self._seed = seed
        self._clocks = clocks
        self._seen = Observation()
        self._suites = itertools.cycle(SUITES)
        self._rekeys: list[Future[RekeyResult]] = []
        self._asking = self.enter_context(ThreadPoolExecutor(4))
        self._healed_ns = 0
        self._clock_before: dict[str, float] = {}
        self._actions: dict[str, Callable[..., None]] = {
            "impair": lambda **settings: self._joint.impair(settings),
            "kill": self._kill,
            "restart": lambda end: self._ends[end].start(),
            "move": lambda: self._air.move_drone(),
            "rebind": lambda: self._joint.rebind(),
            "step_clock": lambda end, seconds: self._clocks[end].step(seconds),
            "attack": self._attack,
            "stop_attack": self._stop_attack,
        }

    def measure(self) -> Observation:
        """Do all of it."""
        self._build()
        self._connect()
        self._start_traffic()
        self._let_happen()
        self._finish()
        return self._seen

    def _build(self) -> None:
        c = self._condition
        self._air = self.enter_context(air.Air(seed=self._seed, mtu=c.mtu, nat=c.nat))
        self._joint = self._air.joint
        if c.impair:
            self._joint.impair(c.impair)
        # before the ends, so that the gcs finds its ground software listening
        self._vehicle = self.enter_context(self._air["drone"].call(application_socket))
        self._ground = self.enter_context(self._air["gcs"].call(lambda: application_socket(GROUND)))
        attacked = any(event.do == "attack" for event in c.events)
        if attacked:  # before the ends, so that the stranger has heard their first handshake
            self._ears = self.enter_context(self._air.overheard())
        keys = str(self._folder / "keys")
        configs = {"gcs": gcs_config(keys), "drone": drone_config(keys, air.GCS)}
        self._ends: dict[str, End] = {}
        for name, config in configs.items():
            clock = self._clocks.get(name)
            end = End(
                config, self._air[name].descriptor, clock.environment if clock else None, c.monotonic_ahead.get(name, 0)
            )
            self.callback(end.close)
            self._ends[name] = end
        self._begun_ns = time.monotonic_ns()
        if attacked:
            self._stranger = Child(
                "attacker_host.py", namespace=self._air["stranger"].descriptor, pass_fds=[self._ears.fileno()]
            )
            self.callback(self._stranger.close)

    def _connect(self) -> None:
        connected(self._ends, self._condition.connect_s)
        self._seen.connect_ms = (time.monotonic_ns() - self._begun_ns) / 1e6

    def _start_traffic(self) -> None:
        rate = self._condition.rate
        pair = Pair(self._ends, self._vehicle, self._ground, DRONE_PLAIN, GCS_PLAIN, self)
        self._frames_before = self._joint.counters()
        sizes = messages.sizes(bundle_size=self._condition.bundle_size)
        self._traffic = pair.traffic(rate, rate, log=self._folder / "arrivals", sizes=sizes)
        for name, clock in self._ends.items():
            if name in self._clocks:
                self._clock_before[name] = clock.wall_clock_s() - time.time()

    def _let_happen(self) -> None:
        begin = time.monotonic()
        plan: list[tuple[float, Event | Rekey | None]] = [(_SETTLE_S, None)]
        plan += [(event.at_s, event) for event in self._condition.events]
        plan += [(rekey.at_s, rekey) for rekey in self._condition.rekeys]
        for at_s, what in sorted(plan, key=lambda item: item[0]):
            time.sleep(max(0.0, begin + at_s - time.monotonic()))
            if isinstance(what, Event):
                if what.heals:
                    self._healed_ns = time.monotonic_ns()
                self._actions[what.do](**what.arguments)
            elif isinstance(what, Rekey):
                self._rekeys.append(
                    self._asking.submit(_rekey, self._ends["drone"], what, what.suite or next(self._suites))
                )
            else:
                self._seen.rss_before_kib = {name: end.rss_kib() for name, end in self._ends.items()}
        time.sleep(max(0.0, begin + self._condition.seconds - time.monotonic()))

    def _kill(self, end: str) -> None:
        self._ends[end].kill()
        self._seen.killed = (*self._seen.killed, end)

    def _attack(self, mode: str, rate: float, listen: bool) -> None:
        suite = pqc_mav_tunnel.find_suite(SUITES[0])
        names = {"drone_id": DRONE_ID, "suite": suite.id, "kem": suite.kem_name, "sig": suite.sig_name}
        self._stranger.ask(
            "start", mode=mode, rate=rate, listen=listen, seed=self._seed, ears=self._ears.fileno(), names=names,
            gcs=air.GCS, data_port=DATA_PORT, sources=air.STRANGER_MORE,
        )  # fmt: skip

    def _stop_attack(self) -> None:
        self._seen.attack = self._stranger.ask("stop")

    def _finish(self) -> None:
        impair = self._condition.impair
        quiet_s = 0.4 + 3 * (impair.get("delay_ms", 0) + impair.get("jitter_ms", 0)) / 1000
        if impair.get("rate_bit_s"):
            quiet_s += impair["queue_bytes"] * 8 / impair["rate_bit_s"]
        results = self._traffic.stop(quiet_s)
        self._seen.rekeys = [rekey.result() for rekey in self._rekeys]
        self._wait_for_up()
        seen = self._seen
        seen.rss_after_kib = {name: end.rss_kib() for name, end in self._ends.items()}
        seen.totals = {name: _settled_totals(end) for name, end in self._ends.items()}
        seen.stats = {name: end.stats() for name, end in self._ends.items()}
        seen.states = {name: end.status()["state"] for name, end in self._ends.items()}
        seen.corrupted, seen.misdelivered = results["corrupted"], results["misdelivered"]
        seen.late_sends = results["late"]
        for name, before in self._clock_before.items():
            seen.clock_steps_s[name] = self._ends[name].wall_clock_s() - time.time() - before
        self._count_ways(results)

    def _wait_for_up(self) -> None:
        """A rekey or a handshake may still be under way: the states are judged when it is done."""

        def up() -> bool:
            return all(end.status()["state"] == "UP" for end in self._ends.values())

        wait_until(up, 10.0 if not self._condition.impair else self._condition.connect_s)

    def _count_ways(self, results: dict[str, Any]) -> None:
        arrivals = self._traffic.arrivals()
        frames = self._joint.counters()
        for number, name in enumerate(messages.WAYS):
            stream = next(each for each in results["streams"] if each["way"] == number)
            way = Way(stream["sent"], stream["received"], stream["duplicates"], stream["reordered"])
            way.longest_gap_ms = longest_gap_ns(arrivals, number) / 1e6
            if frames:
                lost = _lost_data(frames[_WAY_OF_LINK[name]]) - _lost_data(self._frames_before[_WAY_OF_LINK[name]])
                way.lost_on_link = lost
            sender, receiver = self._seen.stats[_SENDER[name]], self._seen.stats[_RECEIVER[name]]
            # at the receiving end, only what cannot have another cause
            way.lost_at_ends = int(sum(sender[key] for key in PLAIN_DROPS))
            way.lost_at_ends += int(receiver["drop_seq_old"] + receiver["drop_unknown"])
            way.lost_at_ends += int(self._seen.totals[_RECEIVER[name]]["drop_late"])
            if self._healed_ns:
                moment = recovered_ns(arrivals, number, self._healed_ns)
                way.recovery_s = None if moment is None else (moment - self._healed_ns) / 1e9
            self._seen.ways[name] = way


def _lost_data(counters: dict[str, Any]) -> int:
    return int(sum(kinds.get("data", 0) for kinds in counters["lost"].values()))


def _settled_totals(end: End) -> dict[str, int]:
    """Counters are read one after the other; a keepalive in between would not add up."""
    totals = end.totals()

    def whole() -> bool:
        nonlocal totals
        totals = end.totals()
        return totals["enc_rx_datagrams"] == accounted_for(totals)

    wait_until(whole, 2.0)
    return totals


def _rekey(drone: End, rekey: Rekey, suite: str) -> RekeyResult:
    begin = time.monotonic()
    result = RekeyResult(False, rekey.must_succeed, 0.0, "", 0)
    while not result.ok and result.attempts < rekey.attempts:
        try:
            answer = drone.begin_rekey(suite)(_REKEY_WAIT_S)
            result.ok, result.message = answer["ok"], answer["message"]
        except ChildError as error:
            result.message = str(error)
        result.attempts += 1
        result.ms = (time.monotonic() - begin) * 1e3
    return result
