# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pqc_mav_sensing.phase import Landed, Motion, Phase, PhaseEstimator, PhaseLimits

NAN = math.nan


def flown(estimator: PhaseEstimator, seconds: float, start_s: float, motion: Motion) -> float:
    for index in range(int(seconds * 10)):
        estimator.update(start_s + index / 10, motion)
    return start_s + seconds


FLIGHT = [
    (Motion(False, 0.0, 0.0, 0.0), Phase.DISARMED),
    (Motion(True, 0.0, 0.0, 0.0), Phase.TAKEOFF),
    (Motion(True, 3.0, 0.2, 1.5), Phase.TAKEOFF),
    (Motion(True, 20.0, 0.3, 0.1), Phase.HOVER),
    (Motion(True, 20.0, 5.0, 0.0), Phase.CRUISE),
    (Motion(True, 20.0, 1.5, 0.0), Phase.CRUISE),  # slower, but above the threshold to leave
    (Motion(True, 20.0, 0.5, 0.0), Phase.HOVER),
    (Motion(True, 8.0, 0.3, -0.7), Phase.LANDING),
    (Motion(True, 0.1, 0.0, 0.0), Phase.LANDING),
    (Motion(False, 0.1, 0.0, 0.0), Phase.DISARMED),
]


@pytest.mark.parametrize("with_landed", [False, True])
def test_a_whole_flight(with_landed: bool) -> None:
    landed = [
        Landed.ON_GROUND, Landed.ON_GROUND, Landed.TAKEOFF, Landed.IN_AIR, Landed.IN_AIR,
        Landed.IN_AIR, Landed.IN_AIR, Landed.LANDING, Landed.ON_GROUND, Landed.ON_GROUND,
    ]  # fmt: skip
    estimator, now_s = PhaseEstimator(), 0.0
    for (motion, phase), state in zip(FLIGHT, landed, strict=True):
        seen = Motion(
            motion.armed,
            motion.relative_altitude_m,
            motion.ground_speed_m_s,
            motion.climb_rate_m_s,
            state if with_landed else Landed.UNDEFINED,
        )
        now_s = flown(estimator, 3.0, now_s, seen)
        assert estimator.phase is phase, motion


def test_gusts_do_not_make_it_flicker() -> None:
    estimator = PhaseEstimator()
    now_s = flown(estimator, 3.0, 0.0, Motion(True, 20.0, 0.0, 0.0, Landed.IN_AIR))
    phases = set()
    for index in range(200):
        gust = 2.5 if index % 8 == 0 else 0.5
        phases.add(estimator.update(now_s + index / 10, Motion(True, 20.0, gust, 0.0, Landed.IN_AIR)))
    assert phases == {Phase.HOVER}


def test_disarming_counts_at_once() -> None:
    estimator = PhaseEstimator()
    now_s = flown(estimator, 3.0, 0.0, Motion(True, 20.0, 5.0, 0.0))
    assert estimator.update(now_s, Motion(False)) is Phase.DISARMED


def test_without_a_heartbeat_it_is_unknown() -> None:
    estimator = PhaseEstimator()
    flown(estimator, 3.0, 0.0, Motion(True, 20.0, 5.0, 0.0))
    assert estimator.lost() is Phase.UNKNOWN
    assert estimator.update(99.0, Motion(True, 20.0, 5.0, 0.0, Landed.IN_AIR)) is Phase.CRUISE


any_float = st.one_of(st.floats(-100, 100), st.just(NAN))


@given(st.lists(st.tuples(st.booleans(), any_float, any_float, any_float, st.sampled_from(Landed)), max_size=60))
def test_armed_and_disarmed_are_never_mixed_up(steps: list[tuple[bool, float, float, float, Landed]]) -> None:
    estimator = PhaseEstimator()
    for index, (armed, *rest) in enumerate(steps):
        phase = estimator.update(index / 10, Motion(armed, *rest))
        assert (phase is Phase.DISARMED) == (not armed)


@given(st.lists(st.tuples(any_float, any_float, any_float, st.sampled_from(Landed)), min_size=1, max_size=60))
def test_a_hover_is_known_to_be_slow(steps: list[tuple[float, float, float, Landed]]) -> None:
    estimator = PhaseEstimator(PhaseLimits(dwell_s=0.0))
    for index, (height_m, speed_m_s, climb_m_s, landed) in enumerate(steps):
        phase = estimator.update(index / 10, Motion(True, height_m, speed_m_s, climb_m_s, landed))
        if phase is Phase.HOVER:
            assert speed_m_s < 2.0 and abs(climb_m_s) < 2.0


FLYING = Motion(True, 20.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("motion", "phase"),
    [
        (Motion(True, 20.0, 3.0, NAN), Phase.CRUISE),
        (Motion(True, 20.0, NAN, 3.0), Phase.CRUISE),
        (Motion(True, 20.0, NAN, 0.0), Phase.UNKNOWN),
        (Motion(True, 20.0, 0.5, NAN), Phase.UNKNOWN),
        (Motion(True, NAN, 3.0, NAN), Phase.CRUISE),
        (Motion(True, NAN, 0.5, 0.0), Phase.UNKNOWN),
        (Motion(True), Phase.UNKNOWN),
        (Motion(True, NAN, 0.5, 0.0, Landed.IN_AIR), Phase.HOVER),
        # Into a valley: lower than the take-off point, and fast.
        (Motion(True, -15.0, 6.0, -0.5), Phase.CRUISE),
        (Motion(True, 0.2, 0.1, -0.4), Phase.LANDING),
    ],
)
def test_what_cannot_be_told_is_unknown(motion: Motion, phase: Phase) -> None:
    estimator = PhaseEstimator()
    now_s = flown(estimator, 3.0, 0.0, FLYING)
    assert estimator.phase is Phase.HOVER
    flown(estimator, 3.0, now_s, motion)
    assert estimator.phase is phase


@pytest.mark.parametrize("landed", [Landed.UNDEFINED, Landed.ON_GROUND])
@pytest.mark.parametrize(("speed_m_s", "phase"), [(3.0, Phase.CRUISE), (0.6, Phase.HOVER)])
def test_rovers_and_boats_do_not_take_off_all_the_time(landed: Landed, speed_m_s: float, phase: Phase) -> None:
    estimator, driving = PhaseEstimator(), Motion(True, 0.1, speed_m_s, 0.0, landed)
    now_s = flown(estimator, 25.0, 0.0, driving)
    assert estimator.phase is Phase.TAKEOFF, "a long run"
    now_s = flown(estimator, 10.0, now_s, driving)
    assert estimator.phase is phase
    now_s = flown(estimator, 60.0, now_s, Motion(True, 0.1, 0.0, 0.0, landed))
    assert estimator.phase is Phase.HOVER, "a stop on the way"
    now_s = flown(estimator, 1.0, now_s, Motion(False, 0.1, 0.0, 0.0, landed))
    flown(estimator, 25.0, now_s, driving)
    assert estimator.phase is Phase.TAKEOFF


def test_an_aircraft_that_rolled_for_long_takes_off_and_lands() -> None:
    estimator = PhaseEstimator()
    now_s = flown(estimator, 60.0, 0.0, Motion(True, 0.1, 4.0, 0.0))
    now_s = flown(estimator, 3.0, now_s, Motion(True, 3.0, 15.0, 2.0))
    assert estimator.phase is Phase.TAKEOFF
    now_s = flown(estimator, 3.0, now_s, Motion(True, 50.0, 15.0, 0.0))
    flown(estimator, 3.0, now_s, Motion(True, 0.1, 0.0, 0.0))
    assert estimator.phase is Phase.LANDING


def test_waiting_with_running_motors_is_no_drive() -> None:
    estimator = PhaseEstimator()
    flown(estimator, 300.0, 0.0, Motion(True, 0.1, 0.3, 0.0))
    assert estimator.phase is Phase.TAKEOFF


def test_nothing_but_armed_says_nothing() -> None:
    estimator = PhaseEstimator()
    flown(estimator, 3.0, 0.0, Motion(True))
    assert estimator.phase is Phase.UNKNOWN


@pytest.mark.parametrize(
    ("motion", "phase"),
    [
        (Motion(True, 2.0, 0.1, 0.0), Phase.LANDING),
        (Motion(True, 2.0, 0.1, 0.0, Landed.IN_AIR), Phase.HOVER),
        (Motion(True, 5.0, 0.1, 0.0), Phase.HOVER),
        (Motion(True, 2.0, 0.1, 0.6), Phase.HOVER),
        (Motion(True, 2.0, 4.0, 0.0), Phase.CRUISE),
    ],
)
def test_the_ground_may_be_higher_than_at_the_start(motion: Motion, phase: Phase) -> None:
    estimator = PhaseEstimator()
    now_s = flown(estimator, 3.0, 0.0, FLYING)
    now_s = flown(estimator, 3.0, now_s, Motion(True, 6.0, 0.1, -0.8))
    assert estimator.phase is Phase.LANDING
    flown(estimator, 3.0, now_s, motion)
    assert estimator.phase is phase


@pytest.mark.parametrize("height_m", [40.0, NAN])
def test_a_vehicle_that_was_told_to_land_lands(height_m: float) -> None:
    estimator = PhaseEstimator()
    now_s = flown(estimator, 3.0, 0.0, FLYING)
    flown(estimator, 3.0, now_s, Motion(True, height_m, 0.5, -1.5, landing_mode=True))
    assert estimator.phase is Phase.LANDING


@pytest.mark.parametrize(
    ("landed", "fast", "slower"),
    [
        (Landed.UNDEFINED, Phase.LANDING, Phase.LANDING),
        # ArduCopter and PX4 in a mission whose next waypoint is lower.
        (Landed.IN_AIR, Phase.CRUISE, Phase.HOVER),
    ],
)
def test_straight_down_is_no_hover_however_high(landed: Landed, fast: Phase, slower: Phase) -> None:
    estimator = PhaseEstimator()
    now_s = flown(estimator, 3.0, 0.0, Motion(True, 25.0, 0.1, 0.0, landed))
    assert estimator.phase is Phase.HOVER
    now_s = flown(estimator, 1.5, now_s, Motion(True, 25.0, 0.1, -1.5, landed))
    assert estimator.phase is fast
    now_s = flown(estimator, 2.0, now_s, Motion(True, 20.0, 0.1, -0.5, landed))
    assert estimator.phase is slower
    now_s = flown(estimator, 2.0, now_s, Motion(True, 19.0, 0.1, 0.0, landed))
    assert estimator.phase is Phase.HOVER
    now_s = flown(estimator, 2.0, now_s, Motion(True, 19.0, 0.1, -0.6, landed))
    assert estimator.phase is Phase.HOVER, "a hover may sink a little"
    flown(estimator, 2.0, now_s, Motion(True, 15.0, 6.0, -1.5, landed))
    assert estimator.phase is Phase.CRUISE
