# SPDX-License-Identifier: Apache-2.0
"""The conditions of the fault laboratory, as data: what is done to link, ends and clocks, and what must hold.

Times are seconds after the traffic began. `Expect` says what a row is judged by; what holds in every row (nothing
doubled, nothing spoiled, every datagram accounted for) is in verdicts.py.
"""

from dataclasses import dataclass, field
from typing import Any

from clocks import DAY_S

NIGHT = 30.0  # a cut long enough for the peer to be forgotten
SUITES = ("cs-mlkem768-chacha20poly1305-mldsa65", "cs-hqc192-aesgcm-mldsa65", "cs-mlkem1024-ascon128a-falcon1024")
SLOW_TO_SIGN = "cs-mlkem768-aesgcm-sphincs192s"


@dataclass(frozen=True)
class Event:
    """Something that happens at a time. `heals` marks the one that ends a disturbance: recovery is counted from it."""

    at_s: float
    do: str  # impair, restart, kill, move, rebind, step_clock, attack, stop_attack
    arguments: dict[str, Any] = field(default_factory=dict)
    heals: bool = False


@dataclass(frozen=True)
class Rekey:
    """A rekey, asked for on the drone; one that may fail must still leave the link up.

    `attempts`: how often it is asked for until it succeeds, as an operator or a policy would on a bad link.
    `suite`: the one to change to; "" takes the next of the list.
    """

    at_s: float
    must_succeed: bool = True
    attempts: int = 1
    suite: str = ""


@dataclass(frozen=True)
class Expect:
    """The limits by which the row is judged.

    Attributes:
        loss: share of frames the link loses; what arrives must lie within the binomial bounds (0: nothing is lost).
        lost_at_most: messages that may be lost both ways together; None = judged by `loss` or not at all.
        recover_s: longest time from the healing event until messages flow both ways.
        delivered_per_s: least messages a second that must arrive each way.
        roams: address changes the gcs must notice, exactly; None = does not matter.
        accounted: every lost message must be found in a counter.
        drops: least count of some drop counters, both ends together: the attack must have been felt.
    """

    loss: float | None = 0.0
    lost_at_most: int | None = None
    recover_s: float | None = None
    delivered_per_s: float | None = None
    roams: int | None = 0
    accounted: bool = True
    drops: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Condition:
    """One row of the table."""

    name: str
    title: str
    impair: dict[str, Any] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    rekeys: tuple[Rekey, ...] = (Rekey(3.5),)
    seconds: float = 7.0
    rate: float = 320.0
    mtu: int = 1500
    nat: bool = False
    steppable: tuple[str, ...] = ()  # ends whose wall clock is stepped
    monotonic_ahead: dict[str, int] = field(default_factory=dict)  # seconds, by end
    bundle_size: int = 1200
    connect_s: float = 20.0
    expect: Expect = Expect()


def _loss(percent: int) -> Condition:
    share = percent / 100
    return Condition(
        f"loss-{percent}",
        f"{percent} % loss",
        {"loss": share},
        rekeys=(Rekey(3.5, attempts=4 if percent else 1),),
        expect=Expect(loss=share),
        connect_s=60,
    )


def _delay(ms: int) -> Condition:
    rules = {"delay_ms": ms, "jitter_ms": ms / 5, "keep_order": False}
    return Condition(f"delay-{ms}", f"{ms} ms +- {ms // 5} ms each way", rules)


def _cut(seconds: float) -> Condition:
    begin, end = 2.0, 2.0 + seconds
    return Condition(
        f"cut-{seconds:g}",
        f"link cut for {seconds:g} s",
        events=(Event(begin, "impair", {"down": True}), Event(end, "impair", {"down": False}, heals=True)),
        rekeys=(Rekey(begin + 0.3, must_succeed=False), Rekey(end + 8.0 if seconds > 4 else end + 3.0)),
        seconds=end + (10.0 if seconds > 4 else 5.0),
        expect=Expect(loss=None, recover_s=1.0),
    )


def _restart(end: str, recover_s: float, seconds: float) -> Condition:
    return Condition(
        f"{end}-kill",
        f"{end} killed -9, started again 0.5 s later",
        events=(Event(2.0, "kill", {"end": end}), Event(2.5, "restart", {"end": end}, heals=True)),
        rekeys=(Rekey(seconds - 2.0),),
        seconds=seconds,
        expect=Expect(loss=None, recover_s=recover_s, accounted=False, roams=None),
    )


def _clock(end: str, days: int) -> Condition:
    return Condition(
        f"clock-{end}{days:+d}d",
        f"{end}'s wall clock {days:+d} day in mid-flight",
        events=(Event(2.5, "step_clock", {"end": end, "seconds": days * DAY_S}, heals=True),),
        steppable=(end,),
        expect=Expect(recover_s=0.5),
    )


def _attack(name: str, title: str, mode: str, rate: float, drops: dict[str, int], listen: bool = False) -> Condition:
    return Condition(
        f"attack-{name}",
        title,
        events=(
            Event(1.0, "attack", {"mode": mode, "rate": rate, "listen": listen}),
            Event(7.0, "stop_attack"),
        ),
        rekeys=(Rekey(2.5), Rekey(5.0)),
        seconds=8.0,
        expect=Expect(drops=drops),
    )


RATE_BIT_S = 64_000
STORM = (
    ("random_flood", 2000, False), ("replay", 800, True), ("handshake_flood", 500, False), ("false_hellos", 300, False),
)  # fmt: skip
CONDITIONS: tuple[Condition, ...] = (
    *(_loss(percent) for percent in (0, 1, 5, 10, 20, 30)),
    Condition(
        "burst-10",
        "10 % loss in bursts of 10",
        # once messages flow: without frames a burst that is counted in frames would never end
        events=(Event(0.2, "impair", {"loss": 0.1, "burst": 10}),),
        rekeys=(Rekey(3.5, attempts=4),),
        expect=Expect(loss=None),
    ),
    *(_delay(ms) for ms in (50, 150, 300)),
    Condition("reorder", "25 % held back 30 ms", {"reorder": 0.25, "reorder_ms": 30}),
    Condition("duplicate", "20 % doubled", {"duplicate": 0.2}, expect=Expect(drops={"drop_replay": 500})),
    Condition(
        "rate-64k",
        "64 kbit/s, messages that fit",
        {"rate_bit_s": RATE_BIT_S, "queue_bytes": 16_000},
        rate=25,
        bundle_size=280,
        seconds=10.0,
    ),
    Condition(
        "rate-64k-over",
        "64 kbit/s, three times too many",
        {"rate_bit_s": RATE_BIT_S, "queue_bytes": 4_000},
        rekeys=(Rekey(3.5, must_succeed=False),),
        seconds=12.0,
        expect=Expect(loss=None, delivered_per_s=20),
        connect_s=60,
    ),
    *(_cut(seconds) for seconds in (1.0, 5.0, NIGHT)),
    Condition(
        "roam",
        "the drone's address changes",
        events=(Event(2.5, "move", heals=True),),
        rekeys=(Rekey(4.0),),
        expect=Expect(loss=None, lost_at_most=6, recover_s=0.5, roams=1, accounted=False),
    ),
    Condition(
        "nat-rebind",
        "the drone's NAT forgets it",
        events=(Event(2.5, "rebind", heals=True),),
        rekeys=(Rekey(4.0),),
        nat=True,
        expect=Expect(loss=None, lost_at_most=6, recover_s=0.5, roams=1),
    ),
    *(Condition(f"mtu-{mtu}", f"MTU {mtu}", mtu=mtu, bundle_size=1432) for mtu in (576, 1280, 1500)),
    _restart("gcs", 4.0, 10.0),
    _restart("drone", 3.0, 8.0),
    Condition(
        "gcs-kill-dark",
        "gcs killed -9 amid a rekey, unseen behind a cut link",
        # While the gcs signs, the drone waits without a packet of its own that could be refused.
        events=(
            Event(2.3, "impair", {"down": True}),
            Event(2.35, "kill", {"end": "gcs"}),
            Event(2.8, "restart", {"end": "gcs"}),
            Event(4.0, "impair", {"down": False}, heals=True),
        ),
        rekeys=(Rekey(2.0, must_succeed=False, suite=SLOW_TO_SIGN), Rekey(16.0)),
        seconds=18.0,
        expect=Expect(loss=None, recover_s=9.0, accounted=False, roams=None),
    ),
    *(_clock(end, days) for end in ("drone", "gcs") for days in (1, -1)),
    Condition("clock-monotonic", "the drone's monotonic clock is a day ahead", monotonic_ahead={"drone": DAY_S}),
    _attack("flood", "4,000 random packets/s", "random_flood", 4000, {"drop_malformed": 5000}),
    _attack("replay", "1,500 captured packets/s again", "replay", 1500, {"drop_replay": 1000}, listen=True),
    _attack("forge", "1,500 packets/s with high sequences", "forge", 1500, {"drop_auth_fail": 1000}, listen=True),
    _attack("handshakes", "2,000 random handshake datagrams/s", "handshake_flood", 2000, {"hs_malformed": 2500}),
    _attack("hellos", "1,000 false hellos/s from 64 addresses", "false_hellos", 1000, {"hs_tag": 2000}),
    _attack("hello-replay", "500 captured hellos/s again", "replay_hellos", 500, {"hs_replay": 150}, listen=True),
    Condition(
        "attack-rekeys",
        "flood, replay, random handshakes, false hellos at once, 12 rekeys",
        events=(
            *(Event(1.0, "attack", {"mode": mode, "rate": rate, "listen": ears}) for mode, rate, ears in STORM),
            Event(8.5, "stop_attack"),
        ),
        rekeys=tuple(Rekey(2.0 + 0.5 * i) for i in range(12)),
        seconds=9.5,
        expect=Expect(drops={"drop_malformed": 2500, "drop_replay": 500, "hs_malformed": 500, "hs_tag": 300}),
    ),
)
QUICK = ("loss-0", "loss-30", "delay-150", "cut-5", "nat-rebind", "drone-kill", "attack-replay")


def select(names: str = "", quick: bool = False) -> list[Condition]:
    """Return the conditions of a comma-separated list (a prefix such as `loss` takes all that begin so), or all.

    Raises ValueError, naming what there is, for an unknown name.
    """
    if not names:
        return [each for each in CONDITIONS if not quick or each.name in QUICK]
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if not any(_matches(each.name, name) for each in CONDITIONS):
            raise ValueError(f"no condition '{name}'; there are: {', '.join(each.name for each in CONDITIONS)}")
    return [each for each in CONDITIONS if any(_matches(each.name, name) for name in wanted)]


def _matches(name: str, wanted: str) -> bool:
    return name == wanted or name.startswith((wanted + "-", wanted + "+"))
