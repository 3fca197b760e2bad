# SPDX-License-Identifier: Apache-2.0
"""The workload of October 2025: a constant rate of equal UDP packets, with round trips, one-way delays and exact loss.

One end on each side of the tunnel. The drone's end says hello until it hears something, so that the drone's proxy knows
where to deliver and the ground learns where to send. Every n-th packet wants an echo. One thread sends and receives:
two would take turns at Python's lock and disturb the pace.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from array import array
from dataclasses import dataclass
from typing import Any

from pqc_mav_bench.analysis.statistics import delays
from pqc_mav_bench.workload.bulk_packet import WANT_ECHO, Kind, Packet, SequenceMeter, decode, encode
from pqc_mav_bench.workload.pacer import Pacer

HELLO_S = 0.05
QUIET_S = 2.0
TURN_S = 0.002  # packets due within a turn go out together
BURST = 64
BUFFER_BYTES = 4 << 20
MAX_DATAGRAM = 2048


@dataclass(frozen=True)
class BulkSpec:
    """One end. `peer` None: the first end that says hello. `sends`: whether this end is a source."""

    bind: tuple[str, int]
    peer: tuple[str, int] | None
    run: int
    sends: bool
    mbps: float
    packet_bytes: int
    echo_every: int

    @property
    def packets_per_s(self) -> float:
        """Rate of the flow."""
        return self.mbps * 1e6 / (8 * self.packet_bytes)


class BulkEnd:
    """Starts with `start`, sends nothing more after `quiet`, ends with `stop`. Raises OSError when it cannot bind."""

    def __init__(self, spec: BulkSpec) -> None:
        self.spec = spec
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind(spec.bind)
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
        except OSError:
            self._socket.close()
            raise
        self._peer = spec.peer
        self._quiet = threading.Event()
        self._silent = threading.Event()  # the thread has seen that it is to be quiet
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bulk", daemon=True)
        self._pacer: Pacer | None = None
        self._meter = SequenceMeter()
        self._next = 0
        self._send_failed = 0
        self._heard = False
        self._foreign = 0
        self._rtt_ms = array("d")
        self._owd_ms = array("d")
        self._first_ns = self._last_ns = 0

    def start(self) -> BulkEnd:
        """Begins in a background thread."""
        self._thread.start()
        return self

    def quiet(self) -> None:
        """Sends no more data; goes on receiving and answering. `sent` is final when it returns."""
        self._quiet.set()
        self._silent.wait(QUIET_S)

    @property
    def sent(self) -> int:
        """Data packets so far."""
        return self._next

    @property
    def received(self) -> int:
        """Different data packets so far."""
        return self._meter.received

    def stop(self) -> dict[str, Any]:
        """Ends the thread, closes the socket and returns everything counted, ready for JSON."""
        self._stop.set()
        self._thread.join()
        self._socket.close()
        sent_s = (self._last_ns - self._first_ns) / 1e9
        return {
            "kind": "bulk",
            "sent": self._next,
            "sent_s": sent_s,
            "sent_bytes": self._next * self.spec.packet_bytes,
            "send_failed": self._send_failed,
            "skipped": 0 if self._pacer is None else self._pacer.skipped,
            "received": self._meter.received,
            "received_bytes": self._meter.received * self.spec.packet_bytes,
            "duplicates": self._meter.duplicates,
            "reordered": self._meter.reordered,
            "foreign": self._foreign + self._meter.refused,
            "rtt": delays(self._rtt_ms),
            "owd": delays(self._owd_ms),
        }

    # --- the thread ---

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        next_hello = time.monotonic()
        while not self._stop.is_set():
            now = time.monotonic()
            if self.spec.peer is not None and not self._heard and now >= next_hello:
                self._send(encode(Kind.HELLO, self.spec.run, 0, time.monotonic_ns(), 64))
                next_hello = now + HELLO_S
            wait = HELLO_S
            if self._quiet.is_set():
                self._silent.set()
            if self.spec.sends and self._peer is not None and not self._quiet.is_set():
                wait = self._send_due(now)
            if poll.poll(max(0.0, wait) * 1000.0):
                self._receive()

    def _send_due(self, now: float) -> float:
        """Sends what is due and returns the time to the next turn [s]."""
        if self._pacer is None:
            self._pacer = Pacer(self.spec.packets_per_s, now)
            self._first_ns = time.monotonic_ns()
        for _ in range(self._pacer.take(now, BURST)):
            flags = WANT_ECHO if self._next % self.spec.echo_every == 0 else 0
            stamp = time.monotonic_ns()
            if self._send(encode(Kind.DATA, self.spec.run, self._next, stamp, self.spec.packet_bytes, flags)):
                # A packet that was never sent leaves no gap in the numbering.
                self._next += 1
                self._last_ns = stamp
        return max(self._pacer.next_s() - time.monotonic(), TURN_S)

    def _send(self, data: bytes) -> bool:
        if self._peer is None:
            return False
        try:
            self._socket.sendto(data, self._peer)
        except OSError:
            self._send_failed += 1
            return False
        return True

    def _receive(self) -> None:
        for _ in range(4 * BURST):
            try:
                data, source = self._socket.recvfrom(MAX_DATAGRAM)
            except OSError as error:
                # ICMP answers to earlier packets surface here; nobody listens yet, which is normal.
                if isinstance(error, BlockingIOError):
                    return
                continue
            now_ns = time.monotonic_ns()
            packet = decode(data)
            if packet is None or packet.run != self.spec.run:
                self._foreign += 1
                continue
            self._take(packet, data, source, now_ns)

    def _take(self, packet: Packet, data: bytes, source: tuple[str, int], now_ns: int) -> None:
        if self.spec.peer is None:
            self._peer = source
        self._heard = True
        if packet.kind == Kind.DATA:
            if self._meter.record(packet.sequence):
                self._owd_ms.append((now_ns - packet.stamp_ns) / 1e6)
            if packet.flags & WANT_ECHO:
                self._send(encode(Kind.ECHO, self.spec.run, packet.sequence, packet.stamp_ns, len(data)))
        elif packet.kind == Kind.ECHO:
            self._rtt_ms.append((now_ns - packet.stamp_ns) / 1e6)
        elif packet.kind == Kind.HELLO and self.spec.peer is None:
            # An end that only receives must answer too, or the drone would say hello indefinitely.
            self._send(encode(Kind.HELLO, self.spec.run, 0, packet.stamp_ns, 64))

    def __enter__(self) -> BulkEnd:
        return self.start()

    def __exit__(self, *_exc: object) -> None:
        with contextlib.suppress(RuntimeError):
            self.stop()
