# SPDX-License-Identifier: Apache-2.0
"""One end of the tunnel as the laboratory runs it: a process in a namespace that can be killed and come back."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from children import Child

from pqc_mav_common import two_ends
from pqc_mav_common.process_figures import memory_kib
from pqc_mav_common.two_ends import HOST

DRONE_ID = "uav1"
DEFAULT_SUITE = "cs-mlkem768-aesgcm-mldsa65"
DATA_PORT, DRONE_DATA_PORT = 46011, 46012
DRONE_PLAIN, GCS_PLAIN, GROUND = 14590, 14551, 14550


def gcs_config(keys: str) -> dict[str, Any]:
    """The gcs of the laboratory's network; ground software is on 127.0.0.1:14550 of its namespace."""
    config = two_ends.gcs_config(keys, {DRONE_ID: GROUND}, bind="", data_port=DATA_PORT)
    config["drone"][DRONE_ID]["plain_bind"] = f"{HOST}:{GCS_PLAIN}"
    return config


def drone_config(keys: str, gcs: str) -> dict[str, Any]:
    """The drone; the vehicle sends to 127.0.0.1:14590 of its namespace and gets its answers where it sends from."""
    own = {"bind": "", "local_data_port": DRONE_DATA_PORT, "plain_bind": f"{HOST}:{DRONE_PLAIN}"}
    return two_ends.drone_config(keys, DRONE_ID, DATA_PORT, peer=gcs, **own)


class End:
    """A running engine process."""

    def __init__(
        self,
        config: dict[str, Any],
        namespace: int | None = None,
        environment: Mapping[str, str] | None = None,
        monotonic_ahead_s: int = 0,
    ) -> None:
        self._config = config
        self._namespace = namespace
        self._environment = dict(environment or {})
        # a time namespace shifts the monotonic clocks; unshare enters it with the program it then becomes
        ahead = ["unshare", "--time", "--monotonic", str(monotonic_ahead_s), "--boottime", str(monotonic_ahead_s)]
        self._prefix: Sequence[str] = ahead if monotonic_ahead_s else ()
        self.start()

    def start(self) -> None:
        """Start the process and its engine."""
        self.child = Child(
            "engine_host.py", namespace=self._namespace, environment=self._environment, prefix=self._prefix
        )
        self.child.ask("start", configs=[self._config])

    def kill(self) -> None:
        """kill -9."""
        self.child.kill()

    def close(self) -> None:
        """End the process."""
        self.child.close()

    def status(self) -> dict[str, Any]:
        """Of the one drone."""
        return dict(self.child.ask("status")[0])

    def stats(self) -> dict[str, float]:
        """Counters of the one drone."""
        counted = {key: value for key, value in self.child.ask("stats")[0].items() if key != "drone_id"}
        return {**counted, **self.child.ask("shaped")}

    def totals(self) -> dict[str, int]:
        """Counters of the process."""
        return dict(self.child.ask("totals"))

    def wall_clock_s(self) -> float:
        """The time of day as this process sees it."""
        return float(self.child.ask("time"))

    def begin_rekey(self, suite: str, timeout_s: float = 60.0, kind: str = "") -> Callable[[float], dict[str, Any]]:
        """Ask for a rekey, or another kind of one; the returned function waits for the answer."""
        return self.child.begin("rekey", drone_id=DRONE_ID, suite=suite, timeout_s=timeout_s, kind=kind)

    def rss_kib(self) -> int:
        """Resident memory of the process."""
        return memory_kib(self.child.pid)


class Starter:
    """A process that starts a drone's engine again and again; how long an interpreter takes to start is not counted."""

    def __init__(self, config: dict[str, Any], namespace: int | None = None) -> None:
        self._config = config
        self.child = Child("engine_host.py", namespace=namespace)

    def connect(self, limit_s: float) -> dict[str, Any]:
        """Start the engine, wait for its session, stop it: `seconds` (None = not in time), `failures` in words."""
        return dict(self.child.ask("connect", limit_s + 20, config=self._config, limit_s=limit_s))

    def close(self) -> None:
        """End the process."""
        self.child.close()
