#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon every station has a drone that `pqcmav fleet add` names, and a drone of another one a station's alarm.

``tools/run bench/registry.py [--stations 2 5] [--drones 1000] [--changes 20]`` runs that many ground stations with that
many drones each, a nats-server, and `pqcmav fleet follow` beside each station, all on this machine. Then drones are
added and removed by the command, as an operator does, while another drone's session carries 320 datagrams/s, and the
last station says that it is attacked. Writes
bench/results/registry.json; ``--output DIR`` writes elsewhere. nats-server has to be on the path.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import rig

from pqc_mav_bench.analysis.statistics import median_interval
from pqc_mav_common import two_ends
from pqc_mav_common.child import Program
from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.local_socket import Control, Place
from pqc_mav_common.waiting import wait_until

LIMIT_S = 60.0
_RATE, _SIZE = 320.0, 64
_SECONDS = re.compile(r" \((\d+\.\d+) s\)$", re.MULTILINE)
COMMAND = [sys.executable, "-c", "from pqc_mav_cli.entry import run; run()", "fleet"]


class Laboratory:
    """The operator, the server and the stations, of which the first has a drone that flies."""

    def __init__(self, stack: ExitStack, stations: int, drones: int) -> None:
        self.stack = stack
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-bench-")))
        self.root = ["--root", str(self.folder / "keys")]
        self.names = [f"station{i}" for i in range(stations)]
        grounds = [f"drone{i}" for i in range(drones)]
        pqc_mav_tunnel.init_keys(str(self.folder / "keys"), grounds, ["mldsa65"], stations=self.names)
        port, self.exit, self.entry, *data = free_ports(3 + stations)
        self.url = f"nats://{rig.HOST}:{port}"
        self._run("nats-server", "-a", rig.HOST, "-p", str(port), "-js", "-sd", str(self.folder / "store"))
        self.told("init")
        for name, own in zip(self.names, data, strict=True):
            self._station(name, own, grounds)
        config = two_ends.drone_config(
            self.folder / "keys", "drone0", data[0], peer=f"{self.names[0]}@{rig.HOST}",
            plain_bind=f"{rig.HOST}:{self.entry}", control_socket=str(self.folder / "drone.sock"),
        )  # fmt: skip
        self._run(rig.tool("pqcmav-tunneld"), str(two_ends.write(self.folder / "drone.yaml", config)))
        self._until(self._up, "the drone is connected")

    def _station(self, name: str, port: int, drones: list[str]) -> None:
        place = self.folder / f"{name}.sock"
        config = two_ends.gcs_config(
            "", dict.fromkeys(drones, self.exit), gcs_id=name, keys=str(self.folder / name), data_port=port,
            control_socket=str(place),
        )  # fmt: skip
        shutil.copytree(self.folder / "keys" / "stations" / name, self.folder / name)
        self._run(rig.tool("pqcmav-tunneld"), str(two_ends.write(self.folder / f"{name}.yaml", config)))
        self._until(place.is_socket, f"{name} runs")
        state = str(self.folder / f"{name}-state")
        public = self.folder / f"{name}.pub"
        public.write_text(self._said("station-key", "--state", state))
        self.told("station", name, str(public))
        follow = ["follow", str(self.folder / "keys" / "fleet" / "operator.pub"), "--state", state]
        self._run(
            *COMMAND, *follow, "--gcs-keys", str(self.folder / name), "--socket", str(place), "--registry", self.url
        )

    def told(self, *arguments: str) -> str:
        """What the operator's command prints."""
        return self._said(*arguments, *self.root, *(["--registry", self.url] if arguments[0] != "init" else []))

    def _said(self, *arguments: str) -> str:
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if done.returncode:
            raise SystemExit(f"bench: pqcmav fleet {arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    def _run(self, *command: str) -> None:
        self.stack.callback(rig.stop, [Program(Path(command[0]).name, command)])

    def warned(self) -> float:
        """Seconds from an alarm at the last station until the drone at the first has heard of it; then it is over."""
        took = 0.0
        with Control(Place(self.folder / f"{self.names[-1]}.sock")) as far:
            for level in (2, 0):
                begin = time.monotonic()
                far.ask("alarm", level=level, kind="flood")
                self._until(lambda level=level: self._status()["peer_alarm"] == level, f"alarm {level} is heard")
                took = took or time.monotonic() - begin
        return took

    def _up(self) -> bool:
        return (self.folder / "drone.sock").is_socket() and bool(self._status()["state"] == "UP")

    def _status(self) -> dict[str, Any]:
        with Control(Place(self.folder / "drone.sock")) as control:
            return dict(control.ask("status")["tunnels"][0])

    def _until(self, condition: Any, what: str) -> None:
        if not wait_until(condition, LIMIT_S):
            raise SystemExit(f"bench: not within {LIMIT_S:g} s: {what}")


def measured(stations: int, drones: int, changes: int) -> tuple[dict[str, list[float]], int, int]:
    """Seconds until the last station has confirmed, by kind of change, and until an alarm was heard; datagrams of the
    other drone, sent and lost."""
    values: dict[str, list[float]] = {}
    with ExitStack() as stack:
        laboratory = Laboratory(stack, stations, drones)
        laboratory.told("add", "first")  # makes the bucket
        pair = rig.Pair("tunnel", f"{rig.HOST}:{laboratory.entry}", f"{rig.HOST}:{laboratory.exit}")
        sent = lost = 0
        over = threading.Event()

        def carry() -> None:
            nonlocal sent, lost
            while not over.is_set():
                got = rig.load(pair, _RATE, _SIZE, 2.0)
                sent, lost = sent + got["sent"], lost + got["lost"]

        carrier = threading.Thread(target=carry)
        carrier.start()
        try:
            for number in range(changes):
                for kind in ("add", "remove"):
                    begin = time.monotonic()
                    said = laboratory.told(kind, f"new{number}", *(["--yes"] if kind == "remove" else []))
                    values.setdefault(f"{kind}, with the command", []).append(time.monotonic() - begin)
                    values.setdefault(kind, []).append(max(float(each) for each in _SECONDS.findall(said)))
                values.setdefault("alarm", []).append(laboratory.warned())
        finally:
            over.set()
            carrier.join()
    return values, sent, lost


def main() -> int:
    """Measures each number of stations, and writes what came."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stations", type=int, nargs="+", default=[2, 5], help="how many, one after the other")
    parser.add_argument("--drones", type=int, default=1000, help="that each station has already")
    parser.add_argument("--changes", type=int, default=20, help="drones that are added and removed again")
    parser.add_argument("--output", type=Path, default=rig.RESULTS, help="folder for registry.json")
    options = parser.parse_args()
    if shutil.which("nats-server") is None:
        print("bench: nats-server is not on the path: 'apt-get install nats-server'.", file=sys.stderr)
        return 3
    results: dict[str, Any] = {**rig.environment(), "drones": options.drones, "stations": {}}
    for stations in options.stations:
        values, sent, lost = measured(stations, options.drones, options.changes)
        for kind, each in values.items():
            low, high = median_interval(each)
            print(
                f"{stations} stations, {kind}: {statistics.median(each):.2f} ({low:.2f}-{high:.2f}) s, N = {len(each)}"
            )
        print(f"{stations} stations: of {sent:,} datagrams of another drone {lost} lost", flush=True)
        results["stations"][stations] = {"seconds": values, "sent": sent, "lost": lost}
        rig.keep(options.output / "registry.json", json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
