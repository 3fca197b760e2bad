# SPDX-License-Identifier: Apache-2.0
"""The second-by-second loop without ROS: acting, waiting for answers, modes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from messages import message
from scenes import CATALOGUE, CORE, DEFAULT, suite

from pqc_mav_policy.controller import Controller, Tick
from pqc_mav_policy.decision import Action, Kind
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.cascade.cascade import Cascade
from pqc_mav_policy.telemetry.telemetry import Telemetry

LIGHT = suite("ML-512-AG-FA-512")
HQC = suite("HQC-192-AG-MD-65")
P = PolicyParameters()


class Drone:
    """A controller with telemetry heard once a second and a proxy that does as it is told, or not."""

    def __init__(self, mode: str = "auto", parameters: PolicyParameters = P) -> None:
        self.telemetry = Telemetry(parameters.near_switch_s, 10.0)
        self.controller = Controller(Cascade(CATALOGUE, parameters), CATALOGUE, parameters, self.telemetry, 0.0)
        self.controller.mode = mode  # type: ignore[assignment]
        self.controller.allow(CORE, LIGHT)
        self.suite, self.epoch = DEFAULT, 0
        self.now = 0.0
        self.telemetry.on_status(message("status", key_age_s=100.0), 0.0)

    def second(self, **changes: dict[str, object]) -> Tick:
        self.now += 1.0
        for stream in ("battery", "thermal", "vehicle", "system"):
            self.telemetry.on(stream, message(stream, **changes.get(stream, {})), self.now)
        self.telemetry.on_link(message("link"), self.now)
        return self.controller.tick(self.now)

    def answer(self, tick: Tick, ok: bool = True) -> None:
        assert tick.request is not None
        if ok:
            self.suite, self.epoch = tick.request.suite or self.suite, self.epoch + 1
            self.telemetry.on_rekeyed(self.suite, self.epoch, self.now)
        self.controller.answered(ok, "Rekeyed." if ok else "Failed.", self.now, "" if ok else "timeout")


def test_the_conditions_of_the_strategy_that_runs_come_with_each_decision() -> None:
    from pqc_mav_policy.settings import Settings, make

    drone = Drone()
    assert drone.second().conditions == (), "the cascade's own are laid open from the inputs"
    drone.controller.strategy = make("measured", CATALOGUE, Settings())
    drone.controller._state = drone.controller.strategy.initial_state(drone.now)
    for _ in range(5):
        tick = drone.second()
    assert {"calm has lasted", "age of the keys", "trouble"} <= {each.what for each in tick.conditions}


HOT = {"temperature_c": 85.0}


def test_the_end_of_the_cooldown_is_recorded_with_the_inputs() -> None:
    drone = Drone()
    before = drone.second().inputs.session.cooldown_until_s
    assert before is not None and before < 0  # the keys were 100 s old when it began
    tick = drone.second(thermal=HOT)
    drone.answer(tick)
    holding = drone.second(thermal=HOT)
    assert holding.inputs.session.cooldown_until_s == drone.now - 1.0 + P.cooldown_s
    refused = Drone()
    refused.answer(refused.second(thermal=HOT), ok=False)
    assert refused.second().inputs.session.cooldown_until_s == refused.now + P.cooldown_s


def test_a_decision_that_acts_is_asked_for_once_and_waits_for_its_answer() -> None:
    drone = Drone()
    drone.second()
    tick = drone.second(thermal=HOT)
    assert tick.request is not None
    assert (tick.request.suite, tick.decision.action) == (LIGHT, Action.DOWN_0)
    assert tick.request.reason.startswith("policy: emergency: Emergency: processor at 85.0 C")
    waiting = drone.second(thermal=HOT)
    assert (waiting.decision.guard, waiting.request) == ("pending", None)
    assert waiting.inputs.session.pending_suite == LIGHT
    drone.answer(tick)
    after = drone.second(thermal=HOT)
    assert (after.decision.action, after.decision.guard) == (Action.HOLD, "emergency")
    assert [outcome.ok for outcome in after.inputs.outcomes] == [True]
    assert drone.second().inputs.outcomes == ()


def test_a_failure_is_delivered_once_and_speaks_against_no_suite() -> None:
    """Anybody in the path can let a handshake fail; which suites to avoid is the engine's to say."""
    drone = Drone()
    tick = drone.second(thermal=HOT)
    drone.answer(tick, ok=False)
    after = drone.second(thermal=HOT)
    assert after.inputs.outcomes[0].suite == LIGHT
    assert after.inputs.outcomes[0].from_suite == DEFAULT
    again = [drone.second(thermal=HOT).request for _ in range(2)]
    assert again[-1] is not None
    assert again[-1].suite == LIGHT
    assert drone.controller.last_outcome is not None
    assert not drone.controller.last_outcome.ok


def test_an_emergency_with_the_handshake_path_closed_backs_off() -> None:
    """It asked every second: now after 2, 4, 8, 16, 32 s, then once a minute, and at once when the path is open."""
    drone = Drone()
    asked = []
    for _ in range(300):
        tick = drone.second(thermal=HOT)
        if tick.request is not None:
            asked.append(drone.now)
            drone.answer(tick, ok=False)
        elif tick.decision.guard == "emergency" and len(asked) > 1:
            assert "requests in a row failed, asking again in" in tick.decision.reason
    waits = [later - earlier for earlier, later in pairwise(asked)]
    assert waits == [3.0, 5.0, 9.0, 17.0, 33.0, 61.0, 61.0, 61.0]
    drone.telemetry.on_status(message("status", key_age_s=0.0), drone.now)  # the session began anew
    assert drone.second(thermal=HOT).request is not None


def test_a_suite_the_engine_avoids_is_left_out() -> None:
    drone = Drone()
    drone.telemetry.on_status(message("status", key_age_s=100.0, blacklisted_suites=[LIGHT]), 0.0)
    tick = drone.second(thermal=HOT)
    assert tick.request is not None
    assert tick.request.suite not in (LIGHT, DEFAULT)


def test_no_suite_below_the_configured_one_is_chosen_or_can_be_pinned() -> None:
    drone = Drone()
    drone.controller.allow(CORE, DEFAULT)
    hot = drone.second(thermal=HOT)
    assert (hot.request, hot.decision.guard) == (None, "emergency")
    assert drone.controller.too_low(HQC) == ""
    why = "it is of level 1, below level 3 of the proxy's suite; 'minimum_level' of the policy can allow less"
    assert drone.controller.too_low(LIGHT) == why
    drone.controller.mode, drone.controller.pin = "manual", LIGHT
    kept = drone.second()
    assert (kept.request, kept.decision.guard) == (None, "pinned")
    assert "level 1, below the lowest allowed, 3" in kept.decision.reason


def test_fresh_keys_are_asked_for_without_a_suite() -> None:
    drone = Drone()
    ticks = [drone.second() for _ in range(62)]
    asked = [tick for tick in ticks if tick.request is not None]
    assert [tick.decision.action for tick in asked] == [Action.REKEY]
    assert asked[0].request is not None
    assert (asked[0].request.suite, asked[0].request.kind) == ("", Kind.REKEY)


def test_a_ratchet_is_asked_for_as_such_and_its_outcome_says_so() -> None:
    drone = Drone(parameters=PolicyParameters(ratchet_above_bytes=0))
    drone.telemetry.on_status(message("status", key_age_s=100.0, ratchet_for_s=3000.0), 0.0)
    asked = next(tick for tick in (drone.second() for _ in range(62)) if tick.request is not None)
    assert asked.request is not None
    assert (asked.request.suite, asked.request.kind) == ("", Kind.RATCHET)
    assert asked.decision.action is Action.REKEY
    outcome = drone.controller.answered(False, "no", drone.now)
    assert outcome is not None
    assert (outcome.kind, outcome.suite) == ("ratchet", DEFAULT)
    later = next(tick for tick in (drone.second() for _ in range(62)) if tick.request is not None)
    assert later.request is not None
    assert later.request.kind is Kind.REKEY, "what failed is followed by a full handshake"


def test_mode_hold_decides_and_does_nothing() -> None:
    drone = Drone("hold")
    tick = drone.second(thermal=HOT)
    assert tick.decision.action is Action.DOWN_0
    assert tick.request is None
    assert drone.controller.pending is None


def test_mode_manual_keeps_the_pinned_suite_in_an_emergency_and_without_telemetry() -> None:
    drone = Drone("manual")
    drone.controller.pin = HQC
    tick = drone.second(thermal=HOT)
    assert tick.request is not None
    assert (tick.request.suite, tick.decision.guard, tick.decision.action) == (HQC, "pinned", Action.UPGRADE)
    drone.answer(tick)
    held = [drone.second(thermal=HOT) for _ in range(10)]
    assert {tick.decision.action for tick in held} == {Action.HOLD}
    assert {tick.emergency for tick in held} == {"processor at 85.0 C, above 80 C"}
    assert drone.second().emergency == ""
    assert held[-1].decision.guard == "pinned"
    drone.controller.pin = LIGHT
    blind = drone.second(battery={"valid": False, "reason": "unplugged"})
    assert (blind.decision.action, blind.decision.to_suite) == (Action.DOWN, LIGHT)


def test_mode_manual_renews_keys_and_waits_after_a_failure() -> None:
    drone = Drone("manual")
    ticks = [drone.second() for _ in range(62)]
    assert drone.controller.pin == DEFAULT
    assert [tick.decision.action for tick in ticks if tick.request] == [Action.REKEY]
    drone.answer(ticks[-1] if ticks[-1].request else ticks[-2], ok=False)
    drone.controller.pin = HQC
    assert drone.second().decision.guard == "cooldown"
    later = [drone.second() for _ in range(6)]
    assert later[-1].decision.guard in ("pinned", "pending")


@pytest.mark.parametrize(("refused", "most", "wait_s"), [(True, 10, 54), (False, 40, 2)])
def test_a_pin_that_fails_is_asked_for_seldom_and_the_keys_in_use_are_renewed(
    refused: bool, most: int, wait_s: int
) -> None:
    """What the ground station refuses is on the engine's list, what times out is not."""
    drone = Drone("manual")
    drone.controller.pin = HQC
    listed = [HQC] if refused else []
    drone.telemetry.on_status(message("status", key_age_s=0.0, blacklisted_suites=listed), 0.0)
    asked, said = [], []
    for _ in range(600):
        tick = drone.second()
        if tick.request is not None:
            asked.append(tick.request.suite)
            drone.answer(tick, ok=tick.request.suite != HQC)
        elif tick.decision.guard == "pinned":
            said.append(tick.decision.reason)
    assert 1 < asked.count(HQC) <= most
    assert asked.count("") >= 8
    assert f"Holding: the request for the pinned suite failed, asking again in {wait_s} s." in said


def test_back_in_auto_the_strategy_goes_on() -> None:
    drone = Drone("manual")
    drone.controller.pin = suite("MC-460-AG-MD-65")
    drone.answer(drone.second())
    drone.controller.mode = "auto"
    acted = next(tick for tick in (drone.second() for _ in range(6)) if tick.request)
    # McEliece is unfit for cruise.
    assert (acted.decision.action, acted.decision.guard) == (Action.DOWN, "phase")


def test_an_answer_nobody_waits_for_any_more_is_dropped() -> None:
    drone = Drone()
    assert drone.controller.answered(True, "late", 1.0) is None
    assert drone.second().inputs.outcomes == ()


def test_ranks_for_messages() -> None:
    controller = Drone().controller
    assert controller.rank(LIGHT) == 0
    assert controller.rank("") == 0
    assert controller.rank(HQC) > controller.rank(DEFAULT) > 0


def test_shedding_never_raises_the_owner_s_rate_and_mode_hold_leaves_the_proxy_alone() -> None:
    cases = ((0, "auto", 64), (-1, "auto", 64), (128, "auto", 64), (64, "auto", None), (0, "hold", None))
    for own_kbit, mode, asked in cases:
        drone = Drone(mode, PolicyParameters(shed_kbit=64))
        drone.controller.allow(CORE, LIGHT, own_kbit)
        busy = {"system": {"cpu_percent": 99.0}}
        tick = [drone.second(**busy) for _ in range(8)][-1]
        assert tick.shape_kbit == asked
        assert ("Shedding load" in tick.decision.reason) is (asked is not None)
        if asked:
            drone.controller.shaped = True
            drone.controller.allow(CORE, LIGHT, 64)  # what the proxy now says of itself
            assert drone.second(**busy).shape_kbit is None
            back = [drone.second() for _ in range(31)][-1]
            assert back.shape_kbit == own_kbit


def test_what_the_proxy_says_of_its_rate_counts_after_one_of_both_was_started_again() -> None:
    controller = Drone(parameters=PolicyParameters(shed_kbit=64)).controller
    for kbit, before, after in ((0, True, False), (128, True, False), (50, True, True), (64, True, True)):
        controller.shaped = before
        controller.on_rate(kbit)
        assert controller.shaped is after, kbit
    for own_kbit, kbit, shaped in ((-1, 64, True), (128, 64, True), (64, 64, False), (-1, 50, False), (-1, 0, False)):
        fresh = Drone(parameters=PolicyParameters(shed_kbit=64)).controller
        fresh.available = ()
        fresh.on_rate(kbit)
        assert not fresh.shaped, "it may be the owner's own rate"
        fresh.allow(CORE, LIGHT, own_kbit)
        assert (fresh.shaped, fresh.own_kbit) == (shaped, own_kbit), kbit
    off = Drone(parameters=PolicyParameters(shed_kbit=0)).controller
    off.allow(CORE, LIGHT, 128)
    assert not off.shaped


def test_a_volumetric_attack_sheds_load_where_the_owner_named_a_rate_and_asks_for_no_handshake() -> None:
    attack = message("threat", level=2, kind="volumetric", response="light_handshakes")
    for kbit, asked in ((64, 64), (0, None)):
        drone = Drone(parameters=PolicyParameters(shed_kbit=kbit, attack_is_stress=False))
        ticks = []
        for _ in range(8):
            drone.telemetry.on("threat", attack, drone.now + 1.0)
            ticks.append(drone.second())
        assert ticks[-1].shape_kbit == asked
        said = "MAVLink is shaped to 64 kbit/s: a detector reports traffic at other ports (volumetric)"
        assert (said in ticks[-1].decision.reason) is (asked is not None)
        assert all(tick.request is None for tick in ticks)
        drone.controller.shaped = bool(asked)
        calm = [drone.second().shape_kbit for _ in range(50)]
        assert [each for each in calm if each is not None][:1] == ([-1] if asked else [])
