# SPDX-License-Identifier: Apache-2.0
"""Where the messages of many tunnels went: stage by stage from application to application, each loss with its counter.

A message passes five stages: the application's socket, this end's plaintext socket, the data sockets, the other end's
delivery, and the socket of the application there. What goes in and comes out of each is counted by whoever does it; the
difference must be what a counter names. `unexplained` is the rest, and is 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

RECEIVED_DROPS = (
    *("drop_malformed", "drop_unknown", "drop_seq_old", "drop_replay", "drop_auth_fail", "drop_decrypt_fail"),
    *("drop_standby", "drop_copy", "drop_late"),
)


def backlog_drops(file: Path = Path("/proc/net/softnet_stat")) -> int:
    """What all processors of this machine dropped because packets came faster than they were looked at."""
    return sum(int(line.split()[1], 16) for line in file.read_text(encoding="ascii").splitlines())


@dataclass(frozen=True)
class EndCounts:
    """Counters of the engines at one end, summed: `stats` per tunnel, `totals` per process."""

    stats: Mapping[str, int]
    totals: Mapping[str, int]


def summed(stats: Sequence[Mapping[str, object]], totals: Sequence[Mapping[str, int]]) -> EndCounts:
    """One end's engines as one."""

    def together(all_of_them: Sequence[Mapping[str, object]]) -> dict[str, int]:
        out: dict[str, int] = {}
        for each in all_of_them:
            for name, value in each.items():
                if isinstance(value, int):
                    out[name] = out.get(name, 0) + value
        return out

    return EndCounts(together(stats), together(totals))


@dataclass(frozen=True)
class Way:
    """What the applications saw of one direction."""

    sent: int
    send_errors: int
    received: int  # with what came twice
    kernel_dropped: int  # at the sockets of the receiving applications


@dataclass
class Account:
    """Losses of one direction by the counter that names them."""

    lost: int
    by: dict[str, int] = field(default_factory=dict)
    unexplained: int = 0


def account(way: Way, sender: EndCounts, receiver: EndCounts) -> Account:
    """Follow a direction through its stages."""
    out = Account(way.sent - way.received)
    a, b = sender.stats, receiver.stats
    rest = 0

    def stage(went_in: int, came_out: int, **named: int) -> None:
        nonlocal rest
        for name, count in named.items():
            if count:
                out.by[name] = out.by.get(name, 0) + count
        rest += abs(went_in - came_out - sum(named.values()))

    stage(way.sent, a["plain_rx_packets"], send_errors=way.send_errors, plain_kernel=a["plain_dropped_kernel"])
    refused = {
        "no_session": a["plain_dropped_no_session"],
        "too_big": a["plain_dropped_too_big"],
        "yield": sender.totals["drop_yield"],
        "enc_send": a["enc_dropped_send"],
    }
    missing = a["plain_rx_packets"] - sum(refused.values()) - b["delivered_datagrams"]
    named = {}
    for name in RECEIVED_DROPS:  # control frames may be among them: they explain no more than is missing
        named[name] = max(0, min(receiver.totals[name], missing))
        missing -= named[name]
    named["data_kernel"] = in_the_air(missing, sender, receiver)
    stage(a["plain_rx_packets"], b["delivered_datagrams"], **refused, **named)
    stage(
        b["delivered_datagrams"],
        b["plain_tx_packets"],
        no_peer=b["plain_dropped_no_peer"],
        plain_send=b["plain_dropped_send"],
    )
    stage(b["plain_tx_packets"], way.received, application_kernel=way.kernel_dropped)
    out.unexplained = rest
    return out


def in_the_air(missing: int, sender: EndCounts, receiver: EndCounts) -> int:
    """How many of the missing messages were lost between the data sockets: by both ends' counters, and the kernel's."""
    took = receiver.totals["delivered"] + receiver.totals["control"] + sum(receiver.totals[n] for n in RECEIVED_DROPS)
    lost = sender.stats["enc_tx_packets"] - took  # control frames among them
    return max(0, min(missing, lost, receiver.totals["drop_kernel"]))
