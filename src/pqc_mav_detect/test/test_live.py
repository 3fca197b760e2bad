# SPDX-License-Identifier: Apache-2.0
"""The rules against real engines on loopback, attacked from outside; what needs namespaces is in test_recorded.py."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest

from pqc_mav_common.free_ports import free_port
from pqc_mav_common.testing import until
from pqc_mav_common.testing_proxies import drone_parameters, gcs_parameters
from pqc_mav_detect import classes
from pqc_mav_detect.classes import Level
from pqc_mav_detect.detector import Verdict
from pqc_mav_detect.episodes import Episodes
from pqc_mav_detect.from_engine import from_engine
from pqc_mav_detect.rules.detector import Rules
from pqc_mav_detect.window import PERIOD_S, Windows
from pqc_mav_sim.impairment.link import A_TO_B, B_TO_A
from pqc_mav_sim.impairment.relay import Relay

HOST = "127.0.0.1"
RATE_HZ = 200.0
HEADER = 22
SEQUENCE = slice(13, 21)


class End:
    """One engine with its detector."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.engine = pqc_mav_tunnel.Engine(config)
        self.engine.start()
        self._windows = Windows(config["role"])
        self.begin()

    def begin(self) -> None:
        """A fresh detector: what was before is no concern of the next test."""
        self._rules, self._episodes = Rules(), Episodes()
        self.said: list[Verdict] = []

    def look(self) -> Verdict:
        engine, now_s = self.engine, time.monotonic()
        seen = engine.totals(), engine.stats(), engine.links(), engine.status()
        window = self._windows.update(from_engine(now_s, *seen, {}, engine.refused_from()))
        if window is not None:
            self.said.append(self._episodes.update(self._rules.update(window), now_s))
        return self._episodes.verdict


class Range:
    """A drone, a relay on the path, a gcs, and traffic both ways."""

    def __init__(self, keys: Path) -> None:
        self._ground = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._ground.bind((HOST, 0))
        ground = f"{HOST}:{self._ground.getsockname()[1]}"
        self.plain = free_port()
        self._of_gcs = lambda port: gcs_parameters(keys, data_port=port, **{"drone.d1.plain_peer": ground})
        self.gcs = End(self._of_gcs(0))
        self.port = self.gcs.engine.ports()["data"]
        self.relay = Relay(self.port, seed=1)
        self.relay.start()
        self.drone = End(drone_parameters(keys, self.relay.port, plain_bind=f"{HOST}:{self.plain}"))
        self.ends = {"gcs": self.gcs, "drone": self.drone}
        self._stop = threading.Event()
        self.rate_hz = RATE_HZ
        self._thread = threading.Thread(target=self._traffic, daemon=True)
        until(lambda: all(end.engine.status()[0]["state"] == "UP" for end in self.ends.values()), "a session")
        self._thread.start()
        self.watch(2.0)

    def _traffic(self) -> None:
        down = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        down.bind((HOST, 0))
        while not self._stop.wait(0.01):
            for _ in range(max(1, round(self.rate_hz * 0.01))):
                down.sendto(bytes(60), (HOST, self.plain))
            self._ground.sendto(bytes(40), (HOST, self.gcs.engine.ports()["plain"]["d1"]))

    def watch(self, seconds: float, until_: Callable[[], bool] = lambda: False) -> None:
        """Both detectors look ten times a second."""
        ends_s = time.monotonic() + seconds
        while time.monotonic() < ends_s and not until_():
            time.sleep(PERIOD_S)
            for end in self.ends.values():
                end.look()

    def restart_gcs(self) -> None:
        """It dies without a word, as by kill -9, and comes back; until both ends have a new session."""
        old = self.drone.engine.status()[0]["session_id"]
        self.relay.impair({"down": True})
        self.gcs.engine.stop()
        self.gcs = self.ends["gcs"] = End(self._of_gcs(self.port))
        self.relay.impair({"down": False})

        def back() -> bool:
            states = [end.engine.status()[0] for end in self.ends.values()]
            return all(each["state"] == "UP" and each["session_id"] != old for each in states)

        self.watch(60.0, back)
        assert back()

    def begin(self) -> None:
        """Fresh detectors on a quiet link."""
        self.rate_hz = RATE_HZ
        for end in self.ends.values():
            end.begin()

    def named(self, end: str, kind: str, level: Level, within_s: float = 15.0) -> Verdict:
        """The end's verdict, which has to come; the limit only keeps a starved machine from waiting for ever."""
        self.watch(within_s, lambda: self.ends[end].look().kind == kind and self.ends[end].look().level >= level)
        verdict = self.ends[end].look()
        assert (verdict.kind, verdict.level) == (kind, level), verdict
        return verdict

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        for end in self.ends.values():
            end.engine.stop()
        self.relay.stop()
        self._ground.close()


@pytest.fixture(scope="module")
def ranged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Range]:
    keys = tmp_path_factory.mktemp("keys") / "k"
    pqc_mav_tunnel.init_keys(str(keys), ["d1"], sig_tokens=["mldsa65", "mldsa44"])
    made = Range(keys)
    yield made
    made.close()


@contextmanager
def attacking(port: int, datagram: Callable[[], bytes], rate_hz: float = 100.0) -> Iterator[None]:
    """Datagrams at a port for the time of the block."""
    stop = threading.Event()

    def run() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            while not stop.wait(1.0 / rate_hz):
                if data := datagram():
                    stranger.sendto(data, (HOST, port))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_traffic_rekeys_and_bursts_are_normal(ranged: Range) -> None:
    ranged.begin()
    engine = ranged.drone.engine
    for suite in ("cs-mlkem768-aesgcm-mldsa65", "cs-mlkem512-aesgcm-mldsa44", "cs-mlkem768-aesgcm-mldsa65"):
        ranged.watch(0.4)
        assert engine.request_rekey("d1", suite, "test", 30.0)["ok"]
    ranged.rate_hz = 900.0
    ranged.watch(1.0)
    ranged.rate_hz = RATE_HZ
    ranged.watch(1.0)
    for end in ranged.ends.values():
        assert not [verdict for verdict in end.said if verdict.level is Level.ATTACK]
        # This machine may stand still for a second, which nobody can tell from a blackout.
        assert {verdict.kind for verdict in end.said} <= {"", classes.BLACKOUT, classes.ON_PATH}


def test_an_own_restart_is_no_attack(ranged: Range) -> None:
    """The drone's packets of the old session draw Restart frames until it has a new one: they are no stranger's."""
    ranged.begin()
    ranged.relay.impair({"delay_ms": 250.0})  # so that it takes its time
    try:
        for _ in range(2):
            ranged.restart_gcs()
            ranged.watch(2.0)
            assert ranged.gcs.engine.totals()["restarts_told"] >= 10, "as many as would be called a flood"
    finally:
        ranged.relay.impair({"delay_ms": 0.0})
    assert not {verdict.reason for verdict in ranged.drone.said if verdict.level is Level.ATTACK}


def test_a_flood(ranged: Range) -> None:
    ranged.begin()
    generator = random.Random(1)
    with attacking(ranged.port, lambda: b"\x07" + generator.randbytes(generator.randrange(1200))):
        verdict = ranged.named("gcs", classes.FLOOD, Level.ATTACK)
        assert "datagrams/s that are malformed or of no session" in verdict.reason
        ranged.watch(2.0)  # the engine sums up every half second
        evidence = ranged.gcs.look().evidence[0]
    assert evidence.endswith("comes from 127.0.0.0/24"), evidence


def test_a_flood_of_handshakes(ranged: Range) -> None:
    ranged.begin()
    generator = random.Random(2)
    with attacking(ranged.port, lambda: b"\x33" + generator.randbytes(200)):
        ranged.named("gcs", classes.HANDSHAKE_FLOOD, Level.ATTACK)


def test_replays_at_both_ends(ranged: Range) -> None:
    ranged.begin()
    held: list[bytes] = []

    def older() -> bytes:
        held.append(ranged.relay.overheard(A_TO_B))
        return held[-50] if len(held) > 50 else b""

    with attacking(ranged.port, older):
        verdict = ranged.named("gcs", classes.REPLAY, Level.ATTACK)
        assert verdict.response == "renew_keys"
        # The drone has it from the gcs' LINK_REPORT.
        ranged.named("drone", classes.REPLAY, Level.ATTACK)


def test_forgeries_at_the_drone(ranged: Range) -> None:
    ranged.begin()
    generator = random.Random(3)

    def forged() -> bytes:
        frame = ranged.relay.overheard(B_TO_A)
        if len(frame) < HEADER:
            return b""
        made = bytearray(frame[:HEADER] + generator.randbytes(len(frame) - HEADER))
        ahead = int.from_bytes(frame[SEQUENCE], "big") + generator.randrange(1, 500)
        made[SEQUENCE] = ahead.to_bytes(8, "big")
        return bytes(made)

    with attacking(ranged.drone.engine.ports()["data"], forged):
        ranged.named("drone", classes.FORGERY, Level.ATTACK)


def test_delay_on_the_path_and_a_blackout_are_suspected(ranged: Range) -> None:
    ranged.begin()
    ranged.relay.impair({"delay_ms": 150.0})
    try:
        ranged.named("drone", classes.ON_PATH, Level.SUSPICIOUS)
    finally:
        ranged.relay.impair({"delay_ms": 0.0})
    ranged.watch(1.0)
    ranged.begin()
    ranged.relay.impair({"down": True})
    try:
        verdict = ranged.named("gcs", classes.BLACKOUT, Level.SUSPICIOUS)
    finally:
        ranged.relay.impair({"down": False})
    assert "nothing heard from d1" in verdict.reason and verdict.response == "hold"
