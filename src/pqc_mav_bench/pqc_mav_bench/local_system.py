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

from pqc_mav_bench.link_presets import SERIAL
from pqc_mav_bench.options import WorkloadOptions
from pqc_mav_bringup.demo_session import DemoSession
from pqc_mav_bringup.description import Argument, BringupError, ProcessDescription, Setting, SystemDescription
from pqc_mav_bringup.executables import find_executable
from pqc_mav_bringup.respawn import Respawn
from pqc_mav_bringup.systems import PORTS, both_ends
from pqc_mav_sim.impairment.described import described
from pqc_mav_sim.impairment.relay import Relay
from pqc_mav_sim.radio.ports import RadioPorts, RadioTerms

DRONE_ID = "bench"
PROXY = "pqc_proxy"
HERE = "127.0.0.1"
RADIOS = RadioTerms(loss=0.05)  # a pair of SiK radios as they come
POWER_PACKAGE, POWER_EXECUTABLE = "pqc_mav_sensing", "pqc_power"
# An agent that dies is started again at once: the controller waits for it and repeats the run in hand.
_QUICK_RESPAWN = Respawn(delay_s=0.2)


def _serial(port: str) -> str:
    return f"serial:{port}:{RADIOS.profile.baud}:mavlink"


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
        Argument("peer", "The address of that port, or the drone's serial port.", HERE),
        Argument("radio", "The ground's serial port.", ""),
    ),
    processes=(
        _proxy(
            "{space}/gcs",
            {**_GCS, "key_pool_depth": Setting("{key_pool_depth}", int), f"drone.{DRONE_ID}.radio": Setting("{radio}")},
        ),
        _proxy("{space}/drone", {**_AIR, "data_port": Setting("{peer_port}", int), "peer": Setting("{peer}")}),
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
        self._between: Relay | RadioPorts | None = None
        impaired = {} if link == SERIAL else described(link)
        given = {}
        if workload is not None and not workload.generated:
            given = {"plain_port": str(workload.autopilot_port), "ground_port": str(workload.ground_port)}
        self._ends = DemoSession(given, suites, what="benchmark", drone=DRONE_ID)
        way = {"peer_port": self._ends.values["data_port"], "peer": HERE, "radio": ""}
        try:
            if link == SERIAL:
                radios = self._between = RadioPorts(RADIOS)
                radios.start()
                way |= {"peer": _serial(radios.air[0]), "radio": _serial(radios.ground)}
            elif impaired:
                relay = self._between = Relay(int(way["peer_port"])).start()
                relay.impair(impaired)
                way["peer_port"] = str(relay.port)
        except OSError as error:
            self.close()
            raise BringupError(f"The benchmark finds no free ports: {error}.") from None
        except BaseException:
            self.close()
            raise
        self.values: dict[str, str] = {
            **self._ends.values,
            **way,
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
        if self._between is not None:
            self._between.stop()
            self._between = None
        self._ends.close()

    def __enter__(self) -> LocalSession:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()
