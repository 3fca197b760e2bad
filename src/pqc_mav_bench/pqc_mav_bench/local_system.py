# SPDX-License-Identifier: Apache-2.0
"""A benchmark on one machine, as data: both proxies, agent, controller and, where it is installed, the power node.

Fresh keys, free ports and its own namespace, so that it can run next to a real system and other benchmarks.
Every key of the configuration not named here has its default, but for the key pool: a campaign measures whole
handshakes, so nothing is made ahead.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from pqc_mav_bench.options import WorkloadOptions
from pqc_mav_bringup.demo_session import DemoSession
from pqc_mav_bringup.description import Argument, BringupError, ProcessDescription, Setting, SystemDescription
from pqc_mav_bringup.executables import find_executable
from pqc_mav_bringup.respawn import Respawn
from pqc_mav_bringup.systems import PORTS, both_ends
from pqc_mav_sim.impairment.described import described
from pqc_mav_sim.impairment.relay import Relay

DRONE_ID = "bench"
PROXY = "pqc_proxy"
POWER_PACKAGE, POWER_EXECUTABLE = "pqc_mav_sensing", "pqc_power"
# An agent that dies is started again at once: the controller waits for it and repeats the run in hand.
_QUICK_RESPAWN = Respawn(delay_s=0.2)


def _proxy(namespace: str, settings: Mapping[str, Setting]) -> ProcessDescription:
    return ProcessDescription(
        name=PROXY, package="pqc_mav_proxy", executable=PROXY, node=PROXY, namespace=namespace, settings=settings
    )


_GCS, _AIR = both_ends(DRONE_ID)

SYSTEM = SystemDescription(
    name="bench",
    description="Both ends of the tunnel with the benchmark's controller and agent, all on this machine.",
    arguments=(
        Argument("keys", "Root of the keys."),
        Argument("root", "Folder of the campaigns."),
        Argument("space", "ROS namespace of everything."),
        Argument("power", "Whether the power node runs.", "no", ("yes", "no")),
        Argument("key_pool_depth", "Key pairs that the ground makes ahead of time for each KEM.", "0"),
        *(Argument(name, "A free port.") for name in PORTS),
        Argument("peer_port", "Where the drone sends to: the ground's data port, or the link before it."),
    ),
    processes=(
        _proxy("{space}/gcs", {**_GCS, "key_pool_depth": Setting("{key_pool_depth}", int)}),
        _proxy("{space}/drone", {**_AIR, "data_port": Setting("{peer_port}", int)}),
        ProcessDescription(
            name="bench_agent",
            package="pqc_mav_bench",
            executable="pqc_bench_agent",
            node="bench_agent",
            namespace="{space}/gcs",
            settings={"proxy": Setting("/{space}/gcs/pqc_proxy"), "drone_id": Setting(DRONE_ID)},
            respawn=_QUICK_RESPAWN,
        ),
        ProcessDescription(
            name=POWER_EXECUTABLE,
            package=POWER_PACKAGE,
            executable=POWER_EXECUTABLE,
            namespace="{space}/drone",
            node=POWER_EXECUTABLE,
            when={"power": "yes"},
        ),
        ProcessDescription(
            name="bench_controller",
            package="pqc_mav_bench",
            executable="pqc_bench_controller",
            node="bench_controller",
            namespace="{space}/drone",
            settings={
                "root": Setting("{root}"),
                "proxy": Setting("/{space}/drone/pqc_proxy"),
                "agent": Setting("/{space}/gcs/bench_agent"),
                "drone_id": Setting(DRONE_ID),
                "policy": Setting(""),
            },
            respawn=None,
        ),
    ),
)


def has_power_node() -> bool:
    """Whether the sensing package is installed."""
    try:
        find_executable(POWER_PACKAGE, POWER_EXECUTABLE)
    except BringupError:
        return False
    return True


class LocalSession:
    """Argument values of a benchmark on this machine, with keys for `suites` and the link, which go when it closes."""

    def __init__(
        self,
        root: Path,
        suites: Iterable[str],
        link: str = "",
        workload: WorkloadOptions | None = None,
        *,
        key_pool: bool = False,
    ) -> None:
        """`link`: what stands between the ends, in words. Traffic from elsewhere comes to the ports of its options.
        `key_pool`: the ground makes key pairs ahead of time, as it does by default in the field.

        Raises BringupError, ImpairmentError and the engine's TunnelError.
        """
        self._relay: Relay | None = None
        impaired = described(link)
        given = {}
        if workload is not None and not workload.generated:
            given = {"plain_port": str(workload.autopilot_port), "ground_port": str(workload.ground_port)}
        self._ends = DemoSession(given, suites, what="benchmark", drone=DRONE_ID)
        peer = self._ends.values["data_port"]
        try:
            if impaired:
                self._relay = Relay(int(peer)).start()
                self._relay.impair(impaired)
                peer = str(self._relay.port)
        except OSError as error:
            self.close()
            raise BringupError(f"The benchmark finds no free ports: {error}.") from None
        except BaseException:
            self.close()
            raise
        self.values: dict[str, str] = {
            **self._ends.values,
            "peer_port": peer,
            "space": f"bench_{secrets.token_hex(4)}",
            "root": str(root.resolve()),
            "power": "yes" if has_power_node() else "no",
            "key_pool_depth": "1" if key_pool else "0",
        }

    @property
    def controller(self) -> str:
        """Name of the controller's node."""
        return f"/{self.values['space']}/drone/bench_controller"

    def close(self) -> None:
        """Removes the keys and ends the link."""
        if self._relay is not None:
            self._relay.stop()
            self._relay = None
        self._ends.close()

    def __enter__(self) -> LocalSession:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()
