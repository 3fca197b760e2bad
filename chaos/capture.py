# SPDX-License-Identifier: Apache-2.0
"""`chaos/run capture`: what an interface sees of MAVLink while a common tool floods it, per 0.1 s (needs root).

The vehicle sends in the clear, so that the file has what anybody can count: packets, bytes, MAVLink packets. The tool
sends over the same narrow link. No detector was made or trained with these tools.
"""

import argparse
import csv
import gzip
import io
import random
import shutil
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import air
import messages
from background import Background
from children import spawn

RATE, BIT_S, QUEUE_BYTES = 320.0, 2e6, 32_768
PORT = 14550
PERIOD_S, CALM_S, ATTACK_S, PAUSE_S = 0.1, 25.0, 15.0, 15.0
ATTACKS = 2
TOOLS = {
    "icmp-fast": ("ping", "-q", "-f", "-s", "200", air.GCS),
    "icmp-slow": ("hping3", "--icmp", "-q", "-i", "u200000", air.GCS),
    "tcp-fast": ("hping3", "-S", "-q", "-p", "80", "-i", "u1000", air.GCS),
    "tcp-slow": ("hping3", "-S", "-q", "-p", "80", "-i", "u200000", air.GCS),
    "udp-fast": ("hping3", "--udp", "-q", "-p", "9999", "-d", "400", "-i", "u2000", air.GCS),
    "connect-slow": ("nping", "-q", "--tcp", "--rate", "5", "-c", "100000", "-p", "81-9000", air.GCS),
    "calm": (),
}


class Counts(Background):
    """Counts what comes in on an interface, from a thread of its own."""

    def __init__(self, ears: socket.socket) -> None:
        self.rows: list[list[int]] = []
        self._ears = ears
        self._begun = time.monotonic()
        self._begin()

    def since_s(self) -> float:
        """Since the first window."""
        return time.monotonic() - self._begun

    def stop(self) -> list[list[int]]:
        """Packets, bytes and MAVLink packets of each tenth of a second."""
        self.close()
        return self.rows[: int(self.since_s() / PERIOD_S)]

    def _run(self) -> None:
        self._ears.settimeout(PERIOD_S)
        while not self._over.is_set():
            with suppress(TimeoutError):
                frame, address = self._ears.recvfrom(2048)
                at = int(self.since_s() / PERIOD_S)
                self.rows += [[0, 0, 0] for _ in range(at + 1 - len(self.rows))]
                if address[2] != socket.PACKET_OUTGOING:
                    mavlink = (
                        frame[12:14] == b"\x08\x00" and frame[23] == socket.IPPROTO_UDP and frame[42:43] == b"\xfd"
                    )
                    for index, value in enumerate((1, len(frame), int(mavlink))):
                        self.rows[at][index] += value
        self.rows += [[0, 0, 0] for _ in range(int(self.since_s() / PERIOD_S) - len(self.rows))]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--folder", default="captures", help="where the captures go, as .csv.gz")
    parser.add_argument(
        "--tools", default=",".join(TOOLS), help="which, one after another, each in a network of its own"
    )
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """Record; 0 when all was recorded, 2 for an unknown tool, 3 when this machine cannot."""
    names = options.tools.split(",")
    if unknown := [name for name in names if name not in TOOLS]:
        print(f"capture: no tool {', '.join(unknown)}; there are: {', '.join(TOOLS)}")
        return 2
    missing = sorted({TOOLS[name][0] for name in names if TOOLS[name] and shutil.which(TOOLS[name][0]) is None})
    if reason := air.need_root() or (
        f"needs {', '.join(missing)}: apt-get install hping3 nmap iputils-ping" if missing else ""
    ):
        print(f"capture: this {reason}.")
        return 3
    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        rows = record(TOOLS[name], options.seed + number)
        write(folder / f"{name}.csv.gz", rows)
        print(f"{name}: {len(rows)} windows", flush=True)
    return 0


def record(tool: tuple[str, ...], seed: int) -> list[list[Any]]:
    """One capture: calm, attack, calm, attack, calm."""
    attacks: list[tuple[float, float]] = []
    with air.Air(seed=seed) as network:
        network.joint.impair({"rate_bit_s": BIT_S, "queue_bytes": QUEUE_BYTES})
        ears = network["gcs"].call(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))
        ears.bind(("eth0", 0))
        sender = network["drone"].call(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        stopping = threading.Event()
        vehicle = threading.Thread(target=_send, args=(sender, stopping, seed), daemon=True)
        vehicle.start()
        counts = Counts(ears)
        for index in range(ATTACKS):
            time.sleep(PAUSE_S if index else CALM_S)
            begun = counts.since_s()
            if tool:
                flood = spawn(
                    tool, namespace=network["drone"].descriptor, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                time.sleep(ATTACK_S)
                flood.terminate()
                flood.wait()
                attacks.append((begun, counts.since_s()))
        time.sleep(PAUSE_S)
        rows = counts.stop()
        stopping.set()
        vehicle.join()
        ears.close()
        sender.close()
    return [
        [
            round(at * PERIOD_S, 1),
            *row,
            int(any(begun <= (at + 1) * PERIOD_S and at * PERIOD_S <= end for begun, end in attacks)),
        ]
        for at, row in enumerate(rows)
    ]


def _send(sender: socket.socket, stopping: threading.Event, seed: int) -> None:
    """The vehicle's stream: sizes of an autopilot's mix, the first byte that of MAVLink 2."""
    sizes, generator, begun, count = messages.sizes(), random.Random(seed), time.monotonic(), 0
    while not stopping.wait(0.002):
        for _ in range(int((time.monotonic() - begun) * RATE) - count):
            size = sizes[count % len(sizes)]
            sender.sendto(b"\xfd" + generator.randbytes(size - 1), (air.GCS, PORT))
            count += 1


def write(path: Path, rows: list[list[Any]]) -> None:
    """As CSV with labels."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["time_s", "packets", "bytes", "mavlink_packets", "label"])
    writer.writerows(rows)
    path.write_bytes(gzip.compress(out.getvalue().encode(), 9, mtime=0))
