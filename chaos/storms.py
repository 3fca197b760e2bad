# SPDX-License-Identifier: Apache-2.0
"""`chaos/run storms`: a gcs with thousands of drones, which is killed and back, cut off from all of them, or met by all
at once: when are they up, and what do they cost while nothing happens?

The gcs is a pqcmav-tunneld, the drones are one pqcmav-fleet, with the engine's own handshakes and packets. Both share
this machine: whether the fleet itself was late is measured, too.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pqc_mav_tunnel
import tables
from accounting import Way, account
from priority import OF_GCS, prefer
from storm_ends import CONNECT_S, Fleet, Gcs, built
from storms_page import page
from storms_result import (
    KILLED,
    Delivery,
    Rekeys,
    Run,
    Steady,
    Storm,
    fleet_counts,
    grown,
    judge,
    rekeys_of,
    started,
    storm_of,
    summary,
)

from pqc_mav_common.child import ProgramError
from pqc_mav_common.local_socket import ControlError
from pqc_mav_common.process_figures import cpu_seconds, memory_kib, pss_kib

_BACK_S = 60.0
_CALM_S = 5.0  # between two storms
_SLICES = 5
_COUNTERS_S = 2.2  # the engine asks the kernel what it dropped once a second
_NOTICED_S = 4.0  # by then all drones have noticed, and the fleet has said so
_CUT, _COLD = "all cut off", "cold start"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--drones", type=int, nargs="+", default=[1000, 2000, 5000], help="sizes of fleets")
    parser.add_argument("--rate", type=float, default=1.0, help="messages/s of each drone; each is answered")
    parser.add_argument("--seconds", type=float, default=30.0, help="of calm that are measured")
    parser.add_argument("--storms", type=int, default=5, help="of each kind")
    parser.add_argument("--cut", type=float, default=5.0, help="seconds for which all drones are cut off")
    parser.add_argument(
        "--rekey", type=float, default=60.0, help="interval of the flight that is about rekeys; 0: none"
    )
    parser.add_argument(
        "--suites",
        default="cs-mlkem768-aesgcm-mldsa65,cs-mlkem768-chacha20poly1305-mldsa65,cs-mlkem768-ascon128a-mldsa65",
        help="of one signature: each rekey of that flight draws one",
    )
    parser.add_argument("--data-threads", type=int, default=1, help="of the gcs")
    parser.add_argument("--max-handshakes", type=int, help="of the gcs, where not its default")
    parser.add_argument("--page", default="storms", help="name of the results page")
    parser.add_argument(
        "--ahead", action="store_true", help="real-time priority for both, on a machine that has other work"
    )


def run(options: argparse.Namespace) -> int:
    """Fly fleets of all sizes, print and write; 0 when every goal was met."""
    if min(options.drones) < 1 or options.rate <= 0 or options.seconds <= 0 or options.storms < 0 or options.cut <= 0:
        print("storms: all numbers must be above 0.")
        return 2
    try:
        suites = [pqc_mav_tunnel.find_suite(name) for name in options.suites.split(",")] if options.rekey else []
    except pqc_mav_tunnel.TunnelError as error:
        print(f"storms: {error}")
        return 2
    if len({suite.sig_name for suite in suites}) > 1:
        print("storms: the suites have several signatures: name some that end alike.")
        return 2
    if not built():
        print("storms: pqcmav-fleet and pqcmav-tunneld are missing: run 'tools/setup.sh benchmarks' and use tools/run.")
        return 2
    if options.ahead and not prefer(os.getpid(), OF_GCS):
        print("storms: --ahead needs the right to real-time priority (root, or an RLIMIT_RTPRIO).")
        return 2
    machine = tables.machine()
    names = [f"drone{i:05}" for i in range(max(options.drones))]
    try:
        with tempfile.TemporaryDirectory(prefix="pqcmav-storms-") as keys:
            pqc_mav_tunnel.init_keys(keys, names)
            one = _memory_of_one(keys, names, options)
            runs = [_fly(keys, names[:drones], one, options) for drones in sorted(options.drones)]
    except (ProgramError, ControlError, OSError) as error:
        print(f"storms: {error}")
        return 1
    found = judge(runs)
    tables.publish(options.output, options.page, page(runs, found, options, machine), summary(runs, found, machine))
    return 1 if found else 0


def _memory_of_one(keys: str, names: Sequence[str], options: argparse.Namespace) -> int:
    with ExitStack() as stack:
        gcs = Gcs(stack, keys, names[:1], options)
        fleet = Fleet(stack, keys, 1, gcs, options)
        _connect(fleet)
        return pss_kib(gcs.pid)


def _connect(fleet: Fleet) -> None:
    if not fleet.all_up(CONNECT_S):
        raise ProgramError(f"After {CONNECT_S:g} s the fleet says: {fleet.last()}")


def _fly(keys: str, names: Sequence[str], one_kib: int, options: argparse.Namespace) -> Run:
    with ExitStack() as stack:
        gcs = Gcs(stack, keys, names, options)
        fleet = Fleet(stack, keys, len(names), gcs, options)
        _connect(fleet)
        steady = _steady(gcs, fleet, one_kib, options)
        storms = []
        for kind in (KILLED, _CUT):
            for _ in range(options.storms):
                time.sleep(_CALM_S)
                storms.append(_storm(kind, gcs, fleet, options))
                if not fleet.all_up(CONNECT_S):
                    break  # the figures of this one say so
    storms += [_cold_start(keys, names, options) for _ in range(options.storms)]
    rekeys = _rekeys(keys, names, options) if options.rekey else None
    return Run(steady, storms, rekeys)


def _steady(gcs: Gcs, fleet: Fleet, one_kib: int, options: argparse.Namespace) -> Steady:
    time.sleep(_CALM_S)
    began, messages, slices = fleet.next(), 0, []
    cpu, threads, own = cpu_seconds(gcs.pid), gcs.threads(), cpu_seconds(fleet.pid)
    before, used = began, cpu
    for _ in range(_SLICES):
        time.sleep(options.seconds / _SLICES)
        now, more = fleet.next(), cpu_seconds(gcs.pid)
        passed = _passed_on(now) - _passed_on(before)
        slices.append(1e6 * (more - used) / max(passed, 1))
        messages, before, used = messages + passed, now, more
    by_thread = {name: round(each - threads.get(name, 0.0), 2) for name, each in gcs.threads().items()}
    return Steady(
        fleet.drones, options.rate, before["s"] - began["s"], messages, used - cpu, slices, by_thread,
        cpu_seconds(fleet.pid) - own, pss_kib(gcs.pid), one_kib, memory_kib(fleet.pid), load=os.getloadavg()[0],
        delivery=_delivery(gcs, fleet),
    )  # fmt: skip


def _delivery(gcs: Gcs, fleet: Fleet) -> Delivery:
    """What became of all messages so far."""
    fleet.say("hush")  # what is on its way arrives
    time.sleep(_COUNTERS_S)
    line, ground = fleet.next(), gcs.counts()
    fleet.say("speak")
    own, sink = fleet_counts(line), line["ground"]
    up = Way(own.stats["plain_rx_packets"], 0, sink["received"] + sink["again"], sink["kernel_dropped"])
    down = Way(sink["answered"], sink["send_errors"], line["messages"]["received"], 0)
    return Delivery(
        {"to the ground": account(up, own, ground), "to the drones": account(down, ground, own)},
        sink["mixed_up"] + line["messages"]["mixed_up"],
        sink["spoiled"],
        sink["again"],
        fleet.backlog(),
    )


def _passed_on(line: dict[str, Any]) -> int:
    """Messages that the gcs has passed on, both ways."""
    return int(line["ground"]["received"] + line["messages"]["received"])


def _storm(kind: str, gcs: Gcs, fleet: Fleet, options: argparse.Namespace) -> Storm:
    said, own = fleet.lines(), cpu_seconds(fleet.pid)
    before: dict[str, int] = {}
    threads: dict[str, float] = {}
    began = time.monotonic()
    if kind == KILLED:
        gcs.restart()
    else:
        before, threads = dict(gcs.counts().totals), gcs.threads()
        began = time.monotonic()
        fleet.say("cut")
        time.sleep(options.cut)
        fleet.say("restore")
    calm = time.monotonic()
    time.sleep(max(0.0, began + _NOTICED_S - time.monotonic()))
    fleet.all_up(_BACK_S)
    by_thread = {name: round(used - threads.get(name, 0.0), 2) for name, used in gcs.threads().items()}
    own = cpu_seconds(fleet.pid) - own
    return replace(
        storm_of(kind, fleet.drones, began, calm, fleet.events()),
        fleet_late_ms=fleet.late_ms(said),
        fleet_cpu_s=own,
        gcs_cpu_s=sum(by_thread.values()),
        gcs_threads_s=by_thread,
        gcs_counts=grown(gcs.counts().totals, before),
        load=os.getloadavg()[0],
    )


def _cold_start(keys: str, names: Sequence[str], options: argparse.Namespace) -> Storm:
    """All switched on at once, none with anything of a session before."""
    with ExitStack() as stack:
        gcs = Gcs(stack, keys, names, options)
        fleet = Fleet(stack, keys, len(names), gcs, options, "--spread", "0")
        fleet.all_up(CONNECT_S)
        by_thread = gcs.threads()
        return replace(
            started(_COLD, fleet.drones, fleet.events()),
            fleet_late_ms=fleet.late_ms(0),
            fleet_cpu_s=cpu_seconds(fleet.pid),
            gcs_cpu_s=sum(by_thread.values()),
            gcs_threads_s=by_thread,
            gcs_counts=grown(gcs.counts().totals, {}),
            load=os.getloadavg()[0],
        )


def _rekeys(keys: str, names: Sequence[str], options: argparse.Namespace) -> Rekeys:
    """Of drones that connected within seconds of each other, as after a storm: the worst for what follows."""
    with ExitStack() as stack:
        gcs = Gcs(stack, keys, names, options)
        more = ("--rekey", f"{options.rekey:g}", "--suites", options.suites)
        fleet = Fleet(stack, keys, len(names), gcs, options, *more)
        _connect(fleet)
        begin = time.monotonic()
        time.sleep(3 * options.rekey)
        over = time.monotonic()
        delivery = _delivery(gcs, fleet)
        return replace(rekeys_of(fleet.drones, options.rekey, begin, over, fleet.events()), delivery=delivery)
