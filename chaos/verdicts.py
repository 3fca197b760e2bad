# SPDX-License-Identifier: Apache-2.0
"""What a condition's run showed, and whether that is what was expected. Pure."""

import math
from dataclasses import dataclass, field
from typing import Any

from accounting import RECEIVED_DROPS
from conditions import Condition

from pqc_mav_bench.json_text import counted

PLAIN_DROPS = (
    "plain_dropped_no_session", "plain_dropped_no_peer", "plain_dropped_too_big", "plain_dropped_send",
    "enc_dropped_send", "shape_replaced", "shape_dropped",
)  # fmt: skip
# What becomes of a handshake datagram; the first two are those of honest ends, the others show in the table.
HANDSHAKE_OUTCOMES = (
    "hs_taken", "hs_repeated", "hs_malformed", "hs_unknown", "hs_tag", "hs_gate", "hs_replay", "hs_limit",
)  # fmt: skip
HANDSHAKE_COUNTS = (*HANDSHAKE_OUTCOMES[2:], "hs_retried", "hs_busy", "hs_failed", "other_version")
_SIGMAS = 4.5  # one false alarm in about 150,000 rows
_RSS_GROWTH_KIB = 8192


@dataclass
class Way:
    """One direction's figures; `lost_on_link` and `lost_at_ends` are lost messages found in a counter."""

    sent: int = 0
    delivered: int = 0
    duplicated: int = 0
    reordered: int = 0
    longest_gap_ms: float = 0.0
    lost_on_link: int | None = None
    lost_at_ends: int = 0
    recovery_s: float | None = None

    @property
    def lost(self) -> int:
        """Messages that never arrived."""
        return self.sent - self.delivered


@dataclass
class RekeyResult:
    """What one rekey answered at its last attempt, and how long it took from the first."""

    ok: bool
    must_succeed: bool
    ms: float
    message: str
    attempts: int = 1


@dataclass
class Observation:
    """Everything one run measured. Counters are those of each end's newest process; memory in KiB."""

    connect_ms: float = 0.0
    ways: dict[str, Way] = field(default_factory=dict)
    corrupted: int = 0
    misdelivered: int = 0
    rekeys: list[RekeyResult] = field(default_factory=list)
    totals: dict[str, dict[str, int]] = field(default_factory=dict)
    stats: dict[str, dict[str, float]] = field(default_factory=dict)
    rss_before_kib: dict[str, int] = field(default_factory=dict)
    rss_after_kib: dict[str, int] = field(default_factory=dict)
    attack: dict[str, int] = field(default_factory=dict)
    clock_steps_s: dict[str, float] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    late_sends: int = 0
    killed: tuple[str, ...] = ()

    @property
    def drops(self) -> dict[str, int]:
        """Drop and handshake counters that are not zero, both ends together."""
        names = (*RECEIVED_DROPS, *PLAIN_DROPS, *HANDSHAKE_COUNTS)
        sums = dict.fromkeys(names, 0)
        for source in (self.totals, self.stats):
            for counts in source.values():
                for name in names:
                    # per-drone drops are in the totals already
                    if name in counts and not (source is self.stats and name in RECEIVED_DROPS):
                        sums[name] += int(counts[name])
        return {name: count for name, count in sums.items() if count}


def binomial_bounds(trials: int, share: float) -> tuple[int, int]:
    """Return the least and most successes of `trials` with probability `share` that 4.5 deviations allow."""
    mean = trials * share
    width = _SIGMAS * math.sqrt(max(trials * share * (1 - share), 0.0)) + (1 if 0 < share < 1 else 0)
    return max(0, math.floor(mean - width)), min(trials, math.ceil(mean + width))


def problems(condition: Condition, seen: Observation) -> list[str]:
    """Return what was not as expected, in words; empty when the row passes."""
    expect = condition.expect
    found: list[str] = []
    for name, way in seen.ways.items():
        found += _way_problems(condition, name, way)
    lost = sum(way.lost for way in seen.ways.values())
    if expect.lost_at_most is not None and lost > expect.lost_at_most:
        found.append(f"{lost} messages lost, at most {expect.lost_at_most} may be")
    if seen.corrupted or seen.misdelivered:
        found.append(f"{seen.corrupted} spoiled and {seen.misdelivered} misdelivered messages")
    for number, rekey in enumerate(seen.rekeys, start=1):
        if rekey.must_succeed and not rekey.ok:
            found.append(f"rekey {number} failed: {rekey.message}")
    if len(seen.rekeys) != len(condition.rekeys):
        found.append(f"{len(seen.rekeys)} of {len(condition.rekeys)} rekeys were answered")
    for end, state in seen.states.items():
        if state != "UP":
            found.append(f"{end} is {state} at the end")
    found += _counter_problems(condition, seen)
    for end, before in seen.rss_before_kib.items():
        after = seen.rss_after_kib.get(end, before)
        if end not in seen.killed and after - before > _RSS_GROWTH_KIB:
            found.append(f"{end} grew from {before} to {after} KiB")
    return found


def _way_problems(condition: Condition, name: str, way: Way) -> list[str]:
    expect = condition.expect
    found = []
    if way.sent == 0:
        found.append(f"nothing was sent {name}")
    if way.duplicated:
        found.append(f"{way.duplicated} messages arrived twice {name}")
    if expect.loss is not None:
        least, most = binomial_bounds(way.sent, 1 - expect.loss)
        if not least <= way.delivered <= most:
            found.append(f"{way.delivered} of {way.sent} delivered {name}, expected {least} to {most}")
    if expect.delivered_per_s is not None and way.delivered < expect.delivered_per_s * condition.seconds:
        found.append(f"only {way.delivered / condition.seconds:.0f} messages/s delivered {name}")
    if expect.recover_s is not None and (way.recovery_s is None or way.recovery_s > expect.recover_s):
        took = "never" if way.recovery_s is None else f"after {way.recovery_s:.2f} s"
        found.append(f"messages flow again {name} {took}, limit {expect.recover_s:g} s")
    unexplained = unexplained_losses(way)
    if expect.accounted and unexplained:
        found.append(f"{unexplained} messages vanished {name} without a counter")
    return found


def unexplained_losses(way: Way) -> int:
    """Messages that neither arrived nor show in a counter; 0 where the link keeps no counters."""
    if way.lost_on_link is None:
        return 0
    return max(0, way.lost - way.lost_on_link - way.lost_at_ends)


def accounted_for(totals: dict[str, int]) -> int:
    """Datagrams that a process' counters account for: all it received, at any moment of rest."""
    return (
        totals["delivered"] + totals["control"] + sum(totals[name] for name in (*RECEIVED_DROPS, *HANDSHAKE_OUTCOMES))
    )


def _counter_problems(condition: Condition, seen: Observation) -> list[str]:
    expect = condition.expect
    found = []
    for end, totals in seen.totals.items():
        whole = accounted_for(totals)
        if totals["enc_rx_datagrams"] != whole:
            found.append(f"{end} received {totals['enc_rx_datagrams']} datagrams and accounts for {whole}")
    for name, least in expect.drops.items():
        count = seen.drops.get(name, 0)
        if count < least:
            found.append(f"{name} is {count}, at least {least} were expected: the test did not bite")
    roams = int(seen.stats.get("gcs", {}).get("roams", 0))
    if expect.roams is not None and roams != expect.roams:
        found.append(f"the gcs followed {roams} address changes, expected {expect.roams}")
    if any(event.do == "attack" for event in condition.events) and not sum(seen.attack.values()):
        found.append("the attack did nothing")
    for event in condition.events:
        if event.do == "step_clock":
            wanted, got = event.arguments["seconds"], seen.clock_steps_s.get(event.arguments["end"], 0.0)
            if abs(got - wanted) > 60:
                found.append(f"the {event.arguments['end']}'s clock went {got:.0f} s, not {wanted:.0f} s")
    return found


def to_dict(condition: Condition, seen: Observation, found: list[str]) -> dict[str, Any]:
    """The row as JSON. A counter that is not named is 0."""
    ways = {
        name: {**vars(way), "lost": way.lost, "unexplained": unexplained_losses(way)} for name, way in seen.ways.items()
    }
    plain = {key: value for key, value in vars(seen).items() if key not in ("ways", "rekeys", "stats")}
    plain["totals"] = counted(seen.totals)
    rekeys = [vars(each) for each in seen.rekeys]
    return {
        "name": condition.name,
        "title": condition.title,
        "problems": found,
        "ways": ways,
        "rekeys": rekeys,
        **plain,
        "drops": seen.drops,
    }
