#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ``pqcmav dashboard`` costs, with a viewer and without one.

``tools/run bench/dashboard.py [--windows 8] [--seconds 20]`` runs a drone and its gcs as pqcmav-tunneld, and a control
socket that answers for 1,000 drones whose figures move; a dashboard for each. A viewer is one WebSocket that reads
everything, as the page does. Windows alternate: nobody looks, one drone's page, the fleet of 1,000, and one drone's
page with a process that hears ROS topics at a drone's rates. In Chromium, where it is there, the fleet of 1,000 is
scrolled and the time between two pictures taken. Writes bench/results/dashboard.md; ``--output DIR`` elsewhere.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src" / "pqc_mav_dashboard" / "test"))

import pqc_mav_tunnel
import rig
from ends import DRONE, Dashboard, Pair
from websockets.asyncio.client import connect

from pqc_mav_bench.analysis.statistics import median_interval
from pqc_mav_common.free_ports import held_domain, own_run_folder
from pqc_mav_common.process_figures import cpu_seconds, pss_kib

RESULTS = Path(__file__).resolve().parent / "results"
FLEET = 1000
LONGER = 3  # times the window: a fleet is looked at every few seconds only
SETTLE_S = 4.0
NAMES = {
    "nobody": "nobody looks",
    "drone": "one drone's page",
    "fleet": f"the fleet of {FLEET:,}",
    "ros": "one drone's page, with ROS topics",
}
# Published by the window 'ros', messages a second as sensing, policy and detector have them.
RATES = {"battery": 1, "thermal": 1, "system": 1, "vehicle": 2, "power": 10, "threat": 2, "decision": 1}


class Viewer:
    """Reads everything that the page would be sent, in a thread."""

    def __init__(self, dashboard: Dashboard, look: str) -> None:
        self.messages = self.bytes = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._watch(dashboard, look)))
        self._thread.start()

    async def _watch(self, dashboard: Dashboard, look: str) -> None:
        async with connect(f"ws://{dashboard.host}/ws", origin=dashboard.url, max_size=1 << 24, proxy=None) as page:  # type: ignore[arg-type]
            await page.send(json.dumps({"v": 1, "look": look}))
            while not self._ended.is_set():
                try:
                    text = await asyncio.wait_for(page.recv(), 0.5)
                except asyncio.TimeoutError:
                    continue
                self.messages += 1
                self.bytes += len(text)

    def end(self) -> None:
        """Closes the page."""
        self._ended.set()
        self._thread.join()


def pids_of(dashboard: Dashboard) -> list[int]:
    """The server and what it has started."""
    import psutil

    process = psutil.Process(dashboard.running.process.pid)
    return [process.pid, *(child.pid for child in process.children(recursive=True))]


def wakeups(pids: list[int]) -> int:
    """How often threads of these processes have given up a processor by themselves: each sleep is followed by one."""
    found = 0
    for pid in pids:
        for status in Path(f"/proc/{pid}/task").glob("*/status"):
            text = status.read_text()
            found += int(text.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return found


def window(kind: str, dashboard: Dashboard, engines: list[int], seconds: float) -> dict[str, Any]:
    """One window of one kind, after it has settled."""
    viewer = None if kind == "nobody" else Viewer(dashboard, "" if kind == "fleet" else DRONE)
    time.sleep(SETTLE_S if viewer else 0)
    pids = pids_of(dashboard)
    counted = viewer.messages if viewer else 0
    size = viewer.bytes if viewer else 0
    before, engine_before, began = sum(map(cpu_seconds, pids)), sum(map(cpu_seconds, engines)), time.monotonic()
    slept = wakeups(pids)
    time.sleep(seconds * (LONGER if kind == "fleet" else 1))
    slept = wakeups(pids) - slept
    span = time.monotonic() - began
    used, engine_used = sum(map(cpu_seconds, pids)) - before, sum(map(cpu_seconds, engines)) - engine_before
    row = {
        "kind": kind,
        "cpu_percent": round(100 * used / span, 3),
        "engine_percent": round(100 * engine_used / span, 3),
        "wakeups_per_s": round(slept / span, 2),
        "pss_mib": round(sum(map(pss_kib, pids)) / 1024, 1),
        "messages_per_s": round((viewer.messages - counted) / span, 2) if viewer else 0,
        "kib_per_s": round((viewer.bytes - size) / span / 1024, 1) if viewer else 0,
    }
    if viewer:
        viewer.end()
        time.sleep(6)  # until the source has stopped
    print(json.dumps(row), flush=True)
    return row


@contextmanager
def ros_double() -> Iterator[bool]:
    """Publishes a drone's topics in a process of its own; False where ROS is not there."""
    if importlib.util.find_spec("rclpy") is None:
        yield False
        return
    running = subprocess.Popen([sys.executable, __file__, "--publish"])
    try:
        time.sleep(5)
        yield True
    finally:
        running.kill()
        running.wait()


def publish() -> None:
    """The process of `ros_double`."""
    import rclpy
    from pqc_mav_interfaces import msg

    rclpy.init()
    node = rclpy.create_node("double")
    kinds = {
        "battery": msg.BatteryHealth, "thermal": msg.ThermalState, "system": msg.SystemLoad,
        "vehicle": msg.VehicleState, "power": msg.PowerSample, "threat": msg.ThreatReport,
        "decision": msg.PolicyDecision,
    }  # fmt: skip
    from pqc_mav_policy.telemetry.inputs import DecisionInput
    from pqc_mav_policy.telemetry.inputs_json import dump

    for name, rate in RATES.items():
        topic = "/drone/pqc_policy/decision" if name == "decision" else f"/drone/{name}"
        publisher = node.create_publisher(kinds[name], topic, 10)
        message = kinds[name]()
        if name == "decision":
            message.action, message.inputs_json = "HOLD", dump(DecisionInput(), 1.0)
        node.create_timer(1 / rate, lambda p=publisher, m=message: p.publish(m))
    rclpy.spin(node)


def scrolled(dashboard: Dashboard) -> list[float]:
    """Milliseconds between pictures while the fleet is scrolled from end to end and back; empty without Chromium."""
    from browser import page_in

    with page_in("chromium") as page:
        page.open(f"{dashboard.url}/").says(f"{FLEET:,} drones")
        found = page.browser.run_async(
            """return await new Promise((done) => {
              const box = document.querySelector(".scroller"), times = [];
              let last = performance.now(), frame = 0;
              const step = (now) => {
                times.push(now - last);
                last = now;
                const part = frame++ / 600;
                box.scrollTop = (part < .5 ? 2 * part : 2 - 2 * part) * box.scrollHeight;
                frame <= 600 ? requestAnimationFrame(step) : done(times.slice(2));
              };
              requestAnimationFrame(step);
            })"""
        )
    return [float(value) for value in found]


def page_of(rows: list[dict[str, Any]], frames: list[float], command: str, environment: dict[str, Any]) -> str:
    """The result for people."""
    lines = [
        "# The dashboard", "",
        f"Written by `{command}`. CPU is the server with every process that it starts, in percent of one core; engines "
        "are both `pqcmav-tunneld` of the one drone. A viewer is one WebSocket; the browser is not counted. "
        "Windows alternate; the fleet's are three times as long.", "",
        f"*{environment['date']}, {environment['machine']}, Linux {environment['kernel']}, load at the start "
        f"{environment['load_average_at_start']}*", "",
        "| viewer | windows | CPU median (95 % interval) | wake-ups | engines, median | PSS | told |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for kind, name in NAMES.items():
        of = [row for row in rows if row["kind"] == kind]
        if not of:
            continue
        cpu = [row["cpu_percent"] for row in of]
        low, high = median_interval(cpu)
        engines = "-" if kind == "fleet" else f"{statistics.median(row['engine_percent'] for row in of):.2f} %"
        told = f"{statistics.median(row['messages_per_s'] for row in of):.2f}/s, " + (
            f"{statistics.median(row['kib_per_s'] for row in of):.1f} KiB/s"
        )
        lines.append(
            f"| {name} | {len(of)} | {statistics.median(cpu):.2f} % ({low:.2f} to {high:.2f}) "
            f"| {statistics.median(row['wakeups_per_s'] for row in of):.1f}/s | {engines} "
            f"| {statistics.median(row['pss_mib'] for row in of):.0f} MiB | {told if kind != 'nobody' else '-'} |"
        )
    if frames:
        ordered = sorted(frames)
        lines += [
            "",
            f"Scrolling {FLEET:,} rows from end to end and back in Chromium without a window, {len(frames)} pictures: "
            f"median {statistics.median(frames):.1f} ms between two, 95 % below "
            f"{ordered[int(len(ordered) * 0.95)]:.1f} ms, longest {ordered[-1]:.0f} ms. 16.7 ms are "
            "60 pictures a second.",
        ]
    return "\n".join(lines) + "\n"


def measure(options: argparse.Namespace) -> tuple[list[dict[str, Any]], list[float]]:
    """All windows, in alternation."""
    rows: list[dict[str, Any]] = []
    frames: list[float] = []
    dashboards: dict[str, Dashboard] = {}
    with tempfile.TemporaryDirectory() as folder, own_run_folder() as many, held_domain() as domain:
        import os

        os.environ.update(ROS_DOMAIN_ID=str(domain), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        pqc_mav_tunnel.init_keys(f"{folder}/keys", [DRONE], sig_tokens=["mldsa65"])
        pair = Pair(Path(folder) / "keys")
        # In a process of its own, or this one's work would be in its way.
        command = [sys.executable, __file__, "--fake", many["PQCMAV_RUN_DIR"]]
        fake = subprocess.Popen(command)
        try:
            with ros_double() as with_ros:
                pair.up()
                dashboards["drone"] = dashboards["nobody"] = Dashboard("--no-ros", environment=pair.environment)
                dashboards["fleet"] = Dashboard("--no-ros", environment=many)
                if with_ros:
                    dashboards["ros"] = Dashboard(environment=pair.environment)
                engines = [end.process.pid for end in pair.ends.values()]
                for _ in range(options.windows):
                    for kind in (name for name in NAMES if name in dashboards):
                        rows.append(window(kind, dashboards[kind], engines, options.seconds))
                if shutil.which("chromium") and shutil.which("chromedriver"):
                    frames = scrolled(dashboards["fleet"])
        finally:
            for dashboard in {id(each): each for each in dashboards.values()}.values():
                dashboard.kill()
            fake.kill()
            fake.wait()
            pair.kill()
    return rows, frames


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=8, help="of each kind (default 8)")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of each window (default 20), three times that for the fleet"
    )
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for dashboard.md")
    parser.add_argument("--fake", default="", help=argparse.SUPPRESS)
    parser.add_argument("--publish", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.publish:
        publish()
    if options.fake:
        from fake_engine import FakeEngine

        FakeEngine(Path(options.fake), FLEET)
        threading.Event().wait()
    environment = rig.environment()
    command = f"tools/run bench/dashboard.py --windows {options.windows} --seconds {options.seconds:g}"
    rows, frames = measure(options)
    rig.write_page(options.output / "dashboard.md", page_of(rows, frames, command, environment))
    return 0


if __name__ == "__main__":
    sys.exit(main())
