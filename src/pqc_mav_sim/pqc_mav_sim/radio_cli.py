# SPDX-License-Identifier: Apache-2.0
"""`pqcmav-sim-radio`: serial telemetry radios that are simulated, as pseudo terminals."""

import argparse
import json
import threading
from collections.abc import Sequence
from pathlib import Path

from pqc_mav_sim.cli_begin import EXIT_USAGE, made, on_stop
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.radio.profile import PROFILES


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; its defaults are those of `RadioTerms`."""
    defaults = RadioTerms()
    parser = argparse.ArgumentParser(
        prog="pqcmav-sim-radio",
        description="Simulated serial telemetry radios: a serial port on the ground, one for each drone, air between.",
        epilog="Profiles: " + "; ".join(f"{name}: {each.says}" for name, each in PROFILES.items()) + ".",
    )
    parser.add_argument("--profile", choices=PROFILES, default="sik", help="kind of radio (default %(default)s)")
    parser.add_argument("--folder", type=Path, help="put links to the ports there: ground, air1, air2, ...")
    parser.add_argument("--drones", type=int, default=defaults.drones, help="radios in the air (default %(default)d)")
    parser.add_argument("--loss", type=float, default=defaults.loss, help="share of the time without air, 0 to 0.95")
    parser.add_argument(
        "--burst-ms", type=float, default=defaults.burst_ms, help="of each such time (default %(default)g)"
    )
    parser.add_argument("--bit-errors", type=float, default=0.0, help="share of the bits that the air bends")
    parser.add_argument("--byte-loss", type=float, default=0.0, help="share of bytes a serial port loses, and invents")
    parser.add_argument("--rtscts", action="store_true", help="the radio stops its host instead of losing bytes")
    parser.add_argument("--seed", type=int, default=defaults.seed, help="of what is lost (default %(default)d)")
    parser.add_argument(
        "--duration", type=float, metavar="SECONDS", help="stop after this time (default: until stopped)"
    )
    return parser


def terms_from(args: argparse.Namespace) -> RadioTerms:
    """Return the terms the arguments ask for; ValueError says which one is wrong."""
    if not 1 <= args.drones <= 8:
        raise ValueError(f"{args.drones} drones are out of range: give 1 to 8")
    if not 0.0 <= args.loss <= 0.95:
        raise ValueError(f"loss {args.loss:g} is out of range: give 0 to 0.95")
    if not 0.0 <= args.bit_errors <= 0.1:
        raise ValueError(f"bit errors {args.bit_errors:g} are out of range: give 0 to 0.1")
    if not 0.0 <= args.byte_loss <= 0.1:
        raise ValueError(f"byte loss {args.byte_loss:g} is out of range: give 0 to 0.1")
    if not 1.0 <= args.burst_ms <= 60_000.0:
        raise ValueError(f"bursts of {args.burst_ms:g} ms are out of range: give 1 to 60000")
    profile = PROFILES[args.profile]
    return RadioTerms(
        profile, args.drones, args.loss, args.burst_ms, args.bit_errors, args.byte_loss, args.rtscts, args.seed
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Carry until the duration is over or SIGINT or SIGTERM arrives; return the exit code."""
    args = build_parser().parse_args(argv)
    if (terms := made("pqcmav-sim-radio", lambda: terms_from(args))) is None:
        return EXIT_USAGE
    stop = threading.Event()
    on_stop(stop.set)
    with RadioPorts(terms, args.folder) as ports:
        print(
            f"simulated radios ({args.profile}, {terms.profile.baud} baud): ground {ports.ground}, "
            + ", ".join(f"air{number} {path}" for number, path in enumerate(ports.air, 1)),
            flush=True,
        )
        stop.wait(args.duration)
        summary = ports.summary()
    print(json.dumps(summary), flush=True)
    return 0
