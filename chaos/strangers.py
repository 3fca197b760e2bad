# SPDX-License-Identifier: Apache-2.0
"""`chaos/run strangers`: does a drone get its session among strangers, and its commands past an overtaker? (needs root)

A stranger without keys sends false and copied ClientHellos from 256 networks, or from behind the drone's own address.
What an overtaker on the path, a forged source and a thief of the drone's PSK gain is in overtaking.py, contact.py,
impostor.py and spoiling.py, on the same page.
"""

import argparse
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

import air
import contact
import impostor
import overtaking
import pqc_mav_tunnel
import spoiling
import tables
from children import Child
from ends import DATA_PORT, DEFAULT_SUITE, DRONE_ID, End, Starter, drone_config, gcs_config
from links import Link
from pair import temporary_keys
from tally import percentile

RATE = 250.0
LIMIT_S = 1.0
_GIVE_UP_S = 30.0
_PAUSE_S = 0.3
_WARM_S = 1.0


@dataclass(frozen=True)
class Row:
    """Where the strangers are (crowd: 256 networks; neighbour: the drone's own address), and the round trip."""

    mode: str
    rtt_ms: int


ROWS = (Row("crowd", 30), Row("crowd", 100), Row("crowd", 300), Row("neighbour", 30), Row("neighbour", 100))
_WORDS = {"crowd": "256 networks", "neighbour": "the drone's own address"}


@dataclass(frozen=True)
class Connects:
    """Seconds of each run until the session was up (None = not), and what the strangers did."""

    row: Row
    seconds: tuple[float | None, ...]
    done: dict[str, int]
    drops: dict[str, int]

    @property
    def in_time(self) -> int:
        """Runs within the limit."""
        return sum(each is not None and each <= LIMIT_S for each in self.seconds)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options."""
    parser.add_argument("--runs", type=int, default=20, help="connects, and overtaken sessions, of each row")
    parser.add_argument("--seed", type=int, default=1)


def run(options: argparse.Namespace) -> int:
    """Measure, print and write; 0 when all is as it must be."""
    machine = tables.machine()
    crowds = []
    for row in ROWS:
        crowds.append(connect_among(row, options.runs, options.seed))
        print("  ".join(str(cell) for cell in cells(crowds[-1])), flush=True)
    races = overtaking.measure(options.seed)
    reflected = overtaking.reflect(options.runs)
    few = max(options.runs // 4, 1)
    contacts = contact.measure(few, options.seed) + impostor.measure(few) + spoiling.measure(few)
    text = page(crowds, races, reflected, contacts, machine)
    found = problems(crowds, races, reflected) + contact.problems(contacts)
    whole: dict[str, Any] = {"machine": machine, "connects": [asdict(each) for each in crowds]}
    whole["contacts"] = [asdict(each) for each in contacts]
    whole |= {"races": [asdict(each) for each in races], "reflected": [asdict(each) for each in reflected]}
    tables.publish(options.output, "strangers", text, {**whole, "problems": found})
    return 1 if found else 0


def connect_among(row: Row, runs: int, seed: int) -> Connects:
    """Connect `runs` times over a link without loss while the strangers send."""
    seconds: list[float | None] = []
    with temporary_keys() as keys, air.Air(seed=seed) as network, ExitStack() as stack:
        network.joint.impair(Link(rtt_ms=row.rtt_ms, loss=0.0).impairment())
        # answers to all networks go where the stranger is, who does not care
        air.batch(network["gcs"].call, [f"route add default via {air.STRANGER}"])
        ears = stack.enter_context(network.overheard())
        gcs = End(gcs_config(keys), network["gcs"].descriptor)
        stack.callback(gcs.close)
        stranger = Child("attacker_host.py", namespace=network["stranger"].descriptor, pass_fds=[ears.fileno()])
        stack.callback(stranger.close)
        drone = Starter(drone_config(keys, air.GCS), network["drone"].descriptor)
        stack.callback(drone.close)
        suite = pqc_mav_tunnel.find_suite(DEFAULT_SUITE)
        names = {"drone_id": DRONE_ID, "suite": suite.id, "kem": suite.kem_name, "sig": suite.sig_name}
        stranger.ask(
            "start", mode=row.mode, rate=RATE, listen=True, seed=seed, ears=ears.fileno(), names=names, gcs=air.GCS,
            drone=air.DRONE, data_port=DATA_PORT, sources=[], mac=_plain(air.STRANGER), gcs_mac=_plain(air.GCS),
        )  # fmt: skip
        time.sleep(_WARM_S)
        for _ in range(runs):
            seconds.append(drone.connect(_GIVE_UP_S)["seconds"])
            time.sleep(_PAUSE_S)
        done = stranger.ask("stop")
        drops = {name: count for name, count in gcs.totals().items() if name.startswith("hs_") and count}
    return Connects(row, tuple(seconds), done, drops)


def _plain(address: str) -> str:
    return air.MACS[address].replace(":", "")


def problems(
    crowds: Sequence[Connects], races: Sequence[overtaking.Race], reflected: Sequence[overtaking.Reflection]
) -> list[str]:
    """Return what is not as it must be, in words."""
    found = []
    for each in crowds:
        where = f"strangers at {_WORDS[each.row.mode]}, RTT {each.row.rtt_ms} ms"
        if each.in_time < len(each.seconds) or not each.seconds:
            found.append(f"{where}: {each.in_time} of {len(each.seconds)} sessions within {LIMIT_S:g} s")
        if not sum(each.done.values()):
            found.append(f"{where}: they sent nothing")
    return found + overtaking.problems(races, reflected)


HEAD = ("strangers at", "RTT", "within 1 s", "p50 s", "p95 s", "worst s", "sent by the strangers")


def cells(each: Connects) -> tuple[object, ...]:
    """One line of the table."""
    done = [value for value in each.seconds if value is not None]
    figures = (percentile(done, 0.5), percentile(done, 0.95), max(done, default=float("nan")))
    return (
        _WORDS[each.row.mode],
        f"{each.row.rtt_ms} ms",
        f"{each.in_time}/{len(each.seconds)}",
        *(f"{value:.2f}" for value in figures),
        ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(each.done.items())),
    )


def page(
    crowds: Sequence[Connects],
    races: Sequence[overtaking.Race],
    reflected: Sequence[overtaking.Reflection],
    contacts: Sequence[contact.Contact],
    machine: str,
) -> str:
    """The results page."""
    text = "# Among strangers\n\nWritten by `tools/run chaos/run strangers`. Only the thief of a PSK has a key.\n\n"
    text += f"*{machine}*\n\n## Connecting\n\nA drone connects over a link without loss while strangers send "
    text += f"{RATE:g} datagrams a second to the gcs: false ClientHellos, and copies of what the drone said.\n\n"
    text += tables.markdown(HEAD, [cells(each) for each in crowds])
    text += overtaking.section(races, reflected) + contact.section(contacts)
    found = problems(crowds, races, reflected) + contact.problems(contacts)
    return text + f"\nVerdict: **{'ok' if not found else 'FAILED: ' + '; '.join(found)}**.\n"
