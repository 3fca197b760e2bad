#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an autopilot on a serial port costs the drone's end, beside the same messages by UDP.

``tools/run bench/serial_port.py [--windows 8] [--seconds 10]`` runs two drones and their gcs as pqcmav-tunneld on
loopback: one has its autopilot on a pseudo terminal, one on a UDP socket. Each in turn gets as many MAVLink messages as
fit on a line of 921,600 baud (8N1: 92,160 bytes/s), a millisecond's bytes at a time, as a UART's driver hands them
over; by UDP each message is a datagram. Writes bench/results/serial_port.md; ``--output DIR`` writes elsewhere.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import rig
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.process_figures import cpu_seconds

RESULTS = Path(__file__).resolve().parent / "results"
BAUD = 921_600
BYTES_PER_S = BAUD / 10
STEP_S = 0.001
KINDS = ("serial", "udp", "idle")


def messages() -> list[bytes]:
    """A second's worth of different telemetry, as an autopilot mixes it."""
    make = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    made: list[Any] = []
    for i in range(100):
        made += [
            make.attitude_encode(i, 0.1, 0.2, 0.3, 0.01, 0.02, 0.03),
            make.raw_imu_encode(i, *(i + 1,) * 9),
            make.global_position_int_encode(i, 473977420, 85455940, 488000, 1000, 10, 20, 30, 4500),
            make.vfr_hud_encode(12.0, 11.5, 90, 50, 100.0, 0.5),
            make.servo_output_raw_encode(i, 0, *(1500,) * 8),
            make.battery_status_encode(0, 0, 3, 3000, [4100] * 10, 1200, 100, 100, 80),
            make.statustext_encode(6, b"A line of text as autopilots send one now and then"),
        ]
    return [bytes(each.pack(make)) for each in made]


@dataclass
class Ends:
    """The running drones by kind, and how the messages get in and out."""

    pids: dict[str, int]
    send: dict[str, Callable[[bytes], object]]
    ground: dict[str, socket.socket]


@contextmanager
def ends(folder: Path) -> Iterator[Ends]:
    """Both drones up."""
    import pqc_mav_tunnel

    names = ["serial", "udp"]
    pqc_mav_tunnel.init_keys(str(folder), names, ["mldsa65"])
    data, plain, *local = free_ports(4)
    device, port = pty.openpty()
    tty.setraw(port)
    ground = {name: socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for name in names}
    for each in ground.values():
        each.bind((rig.HOST, 0))
    gcs = {
        "role": "gcs", "keys": f"{folder}/gcs", "drones": names, "bind": rig.HOST, "data_port": data,
        "drone": {name: {"plain_peer": f"{rig.HOST}:{ground[name].getsockname()[1]}"} for name in names},
    }  # fmt: skip
    where = {"serial": {"plain": f"serial:{os.ttyname(port)}:{BAUD}"}, "udp": {"plain_bind": f"{rig.HOST}:{plain}"}}
    processes: list[subprocess.Popen[str]] = []
    autopilot = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        files = {"gcs": gcs}
        for name, own in zip(names, local, strict=True):
            files[name] = {
                "role": "drone", "keys": f"{folder}/drones/{name}", "drone_id": name, "peer": rig.HOST,
                "bind": rig.HOST, "data_port": data, "local_data_port": own, **where[name],
            }  # fmt: skip
        for name, values in files.items():
            path = folder / f"{name}.yaml"
            path.write_text(json.dumps(values))
            process = subprocess.Popen([rig.tool("pqcmav-tunneld"), str(path)], stderr=subprocess.PIPE, text=True)
            processes.append(process)
            rig.wait_for_line(process, "-> UP" if name != "gcs" else "encrypted UDP port", process.stderr)
            threading.Thread(target=process.communicate, daemon=True).start()  # what else it says
        pids = {name: process.pid for name, process in zip(files, processes, strict=True)}
        send = {
            "serial": lambda data: os.write(device, data),
            "udp": lambda data: autopilot.sendto(data, (rig.HOST, plain)),
        }
        yield Ends(pids, send, ground)
    finally:
        rig.stop(processes)
        for each in (*ground.values(), autopilot):
            each.close()
        os.close(device)
        os.close(port)


def load(kind: str, running: Ends, seconds: float) -> tuple[int, int]:
    """Send for so long; return messages sent and bytes."""
    frames = messages()
    sent = taken = at = 0
    waiting = b""
    began = time.monotonic()
    while (now := time.monotonic() - began) < seconds:
        due = int(now * BYTES_PER_S) - taken
        if kind == "serial":
            while len(waiting) < due:
                waiting += frames[at % len(frames)]
                at += 1
            running.send[kind](waiting[:due])
            waiting = waiting[due:]
            taken += due
        elif kind == "udp":
            while taken < int(now * BYTES_PER_S):
                frame = frames[at % len(frames)]
                running.send[kind](frame)
                taken += len(frame)
                at += 1
        time.sleep(STEP_S)
    if waiting:
        running.send[kind](waiting)
        taken += len(waiting)
    sent = at
    return sent, taken


def arrived(ground: socket.socket, until: int) -> tuple[int, int]:
    """Datagrams and bytes that came, waiting a second for the last."""
    ground.settimeout(1.0)
    datagrams = size = 0
    while size < until:
        try:
            size += len(ground.recv(65536))
        except TimeoutError:
            break
        datagrams += 1
    return datagrams, size


def window(kind: str, running: Ends, seconds: float) -> dict[str, Any]:
    """One window of one kind."""
    name = "serial" if kind == "idle" else kind
    got: list[tuple[int, int]] = []
    reader = threading.Thread(target=lambda: got.append(arrived(running.ground[name], int(1e12))))
    reader.start()
    before, began = cpu_seconds(running.pids[name]), time.monotonic()
    sent, size = load(kind, running, seconds)
    span = time.monotonic() - began
    used = cpu_seconds(running.pids[name]) - before
    reader.join()
    row = {
        "kind": kind, "cpu_percent": round(100 * used / span, 3), "messages": sent, "bytes": size,
        "datagrams_out": got[0][0], "bytes_out": got[0][1], "seconds": round(span, 2),
    }  # fmt: skip
    print(json.dumps(row), flush=True)
    return row


def page(rows: list[dict[str, Any]], command: str, environment: dict[str, Any]) -> str:
    """The result for people."""
    of = {kind: [row for row in rows if row["kind"] == kind] for kind in KINDS}
    lines = [
        "# An autopilot on a serial port", "",
        f"Written by `{command}`. Two drones as `pqcmav-tunneld` on loopback, one with its autopilot on a pseudo "
        f"terminal, one by UDP; each in turn gets MAVLink at {BAUD:,} baud ({BYTES_PER_S:,.0f} bytes/s), written a "
        "millisecond's bytes at a time. Windows alternate. CPU is the drone's process, in percent of one core.", "",
        f"*{environment['date']}, {environment['machine']}, Linux {environment['kernel']}, load at the start "
        f"{environment['load_average_at_start']}*", "",
        "| autopilot | windows | CPU median (least to most) | messages | datagrams on the ground | bytes lost |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    names = {"serial": "serial port", "udp": "UDP", "idle": "serial port, silent"}
    for kind in KINDS:
        cpu = [row["cpu_percent"] for row in of[kind]]
        lost = sum(row["bytes"] - row["bytes_out"] for row in of[kind])
        lines.append(
            f"| {names[kind]} | {len(cpu)} x {of[kind][0]['seconds']:.0f} s | {statistics.median(cpu):.2f} % "
            f"({min(cpu):.2f} to {max(cpu):.2f}) | {sum(row['messages'] for row in of[kind]):,} "
            f"| {sum(row['datagrams_out'] for row in of[kind]):,} | {lost:,} |"
        )
    lines += [
        "",
        "By UDP somebody else reads the serial port: a router, whose own cost is not in these figures. On the serial "
        "port several messages that came together go in one datagram, so the ground gets fewer.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=8, help="of each kind (default 8)")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each window (default 10)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for serial_port.md")
    options = parser.parse_args()
    environment = rig.environment()
    command = f"tools/run bench/serial_port.py --windows {options.windows} --seconds {options.seconds:g}"
    with tempfile.TemporaryDirectory(prefix="pqcmav-bench-") as folder, ends(Path(folder)) as running:
        time.sleep(2)
        rows = [window(kind, running, options.seconds) for _ in range(options.windows) for kind in KINDS]
    rig.write_page(options.output / "serial_port.md", page(rows, command, environment))
    return 0


if __name__ == "__main__":
    sys.exit(main())
