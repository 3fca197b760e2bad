# SPDX-License-Identifier: Apache-2.0
"""The benchmark on one machine as `benchmark.launch.py` starts it: under a name one can type, for campaigns to come."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pqc_mav_tunnel

from pqc_mav_bench.local_system import SYSTEM, LocalSession
from pqc_mav_bench.store import DEFAULT_ROOT
from pqc_mav_bringup.description import NODE_ARGUMENTS, Argument
from pqc_mav_bringup.systems import PORTS

AUTO = "auto"

BENCHMARK = replace(
    SYSTEM,
    name="benchmark",
    description="Both ends of the tunnel with the benchmark's controller and agent, waiting for campaigns.",
    arguments=(
        Argument("space", "ROS namespace of everything.", "bench"),
        Argument("root", "Folder of the campaigns.", str(DEFAULT_ROOT)),
        Argument(
            "suites",
            "The suites that campaigns may ask for, ids or short codes separated by commas: keys are made for them. "
            "Empty = every core suite.",
        ),
        Argument(
            "power",
            "Whether the node that measures this computer's power runs; auto = where it is installed.",
            AUTO,
            (AUTO, "yes", "no"),
        ),
        Argument("key_pool_depth", "Key pairs that the ground makes ahead of time for each KEM; 0 = none.", "0"),
        Argument("keys", "Root of the keys; empty = fresh ones, removed at the end."),
        *(Argument(name, "A UDP port; empty = chosen at start.") for name in PORTS),
        Argument("peer_port", "Where the drone sends to: a relay of yours; empty = the ground's data port."),
        *(argument for argument in SYSTEM.arguments if argument.name in ("peer", "radio")),
        *NODE_ARGUMENTS,
    ),
)


class BenchmarkSession:
    """Fills in what the arguments leave empty. Call `close`."""

    def __init__(self, given: Mapping[str, str]) -> None:
        """`given`: argument values by name. Raises BringupError and the engine's TunnelError."""
        names = [name.strip() for name in given["suites"].split(",") if name.strip()]
        suites = names or [suite.id for suite in pqc_mav_tunnel.suites(view="core", only_available=True)]
        self._session = LocalSession(Path(given["root"]).expanduser(), suites)
        said = {name: value for name, value in given.items() if value not in ("", AUTO)}
        made = {**self._session.values, **said, "root": self._session.values["root"]}
        made["peer_port"] = said.get("peer_port", made["data_port"])
        self.values: Mapping[str, str] = {**made, "suites": ",".join(names)}

    def close(self) -> None:
        """Removes the keys that were made."""
        self._session.close()
