# SPDX-License-Identifier: Apache-2.0
"""`chaos/run record`: what both ends see of normal traffic or of attacks, ten times a second, with labels (needs root).

A label says what was really done in that tenth of a second, not what the file is about.
"""

import argparse
import random
from pathlib import Path

from scene import PROFILES, Scene
from ways import KNOWN, RATES, SETS

from pqc_mav_detect.dataset import Row, write_rows


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--file", default="windows.csv.gz", help="file to write: .csv, .csv.gz or .parquet")
    parser.add_argument(
        "--attacks",
        default="",
        metavar="NAME,NAME",
        help="'all', 'unseen', 'benign', 'starved', or names; empty = normal traffic",
    )
    parser.add_argument(
        "--rates", default=",".join(RATES), help="datagrams/s of each attack that has a rate; also 'random', 'bursts'"
    )
    parser.add_argument("--profiles", default=",".join(PROFILES), help="messages/s of the vehicle, or 'parameters'")
    parser.add_argument("--minutes", type=float, default=3.0, help="of normal traffic, each profile")
    parser.add_argument("--repeats", type=int, default=1, help="how often each attack comes at each rate")
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """Record; 0 when all was recorded, 2 for an unknown attack or profile."""
    names = [name for name in options.attacks.split(",") if name]
    profiles = options.profiles.split(",")
    for what, unknown, there in (
        ("attack", [name for name in names if name not in KNOWN and name not in SETS], [*SETS, *KNOWN]),
        ("profile", [name for name in profiles if name not in PROFILES], PROFILES),
    ):
        if unknown:
            print(f"record: no {what} {', '.join(unknown)}; there are: {', '.join(there)}")
            return 2
    file = Path(options.file)
    file.parent.mkdir(parents=True, exist_ok=True)
    attacks = [attack for name in names for attack in SETS.get(name) or (KNOWN[name],)]
    rows: list[Row] = []
    generator = random.Random(options.seed)
    for profile in profiles:
        with Scene(PROFILES[profile], generator.randrange(1 << 30)) as scene:
            often = attacks * options.repeats
            rows += scene.attacked(often, options.rates.split(",")) if names else scene.normal(options.minutes * 60)
            print(f"{profile}: {len(rows)} windows so far", flush=True)
    write_rows(file, rows)
    return 0
