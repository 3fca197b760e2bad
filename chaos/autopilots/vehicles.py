# SPDX-License-Identifier: Apache-2.0
"""The autopilots that the laboratory flies: where their programs are, and how each is started in a namespace."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from children import into

from pqc_mav_common.child import Program
from pqc_mav_sim.autopilot import HOME

# Beyond what ArduPilot's own tests fly with. A stick is not there to be lost; without a heartbeat of the ground for
# FS_GCS_TIMEOUT seconds the vehicle returns.
_ARDUPILOT = {
    "FS_THR_ENABLE": 0, "FS_GCS_ENABLE": 1, "FS_GCS_TIMEOUT": 5, "FS_OPTIONS": 0, "MAV_GCS_SYSID": 255,
    "SYSID_MYGCS": 255, "BATT_CAPACITY": 5000, "DISARM_DELAY": 0, "LOG_DISARMED": 0,
}  # fmt: skip
_START_S = 60.0
BAUD = 115_200  # of a serial line


class MissingError(RuntimeError):
    """An autopilot's program is not there: one sentence that says what to do."""


@dataclass(frozen=True)
class Model:
    """An autopilot.

    Attributes:
        variable: of the environment, with the folder of its sources or of what was built of them; empty = none needed.
        program: relative to that folder.
    """

    name: str
    title: str
    variable: str
    program: str
    start: Callable[[Path, Path, str, int], list[str]]

    def folder(self) -> Path:
        """Where it was built. Raises MissingError."""
        given = os.environ.get(self.variable, "")
        if not self.variable:
            return Path()
        if not given:
            raise MissingError(f"{self.variable} is not given: {self.title} is not flown")
        folder = Path(given).resolve()
        if not (folder / self.program).is_file():
            how = f"'make autopilots {self.variable}={given}' builds it"
            raise MissingError(f"{folder / self.program} is missing: {how}")
        return folder


def _ardupilot(folder: Path, run: Path, host: str, port: int) -> list[str]:
    own = run / "own.parm"
    own.write_text("".join(f"{name} {value}\n" for name, value in _ARDUPILOT.items()), encoding="utf-8")
    defaults = f"{folder / 'Tools/autotest/default_params/copter.parm'},{own}"
    home = f"{HOME[0]},{HOME[1]},{HOME[2]},0"
    where = f"{'uart' if host.startswith('/') else 'udpclient'}:{host}:{port}"
    options = ["--model", "quad", "--speedup", "1", "--defaults", defaults, "-I0", "--home", home, "--serial0", where]
    return [str(folder / ARDUPILOT.program), *options]


def _px4(folder: Path, run: Path, host: str, port: int) -> list[str]:
    etc = run / "etc"
    shutil.copytree(folder / "build/px4_sitl_default/etc", etc, symlinks=True)
    start = etc / "init.d-posix/px4-rc.mavlink"
    text = start.read_text(encoding="utf-8")
    ours = f"mavlink start -x -u $udp_gcs_port_local -r 4000000 -f -t {host} -o {port}"
    if host.startswith("/"):
        ours = f"mavlink start -d {host} -b {port} -r {port // 20}"  # half the line, as is its default
    found = [line for line in text.splitlines() if line.startswith("mavlink start") and "$udp_gcs_port_local" in line]
    if len(found) != 1:
        raise MissingError(f"{start} does not start one MAVLink instance for the ground, but {len(found)}")
    start.write_text(text.replace(found[0], ours), encoding="utf-8")
    instance = str(os.getpid() % 100)  # two with one number do not run at once; a system id follows from it
    return [str(folder / PX4.program), "-d", "-s", "etc/init.d-posix/rcS", "-i", instance, "-w", str(run), str(etc)]


def _simulated(_folder: Path, _run: Path, host: str, port: int) -> list[str]:
    program = shutil.which("pqcmav-sim-vehicle")
    if program is None:
        raise MissingError("pqcmav-sim-vehicle is not on the path: run this through tools/run after 'make setup'")
    return [program, "--connect", f"{host}:{port}", "--profile", "client", "--rate", "80"]


ARDUPILOT = Model("ardupilot", "ArduCopter", "ARDUPILOT", "build/sitl/bin/arducopter", _ardupilot)
PX4 = Model("px4", "PX4 SIH", "PX4", "build/px4_sitl_default/bin/px4", _px4)
SIMULATED = Model("simulated", "simulated vehicle", "", "", _simulated)
MODELS = {each.name: each for each in (ARDUPILOT, PX4, SIMULATED)}


def launch(model: Model, run: Path, namespace: int, host: str, port: int) -> Program:
    """Start it in an empty folder; it ends with this process. Raises MissingError.

    A `host` that is a path is a serial device, and `port` its rate.
    """
    command = model.start(model.folder(), run, host, port)
    environment: dict[str, Any] = {**os.environ, "PX4_SIM_MODEL": "sihsim_quadx", "HOME": str(run)}
    return Program(model.title, command, limit_s=_START_S, cwd=run, env=environment, **into(namespace))
