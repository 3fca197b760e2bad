# SPDX-License-Identifier: Apache-2.0
"""A vehicle in the laboratory's network and a ground station, with the tunnel in between or without."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import air
from ends import DRONE_PLAIN, GROUND, HOST, drone_config, gcs_config
from pair import Pair, in_the_air, temporary_keys
from stations import Daemon
from traffic import application_socket

from autopilots.ground import Ground, mavlink
from autopilots.vehicles import Model, launch
from pqc_mav_common import two_ends
from pqc_mav_common.child import Program

HEARD_S = 90.0  # an autopilot on a busy machine takes its time


@dataclass
class Flight:
    """What a scene works with. Without the tunnel `pair` is None; `daemons` are there in place of it if asked for."""

    model: Model
    network: air.Air
    ground: Ground
    pair: Pair | None
    begin: Callable[[], Program]
    folder: Path
    daemons: Mapping[str, Daemon] = field(default_factory=dict)
    program: Program | None = None

    def boot(self, *, ready: bool = True) -> None:
        """Start the vehicle, and wait until it is heard, and `ready`: ArduPilot refuses missions while it starts."""
        self.program = self.begin()

        def heard() -> bool:
            beat = self.ground.newest.get("HEARTBEAT")
            return beat is not None and (not ready or beat.system_status >= mavlink.MAV_STATE_STANDBY)

        self.ground.wait(heard, HEARD_S, f"a heartbeat of {self.model.title}")


@contextmanager
def flight(
    model: Model,
    tunnel: bool,
    *,
    seed: int = 1,
    both: Mapping[str, Any] | None = None,
    drone: Mapping[str, Any] | None = None,
    daemons: bool = False,
) -> Iterator[Flight]:
    """The vehicle is not started yet. Raises MissingError.

    `both` and `drone` add to the tunnel's configuration; `daemons`: both ends are pqcmav-tunneld, as in the field, not
    engines that obey the laboratory.
    """
    model.folder()
    with ExitStack() as stack:
        network = stack.enter_context(air.Air(seed=seed))
        run = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-autopilots-")))
        programs: dict[str, Daemon] = {}
        pair = None
        if daemons:
            programs = _daemons(stack, network, run)
            end = stack.enter_context(network["gcs"].call(lambda: application_socket(GROUND)))
            where = HOST, DRONE_PLAIN
        elif tunnel:
            pair = in_the_air(stack, network, both, {"rekey_interval_s": 0.0, **(drone or {})})
            end, where = pair.ground, (HOST, DRONE_PLAIN)
        else:
            where = air.GCS, GROUND
            end = stack.enter_context(network["gcs"].call(lambda: application_socket(GROUND, air.GCS)))

        def begin() -> Program:
            program = launch(model, run, network["drone"].descriptor, *where)
            stack.callback(program.kill)
            return program

        yield Flight(model, network, Ground(end), pair, begin, run, programs)


def _daemons(stack: ExitStack, network: air.Air, folder: Path) -> dict[str, Daemon]:
    """Both ends with a session."""
    keys = stack.enter_context(temporary_keys())
    found = {}
    for name, config in (("gcs", gcs_config(keys)), ("drone", drone_config(keys, air.GCS))):
        file = two_ends.write(folder / f"{name}.yaml", config | {"control_socket": "off"})
        found[name] = Daemon(file, network[name])
        stack.callback(found[name].end)
        found[name].start()
    drone = found["drone"].program
    assert drone is not None
    drone.wait_for(r"\] handshake with")
    return found
