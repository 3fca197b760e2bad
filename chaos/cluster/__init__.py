# SPDX-License-Identifier: Apache-2.0
"""`chaos/run cluster`: ground stations of docker/k8s in a Kubernetes of three nodes (needs root; `make cluster`)."""

import argparse
import dataclasses
from pathlib import Path

import air
import tables
from children import ChildError
from stations import StationsError

from cluster import fleet, network
from cluster.control import ClusterError
from cluster.laboratory import DRONES, Laboratory
from cluster.reach import attempts
from cluster.result import page, problems
from cluster.scenes import SCENES, Outcome, play
from cluster.sources import sources
from pqc_mav_common.child import ProgramError

_PAGE = "cluster"
_PLACE = Path(__file__).resolve().parents[2] / ".deps" / _PAGE


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument(
        "--scenes", nargs="*", choices=tuple(SCENES), default=list(SCENES), help="none: only what reaches what"
    )
    parser.add_argument("--runs", type=int, default=10, help="of each scene")


def run(options: argparse.Namespace) -> int:
    """Run it; 0 when all is as it should be, 3 where it cannot run."""
    if not (_PLACE / "bin" / "kubelet").exists():
        print(f"{_PAGE}: Kubernetes is not built here: run 'make cluster'.")
        return 3
    machine = tables.machine()
    outcomes: dict[str, list[Outcome]] = {}
    try:
        with Laboratory(_PLACE) as lab:
            print(
                f"{_PAGE}: {len(fleet.STATIONS)} stations on {len(network.NODES)} nodes; {DRONES} drones are connected",
                flush=True,
            )
            seen, tried = sources(lab), attempts(lab)
            for name in options.scenes:
                for _ in range(options.runs):
                    outcomes.setdefault(name, []).append(play(SCENES[name], lab))
                    print(f"{name}: {outcomes[name][-1]}", flush=True)
            version = lab.control.version()
    except (ClusterError, StationsError, ChildError, ProgramError, air.AirError) as error:
        print(f"{_PAGE}: {error}")
        return 1
    about = {
        "version": version, "nodes": len(network.NODES), "drones": DRONES, "rtt": network.RTT_MS,
        "failback": fleet.FAILBACK_S, "machine": machine,
    }  # fmt: skip
    whole = {
        "about": about, "attempts": [dataclasses.asdict(each) for each in tried], "sources": seen,
        "runs": {name: [dataclasses.asdict(each) for each in runs] for name, runs in outcomes.items()},
    }  # fmt: skip
    text = page(outcomes, tried, seen, about)
    tables.publish(options.output, _PAGE, text, whole, part=len(options.scenes) < len(SCENES))
    return 1 if problems(outcomes, tried, seen) else 0
