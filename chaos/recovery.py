# SPDX-License-Identifier: Apache-2.0
"""`chaos/run recovery`: kills the gcs, then the drone, under traffic, and measures how long the link is missed.

With `--rtt-ms` the two are in network namespaces with a link between (needs root); otherwise on loopback.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import air
import loopback
import messages
import pqc_mav_tunnel
import tables
from children import spawn
from ends import DRONE_ID
from links import Link
from tally import Arrival, percentile, recovered_ns
from traffic import End, TrafficProcess, application_socket

from pqc_mav_common.free_ports import free_ports
from pqc_mav_common.waiting import wait_until

# a gcs tells at once that it was restarted; without that it takes 2 s of silence: docs/protocol.md, section 7
LIMIT_S = {"gcs": 4.0, "drone": 3.0}
GOAL_P50_S = 0.1
GOAL_P50_FAR_S = 0.5  # RTT 100 ms
_GIVE_UP_S = 30.0
_RUNNING_S = (1.5, 2.5)  # between two kills
_DOWN_S = (0.1, 1.0)


class RecoveryError(RuntimeError):
    """The measurement could not be made."""


@dataclass(frozen=True)
class Outage:
    """One kill and restart, on the monotonic clock (ns)."""

    killed_ns: int
    restarted_ns: int


@dataclass(frozen=True)
class Recovery:
    """Seconds until messages flowed both ways again, and until they flowed one way; messages lost meanwhile."""

    from_kill_s: float
    from_restart_s: float
    one_way_s: float
    lost: int


def recoveries(
    outages: Sequence[Outage], arrivals: Sequence[Arrival], sent_ns: Sequence[tuple[int, int]]
) -> list[Recovery]:
    """Work out every outage from the arrival log. `sent_ns` are way and time of every message that was lost."""
    found = []
    for number, outage in enumerate(outages):
        moments = [recovered_ns(arrivals, way, outage.restarted_ns) for way in (messages.DOWN, messages.UP)]
        known = [each for each in moments if each is not None]
        if len(known) < len(moments):
            raise RecoveryError(f"messages did not flow again after outage {number + 1}")
        until = outages[number + 1].killed_ns if number + 1 < len(outages) else 1 << 63
        lost = sum(outage.killed_ns - 1_000_000_000 <= at < until - 1_000_000_000 for _, at in sent_ns)
        found.append(
            Recovery(
                (max(known) - outage.killed_ns) / 1e9,
                (max(known) - outage.restarted_ns) / 1e9,
                (min(known) - outage.restarted_ns) / 1e9,
                lost,
            )
        )
    return found


class Daemon:
    """pqcmav-tunneld with one configuration file."""

    def __init__(self, config: dict[str, Any], path: Path, namespace: int | None = None) -> None:
        program = shutil.which("pqcmav-tunneld")
        if program is None:
            raise RecoveryError("pqcmav-tunneld is not on the path: run this through tools/run after 'make setup'")
        path.write_text(json.dumps(config))  # JSON is YAML
        self._command = [program, str(path)]
        self._log = path.with_suffix(".log")
        self._namespace = namespace
        self.start()

    def start(self) -> None:
        """Start it; its words go to a file beside its configuration."""
        with self._log.open("ab") as log:
            self.process = spawn(self._command, namespace=self._namespace, stdin=subprocess.DEVNULL, stderr=log)

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.wait()

    def words(self) -> str:
        """The last of what it said."""
        return " / ".join(self._log.read_text().splitlines()[-3:])


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=20, help="kills of each end")
    parser.add_argument("--rate", type=float, default=320.0, help="messages/s each way")
    parser.add_argument("--rtt-ms", nargs="+", type=int, default=[0, 100], help="round trips; 0 = loopback, no root")
    parser.add_argument("--seed", type=int, default=1, help="of the times of the kills")


def run(options: argparse.Namespace) -> int:
    """Measure both ends, print and write; 0 when every recovery was within its limit, 3 when this machine cannot."""
    reason = air.need_root() if any(options.rtt_ms) else ""
    if reason:
        print(f"recovery: --rtt-ms {reason}.")
        return 3
    machine = tables.machine()
    results = {}
    for rtt_ms in options.rtt_ms:
        for end in LIMIT_S:
            try:
                results[end, rtt_ms] = measure(end, options.runs, options.rate, random.Random(options.seed), rtt_ms)
            except RecoveryError as error:
                print(f"recovery: {error}")
                return 1
    text = page(results, options, machine)
    print("\n" + text)
    if options.output:
        tables.write_page(Path(options.output) / "recovery.md", text)
        runs = {f"{end}, RTT {rtt_ms} ms": [asdict(one) for one in each] for (end, rtt_ms), each in results.items()}
        whole = {"machine": machine, "rate": options.rate, "runs": runs, "problems": problems(results)}
        tables.write_json(Path(options.output) / "recovery.json.gz", whole)
    return 1 if problems(results) else 0


def problems(results: dict[tuple[str, int], list[Recovery]]) -> list[str]:
    """Return what took too long, in words. `results` are by end and round trip (ms)."""
    found = []
    for (end, rtt_ms), each in results.items():
        slow = sum(one.from_restart_s > LIMIT_S[end] for one in each)
        where = f"restarts of the {end}" + (f" at RTT {rtt_ms} ms" if rtt_ms else "")
        if slow or not each:
            found.append(f"{slow} of {len(each)} {where} took more than {LIMIT_S[end]:g} s")
    return found


def _configurations(folder: Path, ground: int, rtt_ms: int) -> dict[str, dict[str, Any]]:
    """Both ends' configuration; the plaintext ports are `plain_bind` of each."""
    data, own_data, drone_plain, gcs_plain = free_ports(4)
    more = {"bind": "0.0.0.0"} if rtt_ms else {}  # noqa: S104 - within a namespace of our own
    gcs = loopback.gcs_config(str(folder), {DRONE_ID: ground}, data_port=data, **more)
    gcs["drone"][DRONE_ID]["plain_bind"] = f"{loopback.HOST}:{gcs_plain}"
    drone = loopback.drone_config(str(folder), DRONE_ID, {"data": data})
    drone |= {"local_data_port": own_data, "plain_bind": f"{loopback.HOST}:{drone_plain}"}
    return {"gcs": gcs, "drone": drone | ({"peer": air.GCS} if rtt_ms else {})}


def measure(end: str, runs: int, rate: float, generator: random.Random, rtt_ms: int = 0) -> list[Recovery]:
    """Kill one end `runs` times under traffic."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pqcmav-recovery-")))
        pqc_mav_tunnel.init_keys(str(folder), [DRONE_ID])
        network = stack.enter_context(air.Air()) if rtt_ms else None
        if network is not None and network.joint is not None:
            network.joint.impair(Link(rtt_ms=rtt_ms, loss=0.0).impairment())
        vehicle, ground = (
            stack.enter_context(network[name].call(application_socket) if network else application_socket())
            for name in ("drone", "gcs")
        )
        configs = _configurations(folder, ground.getsockname()[1], rtt_ms)
        daemons = {}
        for name, config in configs.items():
            namespace = network[name].descriptor if network else None
            daemons[name] = Daemon(config, folder / f"{name}.yaml", namespace)
            stack.callback(daemons[name].kill)
        drone_plain, gcs_plain = (
            int(each["plain_bind"].rpartition(":")[2]) for each in (configs["drone"], configs["gcs"]["drone"][DRONE_ID])
        )
        ends = [
            End(vehicle, 0, messages.DOWN, drone_plain, rate),
            End(ground, 0, messages.UP, gcs_plain, rate),
        ]
        traffic = TrafficProcess(ends, folder / "arrivals")
        stack.callback(traffic.close)
        _wait_for_flow(traffic, time.monotonic_ns(), daemons)
        outages = []
        for number in range(runs):
            time.sleep(generator.uniform(*_RUNNING_S))
            killed = time.monotonic_ns()
            daemons[end].kill()
            time.sleep(generator.uniform(*_DOWN_S))
            outages.append(Outage(killed, time.monotonic_ns()))
            daemons[end].start()
            _wait_for_flow(traffic, outages[-1].restarted_ns, daemons)
            took = (time.monotonic_ns() - outages[-1].restarted_ns) / 1e9
            print(f"{end} kill {number + 1} of {runs}: messages flow again {took:.2f} s after the restart", flush=True)
        time.sleep(_RUNNING_S[0])
        counts = traffic.stop()
        arrivals = traffic.arrivals()
        return recoveries(outages, arrivals, _lost(counts, arrivals, traffic.started_ns, rate))


def _lost(counts: dict[str, Any], arrivals: Sequence[Arrival], started_ns: int, rate: float) -> list[tuple[int, int]]:
    """Way and (nominal) time of every message that never arrived."""
    seen: dict[int, set[int]] = {messages.DOWN: set(), messages.UP: set()}
    for each in arrivals:
        seen[each.way].add(each.number)
    lost = []
    for stream in counts["streams"]:
        missing = set(range(stream["sent"])) - seen[stream["way"]]
        lost += [(stream["way"], started_ns + int(number / rate * 1e9)) for number in missing]
    return lost


def _wait_for_flow(traffic: TrafficProcess, since_ns: int, daemons: dict[str, Daemon]) -> None:
    def flows() -> bool:
        return all(stream["last_ns"] > since_ns for stream in traffic.snapshot()["streams"])

    if not wait_until(flows, _GIVE_UP_S, 0.05):
        words = "; ".join(f"{name}: {daemon.words()}" for name, daemon in daemons.items())
        raise RecoveryError(f"no messages within {_GIVE_UP_S:g} s. {words}")


def page(results: dict[tuple[str, int], list[Recovery]], options: argparse.Namespace, machine: str) -> str:
    """The results page."""
    text = "# Recovery after a restart\n\nWritten by `tools/run chaos/run recovery`. Two `pqcmav-tunneld`, on loopback "
    text += f"or with a link of 10 Mbit/s between them, {options.rate:g} messages/s each way. One end is killed with "
    text += f"SIGKILL and started again {_DOWN_S[0]:g} to {_DOWN_S[1]:g} s later; the other is not touched. Seconds "
    text += f"until messages flow both ways again.\n\n*{machine}*\n\n"
    head = (
        "end",
        "round trip",
        "runs",
        "from the restart p50",
        "p95",
        "worst",
        "from the kill p50",
        "p95",
        "worst",
        "lost each time, median",
        "goal p50 from the restart",
    )
    rows = []
    for (end, rtt_ms), each in results.items():
        restart, kill = [one.from_restart_s for one in each], [one.from_kill_s for one in each]
        figures = [
            f"{value:.3f}"
            for list_ in (restart, kill)
            for value in (percentile(list_, 0.5), percentile(list_, 0.95), max(list_))
        ]
        goal = GOAL_P50_FAR_S if rtt_ms else GOAL_P50_S
        met = "met" if percentile(restart, 0.5) <= goal else "MISSED"
        lost = int(percentile([one.lost for one in each], 0.5))
        where = f"{rtt_ms} ms" if rtt_ms else "loopback"
        rows.append((end, where, len(each), *figures, lost, f"{goal:g}: {met}"))
    text += tables.markdown(head, rows)
    text += (
        "\nA drone that was restarted connects at once. A gcs that was restarted knows no session: it says so with the "
        "drone's restart token, or the drone notices by its silence (`reconnect_after_s`, 2 s by default); then the "
        "drone starts a first handshake.\n"
    )
    found = problems(results)
    return text + f"\nVerdict: **{'ok' if not found else 'FAILED: ' + '; '.join(found)}**.\n"
