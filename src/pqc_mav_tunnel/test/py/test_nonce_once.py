# SPDX-License-Identifier: Apache-2.0
"""No sequence is used twice under one key by programs that are killed with SIGKILL and started again, all the while
rekeying and sending: everything two pqcmav-tunneld put on the wire passes through here."""

from __future__ import annotations

import itertools
import select
import shutil
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tunnel_support import LIGHT, eventually, udp

PROGRAM = shutil.which("pqcmav-tunneld")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="pqcmav-tunneld is not on the path: run 'make setup' first")
HEADER = 22
KILLS_OF_EACH = 3


def nonce(datagram: bytes) -> tuple[bytes, int, int]:
    """Session id, epoch and sequence of a datagram (docs/protocol.md, section 5)."""
    return datagram[5:13], datagram[21], int.from_bytes(datagram[13:21], "big")


class Wire(threading.Thread):
    """Passes datagrams between a drone and its gcs, and keeps the nonce of every one that an end has sent."""

    def __init__(self, gcs_port: int) -> None:
        super().__init__()
        self._gcs = ("127.0.0.1", gcs_port)
        self._inside, self._outside = udp(), udp()
        self._drone: tuple[str, int] | None = None
        self._stopping = threading.Event()
        self.up: Counter[tuple[bytes, int, int]] = Counter()
        self.down: Counter[tuple[bytes, int, int]] = Counter()
        self.start()

    @property
    def port(self) -> int:
        """Where the drone sends to."""
        return int(self._inside.getsockname()[1])

    @staticmethod
    def _note(seen: Counter[tuple[bytes, int, int]], data: bytes) -> None:
        """Count a packet of a session; datagrams of first handshakes are under no session's key."""
        if data[:1] in (b"\x03", b"\x13"):
            seen[nonce(data)] += 1

    def run(self) -> None:
        while not self._stopping.is_set():
            for ready in select.select([self._inside, self._outside], [], [], 0.1)[0]:
                data, source = ready.recvfrom(4096)
                if ready is self._inside:
                    self._drone = source
                    self._note(self.up, data)
                    self._outside.sendto(data, self._gcs)
                else:
                    self._note(self.down, data)
                    if self._drone:
                        self._inside.sendto(data, self._drone)

    def close(self) -> None:
        self._stopping.set()
        self.join()
        self._inside.close()
        self._outside.close()


def free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Killable:
    """A pqcmav-tunneld that comes back on the same ports."""

    def __init__(self, path: Path, **values: Any) -> None:
        path.write_text("".join(f"{key}: {value}\n" for key, value in values.items()))
        self._command = [str(PROGRAM), str(path)]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)


@pytest.fixture
def ends(keys: Path, tmp_path: Path) -> Iterator[tuple[Wire, dict[str, Killable], int, int]]:
    data = free_port(socket.SOCK_DGRAM)
    plain_drone, plain_gcs, ground = (free_port(socket.SOCK_DGRAM) for _ in range(3))
    wire = Wire(data)
    common = {"bind": "127.0.0.1", "keepalive_s": 0.1, "degraded_after_s": 0.3}
    gcs = Killable(
        tmp_path / "gcs.yaml",
        role="gcs", keys=keys / "gcs", drones="[uav1]", data_port=data, key_pool_depth=0, handshakes_per_drone_s=1000,
        **{"drone.uav1.plain_bind": f"127.0.0.1:{plain_gcs}", "drone.uav1.plain_peer": f"127.0.0.1:{ground}"}, **common,
    )  # fmt: skip
    drone = Killable(
        tmp_path / "drone.yaml",
        role="drone", keys=keys / "drones" / "uav1", drone_id="uav1", peer="127.0.0.1", data_port=wire.port,
        local_data_port=0, suite=LIGHT, plain_bind=f"127.0.0.1:{plain_drone}", rekey_interval_s=0.1,
        reconnect_after_s=0.6, **common,
    )  # fmt: skip
    try:
        yield wire, {"gcs": gcs, "drone": drone}, plain_drone, plain_gcs
    finally:
        drone.kill()
        gcs.kill()
        wire.close()


def test_the_counters_would_show_it() -> None:
    seen = Counter(nonce(bytes(5) + b"session!" + bytes(7) + bytes([i]) + b"\x03" + bytes(16)) for i in (1, 2, 2))
    assert seen == {(b"session!", 3, 1): 1, (b"session!", 3, 2): 2}


def test_processes_that_are_killed_never_repeat_a_nonce(ends: tuple[Wire, dict[str, Killable], int, int]) -> None:
    wire, processes, plain_drone, plain_gcs = ends
    stop = threading.Event()

    def send() -> None:
        with udp() as application:
            for port in itertools.cycle((plain_drone, plain_gcs)):
                if stop.wait(0.001):
                    return
                application.sendto(b"telemetry", ("127.0.0.1", port))

    senders = [threading.Thread(target=send) for _ in range(2)]
    for sender in senders:
        sender.start()

    def sessions() -> set[bytes]:
        return {session for session, _, _ in list(wire.down)}

    try:
        for name in ("drone", "gcs") * KILLS_OF_EACH:
            known = sessions()
            assert eventually(lambda known=known: len(sessions() - known) >= 2, 30), (
                f"no rekeys before killing the {name}"
            )
            processes[name].kill()
            time.sleep(0.05)
            processes[name].start()
        known = sessions()
        assert eventually(lambda: len(sessions() - known) >= 2, 30)
        # Enough to mean something; how many cross in the time above is the machine's affair.
        assert eventually(lambda: min(len(wire.up), len(wire.down)) > 1000, 30)
    finally:
        stop.set()
        for sender in senders:
            sender.join()
    for way in (wire.up, wire.down):
        assert [each for each, count in way.items() if count > 1] == []
    # every session id had one epoch: keys of two handshakes under one name would be hidden otherwise
    epochs: dict[bytes, set[int]] = {}
    for session, epoch, _ in (*wire.up, *wire.down):
        epochs.setdefault(session, set()).add(epoch)
    assert all(len(each) == 1 for each in epochs.values())
    assert len(epochs) >= 2 * (2 * KILLS_OF_EACH + 1)
