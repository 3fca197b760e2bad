# SPDX-License-Identifier: Apache-2.0
"""Messages of the proxy into readings, and verdicts into ThreatReport: pure functions."""

from collections.abc import Callable

from builtin_interfaces.msg import Time
from pqc_mav_interfaces.msg import ServerStats, ThreatReport
from std_msgs.msg import Header

from pqc_mav_detect.detector import Verdict
from pqc_mav_detect.window import PERIOD_S, Refused

# Every counter of the message that says what became of datagrams.
COUNTERS = tuple(name for name, kind in ServerStats.get_fields_and_field_types().items() if kind == "uint64")


def totals(message: ServerStats) -> dict[str, int]:
    """The counters by name."""
    return {name: getattr(message, name) for name in COUNTERS}


def opened(message: ServerStats) -> dict[str, int]:
    """Packets that verified, of each drone."""
    return dict(zip(message.drone_ids, message.opened, strict=False))


def refused(message: ServerStats) -> Refused | None:
    """The network that stands out among what was refused."""
    return Refused(message.refused_network, message.refused_share) if message.refused_network else None


def report(verdict: Verdict, source: str, header: Header, stamp: Callable[[float], Time]) -> ThreatReport:
    """What is published. `stamp` makes a time of the node's clock out of one of the windows'."""
    return ThreatReport(
        header=header,
        source=source,
        level=int(verdict.level),
        probability=verdict.probability,
        kind=verdict.kind,
        window_s=PERIOD_S,
        reason=verdict.reason,
        confidence=verdict.confidence,
        evidence=list(verdict.evidence),
        first_seen=Time() if verdict.first_seen_s is None else stamp(verdict.first_seen_s),
        response=verdict.response,
    )
