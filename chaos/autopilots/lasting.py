# SPDX-License-Identifier: Apache-2.0
"""Scenes in the air that last: sticks through loss, link cuts under the detectors' eyes, a second ground station, a
mission while the ways to the drone fail in turns."""

import random
import time
from collections.abc import Callable

from links import Link
from scene import Watch
from stations import NORTH, SOUTH
from tally import percentile

from autopilots.flight import Flight
from autopilots.ground import AUTOPILOT, Ground, LateError, mavlink
from autopilots.pilot import Pilot
from autopilots.watching import verdicts

Figures = dict[str, float]
Spans = list[tuple[float, float]]  # of seconds
STICKS_HZ, LOSS = 25.0, 0.05
_STICKS_S, _ECHO_CHANNEL, _LEAST_US, _STEPS = 30.0, 8, 1_000, 900
WATCHED_MIN = 20.0
# Heartbeats come once a second, so a cut of 4 s would reach the 5 s of ArduPilot's failsafe without a tunnel, too.
_CUT_EVERY_S, _CUT_S, _SETTLED_S = (25.0, 45.0), (0.5, 3.0), 8.0
_BACK_S = 15.0
_PAUSE_S, _OUTAGE_S, _FADE_S, _FADED = 15.0, (0.5, 8.0), (3.0, 10.0), 0.9  # as in bench/paths.py
# Both ways bad for longer may be a silence of 5 s (docs/failsafes.md); the failsafe it trips is seen within so long.
_TOO_LONG_S, _SEEN_S, _LOOK_S, _BEAT_S = 4.0, 10.0, 1.0, 1.0
_AWAY_S = 12.0
FAILS_S = 8.0  # longer than the autopilot waits for its ground
_BOTH_S, _SIDE_M, _MISSION_S = 4.0, 40.0, 300.0
_LTE = {"delay_ms": 30.0, "loss": 0.01}


def sticks(flight: Flight) -> Figures:
    """Hover while sticks go up at 25 Hz through loss; one channel counts, and comes back in RC_CHANNELS.

    `age_ms` is how old the newest value that the autopilot has is when the ground hears of it.
    """
    ground = flight.boot()
    pilot = Pilot(ground)
    pilot.take_off()
    pilot.set_mode(pilot.modes.hold)
    ground.command(
        mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, mavlink.MAVLINK_MSG_ID_RC_CHANNELS, 1e6 / STICKS_HZ, limit_s=30.0
    )
    flight.network.joint.impair(Link(rtt_ms=60, loss=LOSS).impairment())
    mode, sent_s, ages, backwards, newest, trips = pilot.mode, [], [], 0, -1, 0
    begun = time.monotonic()
    heard = ground.received["RC_CHANNELS"]
    while (now := time.monotonic()) - begun < _STICKS_S:
        if now - begun >= len(sent_s) / STICKS_HZ:
            value = _LEAST_US + len(sent_s) % _STEPS
            channels = [1500] * 7 + [value] + [0] * 10
            ground.send(mavlink.MAVLink_rc_channels_override_message(ground.system, AUTOPILOT, *channels))
            sent_s.append(now)
        ground.step()
        if ground.received["RC_CHANNELS"] == heard:
            continue
        heard = ground.received["RC_CHANNELS"]
        echo = getattr(ground.newest["RC_CHANNELS"], f"chan{_ECHO_CHANNEL}_raw") - _LEAST_US
        if not 0 <= echo < len(sent_s):
            continue
        backwards += echo < newest
        newest = echo
        ages.append((time.monotonic() - sent_s[echo]) * 1e3)
        trips += pilot.mode != mode
    if not ages:
        raise LateError("the autopilot told of no stick")
    return {"p50_ms": percentile(ages, 0.5), "p95_ms": percentile(ages, 0.95), "backwards": backwards, "trips": trips}


def cuts(flight: Flight) -> Figures:
    """Ordinary flight with short link cuts: what the detectors say, and how long the link stays silent after a cut."""
    back: list[float] = []

    def fly(pilot: Pilot) -> None:
        ground, generator = pilot.ground, random.Random(1)
        end = time.monotonic() + WATCHED_MIN * 60.0
        while time.monotonic() < end:
            ground.listen(generator.uniform(*_CUT_EVERY_S))
            flight.network.joint.impair({"loss": 1.0})
            ground.listen(generator.uniform(*_CUT_S))
            flight.network.joint.impair({"loss": 0.0})
            since = time.monotonic()
            ground.wait(lambda since=since: ground.came_s > since, _BACK_S, "a message after a cut")
            back.append(ground.came_s - since)
            pilot.hold_on()

    figures = _watched(flight, fly)
    return {"cuts": len(back), "back_s": max(back), **figures}


def outages(flight: Flight) -> Figures:
    """Ordinary flight by LTE and a radio; the one has outages and the other fades, each at times of its own."""
    assert flight.radios is not None
    radios, joint, generator = flight.radios, flight.network.joint, random.Random(1)
    joint.impair(_LTE)

    def lte(works: bool) -> None:
        joint.impair({"down": not works})

    def radio(works: bool) -> None:
        for number in (0, 1):
            radios.fade(number, 0.0 if works else _FADED)

    plan: list[tuple[float, Callable[[bool], None], bool]] = []
    found: list[Spans] = []
    for way, lasts_s in ((lte, _OUTAGE_S), (radio, _FADE_S)):
        at = 0.0
        found.append([])
        while (at := at + generator.expovariate(1 / _PAUSE_S)) < WATCHED_MIN * 60.0:
            until = at + generator.uniform(*lasts_s)
            found[-1].append((at, until))
            plan += [(at, way, False), (until, way, True)]
            at = until

    both = [each for each in overlaps(*found) if each[1] - each[0] > _TOO_LONG_S]
    unforeseen = 0

    def fly(pilot: Pilot) -> None:
        nonlocal unforeseen
        begun = time.monotonic()
        for at, way, works in sorted(plan, key=lambda each: each[0]):
            while (left_s := begun + at - time.monotonic()) > 0:
                pilot.ground.listen(min(_LOOK_S, left_s))
                pilot.hold_on()
            way(works)
        trips = [at - begun for at in pilot.tripped_s]
        unforeseen = sum(not any(begin < at < end + _SEEN_S for begin, end in both) for at in trips)
        print(f"failsafes at {trips} s; both ways were bad {both}", flush=True)

    figures = _watched(flight, fly)
    return {"fails": len(plan) // 2, "both": len(both), "unforeseen": unforeseen, **figures}


def overlaps(one: Spans, other: Spans) -> Spans:
    """When both were there; pauses in which there need not be a heartbeat count as well."""
    pairs = ((max(a[0], b[0]), min(a[1], b[1])) for a in one for b in other)
    found: Spans = []
    for begin, end in sorted(each for each in pairs if each[0] < each[1]):
        if found and begin - found[-1][1] < _BEAT_S:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


def _watched(flight: Flight, fly: Callable[[Pilot], None]) -> Figures:
    """A flight, and what the detectors say of it at the drone."""
    assert flight.pair is not None
    flight.boot()
    pilot = Pilot(flight.ground)
    pilot.take_off()
    pilot.hold_on()
    begun = time.monotonic()
    with Watch(flight.pair.drone, "drone") as watch:
        flight.ground.listen(_SETTLED_S)
        fly(pilot)
    return {"minutes": WATCHED_MIN, "trips": len(pilot.tripped_s), **verdicts(watch.take(), time.monotonic() - begun)}


def failover(flight: Flight) -> Figures:
    """kill -9 of the station that flies the vehicle: its standby takes over before the autopilot's failsafe."""
    flight.boot()
    pilot = Pilot(flight.ground)
    pilot.take_off()
    mode = pilot.mode
    south = flight.others[0]
    _together(flight.ground, south, 5.0)
    flight.daemons[NORTH].end()
    killed_s = time.monotonic()
    seconds = south.wait(lambda: south.beats_s and south.beats_s[-1] > killed_s, _AWAY_S, f"a heartbeat at {SOUTH}")
    south.listen(_AWAY_S)
    return {"seconds": seconds, "trips": float(south.newest["HEARTBEAT"].custom_mode != mode)}


def turns(flight: Flight) -> Figures:
    """Fly a mission, and return without a heartbeat of the ground; LTE fails, then the radio, then LTE again."""
    assert flight.radios is not None
    radios, joint = flight.radios, flight.network.joint
    joint.impair(_LTE)
    ground = flight.boot()
    pilot = Pilot(ground)
    ground.upload(pilot.square(_SIDE_M, hold_s=6.0), 60.0)
    pilot.start_mission()
    begun, total, failed, trips = time.monotonic(), ground.total, 0, 0.0
    ground.longest_s = 0.0
    home = pilot.modes.custom(pilot.modes.home)

    def landed() -> bool:
        nonlocal failed, trips
        turn, passed = divmod(time.monotonic() - begun, _BOTH_S + FAILS_S)
        wanted = 2 * int(turn) + (passed >= _BOTH_S)
        if wanted > failed:
            failed = wanted
            joint.impair({"down": failed % 4 == 1})
            for number in (0, 1):
                radios.fade(number, float(failed % 4 == 3))
        if pilot.mode == home and not trips:
            trips = 1.0
            print(f"failsafe {passed:.1f} s after the failure number {failed}: {list(ground.texts)}", flush=True)
            for end in flight.pair.ends.values() if flight.pair else ():
                print(
                    {key: value for key, value in end.stats().items() if value}, end.status().get("paths"), flush=True
                )
        return not pilot.armed

    ground.wait(landed, _MISSION_S, "a landing")
    return {
        "seconds": time.monotonic() - begun,
        "messages": ground.total - total,
        "fails": (failed + 1) // 2,
        "silence_s": ground.longest_s,
        "trips": trips,
    }


def _together(first: Ground, second: Ground, seconds: float) -> None:
    """Both stations' software speaks; only one is heard."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        first.step()
        second.step()
