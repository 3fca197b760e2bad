# SPDX-License-Identifier: Apache-2.0
"""`chaos/run record`: what both ends see of normal traffic or of attacks, ten times a second, with labels (needs root).

A label says what was really done in that tenth of a second, not what the file is about.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import air
import messages
import pqc_mav_tunnel
from children import Child, ChildError, wait_until
from ends import DATA_PORT, DEFAULT_SUITE, DRONE_ID, DRONE_PLAIN, GCS_PLAIN, GROUND, End, drone_config, gcs_config
from laboratory import temporary_keys
from traffic import End as TrafficEnd
from traffic import TrafficProcess, application_socket

from pqc_mav_detect import classes
from pqc_mav_detect.dataset import Row, write_rows
from pqc_mav_detect.from_engine import from_engine
from pqc_mav_detect.window import PERIOD_S, Window, Windows
from pqc_mav_sim.impairment.settings import Impairment

PROFILES = (25.0, 100.0, 320.0, 640.0)  # messages/s of the vehicle; the ground sends a tenth of that
UPLINK = 0.1
QUIET_S = 12.0
ATTACK_S = 8.0
REKEY_S = 15.0
CONNECT_S = 30.0
SUITES = ("cs-mlkem768-aesgcm-mldsa65", "cs-mlkem1024-chacha20poly1305-mldsa87", "cs-mlkem512-ascon128a-mldsa44")


@dataclass(frozen=True)
class Attack:
    """One way to attack: a mode of the stranger with a rate, or an impairment of the link. `ends`: who is reached."""

    name: str
    kind: str
    mode: str = ""
    listen: bool = False
    ends: frozenset[str] = frozenset({"gcs"})
    impair: dict[str, Any] = field(default_factory=dict)


BOTH = frozenset({"gcs", "drone"})
ATTACKS = (
    # First, while the handshake at the beginning is among what the stranger has overheard.
    Attack("replay_hellos", classes.HANDSHAKE_FLOOD, "replay_hellos", True, BOTH),
    Attack("random_flood", classes.FLOOD, "random_flood"),
    Attack("replay", classes.REPLAY, "replay", True, BOTH),
    Attack("forge", classes.FORGERY, "forge", True, BOTH),
    Attack("handshake_flood", classes.HANDSHAKE_FLOOD, "handshake_flood"),
    Attack("false_hellos", classes.HANDSHAKE_FLOOD, "false_hellos"),
    Attack("elsewhere", classes.VOLUMETRIC, "elsewhere"),
    Attack("pings", classes.VOLUMETRIC, "pings"),
    Attack("connections", classes.VOLUMETRIC, "connections"),
    Attack("delay", classes.ON_PATH, ends=BOTH, impair={"delay_ms": 150.0}),
    Attack("loss", classes.ON_PATH, ends=BOTH, impair={"loss": 0.15}),
    Attack("blackout", classes.BLACKOUT, ends=BOTH, impair={"down": True}),
)
# What happens to a link without any attacker: no label, and an alarm is a false one.
DISTURBANCES = (
    Attack("weak_link", "", ends=BOTH, impair={"loss": 0.05, "burst": 2.0}),
    Attack("duplicates", "", ends=BOTH, impair={"duplicate": 0.02}),
    Attack("reordering", "", ends=BOTH, impair={"delay_ms": 10.0, "reorder": 0.05}),
    Attack("latency", "", ends=BOTH, impair={"delay_ms": 25.0}),
    Attack("gap", "", ends=BOTH, impair={"down": True}),
    Attack("roaming", "", "move", ends=BOTH),
    Attack("rekeys", "", "rekey", ends=BOTH),
)
GAP_S = 0.5


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--file", default="windows.csv.gz", help="file to write: .csv, .csv.gz or .parquet")
    parser.add_argument(
        "--attacks", default="", metavar="NAME,NAME", help="'all', 'benign', or some; empty = normal traffic"
    )
    parser.add_argument("--rates", default="2,20,200,2000", help="datagrams/s of each attack")
    parser.add_argument(
        "--profiles", default=",".join(f"{each:g}" for each in PROFILES), help="messages/s of the vehicle"
    )
    parser.add_argument("--minutes", type=float, default=3.0, help="of normal traffic, each profile")
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """Record; 0 when all was recorded, 2 for an unknown attack, 3 when this machine cannot."""
    if reason := air.need_root():
        print(f"record: this {reason}.")
        return 3
    known = {attack.name: attack for attack in (*ATTACKS, *DISTURBANCES)}
    sets = {"all": ATTACKS, "benign": DISTURBANCES}
    names = [name for name in options.attacks.split(",") if name]
    names = [attack.name for attack in sets[options.attacks]] if options.attacks in sets else names
    if unknown := [name for name in names if name not in known]:
        print(f"record: no attack {', '.join(unknown)}; there are: {', '.join(known)}")
        return 2
    rows: list[Row] = []
    generator = random.Random(options.seed)
    for profile in map(float, options.profiles.split(",")):
        with temporary_keys() as keys, Scene(keys, profile, generator.randrange(1 << 30)) as scene:
            if names:
                rows += scene.attacked([known[name] for name in names], list(map(float, options.rates.split(","))))
            else:
                rows += scene.normal(options.minutes * 60)
            print(f"{profile:g} messages/s: {len(rows)} windows so far", flush=True)
    write_rows(Path(options.file), rows)
    return 0


class Watch:
    """Takes a window of one end ten times a second, from a thread of its own."""

    def __init__(self, end: End, role: str) -> None:
        self.windows: list[Window] = []
        self._end = end
        self._made = Windows(role)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def take(self) -> list[Window]:
        """Those since the last call."""
        found, self.windows = self.windows, []
        return found

    def stop(self) -> None:
        """End."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stopping.wait(max(0.0, due - time.monotonic())):
            due = max(due + PERIOD_S, time.monotonic())
            try:
                window = self._made.update(from_engine(**self._end.child.ask("reading")))
            except ChildError:
                continue  # killed, and not back yet
            if window is not None:
                self.windows.append(window)


class Scene:
    """A drone, a gcs and a stranger with a vehicle of that many messages a second. A context manager."""

    def __init__(self, keys: str, profile: float, seed: int) -> None:
        self._name = f"{profile:g}/s"
        self._seed = seed
        self._count = 0
        self._stack = ExitStack()
        try:
            self._build(keys, profile)
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Scene:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _build(self, keys: str, profile: float) -> None:
        enter = self._stack.enter_context
        network = enter(air.Air(seed=self._seed, link="userspace"))
        assert network.joint is not None
        self._network, self._joint = network, network.joint
        vehicle = enter(network["drone"].call(application_socket))
        ground = enter(network["gcs"].call(lambda: application_socket(GROUND)))
        self._ears = enter(network.overheard())
        configs = {"gcs": gcs_config(keys), "drone": drone_config(keys, air.GCS)}
        self._ends = {name: End(config, network[name].descriptor) for name, config in configs.items()}
        for end in self._ends.values():
            self._stack.callback(end.close)
        self._stranger = Child(
            "attacker_host.py", namespace=network["stranger"].descriptor, pass_fds=[self._ears.fileno()]
        )
        self._stack.callback(self._stranger.close)
        if not wait_until(lambda: all(end.status()["state"] == "UP" for end in self._ends.values()), CONNECT_S):
            raise ChildError(f"no session within {CONNECT_S:g} s")
        ends = [
            TrafficEnd(vehicle, 0, messages.DOWN, DRONE_PLAIN, profile),
            TrafficEnd(ground, 0, messages.UP, GCS_PLAIN, max(1.0, profile * UPLINK)),
        ]
        traffic = TrafficProcess(ends)
        self._stack.callback(traffic.close)
        self._watches = {name: Watch(end, name) for name, end in self._ends.items()}
        for watch in self._watches.values():
            self._stack.callback(watch.stop)

    def normal(self, seconds: float) -> list[Row]:
        """With a rekey every 15 s, and the drone's process restarted in the middle."""
        begun = time.monotonic()
        restarted, suites = False, 0
        while (now_s := time.monotonic() - begun) < seconds:
            if not restarted and now_s > seconds / 2:
                restarted = True
                self._ends["drone"].kill()
                self._ends["drone"].start()
            time.sleep(min(REKEY_S, max(0.0, seconds - now_s)))
            answer = self._ends["drone"].begin_rekey(SUITES[suites % len(SUITES)])
            suites += 1
            with _forgiving():
                answer(30.0)
        return self._rows("normal", "", set(), 0.0, 0.0, BOTH)

    def attacked(self, attacks: Sequence[Attack], rates: Sequence[float]) -> list[Row]:
        """Each attack at each rate for 8 s, with 12 s of quiet before it."""
        rows = []
        for attack in attacks:
            for rate in rates if attack.kind and attack.mode else [0.0]:
                time.sleep(QUIET_S)
                begun = time.monotonic()
                tenths = self._do(attack, rate)
                ended = time.monotonic()
                time.sleep(2.0)
                rows += self._rows(f"{attack.name}@{rate:g}", attack.kind, tenths, begun, ended, attack.ends)
        return rows

    def _do(self, attack: Attack, rate: float) -> set[int]:
        if attack.impair:
            return self._impaired(attack)
        if attack.mode == "move":
            self._network.move_drone()
            time.sleep(ATTACK_S)
            return set()
        if attack.mode == "rekey":
            for suite in (*SUITES, *SUITES):
                with _forgiving():
                    self._ends["drone"].begin_rekey(suite)(30.0)
            return set()
        return self._strange(attack, rate)

    def _impaired(self, attack: Attack) -> set[int]:
        begun = time.monotonic()
        clean = Impairment().to_dict()
        self._joint.impair(attack.impair)
        time.sleep(GAP_S if attack.name == "gap" else ATTACK_S)
        self._joint.impair({name: clean[name] for name in attack.impair})
        return set(range(int(begun * 10), int(time.monotonic() * 10) + 1))

    def _strange(self, attack: Attack, rate: float) -> set[int]:
        suite = pqc_mav_tunnel.find_suite(DEFAULT_SUITE)
        names = {"drone_id": DRONE_ID, "suite": suite.id, "kem": suite.kem_oqs_name, "sig": suite.sig_oqs_name}
        self._count += 1
        self._stranger.ask(
            "start", mode=attack.mode, rate=rate, listen=attack.listen, seed=self._seed + self._count,
            ears=self._ears.fileno(), names=names, gcs=air.GCS, data_port=DATA_PORT, sources=air.STRANGER_MORE,
        )  # fmt: skip
        time.sleep(ATTACK_S)
        return set(self._stranger.ask("tell"))

    def _rows(
        self, run: str, kind: str, tenths: set[int], begun: float, ended: float, ends: frozenset[str]
    ) -> list[Row]:
        found = []
        for end, watch in self._watches.items():
            for window in watch.take():
                during = end in ends and begun <= window.time_s <= ended + PERIOD_S
                did = during and bool(tenths & {int((window.time_s - back) * 10) for back in (0.0, window.span_s)})
                found.append(Row(f"{self._name} {run}", end, kind if did else "", kind if during else "", window))
        return found


@contextmanager
def _forgiving() -> Iterator[None]:
    """A rekey that is refused while the drone comes back is no concern of the recording."""
    try:
        yield
    except ChildError:
        return
