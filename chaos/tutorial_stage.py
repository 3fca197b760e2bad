# SPDX-License-Identifier: Apache-2.0
"""What happens beside a tutorial's commands: machines and the link between them, a vehicle, the ground software.

    stage: machines drone ground thief        who is there, at most three; the second is gcs.example.org.
                                              With `nat` at the end the first is behind a NAT
    stage: drone has the packages             of Debian: their user, folders, configuration and units
    stage: link rtt_ms=60 loss=0.01           how the drone's link is from here on (pqc_mav_sim.impairment)
    stage: drone has a vehicle at DEVICE      the simulated vehicle on a serial line; `at HOST:PORT`: by UDP
    stage: ground flies at PORT               ground software at that port arms the vehicle and sees it climb
    stage: ground sees 1 2 at PORT            vehicles with these system ids are heard there
    stage: ground has nothing in FOLDER       nobody put anything there
    stage: thief has a copy of drone:PATH     in its home
    stage: ground lets nothing in             but answers to what it sent, as a carrier's NAT does (nftables)
    stage: drone stops NAME                   what was started there ends, as by Ctrl-C
    stage: ground waits for NAME              what was started there ends by itself

The ground software is `pqcmav-sim-ground` in QGroundControl's place.
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shlex
import shutil
import time
import tty
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from air import DRONE, GCS, STRANGER, Air
from background import Background
from pymavlink.dialects.v20 import common as mavlink
from traffic import application_socket
from tutorial_machines import DEADLINE_S, Machine, until

ADDRESSES = {"drone": DRONE, "gcs": GCS, "stranger": STRANGER}
NAME_OF_GROUND = "gcs.example.org"
_PACKAGING = Path(__file__).resolve().parent.parent / "packaging"
VEHICLE_PORT = 14600  # on the drone, where the simulated vehicle and its serial line meet
_FLYING = re.compile(r" armed .* alt +([1-9]|\d\d)")


class StageError(ValueError):
    """A direction that is none; the text names it."""


class SerialVehicle(Background):
    """The simulated vehicle's end of a serial line, which `device` is the other end of: a line knows no datagrams."""

    def __init__(self, machine: Machine) -> None:
        self._line, self._port = pty.openpty()
        tty.setraw(self._port)
        os.set_blocking(self._line, False)
        self.device = os.ttyname(self._port)
        # As udev has it.
        shutil.chown(self.device, group="dialout")
        Path(self.device).chmod(0o660)
        self._socket = machine.space.call(lambda: application_socket(VEHICLE_PORT))
        self._begin()

    def _run(self) -> None:
        parser = mavlink.MAVLink(None)
        parser.robust_parsing = True
        vehicle: Any = None
        while not self._over.is_set():
            ready, _, _ = select.select([self._socket, self._line], [], [], 0.1)
            if self._socket in ready:
                data, vehicle = self._socket.recvfrom(65535)
                with contextlib.suppress(BlockingIOError):  # a line keeps nothing for a port that nobody reads
                    os.write(self._line, data)
            if self._line in ready:
                for message in parser.parse_buffer(os.read(self._line, 4096)) or []:
                    if vehicle is not None and message.get_type() != "BAD_DATA":
                        self._socket.sendto(message.get_msgbuf(), vehicle)

    def close(self) -> None:
        """Pull the cable."""
        super().close()
        self._socket.close()
        for each in (self._line, self._port):
            os.close(each)


class Stage:
    """Machines by name, and the directions; a context manager that ends everything."""

    def __init__(self, folder: Path) -> None:
        self.machines: dict[str, Machine] = {}
        self._folder = folder
        self._air: Air | None = None
        self._vehicles: list[SerialVehicle] = []
        self._directions: list[tuple[re.Pattern[str], Callable[..., None]]] = [
            (re.compile(r"machines ([a-z0-9 ]+?)( nat)?"), self._make),
            (re.compile(r"link (.+)"), self._link),
            (re.compile(r"(\w+) has the packages"), lambda machine: self.machine(machine).install(_PACKAGING)),
            (re.compile(r"(\w+) has a vehicle(?: (\d+))? at (\S+)"), self._vehicle),
            (re.compile(r"(\w+) flies at (\d+)"), self._fly),
            (re.compile(r"(\w+) sees ([\d ]+) at (\d+)"), self._see),
            (re.compile(r"(\w+) has nothing in (\S+)"), self._nothing),
            (re.compile(r"(\w+) has a copy of (\w+):(\S+)"), self._copy),
            (re.compile(r"(\w+) lets nothing in"), self._close_in),
            (re.compile(r"(\w+) waits for (\w+)"), lambda machine, name: self.machine(machine).wait(name)),
            (re.compile(r"(\w+) stops (\w+)"), lambda machine, name: self.machine(machine).stop(name)),
        ]

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for machine in self.machines.values():
            machine.stop()
        for vehicle in self._vehicles:
            vehicle.close()
        if self._air is not None:
            self._air.close()

    def machine(self, name: str) -> Machine:
        """Return a machine; raises StageError when the page has not named it."""
        if name not in self.machines:
            raise StageError(f"there is no machine '{name}': <!-- stage: machines ... --> names them")
        return self.machines[name]

    def direct(self, words: str) -> None:
        """Follow a direction; raises StageError for what is none, TimeoutError for what does not happen."""
        for wanted, follow in self._directions:
            if match := wanted.fullmatch(words):
                follow(*match.groups())
                return
        raise StageError(f"'stage: {words}' is no direction")

    def _make(self, names: str, nat: str | None) -> None:
        self._air = Air(nat=bool(nat))
        there = dict(zip(names.split(), ADDRESSES.items(), strict=False))
        hosts = "".join(f"{address} {name} {name}.local\n" for name, (_, address) in there.items())
        for name, (space, _) in there.items():
            self.machines[name] = Machine(name, self._air[space], self._folder / name)
            self.machines[name].path("/etc/hosts").write_text(f"127.0.0.1 localhost\n{GCS} {NAME_OF_GROUND}\n{hosts}")

    def _link(self, settings: str) -> None:
        values = {key: float(value) for key, _, value in (each.partition("=") for each in settings.split())}
        if "rtt_ms" in values:
            values["delay_ms"] = values.pop("rtt_ms") / 2
        assert self._air is not None
        self._air.joint.impair(values)

    def _vehicle(self, name: str, sysid: str | None, at: str) -> None:
        machine = self.machine(name)
        if at.startswith("/dev/"):
            vehicle = SerialVehicle(machine)
            self._vehicles.append(vehicle)
            machine.path(f"/devices/{Path(at).name}").symlink_to(vehicle.device)
            at = f"127.0.0.1:{VEHICLE_PORT}"
        command = f"exec pqcmav-sim-vehicle --connect {shlex.quote(at)} --profile client --sysid {sysid or 1}"
        machine.start("vehicle", command)

    def _fly(self, name: str, port: str) -> None:
        machine = self.machine(name)
        pilot = machine.start("pilot", f"exec pqcmav-sim-ground --listen 127.0.0.1:{port} --takeoff")
        try:
            until("the vehicle armed and in the air", lambda: any(map(_FLYING.search, pilot.lines)))
        except TimeoutError as error:
            raise TimeoutError(f"{error}; the last lines: {pilot.lines[-3:]}") from None
        finally:
            machine.stop("pilot")

    def _see(self, name: str, vehicles: str, port: str) -> None:
        wanted = {int(each) for each in vehicles.split()}
        parser = mavlink.MAVLink(None)
        parser.robust_parsing = True
        ear = self.machine(name).space.call(lambda: application_socket(int(port)))
        ear.settimeout(DEADLINE_S)
        seen: set[int] = set()
        end = time.monotonic() + DEADLINE_S
        with ear:
            while seen != wanted:
                messages = parser.parse_buffer(ear.recv(65535)) or []
                seen |= {each.get_srcSystem() for each in messages if each.get_type() == "HEARTBEAT"}
                if time.monotonic() > end:
                    raise TimeoutError(f"heard the vehicles {sorted(seen)}, not {sorted(wanted)}")

    def _nothing(self, name: str, folder: str) -> None:
        if there := [str(each) for each in self.machine(name).path(folder).rglob("*")]:
            raise StageError(f"{name} has {', '.join(there)}")

    def _copy(self, thief: str, victim: str, path: str) -> None:
        source = self.machine(victim).path(path)
        shutil.copytree(source, self.machine(thief).folder / "home" / source.name)

    def _close_in(self, name: str) -> None:
        rules = "add table inet in; add chain inet in in { type filter hook input priority 0; policy drop; }; "
        rules += 'add rule inet in in ct state established accept; add rule inet in in iif "lo" accept'
        code, said = self.machine(name).run(f"nft '{rules}'")
        if code != 0:
            raise StageError(f"{name} cannot close its ports; is nftables installed? {' '.join(said)}")
