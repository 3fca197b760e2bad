# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from pqc_mav_common.geodesy import LocalFrame
from pqc_mav_sim.guidance import Target
from pqc_mav_sim.mission_plan import ItemError, MissionItem, MissionPlan, NavCommand

HERE = Target(1.0, 2.0, 3.0, 0.4)
FRAME = LocalFrame(47.0, 8.0, 400.0)


def item(seq=0, command=NavCommand.WAYPOINT, frame=6, params=(0.0, 0.0, 0.0, 0.0), lat=47.001, lon=8.001, alt=20.0):
    return MissionItem(seq, frame, command, params, lat, lon, alt)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (item(command=31000), ItemError.UNSUPPORTED),
        (item(frame=99), ItemError.UNSUPPORTED_FRAME),
        (item(lat=91.0), ItemError.INVALID_X),
        (item(lat=math.nan), ItemError.INVALID_X),
        (item(lon=181.0), ItemError.INVALID_Y),
        (item(alt=math.inf), ItemError.INVALID_ALTITUDE),
        (item(alt=20_000.0), ItemError.INVALID_ALTITUDE),
    ],
)
def test_items_that_cannot_be_flown(bad, error):
    assert bad.check() is error


def test_good_items():
    assert item().check() is None
    # a command without a place is not asked for one
    assert item(command=NavCommand.RETURN, frame=2, lat=math.nan, alt=math.nan).check() is None


def test_target_takes_the_frame_of_the_altitude():
    relative = MissionPlan([item(alt=20.0, frame=6)]).target(FRAME, HERE)
    amsl = MissionPlan([item(alt=420.0, frame=5)]).target(FRAME, HERE)
    assert relative.altitude == amsl.altitude == 20.0
    assert (relative.north, relative.east) == pytest.approx(FRAME.to_local(47.001, 8.001))


def test_zero_position_means_here():
    target = MissionPlan([item(command=NavCommand.TAKEOFF, lat=0.0, lon=0.0, alt=15.0)]).target(FRAME, HERE)
    assert (target.north, target.east, target.altitude) == (1.0, 2.0, 15.0)


def test_waypoint_is_held_for_its_time():
    plan = MissionPlan([item(params=(3.0, 0.0, 0.0, 0.0)), item(1)])
    assert plan.advance(10.0, 50.0, 0.0, 2.0) is None
    assert plan.advance(11.0, 1.0, 0.5, 2.0) is None
    assert plan.advance(13.0, 1.0, 0.5, 2.0) is None
    assert plan.advance(14.0, 1.0, 0.5, 2.0) == 0
    assert plan.current == 1


def test_waypoint_needs_the_height_too():
    plan = MissionPlan([item()])
    assert plan.advance(0.0, 0.0, 5.0, 2.0) is None
    assert plan.advance(1.0, 0.0, 0.9, 2.0) == 0
    assert plan.finished


def test_speed_change_and_delay():
    plan = MissionPlan(
        [
            item(command=NavCommand.CHANGE_SPEED, params=(0.0, 7.0, 0.0, 0.0)),
            item(1, NavCommand.DELAY, params=(2.0, 0, 0, 0)),
        ]
    )
    assert plan.advance(0.0, 0.0, 0.0, 2.0) == 0
    assert plan.speed == 7.0
    assert plan.advance(1.0, 99.0, 99.0, 2.0) is None
    assert plan.advance(3.0, 99.0, 99.0, 2.0) == 1


def test_unlimited_loiter_never_ends():
    plan = MissionPlan([item(command=NavCommand.LOITER_UNLIMITED)])
    assert all(plan.advance(float(t), 0.0, 0.0, 2.0) is None for t in range(100))


def test_jump():
    plan = MissionPlan([item(0), item(1), item(2)])
    plan.jump(2)
    assert plan.item == item(2)
    for seq in (-1, 3):
        with pytest.raises(IndexError, match="does not exist"):
            plan.jump(seq)
