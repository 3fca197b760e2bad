# SPDX-License-Identifier: Apache-2.0
"""A drone, a gcs and a stranger of which windows with labels are taken: what `record` lets happen (ways.py)."""

from __future__ import annotations

import selectors
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import air
import courses
import pqc_mav_tunnel
from background import Background
from children import Child, ChildError, spawn
from ends import DATA_PORT, DEFAULT_SUITE, DRONE_ID, End
from pair import in_the_air
from traffic import application_socket
from ways import ATTACK_S, BOTH, Attack, Grade

from pqc_mav_detect.dataset import Row
from pqc_mav_detect.from_engine import from_engine
from pqc_mav_detect.window import PERIOD_S, Window, Windows
from pqc_mav_sim.impairment.settings import Impairment

UPLINK = 0.1
QUIET_S = 9.0  # before each attack, so that what it left behind is over
AFTER_S = 2.0
REKEY_S = 15.0
OPEN_PORT = 47000
BUSY = 2  # processes that compute, one for each core of a small machine, where no rate says how many
RESTART_S = 1.0
SUITES = ("cs-mlkem768-aesgcm-mldsa65", "cs-mlkem1024-chacha20poly1305-mldsa87", "cs-mlkem512-ascon128a-mldsa44")


@dataclass(frozen=True)
class Profile:
    """What the vehicle sends; the ground sends a tenth of the rate. `burst`: messages more, every 10 s.

    `course`: what a real autopilot and its ground software sent, in place of these.
    """

    name: str
    rate: float = 25.0
    burst: int = 0
    course: str = ""


PROFILES = {
    each.name: each
    for each in (
        *(Profile(f"{rate:g}", rate) for rate in (25.0, 100.0, 320.0, 640.0)),
        Profile("parameters", 25.0, 1000),
        *(Profile(each, course=str(courses.file_of(each))) for each in ("ardupilot", "px4")),
    )
}


class Watch(Background):
    """Takes a window of one end ten times a second, from a thread of its own."""

    def __init__(self, end: End, role: str) -> None:
        self.windows: list[Window] = []
        self._end = end
        self._made = Windows(role)
        self._begin()

    def take(self) -> list[Window]:
        """Those since the last call."""
        found, self.windows = self.windows, []
        return found

    def _run(self) -> None:
        due = time.monotonic()
        while not self._over.wait(max(0.0, due - time.monotonic())):
            due = max(due + PERIOD_S, time.monotonic())
            try:
                window = self._made.update(from_engine(**self._end.child.ask("reading")))
            except ChildError:
                continue  # killed, and not back yet
            if window is not None:
                self.windows.append(window)


class Program(Background):
    """Some program of the gcs' host that takes what it is sent, over TCP and UDP."""

    @staticmethod
    def sockets() -> tuple[socket.socket, socket.socket]:
        """Made in the namespace of the caller."""
        return socket.create_server((air.GCS, OPEN_PORT)), application_socket(OPEN_PORT, air.GCS)

    def __init__(self, sockets: tuple[socket.socket, socket.socket]) -> None:
        self._poll = selectors.DefaultSelector()
        for each in sockets:
            self._poll.register(each, selectors.EVENT_READ)
        self._listening = sockets[0]
        self._begin()

    def close(self) -> None:
        """End."""
        super().close()
        for key in list(self._poll.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._poll.close()

    def _run(self) -> None:
        while not self._over.is_set():
            for key, _ in self._poll.select(0.2):
                end = key.fileobj
                assert isinstance(end, socket.socket)
                if end is self._listening:
                    self._poll.register(end.accept()[0], selectors.EVENT_READ)
                elif not end.recv(65_536) and end.type == socket.SOCK_STREAM:
                    self._poll.unregister(end)
                    end.close()


class Scene(ExitStack):
    """A drone with a vehicle, a gcs and a stranger. A context manager."""

    def __init__(self, profile: Profile, seed: int) -> None:
        self._name = profile.name if profile.burst or profile.course else f"{profile.name}/s"
        self._seed = seed
        self._count = 0
        super().__init__()
        try:
            self._build(profile)
        except BaseException:
            self.close()
            raise

    def _build(self, profile: Profile) -> None:
        enter = self.enter_context
        network = enter(air.Air(seed=self._seed))
        self._network, self._joint = network, network.joint
        self._program = Program(network["gcs"].call(Program.sockets))
        self.callback(self._program.close)
        self._ears = enter(network.overheard())
        pair = in_the_air(self, network)
        self._ends = pair.ends
        self._stranger = Child(
            "attacker_host.py", namespace=network["stranger"].descriptor, pass_fds=[self._ears.fileno()]
        )
        self.callback(self._stranger.close)
        pair.traffic(profile.rate, max(1.0, profile.rate * UPLINK), burst=profile.burst, course=profile.course)
        self._watches = {name: Watch(end, name) for name, end in self._ends.items()}
        for watch in self._watches.values():
            self.callback(watch.close)

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

    def attacked(self, attacks: Sequence[Attack], rates: Sequence[str]) -> list[Row]:
        """Each attack at each rate or grade, with quiet before it."""
        rows = []
        for attack in attacks:
            for what in attack.grades or attack.rates or (rates if attack.kind else ("",)):
                time.sleep(QUIET_S)
                begun = time.monotonic()
                tenths = self._impaired(what) if isinstance(what, Grade) else self._do(attack, what)
                ended = time.monotonic()
                time.sleep(AFTER_S)
                name = what.name if isinstance(what, Grade) else what
                rows += self._rows(f"{attack.name}@{name}", attack.kind, tenths, begun, ended, attack.ends)
        return rows

    def _do(self, attack: Attack, rate: str) -> set[int]:
        if attack.mode == "move":
            self._network.move_drone()
            time.sleep(ATTACK_S)
        elif attack.mode == "rekey":
            for suite in (*SUITES, *SUITES):
                with _forgiving():
                    self._ends["drone"].begin_rekey(suite)(30.0)
        elif attack.mode == "load":
            busy = [spawn([sys.executable, "-c", "while True: pass"]) for _ in range(int(rate or BUSY))]
            time.sleep(ATTACK_S)
            for each in busy:
                each.kill()
                each.wait()
        elif attack.mode == "restart":
            self._ends["gcs"].kill()
            time.sleep(RESTART_S)
            self._ends["gcs"].start()
            time.sleep(ATTACK_S)
        else:
            return self._strange(attack, rate)
        return set()

    def _impaired(self, grade: Grade) -> set[int]:
        begun = time.monotonic()
        clean = Impairment().to_dict()
        self._joint.impair(dict(grade.impair), grade.directions)
        time.sleep(grade.seconds)
        self._joint.impair({name: clean[name] for name in grade.impair}, grade.directions)
        return set(range(int(begun * 10), int(time.monotonic() * 10) + 1))

    def _strange(self, attack: Attack, rate: str) -> set[int]:
        suite = pqc_mav_tunnel.find_suite(DEFAULT_SUITE)
        names = {"drone_id": DRONE_ID, "suite": suite.id, "kem": suite.kem_name, "sig": suite.sig_name}
        self._count += 1
        self._stranger.ask(
            "start", mode=attack.mode, rate=rate, listen=attack.listen, seed=self._seed + self._count,
            ears=self._ears.fileno(), names=names, gcs=air.GCS, data_port=DATA_PORT, sources=air.STRANGER_MORE,
            mac=air.MACS[air.STRANGER].replace(":", ""), gcs_mac=air.MACS[air.GCS].replace(":", ""),
            open_port=OPEN_PORT,
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
