#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A gcs and a drone, each a pqcmav-tunneld of its own machine's code, over loopback: datagrams both ways, and a rekey.

    tools/run python tools/cross_pair.py --gcs COMMAND --drone COMMAND

A command is what runs pqcmav-tunneld, the program as its last word: `qemu-aarch64-static -L ROOT PROGRAM`. Each
datagram is answered before the next is sent, and every one has to arrive, before, during and after the rekey. The exit
code is 0 when they did and both ended cleanly.
"""

import argparse
import shlex
import struct
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pqc_mav_tunnel as tunnel
from two_ends import HANDSHAKE, LIMIT_S, Daemon, TestError, carry, udp

from pqc_mav_common.two_ends import drone_config, gcs_config, write

MACHINES = {40: "armhf", 62: "x86-64", 183: "arm64", 243: "riscv64"}
DATAGRAM_LIMIT_S = 20.0
AFTER_REKEY = 100
REKEY_INTERVAL_S = 3
PAUSE_S = 0.002


def machine_of(program: Path) -> str:
    """Name the machine that a program is made for, from its ELF header."""
    header = program.read_bytes()[:20]
    if header[:4] != b"\x7fELF":
        raise TestError(f"{program} is not an ELF program.")
    number = struct.unpack_from("<H", header, 18)[0]
    return MACHINES.get(number, f"machine {number}")


def start(role: str, command: Sequence[str], config: Path) -> Daemon:
    """Start an end."""
    return Daemon(f"{machine_of(Path(command[-1]))} {role}", [*command, str(config)])


def run(gcs_command: Sequence[str], drone_command: Sequence[str], folder: Path) -> str:
    """Run the pair and return what was seen, as one sentence."""
    tunnel.init_keys(str(folder / "keys"), ["uav1"])
    daemons: list[Daemon] = []
    with udp(limit_s=DATAGRAM_LIMIT_S) as ground, udp(limit_s=DATAGRAM_LIMIT_S) as autopilot:
        try:
            config = gcs_config(folder / "keys", {"uav1": ground.getsockname()[1]})
            daemons.append(gcs := start("gcs", gcs_command, write(folder / "gcs.yaml", config)))
            ports = gcs.wait_for(r"UDP port (\d+), plaintext of uav1 on UDP port (\d+)")
            config = drone_config(folder / "keys", "uav1", int(ports[1]), rekey_interval_s=REKEY_INTERVAL_S)
            daemons.append(drone := start("drone", drone_command, write(folder / "drone.yaml", config)))
            drone_port = int(drone.wait_for(r"plaintext of uav1 on UDP port (\d+)")[1])
            handshake = drone.wait_for(HANDSHAKE)
            drone.wait_for("-> UP")
            sent = before = 0
            deadline = time.monotonic() + LIMIT_S
            while not before or sent < before + AFTER_REKEY:
                sent += 1
                carry(autopilot, drone_port, ground, f"telemetry {sent}".encode(), f"Telemetry {sent}")
                carry(ground, int(ports[2]), autopilot, f"command {sent}".encode(), f"Command {sent}")
                if not before and all(daemon.said(r"\] rekey with") for daemon in daemons):
                    before = sent
                time.sleep(PAUSE_S)
                if time.monotonic() > deadline:
                    raise TestError(f"There was no rekey within {LIMIT_S:.0f} s; {sent} datagrams went each way.")
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
        except (TestError, OSError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
