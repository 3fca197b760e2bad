#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the whole drone side costs at 320 messages/s: processor time and memory of each process, beside a forwarder.

``tools/run bench/footprint.py --label NAME [--windows 6] [--up together=false ...]`` starts ``pqcmav up drone``, a gcs
and a simulated vehicle on loopback. The vehicle's messages pass a plain UDP forwarder on their way to the proxy, so the
yardstick carries the same datagrams in the same windows. Writes bench/results/footprint.json.gz and footprint.md, one
row of the page per label; ``--output DIR`` writes elsewhere. ``--proxies py cpp`` measures with each proxy in turn and
adds its name to the label; the one in C++ needs a workspace built with rclcpp. ``--tunnels inside daemon attach`` does
the same with each place of the engine. With ``--up mavlink=mavros`` the
messages pass mavros on their way. ``--launch`` starts it all with ``ros2 launch``, which alone knows ``composed``.
"""

import argparse
import itertools
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import footprint_page
import rig

from pqc_mav_bench.json_text import as_lines
from pqc_mav_bringup.daemon import arranged
from pqc_mav_bringup.description import resolve
from pqc_mav_bringup.executables import command, is_daemon
from pqc_mav_bringup.systems import DRONE as DRONE_SYSTEM
from pqc_mav_common import packed, two_ends
from pqc_mav_common.atomic_file import atomic_write
from pqc_mav_common.child import Program
from pqc_mav_common.free_ports import free_ports, held_domain
from pqc_mav_common.local_socket import ATTACH, DAEMON, TUNNELS
from pqc_mav_common.process_figures import cpu_seconds, memory_kib, pss_among_kib, pss_kib, threads_of

RATE = 320
SETTLE_S = 20.0  # discovery, the first handshake and the first decisions are over by then
DRONE = "bench"
TUNNELD = "pqcmav-tunneld"
# What tells the processes of the drone from each other.
PROGRAMS = ("/pqc_", f"/{TUNNELD}", "/mavros_node", "/component_container")


@dataclass
class Side:
    """The running processes by name: those of the drone's side, and the forwarder in front of them."""

    drone: dict[str, int]
    forwarder: int


@contextmanager
def drone_side(folder: Path, options: Mapping[str, str], launch: bool = False) -> Iterator[Side]:
    """Everything up, with a session and the vehicle's messages on their way."""
    import pqc_mav_tunnel

    data, local, plain, tap, ground, front, air, vehicle, fcu, own = (f"{rig.HOST}:{port}" for port in free_ports(10))
    first, mavros = plain, {}
    if options.get("mavlink") == "mavros":
        first, mavros = fcu, {"fcu_url": f"udp://{fcu}@", "gcs_url": f"udp://{own}@{plain}"}
    pqc_mav_tunnel.init_keys(str(folder), [DRONE], ["mldsa65"])
    _, data_port = rig.place(data)
    gcs = two_ends.gcs_config(folder, {DRONE: rig.place(ground)[1]}, data_port=data_port)
    drone = two_ends.drone_config(folder, DRONE, data_port, local_data_port=rig.place(local)[1], plain_bind=plain)
    gcs["control_socket"], drone["control_socket"] = "off", str(folder / "drone.sock")  # no other engine is asked
    two_ends.write(folder / "gcs.yaml", gcs)
    two_ends.write(folder / "drone.yaml", {"/**": {"pqc_proxy": {"ros__parameters": drone}}})
    given = {"config": str(folder / "drone.yaml"), "tap": tap, **mavros, **options}
    forwarder = ["--plain", front, "--plain-peer", vehicle, "--air", air, "--air-peer", first]
    programs: list[Program] = []
    with held_domain() as domain:
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
        try:
            # The daemon of the ground has no Python, whose pages the drone's processes would seem to share.
            programs.append(Program("gcs", [rig.tool(TUNNELD), str(folder / "gcs.yaml")]))
            programs.append(rig.started([rig.tool("plain_forwarder"), *forwarder], "ready"))
            attached, ready = {}, "-> UP"
            if given.get("tunnel") == ATTACH:
                programs.append(rig.started(_daemon(given), "-> UP"))
                attached, ready = {TUNNELD: programs[-1].pid}, "Asks pqcmav-tunneld"
            up = rig.started(_command(given, launch), ready, 60, env=environment, start_new_session=True)
            programs.append(up)
            simulated = ["--connect", front, "--bind", vehicle, "--rate", str(RATE), "--profile", "hover"]
            programs.append(Program("vehicle", ["pqcmav-sim-vehicle", *simulated]))
            time.sleep(SETTLE_S)
            started = {"ros2 launch" if launch else "supervisor": up.pid, **attached, **_children(up.pid)}
            yield Side(started, programs[1].pid)
        finally:
            rig.stop(programs)


def _command(given: Mapping[str, str], launch: bool) -> list[str]:
    if launch:
        return ["ros2", "launch", "pqc_mav_bringup", "drone.launch.py", *(f"{k}:={v}" for k, v in given.items())]
    return ["pqcmav", "up", "drone", *(text for k, v in given.items() for text in (f"--{k.replace('_', '-')}", v))]


def _daemon(given: Mapping[str, str]) -> list[str]:
    """The command line of the tunnel that `pqcmav up drone` would start, for one that runs already."""
    processes = arranged(resolve(DRONE_SYSTEM, {**given, "tunnel": DAEMON}))
    return command(next(each for each in processes if is_daemon(each)))


def _children(pid: int) -> dict[str, int]:
    """The processes it started, by the name of their program."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    found = {}
    for child in map(int, text.split()):
        words = Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\0")
        program = next(Path(word) for word in words if any(part in word for part in PROGRAMS))
        found[program.name.removesuffix(".py")] = child
    return found


def _idle_s() -> float:
    """Idle time of all processors since boot [s]."""
    return int(Path("/proc/stat").read_text().split()[4]) / os.sysconf("SC_CLK_TCK")


def windows(side: Side, count: int, seconds: float) -> list[dict[str, Any]]:
    """CPU percent of one core of every process, window after window, and how idle the machine was meanwhile."""
    pids = {**side.drone, "forwarder": side.forwarder}
    rows = []
    for _ in range(count):
        before, idle, began = {name: cpu_seconds(pid) for name, pid in pids.items()}, _idle_s(), time.monotonic()
        time.sleep(seconds)
        after, span = {name: cpu_seconds(pid) for name, pid in pids.items()}, time.monotonic() - began
        cpu = {name: round(100 * (after[name] - before[name]) / span, 3) for name in pids}
        free = 100 * (_idle_s() - idle) / span / (os.cpu_count() or 1)
        rows.append({"cpu_percent": cpu, "machine_idle_percent": round(free, 1)})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def memory(pids: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """RSS, PSS and threads of every process; `pss_alone` as on a machine that runs nothing else."""
    try:
        alone: Sequence[int | None] = [round(kib) for kib in pss_among_kib(list(pids.values()))]
    except OSError:
        alone = [None] * len(pids)
    return {
        name: {
            "rss_kib": memory_kib(pid),
            "pss_kib": pss_kib(pid),
            "pss_alone_kib": each,
            "threads": threads_of(pid),
        }
        for (name, pid), each in zip(pids.items(), alone, strict=True)
    }


def measure(count: int, seconds: float, options: Mapping[str, str], launch: bool = False) -> dict[str, Any]:
    """One start of the drone's side."""
    with (
        tempfile.TemporaryDirectory(prefix="pqcmav-footprint-") as folder,
        drone_side(Path(folder), options, launch) as side,
    ):
        rows = windows(side, count, seconds)
        held = memory(side.drone)
    totals = [sum(row["cpu_percent"][name] for name in side.drone) for row in rows]
    base = [row["cpu_percent"]["forwarder"] for row in rows]
    return {
        "environment": rig.environment(),
        "options": dict(options),
        "nice": os.nice(0),
        "window_s": seconds,
        "windows": rows,
        "memory": held,
        "cpu_percent_total": round(statistics.mean(totals), 2),
        "over_forwarder": round(statistics.mean(totals) / max(statistics.mean(base), 0.01), 1),
    }


def record(label: str, result: Mapping[str, Any], folder: Path) -> None:
    """Adds a measurement to the file and the page; the same label replaces the older one."""
    path = folder / "footprint.json.gz"
    results: dict[str, Any] = json.loads(packed.read(path)) if path.exists() else {}
    results.pop(label, None)  # what was measured again is the newest
    results[label] = result
    folder.mkdir(parents=True, exist_ok=True)
    atomic_write(path, packed.pack(f"{as_lines(results, 3)}\n".encode(), path))
    atomic_write(folder / "footprint.md", footprint_page.render(results))


def main() -> int:
    """Measures once and adds the result to the file and the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--label", required=True, help="name of this measurement; the same name replaces the older one")
    parser.add_argument("--windows", type=int, default=6, help="how many (default 6)")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of a window (default 10)")
    parser.add_argument("--up", nargs="+", default=[], metavar="NAME=VALUE", help="options of 'pqcmav up drone'")
    parser.add_argument("--note", default="", help="a sentence for the page, such as how mavros was built")
    parser.add_argument("--launch", action="store_true", help="start it with 'ros2 launch', not with 'pqcmav up'")
    parser.add_argument("--proxies", nargs="+", choices=("py", "cpp"), default=[], help="measure once with each")
    parser.add_argument("--tunnels", nargs="+", choices=TUNNELS, default=[], help="measure once with each")
    parser.add_argument(
        "--output", type=Path, default=rig.RESULTS, help="folder for footprint.json.gz and footprint.md"
    )
    options = parser.parse_args()
    given = dict(text.split("=", 1) for text in options.up)
    for kind, tunnel in itertools.product(options.proxies or [None], options.tunnels or [None]):
        wanted = {name: value for name, value in (("proxy", kind), ("tunnel", tunnel)) if value}
        chosen = {**given, **wanted}
        label = ", ".join((options.label, *(f"{name}={value}" for name, value in wanted.items())))
        result = measure(options.windows, options.seconds, chosen, options.launch)
        record(label, {**result, "note": options.note}, options.output)
    print((options.output / "footprint.md").read_text())
    return 0


if __name__ == "__main__":
    # Ended from outside, it ends what it started too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("footprint: stopped")
