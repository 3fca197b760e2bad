# SPDX-License-Identifier: Apache-2.0
"""Scenes in the air: a flown mission with rekeys, kills of both ends, a battery that gets low."""

import itertools
import random
import time
from collections.abc import Callable
from contextlib import suppress

from children import ChildError
from conditions import SUITES

from autopilots.flight import Flight
from autopilots.pilot import Pilot
from pqc_mav_bringup.description import Respawn

Figures = dict[str, float]
REKEYS, KILLS = 10, 4
REKEY_SUITES = (*SUITES, "cs-classicmceliece8192128-aesgcm-mldsa87", "cs-mlkem768-aesgcm-mldsa65")
_SIDE_M = 40.0
_FIRST_S, _EVERY_S = 3.0, 6.0  # between two rekeys
_FLIGHT_S = 300.0
_BETWEEN_S, _BACK_S = 4.0, 30.0  # between two kills: the failsafe's time begins anew; until messages flow again
_LOW_S = 180.0


def flown(flight: Flight) -> Figures:
    """Fly a mission from arming to landing; with the tunnel, rekey ten times, each under another suite than before."""
    ground = flight.boot()
    pilot = Pilot(ground)
    ground.upload(pilot.square(_SIDE_M, hold_s=6.0), 60.0)
    pilot.start_mission()
    begun, lost, total = time.monotonic(), ground.lost, ground.total
    done, asked, answer = 0, 0, None
    suites = itertools.cycle(REKEY_SUITES)

    def rekey() -> None:
        nonlocal done, asked, answer
        if flight.pair is None or asked > REKEYS or time.monotonic() - begun < _FIRST_S + asked * _EVERY_S:
            return
        if answer is not None:
            with suppress(ChildError):
                done += bool(answer(30.0)["ok"])
            answer = None
        if asked < REKEYS:
            answer = flight.pair.drone.begin_rekey(next(suites), kind="")
        asked += 1

    def landed() -> bool:
        rekey()
        return not pilot.armed

    ground.wait(landed, _FLIGHT_S, "a landing")
    figures = {"seconds": time.monotonic() - begun, "messages": ground.total - total, "lost": ground.lost - lost}
    return {**figures, "rekeys": done} if flight.pair is not None else figures


def killed(end: str, *, kills: int = KILLS, away_s: float = Respawn().delay_s) -> Callable[[Flight], Figures]:
    """kill -9 of one end while the vehicle hovers; it comes back when the supervisor would start it again."""

    def fly(flight: Flight) -> Figures:
        ground = flight.boot()
        pilot = Pilot(ground)
        pilot.take_off()
        mode, trips, silences = pilot.mode, 0, []
        for _ in range(kills):
            # Anywhere between two heartbeats.
            ground.listen(_BETWEEN_S + random.random())
            ground.longest_s = 0.0
            flight.daemons[end].end()
            ground.listen(away_s)
            flight.daemons[end].start()
            started_s = time.monotonic()
            ground.wait(lambda since=started_s: ground.beats_s[-1] > since, _BACK_S, "a heartbeat after the kill")
            silences.append(ground.longest_s)
            ground.listen(2.0)
            if pilot.mode != mode:
                trips += 1
                pilot.set_mode(pilot.modes.of(mode))
        return {"kills": kills, "trips": trips, "silence_s": max(silences)}

    return fly


def low_battery(flight: Flight) -> Figures:
    """Let the battery run low in the air: the autopilot's own failsafe acts, and the ground sees it."""
    ground = flight.boot()
    pilot = Pilot(ground)
    if pilot.is_ardupilot:
        ground.set_parameter("BATT_FS_LOW_ACT", 2)  # return
        ground.set_parameter("BATT_LOW_TIMER", 3)
        pilot.take_off()
    else:
        ground.set_integer("COM_LOW_BAT_ACT", 3)  # return when critical, land in an emergency
        pilot.take_off()
    mode, begun = pilot.mode, time.monotonic()
    if pilot.is_ardupilot:
        ground.set_parameter("BATT_LOW_VOLT", 20)  # above what the simulated pack gives
    else:
        ground.set_parameter("SIM_BAT_DRAIN", 30)
        ground.set_parameter("SIM_BAT_MIN_PCT", 3)
        ground.set_parameter("BAT_CRIT_THR", 0.3)  # the simulated pack never says less than 14 %
    ground.wait(lambda: pilot.mode != mode, _LOW_S, "the failsafe of the battery")
    return {"seconds": time.monotonic() - begun, "lost": ground.lost}
