# SPDX-License-Identifier: Apache-2.0
"""What storms of a large fleet measured: each time a drone was lost and came back, and what that says. Pure."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from accounting import Account, EndCounts

KIB_A_DRONE = 26.0
FEWEST_FOR_MEMORY = 50  # below, what a drone adds is lost among what the process takes anyway
MOST_UP, LATEST_S = 0.95, 30.0
KILLED = "gcs killed"  # which each drone must notice; of those that are cut off some may not
FLAT = 0.20  # by so much a message may cost more in the largest fleet than in the smallest
# What the gcs counts of a storm: whom it asked for a cookie, told to wait, told of its restart, left out.
COUNTED = ("hs_completed", "hs_retried", "hs_busy", "hs_failed", "hs_limit", "restarts_told", "drop_kernel")
# Until so many are up again [s], by the size of the fleet: between two sizes in proportion.
_UP_AGAIN_S = ((1000, 3.0), (5000, 10.0))


@dataclass(frozen=True)
class Storm:
    """One storm: how the drones came back after `calm`, the moment from which on they could. Times in seconds."""

    kind: str
    drones: int
    outage_s: float  # from the beginning of the storm to `calm`
    back_s: list[float]  # of each drone that was lost and is up again, since `calm`
    lost: dict[str, int] = field(default_factory=dict)  # why, of each
    failed: dict[str, int] = field(default_factory=dict)  # handshakes
    fleet_late_ms: float = 0.0  # by how much the fleet itself was late at most
    fleet_cpu_s: float = 0.0
    gcs_cpu_s: float = 0.0
    gcs_threads_s: dict[str, float] = field(default_factory=dict)  # CPU by the names of its threads
    gcs_counts: dict[str, int] = field(default_factory=dict)  # those of COUNTED that grew
    load: float = 0.0
    no_goal: bool = False

    @property
    def kept(self) -> int:
        """Drones that were never lost."""
        return max(0, self.drones - sum(self.lost.values()))

    def up_again_s(self, share: float) -> float:
        """When this share of all drones was up; infinite when it never was."""
        back = sorted(self.back_s)
        wanted = math.ceil(share * self.drones) - self.kept
        if wanted <= 0:
            return 0.0
        return back[wanted - 1] if wanted <= len(back) else math.inf


@dataclass
class Delivery:
    """What became of the messages of a fleet."""

    accounts: dict[str, Account] = field(default_factory=dict)
    mixed_up: int = 0  # delivered to the wrong drone, or as another drone's
    spoiled: int = 0
    again: int = 0  # at the ground: twice, or after a later one
    backlog: int = 0  # of the whole machine: what the kernel dropped because packets came faster than it looked

    @property
    def unexplained(self) -> int:
        """Messages that neither arrived nor show in a counter."""
        return max(0, sum(each.unexplained for each in self.accounts.values()) - self.backlog)

    def problems(self) -> list[str]:
        """What is wrong, in words."""
        counts = {
            "lost without a counter": self.unexplained,
            "delivered to the wrong end": self.mixed_up,
            "spoiled": self.spoiled,
            "doubled or out of order": self.again,
        }
        return [f"{count} messages {what}" for what, count in counts.items() if count]


@dataclass
class Steady:
    """A fleet that nothing disturbs: CPU in seconds, memory in KiB."""

    drones: int
    rate: float  # messages/s of each, each way
    seconds: float
    messages: int  # that the gcs passed on, both ways
    gcs_cpu_s: float
    slices_us: list[float]  # processor time of the gcs for a message, in each part of the time
    gcs_threads_s: dict[str, float]  # CPU by the names of its threads
    fleet_cpu_s: float
    gcs_pss_kib: int
    gcs_one_pss_kib: int  # of a gcs with one drone
    fleet_rss_kib: int
    delivery: Delivery = field(default_factory=Delivery)
    load: float = 0.0

    @property
    def message_us(self) -> float:
        """Processor time of the gcs for a message, with all that it does besides."""
        return 1e6 * self.gcs_cpu_s / max(self.messages, 1)

    @property
    def drone_kib(self) -> float:
        """What each drone but the first adds to the gcs."""
        return (self.gcs_pss_kib - self.gcs_one_pss_kib) / max(self.drones - 1, 1)


@dataclass
class Rekeys:
    """Rekeys that drones began by themselves, in each second of a time."""

    drones: int
    interval_s: float
    seconds: list[int]
    failed: dict[str, int] = field(default_factory=dict)
    delivery: Delivery = field(default_factory=Delivery)

    @property
    def mean(self) -> float:
        """Of a second."""
        return sum(self.seconds) / max(len(self.seconds), 1)

    @property
    def busiest(self) -> int:
        """The most in a second."""
        return max(self.seconds, default=0)

    def problems(self) -> list[str]:
        """What is wrong, in words."""
        found = self.delivery.problems()
        if self.failed:
            found.append(f"{sum(self.failed.values())} of {sum(self.seconds)} failed")
        if not sum(self.seconds):
            found.append("none began")
        return found


@dataclass
class Run:
    """One fleet from its start to its end."""

    steady: Steady
    storms: list[Storm]
    rekeys: Rekeys | None = None


def storm_of(kind: str, drones: int, began: float, calm: float, events: Iterable[Mapping[str, Any]]) -> Storm:
    """What became of the drones between `began` and now. A drone that is lost again counts as its last return."""
    lost: dict[int, str] = {}
    back: dict[int, float] = {}
    failed: Counter[str] = Counter()
    for event in events:
        if event["t"] < began:
            continue
        if event["event"] == "lost":
            lost[event["drone"]] = event["why"]
            back.pop(event["drone"], None)
        elif event["event"] == "connected" or event["event"] == "heard":
            back[event["drone"]] = max(0.0, event["t"] - calm)
        elif event["event"] == "failed":
            failed[event["why"]] += 1
    return Storm(kind, drones, calm - began, list(back.values()), dict(Counter(lost.values())), dict(failed))


def started(kind: str, drones: int, events: Iterable[Mapping[str, Any]]) -> Storm:
    """What became of drones that had no session before, each from its own start on."""
    back: dict[int, float] = {}
    failed: Counter[str] = Counter()
    for event in events:
        if event["event"] == "connected":
            back.setdefault(event["drone"], event["since_lost_s"])
        elif event["event"] == "failed":
            failed[event["why"]] += 1
    return Storm(kind, drones, 0.0, list(back.values()), {"start": drones}, dict(failed), no_goal=True)


def grown(now: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    """What grew of what is counted in a storm."""
    return {name: more for name in COUNTED if (more := now[name] - before.get(name, 0))}


def rekeys_of(drones: int, interval_s: float, begin: float, end: float, events: Iterable[Mapping[str, Any]]) -> Rekeys:
    """How many began in each second from `begin` to `end`."""
    seconds = [0] * max(1, math.floor(end - begin))
    failed: Counter[str] = Counter()
    for event in events:
        if event["event"] not in ("rekeyed", "rekey_failed"):
            continue
        began = event["t"] - event.get("took_s", 0.0)
        if not begin <= began < begin + len(seconds):
            continue
        seconds[int(began - begin)] += 1
        if event["event"] == "rekey_failed":
            failed[event["why"]] += 1
    return Rekeys(drones, interval_s, seconds, dict(failed))


def fleet_counts(line: Mapping[str, Any]) -> EndCounts:
    """The drones' counters as those of engines: what their own sockets dropped, cut or could not send among them."""
    messages, packets = line["messages"], line["packets"]
    stats = {
        "plain_rx_packets": messages["sent"] + messages["unsent"],
        "plain_dropped_kernel": 0,
        "plain_dropped_no_session": messages["unsent"],
        "plain_dropped_too_big": 0,
        "plain_dropped_no_peer": 0,
        "plain_dropped_send": 0,
        "plain_tx_packets": messages["received"],
        "enc_tx_packets": packets["sent"],
        "enc_dropped_send": packets["send_errors"],
        "delivered_datagrams": messages["received"],
    }
    drops = ("malformed", "unknown", "seq_old", "replay", "auth_fail", "decrypt_fail", "standby", "copy", "late")
    totals = {f"drop_{name}": packets["drops"].get(name, 0) for name in drops}
    totals |= {"delivered": packets["delivered"], "control": packets["control"], "drop_yield": 0}
    return EndCounts(stats, totals | {"drop_kernel": packets["kernel_dropped"]})


def goal_s(drones: int) -> float:
    """Until when most drones of a fleet of this size are to be up again."""
    (small, first), (large, last) = _UP_AGAIN_S
    share = (min(max(drones, small), large) - small) / (large - small)
    return first + share * (last - first)


def judge(runs: Sequence[Run]) -> list[str]:
    """Return what is missed, in words."""
    found = []
    for run in runs:
        size = f"{run.steady.drones} drones"
        if run.steady.drones >= FEWEST_FOR_MEMORY and run.steady.drone_kib > KIB_A_DRONE:
            found.append(f"{size}: {run.steady.drone_kib:.1f} KiB a drone at the gcs")
        found += [f"{size}: {problem}" for problem in run.steady.delivery.problems()]
        if run.rekeys:
            found += [f"{size}, rekeys: {problem}" for problem in run.rekeys.problems()]
        for storm in (each for each in run.storms if not each.no_goal):
            lost = sum(storm.lost.values())
            if lost < (storm.drones if storm.kind == KILLED else 1):
                found.append(f"{size}, {storm.kind}: only {lost} lost their sessions")
            if (most := storm.up_again_s(MOST_UP)) > goal_s(storm.drones):
                found.append(f"{size}, {storm.kind}: 95 % up again after {most:.1f} s")
            if (last := storm.up_again_s(1.0)) > LATEST_S:
                found.append(f"{size}, {storm.kind}: the last one up again after {last:.1f} s")
    cost = {run.steady.drones: run.steady.message_us for run in runs}
    if len(cost) > 1 and cost[max(cost)] > (1 + FLAT) * cost[min(cost)]:
        found.append(f"a message costs {cost[max(cost)]:.0f} us with {max(cost)} drones")
    return list(dict.fromkeys(found))


def summary(runs: Sequence[Run], found: Sequence[str], machine: str) -> dict[str, Any]:
    """The figures of the page, ready for JSON."""
    return {"machine": machine, "problems": list(found), "runs": [asdict(run) for run in runs]}
