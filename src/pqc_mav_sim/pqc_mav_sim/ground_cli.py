# SPDX-License-Identifier: Apache-2.0
"""`pqcmav-sim-ground`: the ground client from the command line."""

import argparse
import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pqc_mav_common.process import stop_on_signals
from pqc_mav_sim.cli_begin import EXIT_USAGE, made
from pqc_mav_sim.ground_client import GroundClient, NoAnswerError
from pqc_mav_sim.modes import Result
from pqc_mav_sim.uplink import MAX_UPLINK_HZ

EXIT_NO_VEHICLE = 1
EXIT_REFUSED = 3


def build_parser() -> argparse.ArgumentParser:
    """Return the parser."""
    parser = argparse.ArgumentParser(
        prog="pqcmav-sim-ground",
        description="A minimal MAVLink ground station: listens, counts and judges what arrives.",
        epilog="Exit codes: 0 success, 1 no vehicle heard, 2 wrong arguments, 3 the vehicle refused or did not answer.",
    )
    parser.add_argument("--listen", default="127.0.0.1:14550", metavar="HOST:PORT", help="default %(default)s")
    parser.add_argument(
        "--uplink-rate",
        type=float,
        default=0.0,
        help=f"pings and neutral stick messages per second, 0 to {MAX_UPLINK_HZ:g} (default 0)",
    )
    parser.add_argument(
        "--duration", type=float, metavar="SECONDS", help="stop after this time (default: run until stopped)"
    )
    parser.add_argument("--arm", action="store_true", help="arm the vehicle when it is ready")
    parser.add_argument("--takeoff", action="store_true", help="arm and take off")
    parser.add_argument("--land-after", type=float, metavar="SECONDS", help="land this long after the start")
    parser.add_argument(
        "--interval", type=float, default=1.0, help="seconds between live lines, 0 for none (default 1)"
    )
    parser.add_argument(
        "--shared-clock", action="store_true", help="the vehicle runs on this machine: measure one-way latency"
    )
    parser.add_argument(
        "--json", action="store_true", help="live lines to stderr, the summary as JSON to stdout at exit"
    )
    return parser


def live_line(snapshot: dict[str, Any]) -> str:
    """Return the state of the link and the vehicle as one line for people."""
    vehicle = snapshot["vehicle"]
    if not vehicle["heartbeats"]:
        return f"{snapshot['elapsed_s']:6.1f} s  no vehicle yet"
    latency = snapshot["downlink_latency"] or {}
    altitude = vehicle["relative_altitude_m"]
    parts = [
        f"{snapshot['elapsed_s']:6.1f} s",
        f"{vehicle['mode']:<8}",
        "armed   " if vehicle["armed"] else "disarmed",
        f"alt {altitude:6.1f} m" if altitude is not None else "alt ?",
        f"bat {vehicle['battery_percent']} %",
        f"rx {snapshot['received']} ({snapshot['rate_hz']:.0f}/s)",
        f"lost {snapshot['lost']} dup {snapshot['duplicates']} reord {snapshot['reordered']}",
        f"crc {snapshot['crc_errors']}",
    ]
    if latency.get("p50_us") is not None:
        parts.append(f"p50 {latency['p50_us'] / 1000.0:.2f} ms p99 {latency['p99_us'] / 1000.0:.2f} ms")
    return "  ".join(parts)


def fly(client: GroundClient, args: argparse.Namespace, stop: threading.Event) -> bool:
    """Do what --arm, --takeoff and --land-after ask; return whether the vehicle did all of it."""
    try:
        if args.arm or args.takeoff:
            while not stop.is_set() and not client.wait_for(lambda view: view.ready, 0.5):
                pass
            if stop.is_set() or not _until_accepted(client.arm, stop):
                return False
        if args.takeoff and client.takeoff() != Result.ACCEPTED:
            return False
        if args.land_after is not None:
            stop.wait(max(0.0, client.started + args.land_after - time.monotonic()))
            return client.land() == Result.ACCEPTED
    except NoAnswerError as error:
        print(f"pqcmav-sim-ground: {error}", file=sys.stderr)
        return False
    return True


def _until_accepted(call: Callable[[], int], stop: threading.Event, tries: int = 20) -> bool:
    """Repeat a command that is rejected for the time being, as arming is until the position is known."""
    for _ in range(tries):
        result = call()
        if result != Result.TEMPORARILY_REJECTED or stop.wait(0.5):
            return result == Result.ACCEPTED
    return False


def main(argv: Sequence[str] | None = None) -> int:
    """Run until the duration is over or SIGINT or SIGTERM arrives; return the exit code."""
    args = build_parser().parse_args(argv)
    wanted = partial(GroundClient, args.listen, uplink_hz=args.uplink_rate, shared_clock=args.shared_clock)
    if (client := made("pqcmav-sim-ground", wanted)) is None:
        return EXIT_USAGE
    stop = stop_on_signals()
    lines = sys.stderr if args.json else sys.stdout
    print(f"ground client: listening on {client.link.address}", file=sys.stderr, flush=True)
    client.start()
    done: list[bool] = []
    pilot = threading.Thread(target=lambda: done.append(fly(client, args, stop)), daemon=True)
    pilot.start()
    end = float("inf") if args.duration is None else client.started + args.duration
    step = args.interval if args.interval > 0.0 else 1.0
    while not stop.wait(max(0.0, min(step, end - time.monotonic()))) and time.monotonic() < end:
        if args.interval > 0.0:
            print(live_line(client.snapshot()), file=lines, flush=True)
    stop.set()
    pilot.join(timeout=15.0)
    summary = client.stop()
    print(json.dumps(summary) if args.json else live_line(summary), flush=True)
    if not summary["vehicle"]["heartbeats"]:
        return EXIT_NO_VEHICLE
    return 0 if done == [True] else EXIT_REFUSED
