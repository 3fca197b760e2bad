# SPDX-License-Identifier: Apache-2.0
"""mavros at both ends of a running pair, and two stock ones that meet behind the tunnel's back.

mavros is a test double with its names, types and QoS (`mavros_double`); the vehicle has the system id 7.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import rclpy
from commands import COMMAND, DEADLINE_S, pqcmav
from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.srv import ChangeState
from mavros_double import messages
from pqc_mav_interfaces.msg import BatteryHealth, VehicleState
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import qos_profile_sensor_data
from test_up import Ends

from pqc_mav_bringup import geoid
from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.testing import Running, until

TEST = Path(__file__).resolve().parent
SYSTEM = 7
DEACTIVATE = 4


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of a machine on which mavros is installed with its data: the double, as a ROS prefix."""
    prefix = tmp_path_factory.mktemp("prefix")
    program = prefix / "lib" / "mavros" / "mavros_node"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(TEST)!r})\n"
        "from mavros_double.mavros_node import main\nmain()\n"
    )
    program.chmod(0o755)
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "mavros").touch()  # launch looks for the package there
    with (prefix / geoid.NAME).open("wb") as file:
        file.truncate(geoid.SIZE)
    made = messages.environment()
    found = made.get("AMENT_PREFIX_PATH") or os.environ.get("AMENT_PREFIX_PATH", "")
    return {**made, "AMENT_PREFIX_PATH": f"{prefix}:{found}", "GEOGRAPHICLIB_GEOID_PATH": str(prefix)}


class Onlooker:
    """What the suite says on its topics."""

    def __init__(self) -> None:
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = rclpy.create_node("mavros_onlooker", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self.vehicle, self.battery = VehicleState(), BatteryHealth()
        self.said: dict[str, tuple[int, str]] = {}
        profile = qos_profile_sensor_data
        self.node.create_subscription(VehicleState, "/drone/vehicle", self._keep("vehicle"), profile)
        self.node.create_subscription(BatteryHealth, "/drone/battery", self._keep("battery"), profile)
        self.node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 16)

    def close(self) -> None:
        # Fast DDS has crashed once where a node went while it was still being told of others that had gone.
        self.still(1.0)
        self._executor.shutdown()
        self.node.destroy_node()
        self._context.try_shutdown()

    def _keep(self, name: str) -> Callable[[object], None]:
        return lambda message: setattr(self, name, message)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self.said.update({status.name: (status.level[0], status.message) for status in message.status})

    def until(self, condition: Callable[[], object], what: str) -> None:
        until(lambda: self._executor.spin_once(0.05) or condition(), what)

    def still(self, seconds: float) -> None:
        """Lets that time pass in the turns of the topics."""
        end = self.node.get_clock().now().nanoseconds + seconds * 1e9
        while self.node.get_clock().now().nanoseconds < end:
            self._executor.spin_once(0.05)

    def deactivate(self, proxy: str) -> None:
        client = self.node.create_client(ChangeState, f"{proxy}/change_state")
        assert client.wait_for_service(DEADLINE_S)
        request = ChangeState.Request()
        request.transition.id = DEACTIVATE
        future = client.call_async(request)
        self.until(future.done, "the proxy off")
        assert future.result().success


@pytest.fixture
def onlooker() -> Iterator[Onlooker]:
    made = Onlooker()
    yield made
    made.close()


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
    command = [sys.executable, str(TEST / "mavros_double" / "arm.py"), f"{mavros}/cmd/arming", value]
    full = {**os.environ, **environment}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, env=full)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def test_mavros_at_both_ends_goes_through_the_tunnel_alone(
    tmp_path: Path, keys: Path, environment: dict[str, str], onlooker: Onlooker
) -> None:
    ends = Ends(tmp_path, keys)
    fcu, own = free_ports(2)
    mavros = ("--mavlink", "mavros", "--tgt-system", str(SYSTEM))
    air = ("--fcu-url", f"udp://127.0.0.1:{fcu}@", "--gcs-url", f"udp://127.0.0.1:{own}@127.0.0.1:{ends.plain}")
    gcs = [*COMMAND, "up", "gcs", "--config", str(ends.write("gcs")), *mavros]
    drone = [*COMMAND, "up", "drone", "--config", str(ends.write("drone")), *mavros, *air, "--policy", "false"]
    ground = ("--fcu-url", f"udp://127.0.0.1:{ends.ground}@")
    with running([*gcs, *ground], drone, vehicle(fcu), environment=environment):
        onlooker.until(lambda: onlooker.vehicle.valid and onlooker.battery.valid, "sensing through mavros")
        assert (onlooker.vehicle.source, onlooker.battery.source) == ("mavros", "mavros")
        assert not onlooker.vehicle.armed and onlooker.vehicle.phase == VehicleState.DISARMED

        assert arm(environment, "/gcs/mavros", "true") == "done"
        onlooker.until(lambda: onlooker.vehicle.armed, "the vehicle armed by the ground's mavros")

        both = "/gcs/mavros/mavros_router, /mavros/mavros_router: no other mavros in reach"
        for proxy in ("drone/pqc_proxy", "gcs/pqc_proxy"):
            onlooker.until(lambda p=proxy: onlooker.said.get(f"{p}: mavros") == (0, both), f"{proxy} sees both")
            assert onlooker.said[f"{proxy}: sockets"][0] == 0, onlooker.said[f"{proxy}: sockets"]

        onlooker.deactivate("/drone/pqc_proxy")
        assert arm(environment, "/gcs/mavros", "false") == "refused"
        onlooker.still(2.0)
        assert onlooker.vehicle.armed, "no way but the tunnel"
        assert arm(environment, "/mavros", "false") == "done", "the drone's own mavros still has it"


def test_two_stock_mavros_meet_behind_the_tunnels_back_and_the_proxy_says_so(
    tmp_path: Path, keys: Path, environment: dict[str, str], onlooker: Onlooker
) -> None:
    """That the double does what mavros does here, or the test above would show nothing."""
    ends = Ends(tmp_path, keys)
    fcu, unused = free_ports(2)
    program = environment["AMENT_PREFIX_PATH"].partition(":")[0] + "/lib/mavros/mavros_node"

    def stock(namespace: str, port: int) -> list[str]:
        values = ("-p", f"fcu_url:=udp://127.0.0.1:{port}@", "-p", f"tgt_system:={SYSTEM}")
        return [program, "--ros-args", "-r", f"__ns:={namespace}", *values]

    alone = ("--sensing", "false", "--policy", "false")
    drone = [*COMMAND, "up", "drone", "--config", str(ends.write("drone")), *alone]
    commands = (stock("/air", fcu), stock("/ground", unused), vehicle(fcu), drone)
    with running(*commands, environment=environment):
        onlooker.until(lambda: onlooker.said.get("drone/pqc_proxy: mavros", (0, ""))[0] == 2, "the error")
        said = onlooker.said["drone/pqc_proxy: mavros"][1]
        assert (
            "/air/mavros_router and /ground/mavros_router share /uas7 and command the vehicle past the tunnel" in said
        )
        shown = pqcmav("status", "--once")
        assert (
            shown.returncode == 1 and "/drone/pqc_proxy: /air/mavros_router and /ground/mavros_router" in shown.stderr
        )
        assert arm(environment, "/ground", "true") == "done", "though the tunnel has no session"
