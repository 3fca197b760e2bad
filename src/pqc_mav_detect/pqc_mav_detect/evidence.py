# SPDX-License-Identifier: Apache-2.0
"""What was seen in a channel, in words. Pure."""

from collections.abc import Iterable

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.features import Features
from pqc_mav_detect.window import Refused, Through, Window

# A network that sends packets twice looks like a replay. At the own end those that come again at once are left out
# (channel `doubled`); of the other end only the sum is known. Up to this share of the traffic, and below so many
# packets in 5 s, the rest is only suspected.
TOLD_APART = ("replayed",)
AT_THE_PORT = (
    "garbage",
    "replayed",
    "forged",
    "hs_strange",
)  # what this end refused itself, so that it knows from whom
# What came to the host, which may have several interfaces.
AT_THE_HOST = ("foreign_bytes", "unasked", "echo", "no_port", "tcp_strange", "overflow")
DOUBLED, DOUBLED_S = 0.05, 1.0
FEW, FEW_S = 8.0, 5.0
_PLACE = "; "
_PRECISE = 10.0
_AT_ONCE = 20.0


def described(features: Features, name: str, window: Window) -> str:
    """A channel's figure as evidence, with the network or the interface that stands out."""
    channel = CHANNELS[name]
    if channel.unit == "fraction":
        rate = f"{100 * features.most(name, 0.5):.0f} %"
    elif channel.unit in ("ms", "s"):
        rate = f"{features.most(name, 0.5):.0f}"
    else:
        mean = features.mean(name, 0.5)
        mean = mean if mean >= _AT_ONCE else max(0.0, features.mean(name, 5.0))
        rate = f"{mean:,.0f}" if mean >= _PRECISE else f"{mean:.1f}"
    return channel.words.format(rate=rate) + _where(name, window.refused, window.through)


def _where(name: str, refused: Refused | None, through: Through | None) -> str:
    # Both count whatever is refused or comes in; an attack seldom leaves anything else to speak of.
    if refused is not None and name in AT_THE_PORT:
        return f"{_PLACE}{100 * refused.share:.0f} % of all that is refused comes from {refused.network}"
    if through is not None and name in AT_THE_HOST:
        return f"{_PLACE}{100 * through.share:.0f} % of all packets come in through {through.interface}"
    return ""


def said_once(evidence: Iterable[str]) -> tuple[str, ...]:
    """The same words, but a place, network or interface, only where it is named first."""
    named: set[str] = set()
    kept = []
    for words in evidence:
        what, _, where = words.partition(_PLACE)
        kept.append(what if where in named else words)
        named.add(where)
    return tuple(kept)


def as_many_as_doubles(features: Features, channel: str) -> bool:
    """Whether a network that doubles packets explains what was replayed (channel `replayed` or `peer_replayed`)."""
    traffic = "peer_opened" if channel.startswith("peer_") else "opened"
    few = features.mean(channel, FEW_S) * FEW_S < FEW
    return few or features.mean(channel, DOUBLED_S) <= DOUBLED * features.mean(traffic, DOUBLED_S)
