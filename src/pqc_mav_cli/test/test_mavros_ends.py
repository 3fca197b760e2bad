# SPDX-License-Identifier: Apache-2.0
"""mavros at both ends of a running pair, and two stock ones that meet behind the tunnel's back.

mavros is the one that is installed, else a test double with its names, types and QoS (`mavros_here`); the vehicle has
the system id 7.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import mavros_here
import pytest
from commands import COMMAND, DEADLINE_S, pqcmav
from diagnostic_msgs.msg import DiagnosticArray
from pqc_mav_interfaces.msg import BatteryHealth, VehicleState
from rclpy.qos import qos_profile_sensor_data
from test_up import Ends

from pqc_mav_common.free_ports import free_ports, own_run_folder
from pqc_mav_common.testing import Running, until
from pqc_mav_common.testing_onlooker import Onlooker, diagnosed

TEST = Path(__file__).resolve().parent
SYSTEM = 7


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of a machine on which mavros is installed with its data."""
    return mavros_here.environment(tmp_path_factory.mktemp("prefix"))


@pytest.fixture(autouse=True)
def doors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For each test its own: a tunnel that was paused when all was killed stays so."""
    with own_run_folder() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield


class Listener(Onlooker):
    """What the suite says on its topics."""

    def __init__(self) -> None:
        super().__init__()
        self.vehicles = self.collect(VehicleState, "/drone/vehicle", qos_profile_sensor_data)
        self.batteries = self.collect(BatteryHealth, "/drone/battery", qos_profile_sensor_data)
        self._diagnostics = self.collect(DiagnosticArray, "/diagnostics", 16)

    def __exit__(self, *exc: object) -> None:
        # Fast DDS has crashed once where a node went while it was still being told of others that had gone.
        time.sleep(1.0)
        super().__exit__(*exc)

    def said(self, name: str) -> tuple[int, str]:
        """The last diagnosis of this name."""
        return diagnosed(self._diagnostics, name)


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as made:
        yield made


@contextmanager
def running(*commands: list[str], environment: dict[str, str]) -> Iterator[list[Running]]:
    with ExitStack() as stack:
        made = []
        for command in commands:
            made.append(Running(command, environment))
            stack.callback(made[-1].kill)
        yield made


def vehicle(port: int) -> list[str]:
    """A simulated vehicle that waits for commands, and stays armed on the ground for as long as it is not told."""
    sim = "from pqc_mav_sim.vehicle_cli import main; raise SystemExit(main())"
    where = ("--connect", f"127.0.0.1:{port}", "--sysid", str(SYSTEM))
    return [sys.executable, "-c", sim, *where, "--rate", "60", "--profile", "client", "--param", "COM_DISARM_PRFLT=-1"]


def arm(environment: dict[str, str], mavros: str, value: str) -> str:
    command = [sys.executable, str(TEST / "mavros_double" / "arm.py"), mavros, value]
    full = {**os.environ, **environment}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, env=full)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def test_mavros_at_both_ends_goes_through_the_tunnel_alone(
    tmp_path: Path, keys: Path, environment: dict[str, str], listener: Listener
) -> None:
    ends = Ends(tmp_path, keys)
    fcu, own = free_ports(2)
    mavros = ("--mavlink", "mavros", "--tgt-system", str(SYSTEM))
    air = ("--fcu-url", f"udp://127.0.0.1:{fcu}@", "--gcs-url", f"udp://127.0.0.1:{own}@127.0.0.1:{ends.plain}")
    gcs = [*COMMAND, "up", "gcs", "--config", str(ends.write("gcs")), *mavros]
    drone = [*COMMAND, "up", "drone", "--config", str(ends.write("drone")), *mavros, *air, "--policy", "false"]
    ground = ("--fcu-url", f"udp://127.0.0.1:{ends.ground}@")
    with running([*gcs, *ground], drone, vehicle(fcu), environment=environment):
        vehicles, batteries = listener.vehicles, listener.batteries
        until(lambda: vehicles and vehicles[-1].valid and batteries and batteries[-1].valid, "sensing through mavros")
        assert (vehicles[-1].source, batteries[-1].source) == ("mavros", "mavros")
        assert not vehicles[-1].armed and vehicles[-1].phase == VehicleState.DISARMED

        assert arm(environment, "/gcs/mavros", "true") == "done"
        until(lambda: vehicles[-1].armed, "the vehicle armed by the ground's mavros")

        both = "/gcs/mavros/mavros_router, /mavros/mavros_router: no other mavros in reach"
        for proxy in ("drone/pqc_proxy", "gcs/pqc_proxy"):
            until(lambda p=proxy: listener.said(f"{p}: mavros") == (0, both), f"{proxy} sees both")
            # Not at once: a test beside this one may hold an open mavros of its own for a moment.
            until(lambda p=proxy: listener.said(f"{p}: sockets")[0] == 0, f"{proxy} finds no open socket")

        assert listener.change("/drone/pqc_proxy", "deactivate")
        assert arm(environment, "/gcs/mavros", "false") == "refused"
        time.sleep(2.0)
        # On a busy machine the newest state may be too old to say anything, armed or not.
        newest = until(lambda: vehicles[-1] if vehicles[-1].valid else None, "a state of the vehicle")
        assert newest.armed, "no way but the tunnel"
        assert arm(environment, "/mavros", "false") == "done", "the drone's own mavros still has it"


def test_two_stock_mavros_meet_behind_the_tunnels_back_and_the_proxy_says_so(
    tmp_path: Path, keys: Path, environment: dict[str, str], listener: Listener
) -> None:
    """That the double does what mavros does here, or the test above would show nothing."""
    ends = Ends(tmp_path, keys)
    fcu, unused = free_ports(2)
    program = mavros_here.program(environment)

    def stock(namespace: str, port: int) -> list[str]:
        values = ("-p", f"fcu_url:=udp://127.0.0.1:{port}@", "-p", f"tgt_system:={SYSTEM}")
        return [program, "--ros-args", "-r", f"__ns:={namespace}", *values]

    alone = ("--sensing", "false", "--policy", "false", "--detect", "false")
    drone = [*COMMAND, "up", "drone", "--config", str(ends.write("drone")), *alone]
    commands = (stock("/air", fcu), stock("/ground", unused), vehicle(fcu), drone)
    with running(*commands, environment=environment):
        # At first it may know one of them without its name.
        both = "/air/mavros_router and /ground/mavros_router share /uas7 and command the vehicle past the tunnel"
        until(lambda: both in listener.said("drone/pqc_proxy: mavros")[1], "the error")
        assert listener.said("drone/pqc_proxy: mavros")[0] == 2
        shown = pqcmav("status", "--once")
        assert shown.returncode == 1 and ": /air/mavros_router and /ground/mavros_router" in shown.stderr
        assert arm(environment, "/ground", "true") == "done", "though the tunnel has no session"
