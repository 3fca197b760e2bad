#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A gcs and a drone, each a pqcmav-tunneld of its own machine's code, over loopback: datagrams both ways, and a rekey.

    tools/run python tools/arm64_pair.py --gcs COMMAND --drone COMMAND

A command is what runs pqcmav-tunneld, the program as its last word: `qemu-aarch64-static -L ROOT PROGRAM`. Each
datagram is answered before the next is sent, and every one has to arrive, before, during and after the rekey. The exit
code is 0 when they did and both ended cleanly.
"""

from __future__ import annotations

import argparse
import re
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pqc_mav_tunnel as tunnel

MACHINES = {62: "x86-64", 183: "arm64"}
LIMIT_S = 120.0
DATAGRAM_LIMIT_S = 20.0
AFTER_REKEY = 100
REKEY_INTERVAL_S = 3
PAUSE_S = 0.002


class PairError(RuntimeError):
    """What went wrong, as one sentence."""


def machine_of(program: Path) -> str:
    """Name the machine that a program is made for, from its ELF header."""
    header = program.read_bytes()[:20]
    if header[:4] != b"\x7fELF":
        raise PairError(f"{program} is not an ELF program.")
    number = struct.unpack_from("<H", header, 18)[0]
    return MACHINES.get(number, f"machine {number}")


class Daemon:
    """A running pqcmav-tunneld and the lines it printed."""

    def __init__(self, name: str, command: Sequence[str], config: Path) -> None:
        self.name = f"{machine_of(Path(command[-1]))} {name}"
        self.lines: list[str] = []
        self._ended = False
        self._news = threading.Condition()
        self._process = subprocess.Popen([*command, str(config)], stderr=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._news:
                self.lines.append(line.rstrip())
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def said(self, pattern: str) -> re.Match[str] | None:
        """Return the last line so far that has the pattern."""
        found = (re.search(pattern, line) for line in reversed(self.lines))
        return next((match for match in found if match), None)

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Wait until a line has the pattern."""
        deadline = time.monotonic() + LIMIT_S
        with self._news:
            while not (match := self.said(pattern)):
                last = self.lines[-1] if self.lines else "nothing"
                if self._ended:
                    raise PairError(f"The {self.name} ended with {self._process.wait(LIMIT_S)}; it said: {last}")
                if time.monotonic() > deadline:
                    raise PairError(f"The {self.name} did not say '{pattern}' within {LIMIT_S:.0f} s, but: {last}")
                self._news.wait(0.5)
        return match

    def stop(self) -> None:
        """End it as a service manager does."""
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(LIMIT_S)
        self._reader.join()
        if code != 0:
            raise PairError(f"The {self.name} ended with {code} after SIGTERM.")

    def kill(self) -> None:
        """Leave nothing behind, whatever happened."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        if self._process.stderr:
            self._process.stderr.close()


def udp() -> socket.socket:
    """Open a socket of an application on loopback."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.settimeout(DATAGRAM_LIMIT_S)
    return sock


def carry(sender: socket.socket, port: int, receiver: socket.socket, data: bytes, way: str) -> None:
    """Send one datagram into a tunnel's end; it has to come out of the other."""
    sender.sendto(data, ("127.0.0.1", port))
    try:
        arrived = receiver.recv(4096)
    except TimeoutError:
        raise PairError(f"Datagram '{data.decode()}' {way} did not arrive.") from None
    if arrived != data:
        raise PairError(f"Datagram '{data.decode()}' {way} arrived as {arrived!r}.")


def write(path: Path, values: dict[str, object]) -> Path:
    """Write a configuration."""
    path.write_text("".join(f"{key}: {value}\n" for key, value in values.items()), encoding="utf-8")
    return path


def run(gcs_command: Sequence[str], drone_command: Sequence[str], folder: Path) -> str:
    """Run the pair and return what was seen, as one sentence."""
    tunnel.init_keys(str(folder / "keys"), ["uav1"])
    daemons: list[Daemon] = []
    with udp() as ground, udp() as autopilot:
        try:
            common = {"bind": "127.0.0.1"}
            to_ground = f"127.0.0.1:{ground.getsockname()[1]}"
            own = {"role": "gcs", "keys": folder / "keys/gcs", "drones": "[uav1]", "data_port": 0}
            config = write(folder / "gcs.yaml", {**common, **own, "drone.uav1.plain_peer": to_ground})
            daemons.append(gcs := Daemon("gcs", gcs_command, config))
            ports = gcs.wait_for(r"UDP port (\d+), plaintext of uav1 on UDP port (\d+)")
            own = {"role": "drone", "keys": folder / "keys/drones/uav1", "drone_id": "uav1", "peer": "127.0.0.1"}
            own |= {
                "data_port": ports[1],
                "local_data_port": 0,
                "plain_bind": "127.0.0.1:0",
                "rekey_interval_s": REKEY_INTERVAL_S,
            }
            daemons.append(drone := Daemon("drone", drone_command, write(folder / "drone.yaml", {**common, **own})))
            drone_port = int(drone.wait_for(r"plaintext of uav1 on UDP port (\d+)")[1])
            handshake = drone.wait_for(r"\] handshake with \S+ (under .*)")
            drone.wait_for("-> UP")
            sent = before = 0
            deadline = time.monotonic() + LIMIT_S
            while not before or sent < before + AFTER_REKEY:
                sent += 1
                carry(autopilot, drone_port, ground, f"telemetry {sent}".encode(), "to the ground")
                carry(ground, int(ports[2]), autopilot, f"command {sent}".encode(), "to the drone")
                if not before and all(daemon.said(r"\] rekey with") for daemon in daemons):
                    before = sent
                time.sleep(PAUSE_S)
                if time.monotonic() > deadline:
                    raise PairError(f"There was no rekey within {LIMIT_S:.0f} s; {sent} datagrams went each way.")
            rekey = drone.wait_for(r"\] rekey with \S+ (under .*)")
            drone.stop()
            gcs.wait_for("-> DOWN: The peer closed the session")
            gcs.stop()
        finally:
            for daemon in daemons:
                daemon.kill()
    return (
        f"{gcs.name}, {drone.name}: handshake {handshake[1]}, rekey {rekey[1]}, {sent} datagrams each way, "
        f"{sent - before} of them after the first rekey, none lost; both ended cleanly."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a pair and say what was seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gcs", required=True, type=shlex.split)
    parser.add_argument("--drone", required=True, type=shlex.split)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(run(options.gcs, options.drone, Path(folder)))
        except (PairError, OSError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
