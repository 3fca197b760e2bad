# SPDX-License-Identifier: Apache-2.0
"""Every threshold of the cascade with the values just below it, on it and just above it, as data.

A `Boundary` says how to bring about a situation in which one quantity alone decides, and what the cascade has to answer
on either side of the threshold. `test_boundaries` runs them, `test_mutations` shows that each threshold and each
comparison in the rules is held by at least one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scenes import CATALOGUE, DEFAULT, GROUND, change, suite, well

from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.cascade import cascade
from pqc_mav_policy.telemetry.inputs import DecisionInput, Outcome, Phase

Frames = Sequence[tuple[float, DecisionInput]]
Answer = tuple[str, str]  # action, guard
HEAVY = suite("MC-460-AG-MD-65")
HQC = suite("HQC-192-AG-MD-65")
FRODO = "cs-frodokem976aes-aesgcm-mldsa65"
LIGHT = suite("ML-512-AG-FA-512")
NOMINAL: Answer = ("HOLD", "nominal")
COOLDOWN: Answer = ("HOLD", "cooldown")
EMERGENCY: Answer = ("DOWN_0", "emergency")
BAD_LINK: Answer = ("HOLD", "link")  # watched: it has not lasted yet
STRESS: Answer = ("HOLD", "stress")
REKEY: Answer = ("REKEY", "rekey")
UPGRADE: Answer = ("UPGRADE", "upgrade")


def play(frames: Frames, parameters: PolicyParameters) -> Answer:
    """The last decision over a sequence of snapshots."""
    strategy = cascade.Cascade(CATALOGUE, parameters)
    memory = strategy.initial_state(frames[0][0])
    answer: Answer = ("", "")
    for now, inputs in frames:
        decision, memory = strategy.decide(inputs, memory, now)
        answer = (str(decision.action), decision.guard)
    return answer


def seconds(until: float, inputs: DecisionInput, start: float = 0.0) -> list[tuple[float, DecisionInput]]:
    """The same snapshot once a second from `start` on, and last at `until`."""
    times = [start + step for step in range(int(until - start) + 1) if start + step < until]
    return [(time, inputs) for time in (*times, until)]


@dataclass(frozen=True)
class Boundary:
    """`frames(x)` leads to a decision that depends on x against the parameter alone.

    `value` is the published (or documented) threshold, `step` the smallest difference that counts. `beyond` is the
    answer once the threshold is passed, `within` before; `on` the answer at the threshold itself.
    """

    parameter: str
    value: float
    step: float
    rising: bool  # True: passed above the value
    frames: Callable[[float], Frames]
    beyond: Answer
    within: Answer
    on: Answer

    def points(self) -> dict[float, Answer]:
        """Quantity -> answer: just within, on, and just beyond."""
        sign = 1.0 if self.rising else -1.0
        return {
            self.value - sign * self.step: self.within,
            self.value: self.on,
            self.value + sign * self.step: self.beyond,
        }

    def holds(self, parameters: PolicyParameters) -> bool:
        """Whether every point gets its answer."""
        return all(play(self.frames(x), parameters) == answer for x, answer in self.points().items())


def one(**changes: object) -> Frames:
    """A drone that was well for half a minute, then one changed snapshot."""
    return [*seconds(30.0, well()), (31.0, change(well(), **changes))]


def late_emergency(x: float) -> Frames:
    """An emergency in a reading x old: once it is too old, the battery's rules are out."""
    return one(battery={"voltage_v": 13.0, "age_s": x})


def failed_for(x: float) -> Frames:
    """Seven requests of an emergency failed, the last one x ago."""
    hot = change(well(), thermal={"temperature_c": 90.0})
    failed = change(hot, outcomes=(Outcome(LIGHT, False, 31.0, DEFAULT, "", "timeout"),) * 7)
    return [*seconds(30.0, well()), (31.0, failed), *seconds(31.0 + x, hot, 32.0)]


def near_switch(x: float) -> Frames:
    after = well(LIGHT, epoch=1, switched=31.0)
    return [*seconds(30.0, well()), (31.5, after), (32.0, change(after, link={"blackouts_near_switch": int(x)}))]


def since_switch(x: float) -> Frames:
    return [*seconds(30.0, well()), *seconds(31.0 + x, well(epoch=1, switched=31.0), 31.0)]


def since_failure(x: float) -> Frames:
    failed = change(well(), outcomes=(Outcome(LIGHT, False, 31.0, DEFAULT, "", "unreachable"),))
    return [*seconds(30.0, well()), (31.0, failed), *seconds(31.0 + x, well(), 32.0)]


def stressed_for(x: float) -> Frames:
    return [*seconds(30.0, well()), *seconds(31.0 + x, well(thermal={"rate_c_per_min": 6.0}), 31.0)]


def in_phase_for(x: float) -> Frames:
    hover = well(HEAVY, vehicle={"phase": Phase.HOVER})
    return [*seconds(30.0, hover), *seconds(31.0 + x, well(HEAVY), 31.0)]


def calm_on_ground(x: float) -> Frames:
    return seconds(x, well(LIGHT, vehicle=GROUND))


def calm(x: float) -> Frames:
    return seconds(x, change(well(), session={"key_age_s": 1e4}))


def key_age(name: str) -> Callable[[float], Frames]:
    return lambda x: seconds(70.0, change(well(name, vehicle={"phase": Phase.HOVER}), session={"key_age_s": x}))


def rekeyed(count: int, spacing: float, end: float) -> Frames:
    """`count` rekeys of its own, `spacing` apart from second 0 on, then well until `end`, when the keys are due."""
    frames: list[tuple[float, DecisionInput]] = [(-1.0, well())]
    for number in range(count):
        at = number * spacing
        own = well(epoch=number + 1, switched=at)
        frames += [(at, change(own, outcomes=(Outcome(DEFAULT, True, at),)))]
        frames += seconds(at + spacing - 1.0, own, at + 1.0)
    last = well(epoch=count, switched=(count - 1) * spacing)
    return [*frames, *seconds(end, change(last, session={"key_age_s": 1e4}), count * spacing)]


def rekeys_before(x: float) -> Frames:
    return rekeyed(int(x), 40.0, int(x) * 40.0 + 65.0)


def window(x: float) -> Frames:
    return rekeyed(5, 40.0, x)


def after_rollback(x: float) -> Frames:
    """Blackouts led from the lightest suite back at second 33; x later an emergency asks for the lightest."""
    only = change(well(), available=(DEFAULT, LIGHT))
    left = change(well(LIGHT, epoch=1, switched=31.0), available=(DEFAULT, LIGHT), link={"blackouts_near_switch": 4})
    back = change(well(epoch=2, switched=33.0), available=(DEFAULT, LIGHT))
    hot = change(back, thermal={"temperature_c": 90.0})
    return [*seconds(30.0, only), (32.0, left), (33.5, back), (33.0 + x, hot)]


BOUNDARIES: Sequence[Boundary] = (
    Boundary("stale_s", 2.0, 0.01, True, late_emergency, NOMINAL, EMERGENCY, EMERGENCY),
    Boundary(
        "battery_emergency_v", 14.0, 0.01, False, lambda x: one(battery={"voltage_v": x}), EMERGENCY, NOMINAL, NOMINAL
    ),
    Boundary(
        "battery_emergency_charge",
        0.07,
        0.001,
        False,
        lambda x: one(battery={"state_of_charge": x}),
        EMERGENCY,
        NOMINAL,
        NOMINAL,
    ),
    Boundary(
        "temperature_emergency_c",
        80.0,
        0.1,
        True,
        lambda x: one(thermal={"temperature_c": x}),
        EMERGENCY,
        NOMINAL,
        NOMINAL,
    ),
    Boundary("rollback_blackouts", 3, 1, True, near_switch, ("ROLLBACK", "blackout"), COOLDOWN, COOLDOWN),
    Boundary("cooldown_s", 5.0, 0.01, False, since_switch, COOLDOWN, NOMINAL, NOMINAL),
    Boundary("cooldown_s", 5.0, 0.01, False, since_failure, COOLDOWN, NOMINAL, NOMINAL),
    Boundary("gap_p95_s", 1.0, 0.01, True, lambda x: one(link={"gap_p95_s": x}), BAD_LINK, NOMINAL, NOMINAL),
    Boundary("loss_limit", 0.10, 0.001, True, lambda x: one(link={"loss": x}), BAD_LINK, NOMINAL, NOMINAL),
    Boundary(
        "temperature_rate_c_per_min",
        5.0,
        0.05,
        True,
        lambda x: one(thermal={"rate_c_per_min": x}),
        STRESS,
        NOMINAL,
        NOMINAL,
    ),
    Boundary(
        "voltage_rate_mv_per_min",
        -500.0,
        1.0,
        False,
        lambda x: one(battery={"rate_mv_per_min": x}),
        STRESS,
        NOMINAL,
        NOMINAL,
    ),
    Boundary("tau_down_s", 5.0, 0.01, True, stressed_for, ("DOWN", "stress"), STRESS, ("DOWN", "stress")),
    Boundary("tau_down_s", 5.0, 0.01, True, in_phase_for, ("DOWN", "phase"), NOMINAL, ("DOWN", "phase")),
    Boundary("tau_up_s", 30.0, 0.01, True, calm_on_ground, UPGRADE, NOMINAL, UPGRADE),
    Boundary("rekey_stable_s", 60.0, 0.01, True, calm, REKEY, NOMINAL, NOMINAL),
    Boundary("rekey_mlkem_s", 60.0, 0.01, True, key_age(DEFAULT), REKEY, NOMINAL, NOMINAL),
    Boundary("rekey_hqc_s", 300.0, 0.01, True, key_age(HQC), REKEY, NOMINAL, NOMINAL),
    Boundary("rekey_frodokem_s", 300.0, 0.01, True, key_age(FRODO), REKEY, NOMINAL, NOMINAL),
    # 0 means never: keys of any age are left alone.
    Boundary("rekey_mceliece_s", 0.0, 1e6, True, key_age(HEAVY), NOMINAL, NOMINAL, NOMINAL),
    Boundary("rate_limit_count", 5, 1, True, rekeys_before, ("HOLD", "rekey"), REKEY, ("HOLD", "rekey")),
    Boundary("rate_limit_window_s", 300.0, 0.01, True, window, REKEY, ("HOLD", "rekey"), REKEY),
    Boundary("retry_most_s", 60.0, 0.01, False, failed_for, ("HOLD", "emergency"), EMERGENCY, EMERGENCY),
    Boundary("blacklist_ttl_s", 1800.0, 0.01, True, after_rollback, EMERGENCY, ("HOLD", "emergency"), EMERGENCY),
)
