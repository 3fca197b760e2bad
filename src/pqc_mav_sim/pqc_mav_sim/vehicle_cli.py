# SPDX-License-Identifier: Apache-2.0
"""`pqcmav-sim-vehicle`: run the simulated vehicle from the command line."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from pqc_mav_sim.autopilot import HOME, AutopilotConfig
from pqc_mav_sim.cli_begin import EXIT_USAGE, made, on_stop
from pqc_mav_sim.endpoint import EndpointError, any_port_towards, resolve
from pqc_mav_sim.habits import HABITS
from pqc_mav_sim.profile import PROFILES
from pqc_mav_sim.rates import DEFAULT_TOTAL_HZ, MAX_TOTAL_HZ, MIN_TOTAL_HZ
from pqc_mav_sim.vehicle import Vehicle


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; its defaults are those of `AutopilotConfig`."""
    parser = argparse.ArgumentParser(
        prog="pqcmav-sim-vehicle",
        description="A simulated PX4 quadrotor that speaks MAVLink 2 over UDP.",
        epilog="Without --connect the vehicle waits on --bind for the first client that sends a valid MAVLink frame.",
    )
    defaults = AutopilotConfig()
    parser.add_argument("--connect", metavar="HOST:PORT", help="send to this address, and accept commands only from it")
    parser.add_argument("--bind", metavar="HOST:PORT", help="own address (default: any free port; port 0 is any)")
    parser.add_argument(
        "--rate",
        type=float,
        default=float(DEFAULT_TOTAL_HZ),
        help=f"telemetry messages/s in total, {MIN_TOTAL_HZ:g} to {MAX_TOTAL_HZ:g} (default %(default)g)",
    )
    parser.add_argument(
        "--profile",
        choices=PROFILES,
        default=defaults.profile,
        help="auto: fly again and again; hover: take off and stay; client: wait for commands (default %(default)s)",
    )
    parser.add_argument(
        "--altitude", type=float, default=defaults.altitude_m, help="of the profile [m] (default %(default)g)"
    )
    parser.add_argument(
        "--cruise-seconds",
        type=float,
        default=defaults.cruise_s,
        help="between take-off and landing (default %(default)g)",
    )
    parser.add_argument(
        "--home",
        default=",".join(map(str, HOME)),
        help="latitude,longitude,altitude in degrees and m (default %(default)s)",
    )
    parser.add_argument("--battery", type=float, default=100.0, help="initial charge [%%] (default %(default)g)")
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a parameter; may be repeated",
    )
    parser.add_argument("--sysid", type=int, default=defaults.sysid, help="MAVLink system id (default %(default)d)")
    parser.add_argument(
        "--seed", type=int, default=defaults.seed, help="of wind and sensor noise (default %(default)d)"
    )
    parser.add_argument(
        "--duration", type=float, metavar="SECONDS", help="stop after this time (default: run until stopped)"
    )
    parser.add_argument(
        "--shared-clock", action="store_true", help="the ground client runs on this machine: measure one-way latency"
    )
    parser.add_argument(
        "--on-request",
        action="store_true",
        help="send only heartbeats until MAV_CMD_SET_MESSAGE_INTERVAL asks for more (REQUEST_DATA_STREAM is ignored)",
    )
    parser.add_argument(
        "--like",
        choices=[name for name in HABITS if name],
        default=defaults.like,
        help="send what this autopilot sends unasked, and as many parameters, after figures seen of the real one",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as one line of JSON at exit")
    return parser


def config_from(args: argparse.Namespace) -> AutopilotConfig:
    """Return the configuration the arguments ask for; ValueError says which one is wrong."""
    parts = args.home.split(",")
    try:
        latitude, longitude, altitude = (float(part) for part in parts)
    except ValueError:
        raise ValueError(f"home {args.home!r} is not latitude,longitude,altitude") from None
    if not 0.0 <= args.battery <= 100.0:
        raise ValueError(f"battery {args.battery:g} is out of range: give 0 to 100 %")
    return AutopilotConfig(
        rate_hz=args.rate,
        profile=args.profile,
        sysid=args.sysid,
        seed=args.seed,
        home=(latitude, longitude, altitude),
        altitude_m=args.altitude,
        cruise_s=args.cruise_seconds,
        battery=args.battery / 100.0,
        params=tuple(_param(text) for text in args.param),
        shared_clock=args.shared_clock,
        on_request=args.on_request,
        like=args.like,
    )


def _param(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise ValueError(f"parameter {text!r} is not NAME=VALUE with a number") from None


def build_vehicle(args: argparse.Namespace) -> Vehicle:
    """Return the vehicle the arguments ask for; ValueError (EndpointError among them) says what is wrong."""
    if args.duration is not None and not args.duration > 0.0:
        raise ValueError(f"duration {args.duration:g} is out of range: give more than 0 seconds")
    peer = None if args.connect is None else resolve(args.connect)
    if args.bind is not None:
        bind = resolve(args.bind, passive=True)
    elif peer is not None:
        bind = any_port_towards(peer)
    else:
        raise EndpointError("no address: give --connect to send to one, or --bind to wait for a client")
    if peer is not None and peer.family != bind.family:
        raise EndpointError(f"--bind {args.bind} and --connect {args.connect} mix IPv4 and IPv6")
    return Vehicle(config_from(args), bind, peer)


def one_line(summary: dict[str, Any]) -> str:
    """Return the summary as one sentence for people."""
    return (
        f"vehicle {summary['sysid']}: {summary['sent']} messages sent in {summary['elapsed_s']:.1f} s "
        f"({summary['telemetry_rate_hz']:.1f}/s telemetry), {summary['received']} received, "
        f"{sum(summary['frame_errors'].values())} bad; {summary['mode']}, "
        f"{'armed' if summary['armed'] else 'disarmed'}, {summary['altitude_m']:.1f} m, "
        f"battery {summary['battery_percent']} %, cpu {summary['cpu_percent']:.1f} %"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run until the duration is over or SIGINT or SIGTERM arrives; return the exit code."""
    args = build_parser().parse_args(argv)
    if (vehicle := made("pqcmav-sim-vehicle", lambda: build_vehicle(args))) is None:
        return EXIT_USAGE
    on_stop(vehicle.request_stop)
    target = f"to {args.connect}" if args.connect else "waiting for a client"
    print(
        f"vehicle {args.sysid}: on {vehicle.link.address}, {target}, {args.rate:g} messages/s, profile {args.profile}",
        file=sys.stderr,
        flush=True,
    )
    vehicle.run(args.duration)
    summary = vehicle.stop()
    print(json.dumps(summary) if args.json else one_line(summary), flush=True)
    return 0
