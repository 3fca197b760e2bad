# SPDX-License-Identifier: Apache-2.0
"""What a scenario showed, and the verdict. Pure."""

from dataclasses import asdict, dataclass, field
from typing import Any

from pqc_mav_cli.demo.result import Check, Direction, FlightResult
from pqc_mav_cli.demo.scenario_trace import ScenarioTrace, row_json
from pqc_mav_cli.demo.scenarios import Scenario
from pqc_mav_cli.wording import counted, short_code

DOWN = frozenset({"DOWN", "DOWN_0"})
ATTACK = 2  # level of ThreatReport
DETECT_S = 2.0  # within which the detector has to name an attack
CALM_S = 12.0  # after which an alarm has to be over: it stands for 7 s, and on a busy machine longer
ALARM = "alarm"  # rule of the policy that does what a detector asks for
RESPOND_S = 15.0  # for that: a decision a second, a cooldown of 5 s, a handshake, and a busy machine
ORDER_S = 0.5  # messages of two processes may be heard in another order than they were sent


@dataclass
class ScenarioResult(FlightResult):
    """Everything a scenario found out; parts it did not get to are None or empty."""

    scenario: Scenario
    trace: ScenarioTrace = field(default_factory=ScenarioTrace)
    link_lost: tuple[int, int] = (0, 0)  # messages the simulated link swallowed: drone to ground, ground to drone
    flood_sent: int = 0
    refused: int = 0  # datagrams that both proxies refused
    start_suite: str = ""
    final_suite: str = ""
    plot: str = ""

    @property
    def passed(self) -> bool:
        """Whether every check was good."""
        return not self.error and all(check.ok for check in self.checks())

    def checks(self) -> list[Check]:
        """The verdict in lines."""
        return [
            self._flight(),
            self._loss("drone to ground", self.downlink, self.link_lost[0]),
            self._loss("ground to drone", self.uplink, self.link_lost[1]),
            *([self._lighter(), self._back()] if self.scenario.guards else [self._kept()]),
            self._switches(),
            self._reasons(),
            *([self._attack(), self._detected()] if self._floods else [self._no_alarm()]),
            *([self._responded()] if self.scenario.response else []),
            self.shutdown_check(),
        ]

    def _flight(self) -> Check:
        if missing := self.missing_steps():
            return Check("flight", False, f"the vehicle did not {missing}")
        return Check("flight", True, f"took off, flew to {self.max_altitude_m:.1f} m and landed as commanded")

    def _loss(self, name: str, direction: Direction | None, by_link: int) -> Check:
        if direction is None or not direction.sent:
            return Check(name, False, "nothing was counted")
        beyond = direction.lost - by_link
        switches = len([row for row in self.trace.rekeys if row.ok])
        text = (
            f"{direction.sent:,} sent, {direction.received:,} received over {counted(switches, 'switch', 'switches')}; "
        )
        if beyond or direction.duplicates or direction.bad:
            flaws = f"{beyond} lost by the tunnel, {direction.duplicates} twice, {direction.bad} damaged"
            return Check(name, False, text + flaws)
        if by_link:
            return Check(name, True, text + f"{by_link:,} lost, all by the simulated link itself")
        return Check(name, True, text + "none lost, none twice")

    def _lighter(self) -> Check:
        name, trace = "lighter suites", self.trace
        downs = [row for row in trace.requests if row.action in DOWN and row.guard in self.scenario.guards]
        if not downs:
            wanted = " or ".join(sorted(self.scenario.guards))
            return Check(name, False, f"the rule {wanted} decided no step down")
        ranks = {row.to_suite: row.to_rank for row in trace.decisions}
        used = {row.suite for row in trace.status if row.suite in ranks}
        if any(row.to_suite not in used for row in downs):
            return Check(name, False, "a suite that was decided on was never used")
        lightest = min(ranks, key=lambda suite: ranks[suite])
        if self.scenario.lightest and lightest not in used:
            return Check(name, False, "the lightest suite was not reached")
        steps = "; ".join(f"{row.t:.0f} s {row.guard} to {short_code(row.to_suite)}" for row in downs)
        return Check(name, True, steps)

    def _back(self) -> Check:
        name = "upgrade"
        landed_s = next((row.t for row in reversed(self.trace.vehicle) if row.armed), 0.0)
        ups = [row for row in self.trace.requests if row.action == "UPGRADE"]
        if not ups or self.final_suite != ups[-1].to_suite:
            return Check(name, False, f"after landing the suite is still {short_code(self.final_suite) or 'unknown'}")
        if any(row.t < landed_s for row in ups if row.t > self.scenario.take_off_s + 2.0):
            return Check(name, False, "an upgrade was decided in flight")
        return Check(name, True, f"back to {short_code(self.final_suite)} {ups[-1].t - landed_s:.0f} s after disarming")

    def _kept(self) -> Check:
        """Nothing that a stranger sends leads to another suite, though others of all levels may be chosen."""
        start = self.start_suite
        others = {row.suite for row in self.trace.status if row.suite} - {start}
        if not start or others or self.final_suite != start:
            left = ", ".join(short_code(suite) for suite in sorted(others)) or "none"
            return Check("suite", False, f"it began with {short_code(start) or 'none'} and used {left} besides")
        return Check("suite", True, f"{short_code(start)} throughout, though lighter ones are allowed")

    def _switches(self) -> Check:
        good = [row for row in self.trace.rekeys if row.ok]
        failed = [row for row in self.trace.rekeys if not row.ok]
        if not good or (failed and not self.scenario.relayed):
            return Check("switches", False, failed[0].reason if failed else "no rekey took place")
        text = f"{counted(len(good), 'rekey')}, the longest {max(row.handshake_ms for row in good):.0f} ms"
        return Check("switches", True, text + (f"; {len(failed)} failed on the bad link" if failed else ""))

    def _reasons(self) -> Check:
        rows = self.trace.decisions
        silent = [row for row in rows if not row.reason or not row.guard]
        if silent or not rows:
            return Check("reasons", False, f"{len(silent)} of {counted(len(rows), 'decision')} without a reason")
        return Check("reasons", True, f"{counted(len(rows), 'decision')}, each with its rule and reason")

    def _attack(self) -> Check:
        if not self.flood_sent or self.refused < self.flood_sent * 0.5:
            return Check("attack", False, f"{self.flood_sent:,} datagrams sent, {self.refused:,} refused")
        text = f"{self.flood_sent:,} forged, replayed and random datagrams sent, none accepted"
        return Check("attack", True, text)

    @property
    def _floods(self) -> list[tuple[float, float]]:
        """(begin, end) of each attack [s]."""
        changes = [event for event in self.scenario.events if event.flood_hz is not None]
        ends = [*(event.at_s for event in changes[1:]), self.scenario.duration_s]
        return [(event.at_s, end_s) for event, end_s in zip(changes, ends, strict=False) if event.flood_hz]

    def _detected(self) -> Check:
        name = "detector"
        texts = []
        for begin_s, end_s in self._floods:
            seen = [row for row in self.trace.threat if row.level == ATTACK and begin_s <= row.t <= end_s]
            if not seen or seen[0].t > begin_s + DETECT_S:
                return Check(name, False, f"the attack at {begin_s:g} s was not named within {DETECT_S:g} s")
            texts.append(f"{seen[0].t - begin_s:.1f} s after it began: {seen[0].reason} Response: {seen[0].response}")
        if early := [row for row in self.trace.threat if row.level == ATTACK and not self._during(row.t)]:
            return Check(name, False, f"an alarm without an attack at {early[0].t:.0f} s: {early[0].reason}")
        return Check(name, True, "; ".join(texts))

    def _responded(self) -> Check:
        """The keys were renewed because of the alarm: soon, by a handshake that succeeded, and only once."""
        name, wanted = "response", self.scenario.response
        named = next((row for row in self.trace.threat if row.level == ATTACK and row.response == wanted), None)
        if named is None:
            return Check(name, False, f"the detector did not ask for {wanted}")
        asked = [row for row in self.trace.requests if row.guard == ALARM]
        if len(asked) != 1:
            return Check(name, False, f"{wanted}: {counted(len(asked), 'request')} by the rule {ALARM} instead of one")
        fresh = next((row for row in self.trace.rekeys if row.ok and row.t >= asked[0].t - ORDER_S), None)
        if fresh is None or not named.t - ORDER_S <= fresh.t <= named.t + RESPOND_S:
            return Check(name, False, f"{wanted}: no fresh keys within {RESPOND_S:g} s after {named.kind} was named")
        done = f"fresh keys {max(0.0, fresh.t - named.t):.1f} s after {named.kind} was named, once"
        return Check(name, True, f"{wanted}: {done} (epoch {fresh.epoch}, handshake {fresh.handshake_ms:.0f} ms)")

    def _during(self, t: float) -> bool:
        return any(begin_s <= t <= end_s + CALM_S for begin_s, end_s in self._floods)

    def _no_alarm(self) -> Check:
        alarms = [row for row in self.trace.threat if row.level == ATTACK]
        if alarms or not self.trace.threat:
            return Check("detector", False, f"an alarm: {alarms[0].reason}" if alarms else "it said nothing")
        suspected = sorted({row.kind for row in self.trace.alarms if row.kind})
        words = f"no attack named; suspected for a while: {', '.join(suspected)}" if suspected else "no attack named"
        return Check("detector", True, words)

    def as_json(self) -> dict[str, Any]:
        """For scripts; without the rows of the trace, but with its requests and rekeys."""
        trace = self.trace
        return {
            "scenario": self.scenario.name,
            "passed": self.passed,
            "error": self.error,
            "checks": [asdict(check) for check in self.checks()],
            "downlink": None if self.downlink is None else {**asdict(self.downlink), "lost": self.downlink.lost},
            "uplink": None if self.uplink is None else {**asdict(self.uplink), "lost": self.uplink.lost},
            "link_lost": list(self.link_lost),
            "flood_sent": self.flood_sent,
            "start_suite": self.start_suite,
            "final_suite": self.final_suite,
            "requests": [row_json(row) for row in trace.requests],
            "rekeys": [row_json(row) for row in trace.rekeys],
            "events": [list(event) for event in trace.events],
            "exit_codes": self.exit_codes,
            "alarms": [row_json(row) for row in trace.alarms],
            "plot": self.plot,
        }
