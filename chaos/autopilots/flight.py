# SPDX-License-Identifier: Apache-2.0
"""A vehicle in the laboratory's network and a ground station, with the tunnel in between or without."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import air
from ends import DRONE_PLAIN, GROUND, HOST
from pair import Pair, in_the_air
from traffic import application_socket

from autopilots.ground import Ground
from autopilots.vehicles import Model, launch
from pqc_mav_common.child import Program

HEARD_S = 90.0  # an autopilot on a busy machine takes its time


@dataclass
class Flight:
    """What a scene works with. `pair` is None without the tunnel."""

    model: Model
    network: air.Air
    ground: Ground
    pair: Pair | None
    begin: Callable[[], Program]
    folder: Path
    program: Program | None = None

    def boot(self) -> None:
        """Start the vehicle, and wait until it is heard."""
        self.program = self.begin()
        self.ground.wait(lambda: self.ground.beats_s, HEARD_S, f"a heartbeat of {self.model.title}")


@contextmanager
def flight(
    model: Model,
    tunnel: bool,
    *,
    seed: int = 1,
    both: Mapping[str, Any] | None = None,
    drone: Mapping[str, Any] | None = None,
) -> Iterator[Flight]:
    """The vehicle is not started yet. `both` and `drone` add to the tunnel's configuration. Raises MissingError."""
    model.folder()
    with ExitStack() as stack:
        network = stack.enter_context(air.Air(seed=seed))
        run = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-autopilots-")))
        if tunnel:
            pair = in_the_air(stack, network, both, {"rekey_interval_s": 0.0, **(drone or {})})
            end, where = pair.ground, (HOST, DRONE_PLAIN)
        else:
            pair, where = None, (air.GCS, GROUND)
            end = stack.enter_context(network["gcs"].call(lambda: application_socket(GROUND, air.GCS)))

        def begin() -> Program:
            program = launch(model, run, network["drone"].descriptor, *where)
            stack.callback(program.kill)
            return program

        yield Flight(model, network, Ground(end), pair, begin, run)
