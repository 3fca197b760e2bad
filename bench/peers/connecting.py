# SPDX-License-Identifier: Apache-2.0
"""The parts of a run about connections: how they begin, on bad links too, how they come back, and how keys change."""

import json
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress

import rig

from peers.ends import Ends, System
from peers.figures import LIMIT_S, Sheet
from peers.probe import Probe
from peers.room import DEVICE, DRONE, GROUND, SIDES
from peers.sending import PROBLEMS, Plan, in_turn, noted, prepared, when_quiet
from peers.wire import Wire, handshake

_PROBE_S = 0.00025
_SLOW_PROBE_S = 0.01
_DEAD_S = 0.05
_REKEY_RUN_S = 135.0  # WireGuard changes keys after 120 s, and nobody can ask for it
_REKEY_RATE = 200
_AT_ONCE = 6  # rooms of each system in one round of the rekey part
LOSSES = (0, 10, 30)


def start_to_first(ends: Ends, probe: Probe) -> float | None:
    """Seconds from the start of the drone's end to the first datagram that arrives; None when none does in time."""
    begin = time.monotonic_ns()
    ends.start(DRONE)
    first = probe.arrival_after(begin, LIMIT_S)
    return None if first is None else (first - begin) / 1e9


def connect(systems: Sequence[System], plan: Plan) -> Sheet:
    """Handshake on the wire, and from the start of the drone's process to the first datagram at the ground."""
    sheet = plan.sheet
    for repetition in range(plan.repetitions):
        for system in in_turn(systems, repetition):
            if "start_ms" in system.no:
                continue
            when_quiet(sheet, system)
            with noted(sheet, system), prepared(system) as ends:
                # Every datagram is seen by itself, not a run of them.
                for side in SIDES:
                    ends.room.ip(side, f"link set {DEVICE[side]} gso_max_segs 1")
                ends.start(GROUND)
                with closing(Wire(ends.room)) as wire, closing(Probe(ends, _PROBE_S)) as probe:
                    took = start_to_first(ends, probe)
                    time.sleep(0.1)
                if took is None:
                    sheet.fail(system.key, f"not connected within {LIMIT_S:g} s")
                    continue
                sheet.add("start_ms", system.key, took * 1e3)
                if found := handshake(wire.frames):
                    sheet.add("handshake_ms", system.key, found.ms)
                    sheet.add("handshake_bytes", system.key, found.bytes)
                    sheet.note("handshake_datagrams", system.key, found.datagrams)
        plan.save(sheet)
    return sheet


def loss(systems: Sequence[System], plan: Plan) -> Sheet:
    """From the start of the drone's process to the first datagram at the ground, over links that lose frames.

    Without loss one after the other; with it all at the same time, each in a room of its own: they wait for timers.
    """
    sheet = plan.sheet
    for repetition in range(plan.repetitions):
        order = in_turn(systems, repetition)
        rounds = [[(0, system)] for system in order]
        rounds.append([(percent, system) for percent in LOSSES if percent for system in order])
        for each in rounds:
            chosen = [(percent, system) for percent, system in each if f"loss_{percent}" not in system.no]
            _loss_round(sheet, chosen, 100 * repetition + 1)
        plan.save(sheet)
    return sheet


def _loss_round(sheet: Sheet, chosen: Sequence[tuple[int, System]], seed: int) -> None:
    with ExitStack() as stack:
        started: list[tuple[int, System, Probe, int]] = []
        for percent, system in chosen:
            with noted(sheet, system):
                ends = stack.enter_context(prepared(system, percent / 100, seed + percent))
                ends.start(GROUND)
                probe = stack.enter_context(closing(Probe(ends, _SLOW_PROBE_S)))
                begin = time.monotonic_ns()
                ends.start(DRONE)
                started.append((percent, system, probe, begin))
        for percent, system, probe, begin in started:
            left = LIMIT_S - (time.monotonic_ns() - begin) / 1e9
            first = probe.arrival_after(begin, max(left, 0.0))
            took = LIMIT_S if first is None else min((first - begin) / 1e9, LIMIT_S)
            sheet.add(f"loss_{percent}", system.key, took)


def recovery(systems: Sequence[System], plan: Plan) -> Sheet:
    """From a kill -9 of the ground's end, which starts again 50 ms later, to the next datagram that arrives there.

    All systems at the same time, each in a room of its own: they wait for timers, not for the processor.
    """
    sheet = plan.sheet
    for repetition in range(plan.repetitions):
        with ExitStack() as stack:
            running: list[tuple[System, Ends, Probe]] = []
            for system in in_turn([each for each in systems if "recovery_s" not in each.no], repetition):
                try:
                    ends = stack.enter_context(prepared(system))
                    ends.start(GROUND)
                    ends.start(DRONE)
                    running.append((system, ends, stack.enter_context(closing(Probe(ends, _SLOW_PROBE_S)))))
                except PROBLEMS as error:
                    sheet.fail(system.key, str(error))
            killed: list[tuple[System, Probe, int]] = []
            ready = [each for each in running if each[2].arrival_after(0, LIMIT_S) is not None]
            for system, _, _ in (each for each in running if each not in ready):
                sheet.fail(system.key, f"not connected within {LIMIT_S:g} s")
            time.sleep(3)  # sessions that are established, not fresh
            for system, ends, probe in ready:
                try:
                    ends.kill(GROUND)
                    moment = time.monotonic_ns()
                    time.sleep(_DEAD_S)  # what was on its way arrives now, and does not count
                    ends.start(GROUND)
                    killed.append((system, probe, moment))
                except PROBLEMS as error:
                    sheet.fail(system.key, str(error))
            for system, probe, moment in killed:
                left = LIMIT_S - (time.monotonic_ns() - moment) / 1e9
                first = probe.arrival_after(moment + int(_DEAD_S * 1e9), max(left, 0.0))
                sheet.add("recovery_s", system.key, LIMIT_S if first is None else (first - moment) / 1e9)
        plan.save(sheet)
    return sheet


def rekey(systems: Sequence[System], plan: Plan) -> Sheet:
    """Datagrams lost while keys change under traffic; a room without a change gives no figure.

    All at the same time, each repetition in a room of its own: WireGuard's interval is two minutes.
    """
    sheet = plan.sheet
    chosen = [each for each in systems if "rekey_lost" not in each.no]
    for first in range(0, plan.repetitions, _AT_ONCE):
        times = min(_AT_ONCE, plan.repetitions - first)
        _rekey_round(sheet, [each for _ in range(times) for each in chosen])
        plan.save(sheet)
    return sheet


def _rekey_round(sheet: Sheet, systems: Sequence[System]) -> None:
    with ExitStack() as stack:
        ready: list[tuple[System, Ends]] = []
        for system in systems:
            with noted(sheet, system):
                ends = stack.enter_context(prepared(system))
                ends.renew_often()
                ends.start(GROUND)
                ends.start(DRONE)
                with closing(Probe(ends, _SLOW_PROBE_S)) as probe:
                    if probe.arrival_after(0, LIMIT_S) is None:
                        raise RuntimeError(f"not connected within {LIMIT_S:g} s")
                ready.append((system, ends))
        rooms: list[tuple[System, Ends, subprocess.Popen[bytes], list[str]]] = []
        for system, ends in ready:
            with noted(sheet, system):
                command = [
                    *(rig.tool("udp_load"), "--to", ends.entry, "--receive", ends.exit, "--from", ends.sender),
                    *("--send-in", ends.room.path(DRONE), "--receive-in", ends.room.path(GROUND)),
                    *("--rate", str(_REKEY_RATE), "--size", "256", "--seconds", str(_REKEY_RUN_S)),
                ]
                load = ends.room.spawn(DRONE, command, own_run=False, stdout=subprocess.PIPE)
                rooms.append((system, ends, load, [ends.keys()]))
        end = time.monotonic() + _REKEY_RUN_S + 5
        at_work = True
        while time.monotonic() < end and at_work:
            time.sleep(1)
            at_work = any(load.poll() is None for _, _, load, _ in rooms)
            for _, ends, _, seen in rooms:
                # An end that does not answer for a moment is asked again.
                with suppress(OSError, RuntimeError, ValueError):
                    if (now := ends.keys()) != seen[-1]:
                        seen.append(now)
        for system, _, load, seen in rooms:
            assert load.stdout is not None
            if load.poll() != 0:
                sheet.fail(system.key, "the load did not end")
            elif len(seen) < 2:
                sheet.fail(system.key, f"no change of keys within {_REKEY_RUN_S:g} s")
            else:
                sheet.add("rekey_lost", system.key, json.loads(load.stdout.read())["lost"])
                sheet.note("rekey_changes", system.key, len(seen) - 1)
