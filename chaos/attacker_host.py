# SPDX-License-Identifier: Apache-2.0
"""The stranger: a process in its own namespace that attacks in many ways, one or several at once; obeys JSON lines.

Commands: start (mode, rate, seed, addresses, ports, names), stop (all of them) -> how much was done, tell (as stop,
but says in which tenths of a second anything was done, by this machine's monotonic clock). What it overhears
comes from an inherited packet socket (`ears`), what it puts on the wire goes through its own interface or sockets.
"""

import contextlib
import os
import random
import select
import socket
import struct
import time
from collections import Counter, deque
from typing import Any

import attacks
from background import Background
from children import serve
from traffic import application_socket

_KEPT_FRAMES = 4000
_TURN_S = 0.002
_IN_ORDER = 200  # frames
_DOWNLOADED = bytes(8192)
_DATAGRAM = bytes(1200)
_CLOSED_PORT = 9


class Attack(Background):
    """One attack: `turn` does a share of it, `done` counts what was done by kind."""

    def __init__(self, command: dict[str, Any], hellos: deque[attacks.Flow] | None = None) -> None:
        self._with = command
        self._random = random.Random(command["seed"])
        self.done: Counter[str] = Counter()
        self.tenths: set[int] = set()
        self._turn = getattr(self, f"_{command['mode']}")
        self._captured: deque[attacks.Flow] = deque(maxlen=_KEPT_FRAMES)
        # Handshakes are rare: what was overheard of them is kept from one attack to the next.
        self._hellos: deque[attacks.Flow] = deque(maxlen=_KEPT_FRAMES) if hellos is None else hellos
        self._queue: list[attacks.Flow] = []
        self._stream: socket.socket | None = None
        self._mine: set[bytes] = set()
        self._ears = socket.socket(fileno=os.dup(command["ears"]))
        self._ears.setblocking(False)
        self._wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self._wire.bind(("eth0", 0))
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sources = [application_socket(host=address) for address in command["sources"]]
        self._begin()

    def stop(self) -> dict[str, int]:
        """End the attack and say how much was done."""
        self.close()
        for each in (self._ears, self._wire, self._udp, self._stream, *self._sources):
            if each is not None:
                each.close()
        return dict(self.done)

    def _run(self) -> None:
        """Does `rate` things a second, in small turns; what the machine has no time for is skipped."""
        begun = last = time.monotonic()
        due, count, did = 0.0, 0, 0
        while not self._over.is_set():
            if self._with["listen"]:
                self._listen()
            now = time.monotonic()
            rate = attacks.rate_at(str(self._with["rate"]), now - begun, self._with["seed"])
            due, last = due + (now - last) * rate, now
            for _ in range(min(int(due) - count, int(rate * 0.05) + 1)):
                with contextlib.suppress(BlockingIOError, InterruptedError, ConnectionError):
                    self._turn()
            if self.done.total() > did:
                did = self.done.total()
                self.tenths.add(int(time.monotonic() * 10))
            count = int(due)
            time.sleep(_TURN_S)

    def _listen(self) -> None:
        while select.select([self._ears], [], [], 0)[0]:
            frame = self._ears.recv(65_536)
            flow = attacks.tunnel_flow(frame, self._with["data_port"])
            # what this process sent also passes here
            if flow is not None and flow.frame not in self._mine:
                (self._hellos if flow.handshake else self._captured).append(flow)

    def _inject(self, flow: attacks.Flow, frame: bytes, what: str) -> None:
        """Onto the wire, towards where what was overheard went."""
        if len(self._mine) > _KEPT_FRAMES:
            self._mine.clear()
        self._mine.add(frame)
        self._wire.send(frame)
        self.done[f"{what}_to_{'gcs' if flow.down else 'drone'}"] += 1

    def _send(self, source: socket.socket, datagram: bytes, what: str, port: str = "data_port") -> None:
        source.sendto(datagram, (self._with["gcs"], self._with[port]))
        self.done[what] += 1

    def _random_flood(self) -> None:
        self._send(self._udp, attacks.random_payload(self._random), "datagrams")

    def _replay(self) -> None:
        self._again(self._captured)

    def _replay_hellos(self) -> None:
        self._again(self._hellos)

    def _again(self, captured: deque[attacks.Flow]) -> None:
        if not captured:
            return
        flow = self._random.choice(captured)
        if flow.down and self._random.random() < 0.5:
            # the same bytes from another address: must not make the gcs send there
            self._send(self._udp, flow.payload, "replayed_from_own_address")
        else:
            self._inject(flow, flow.frame, "replayed")

    def _forge(self) -> None:
        if self._captured:
            flow = self._random.choice(self._captured)
            self._inject(flow, attacks.forge(flow, self._random), "forged")

    def _handshake_flood(self) -> None:
        self._send(self._random.choice(self._sources), attacks.random_handshake(self._random), "handshake_datagrams")

    def _false_hellos(self) -> None:
        source = self._random.choice(self._sources)
        self._send(source, attacks.false_hello(self._random, **self._with["names"]), "false_hellos")

    def _crowd(self) -> None:
        """Strangers in 256 networks: every other one says what the drone said, the rest what it might have said."""
        self._stranger_at((attacks.networks_address(self._random), self._random.randrange(1024, 65536)))

    def _neighbour(self) -> None:
        """A stranger behind the drone's own address, as behind one NAT."""
        self._stranger_at((self._with["drone"], self._random.randrange(1024, 40000)))

    def _stranger_at(self, source: tuple[str, int]) -> None:
        heard = [flow.payload for flow in self._hellos if flow.down]
        if heard and self._random.random() < 0.5:
            payload, kind = self._random.choice(heard), "replayed_hellos"
        else:
            payload, kind = attacks.false_hello(self._random, **self._with["names"]), "false_hellos"
        macs = (bytes.fromhex(self._with["mac"]), bytes.fromhex(self._with["gcs_mac"]))
        self._wire.send(attacks.spoofed(payload, source, (self._with["gcs"], self._with["data_port"]), macs))
        self.done[kind] += 1

    def _tiny_flood(self) -> None:
        self._send(self._udp, self._random.randbytes(self._random.randrange(1, 17)), "tiny_datagrams")

    def _stale_sessions(self) -> None:
        """What was overheard, with the number of a session that nobody holds."""
        if self._captured:
            overheard = self._random.choice(self._captured).payload
            self._send(self._udp, attacks.of_another_session(overheard, self._random), "stale_datagrams")

    def _replay_in_order(self) -> None:
        """The newest frames in the order in which they came, again and again."""
        if not self._queue:
            self._queue = list(self._captured)[-_IN_ORDER:][::-1]
        if self._queue:
            flow = self._queue.pop()
            self._inject(flow, flow.frame, "replayed")

    def _flip_bits(self) -> None:
        if self._captured:
            flow = self._captured[-1]
            self._inject(flow, attacks.flip(flow, self._random), "spoiled")

    def _spoiled_hellos(self) -> None:
        heard = [flow.payload for flow in self._hellos if flow.down]
        if heard:
            source = self._random.choice(self._sources)
            self._send(source, attacks.spoiled(self._random.choice(heard), self._random), "spoiled_hellos")

    def _syns(self) -> None:
        """TCP SYNs from 64 addresses to ports where nobody listens."""
        source = (self._random.choice(self._with["sources"]), self._random.randrange(1024, 65536))
        to = (self._with["gcs"], self._random.randrange(20000, 40000))
        macs = (bytes.fromhex(self._with["mac"]), bytes.fromhex(self._with["gcs_mac"]))
        self._wire.send(attacks.syn(source, to, macs, self._random.randrange(1 << 32)))
        self.done["syns"] += 1

    def _one_port(self) -> None:
        """Large datagrams to one port where nobody listens."""
        self._udp.sendto(_DATAGRAM, (self._with["gcs"], _CLOSED_PORT))
        self.done["datagrams_elsewhere"] += 1

    def _download(self) -> None:
        """No attack: a program of the gcs' host that listens is sent a file."""
        if self._stream is None:
            self._stream = socket.create_connection((self._with["gcs"], self._with["open_port"]), 2.0)
        self._stream.sendall(_DOWNLOADED)
        self.done["sent_blocks"] += 1

    def _video(self) -> None:
        """No attack: a program of the gcs' host that listens gets datagrams."""
        self._send(self._udp, _DATAGRAM, "sent_datagrams", "open_port")

    def _elsewhere(self) -> None:
        """Datagrams to ports where nobody listens."""
        port = self._random.randrange(20000, 40000)
        self._udp.sendto(self._random.randbytes(200), (self._with["gcs"], port))
        self.done["datagrams_elsewhere"] += 1

    def _pings(self) -> None:
        """ICMP echo requests, checksum and all."""
        words = struct.pack(">BBHHH", 8, 0, 0, 7, len(self.done))
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
            raw.sendto(words[:2] + struct.pack(">H", attacks.checksum(words)) + words[4:], (self._with["gcs"], 0))
        self.done["pings"] += 1

    def _connections(self) -> None:
        """TCP connections to ports where nobody listens."""
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
            tried.setblocking(False)
            tried.connect_ex((self._with["gcs"], self._random.randrange(20000, 40000)))
        self.done["connections"] += 1


class Stranger:
    """Obeys start and stop."""

    def __init__(self) -> None:
        self._attacks: list[Attack] = []
        self._hellos: deque[attacks.Flow] = deque(maxlen=_KEPT_FRAMES)

    def obey(self, command: dict[str, Any]) -> Any:
        """Run one command."""
        if command["do"] == "start":
            self._attacks.append(Attack(command, self._hellos))
            return None
        if command["do"] == "stop":
            done: Counter[str] = Counter()
            while self._attacks:
                done.update(self._attacks.pop().stop())
            return dict(done)
        if command["do"] == "tell":
            tenths: set[int] = set()
            while self._attacks:
                attack = self._attacks.pop()
                attack.stop()
                tenths |= attack.tenths
            return sorted(tenths)
        raise ValueError(f"unknown command '{command['do']}'")


if __name__ == "__main__":
    serve(Stranger().obey)
