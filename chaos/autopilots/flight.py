# SPDX-License-Identifier: Apache-2.0
"""A vehicle in the laboratory's network and a ground station, with the tunnel in between or without."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import partial
from pathlib import Path
from typing import Any

import air
from ends import DRONE_ID, DRONE_PLAIN, GROUND, HOST, drone_config, gcs_config
from pair import Pair, in_the_air, temporary_keys
from stations import NORTH, PLAIN, SOUTH, Daemon, World
from traffic import application_socket

from autopilots.ground import Ground, mavlink
from autopilots.vehicles import BAUD, Model, launch
from pqc_mav_cli.demo.radio_way import ClearWay
from pqc_mav_common import two_ends
from pqc_mav_common.child import Program
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms
from pqc_mav_sim.serial_cable import SerialCable

HEARD_S = 90.0  # an autopilot on a busy machine takes its time
MORE_GROUNDS = (14552, 14553)
RADIO = RadioTerms(loss=0.05)  # a pair of SiK radios as they come
_FAILOVER_S = 2.0
_GROUNDS = {"drone": {DRONE_ID: {"plain_endpoints": [f"udp:{HOST}:{port}" for port in (GROUND, *MORE_GROUNDS)]}}}


class Wiring(Enum):
    """What the tunnel is made of, and how the vehicle and the ground software are connected to it."""

    ENGINES = auto()  # two engines that obey the laboratory
    DAEMONS = auto()  # pqcmav-tunneld at both ends, as in the field
    STATIONS = auto()  # and two ground stations, of which the second stands by
    SERIAL = auto()  # engines; the vehicle at a serial line
    RADIO = auto()  # engines with a pair of telemetry radios, or the vehicle and the ground at these
    PATHS = auto()  # engines; the link and a pair of radios as paths of one drone
    GROUNDS = auto()  # engines; three applications at the gcs


@dataclass
class Flight:
    """What a scene works with. Without the tunnel `pair` is None; `daemons` are there in place of it if asked for.

    `others` are further grounds: the second station's, or those of two more applications.
    """

    model: Model
    network: air.Air
    ground: Ground
    pair: Pair | None
    folder: Path
    stack: ExitStack
    where: tuple[str, int]  # the vehicle speaks to it
    daemons: Mapping[str, Daemon] = field(default_factory=dict)
    others: list[Ground] = field(default_factory=list)
    program: Program | None = None
    radios: RadioPorts | None = None

    def boot(self, *, ready: bool = True) -> Ground:
        """Start the vehicle, wait until it is heard, and `ready` (ArduPilot refuses missions while it starts)."""
        self.program = launch(self.model, self.folder, self.network["drone"].descriptor, *self.where)
        self.stack.callback(self.program.kill)

        def heard() -> bool:
            beat = self.ground.newest.get("HEARTBEAT")
            return beat is not None and (not ready or beat.system_status >= mavlink.MAV_STATE_STANDBY)

        self.ground.wait(heard, HEARD_S, f"a heartbeat of {self.model.title}")
        return self.ground


@contextmanager
def flight(
    model: Model,
    tunnel: bool,
    *,
    seed: int = 1,
    both: Mapping[str, Any] | None = None,
    drone: Mapping[str, Any] | None = None,
    wiring: Wiring = Wiring.ENGINES,
) -> Iterator[Flight]:
    """The vehicle is not started yet. Raises MissingError. `both` and `drone` add to the tunnel's configuration."""
    model.folder()
    with ExitStack() as stack:
        network = stack.enter_context(air.Air(seed=seed))
        run = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-autopilots-")))
        pair, daemons, others, where = None, {}, [], (HOST, DRONE_PLAIN)
        baud, radios = RADIO.profile.baud, None
        if wiring in (Wiring.RADIO, Wiring.PATHS):
            radios = stack.enter_context(RadioPorts(replace(RADIO, seed=seed)))
        if not tunnel and radios is not None:
            where = radios.air[0], baud
            end = stack.enter_context(network["gcs"].call(lambda: application_socket(GROUND)))
            stack.enter_context(network["gcs"].call(lambda: ClearWay(radios.ground, baud, peer=GROUND)))
        elif not tunnel:
            where = air.GCS, GROUND
            end = stack.enter_context(network["gcs"].call(lambda: application_socket(GROUND, air.GCS)))
        elif wiring is Wiring.DAEMONS:
            daemons = _daemons(stack, network, run)
            end = stack.enter_context(network["gcs"].call(lambda: application_socket(GROUND)))
        elif wiring is Wiring.STATIONS:
            where, world = (HOST, PLAIN), _stations(stack, network)
            daemons, end = world.daemons, world.sockets[NORTH]
            others = [world.sockets[SOUTH]]
        else:
            own: dict[str, Any] = {"rekey_interval_s": 0.0, **(drone or {})}
            if wiring is Wiring.SERIAL:
                cable = stack.enter_context(SerialCable(baud=BAUD))
                own |= {"plain": f"serial:{cable.near}:{BAUD}", "plain_bind": None}
                where = cable.far, BAUD
            gcs = _GROUNDS if wiring is Wiring.GROUNDS else {}
            if radios is not None:
                port = f"serial:{radios.air[0]}:{baud}:mavlink"
                if wiring is Wiring.PATHS:
                    ways = {"lte": {"via": ""}, "radio": {"via": port}}
                    paths = own.setdefault("paths", list(ways))
                    own["path"] = {name: ways[name] for name in paths}
                else:
                    own["peer"] = port
                way = {"radio": f"serial:{radios.ground}:{baud}:mavlink", "plain_peer": f"{HOST}:{GROUND}"}
                gcs = {"drone": {DRONE_ID: way}}
            for port in MORE_GROUNDS if wiring is Wiring.GROUNDS else ():
                others.append(stack.enter_context(network["gcs"].call(partial(application_socket, port))))
            pair = in_the_air(stack, network, both, own, gcs=gcs)
            end = pair.ground
        more = [Ground(each) for each in others]
        yield Flight(model, network, Ground(end), pair, run, stack, where, daemons, more, radios=radios)


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


def _stations(stack: ExitStack, network: air.Air) -> World:
    """A drone with both stations, which has a session with the first; the second stands by."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-autopilots-")))
    world = World(folder, network, True, _FAILOVER_S, vehicle=True)
    stack.callback(world.close)
    for each in world.daemons.values():
        each.start()
    drone = world.daemons["drone"].program
    assert drone is not None
    drone.wait_for(r"\] handshake with")
    return world
