# SPDX-License-Identifier: Apache-2.0
"""What a detector sees, one row per figure: unit, source, meaning."""

from collections.abc import Mapping
from dataclasses import dataclass

from pqc_mav_detect import classes

PER_S = "1/s"
CHANGE_S = 1.0  # while a drone changes its address, some packets take the old path


@dataclass(frozen=True)
class Channel:
    """One figure. A detector's sum grows by what lies above an allowance, and speaks at a limit.

    `allowance` and `limit` (allowance times seconds) are the least that learning may choose, whatever was normal.
    """

    name: str
    unit: str
    source: str
    meaning: str
    kind: str = ""  # the class it speaks for; "" = context only
    allowance: float = 0.0
    limit: float = 0.0
    words: str = ""  # how evidence calls it, with {rate}
    lasts_s: float = 0.0  # what is over sooner does not speak


_ALL = (
    Channel("opened", PER_S, "ServerStats", "packets that verified: delivered and control frames"),
    Channel("received_bytes", "B/s", "ServerStats", "bytes at the data port, UDP payload"),
    Channel(
        "garbage",
        PER_S,
        "ServerStats",
        "datagrams at the data port that are malformed or belong to no session",
        classes.FLOOD,
        0.5,
        6.0,
        "{rate} datagrams/s that are malformed or of no session",
    ),
    Channel(
        "replayed",
        PER_S,
        "ServerStats",
        "packets of a session that came more than 0.1-0.2 s before, or are older than the replay window",
        classes.REPLAY,
        0.3,
        4.0,
        "{rate} repeated packets/s of a session",
    ),
    Channel(
        "forged",
        PER_S,
        "ServerStats",
        "packets with the header of a session that do not verify",
        classes.FORGERY,
        0.2,
        3.0,
        "{rate} packets/s with a session's header that do not verify",
    ),
    Channel(
        "hs_strange",
        PER_S,
        "ServerStats",
        "handshake datagrams that are malformed, of no attempt, without a good gate or tag, old, or over a limit",
        classes.HANDSHAKE_FLOOD,
        0.5,
        6.0,
        "{rate} handshake datagrams/s that lead nowhere",
    ),
    Channel(
        "hs_repeated",
        PER_S,
        "ServerStats",
        "handshake datagrams that verified and said nothing new: sent again, or kept and sent by somebody else",
    ),
    Channel(
        "foreign_packets",
        PER_S,
        "/proc/net/dev",
        "packets received on all interfaces but loopback, less the tunnel's own",
    ),
    Channel(
        "foreign_bytes",
        "B/s",
        "/proc/net/dev",
        "bytes received on all interfaces but loopback, less the tunnel's own and their headers",
    ),
    Channel(
        "unasked",
        PER_S,
        "/proc/net/dev, snmp",
        "of foreign_packets, those that no program of this host took: no TCP segments, no datagrams to its sockets",
        classes.VOLUMETRIC,
        50.0,
        100.0,
        "{rate} packets/s that nobody here asked for",
    ),
    Channel(
        "echo",
        PER_S,
        "/proc/net/snmp",
        "ICMP echo requests",
        classes.VOLUMETRIC,
        1.2,
        4.0,
        "{rate} pings/s",
    ),
    Channel(
        "no_port",
        PER_S,
        "/proc/net/snmp",
        "UDP datagrams from outside to ports where nobody listens, or damaged ones, at most as many as foreign packets",
        classes.VOLUMETRIC,
        0.8,
        4.0,
        "{rate} datagrams/s to closed UDP ports",
    ),
    Channel(
        "tcp_strange",
        PER_S,
        "/proc/net/snmp, netstat",
        "TCP resets sent, half-open connections given up, SYN cookies, at most as many as foreign packets",
        classes.VOLUMETRIC,
        0.8,
        4.0,
        "{rate} TCP connections/s that lead nowhere",
    ),
    Channel(
        "overflow",
        PER_S,
        "/proc/net/snmp, dev",
        "datagrams the kernel dropped because a socket or an interface was full, at most as many as came from outside",
        classes.VOLUMETRIC,
        5.0,
        50.0,
        "{rate} datagrams/s dropped by the kernel",
    ),
    Channel("doubled", PER_S, "ServerStats", "packets of a session that came in the last 0.1-0.2 s, too"),
    Channel("skipped", PER_S, "ServerStats", "packets missing when a later one came, less those that came late"),
    Channel("skips", PER_S, "ServerStats", "how often that was so, less packets that came late"),
    Channel(
        "losses",
        PER_S,
        "ServerStats",
        "of each row of missing packets, 2 less its length, at least -1, less 3.5 % of the packets that came",
        classes.ON_PATH,
        0.01,
        2.8,
        "packets lost one by one, as a weak radio does not lose them (evidence {rate}/s)",
        CHANGE_S,
    ),
    Channel(
        "long_losses",
        PER_S,
        "ServerStats",
        "of each row of missing packets, its length less 3, -1 to 4, less 0.3 % of the packets that came",
        classes.ON_PATH,
        0.01,
        4.8,
        "packets lost in longer rows than those of a weak radio (evidence {rate}/s)",
        CHANGE_S,
    ),
    Channel("peer_opened", PER_S, "LinkQuality, peer", "as opened, at the other end, over 5 s"),
    Channel(
        "peer_replayed",
        PER_S,
        "LinkQuality, peer",
        "as replayed, at the other end (its LINK_REPORT, once a second)",
        classes.REPLAY,
        0.3,
        4.0,
        "{rate} repeated packets/s at the other end",
    ),
    Channel(
        "peer_forged",
        PER_S,
        "LinkQuality, peer",
        "as forged, at the other end (its LINK_REPORT, once a second)",
        classes.FORGERY,
        0.2,
        3.0,
        "{rate} packets/s that do not verify at the other end",
    ),
    Channel("loss_here", "fraction", "LinkQuality, local", "packets lost on the way here, over 5 s"),
    Channel("loss_there", "fraction", "LinkQuality, peer", "packets lost on the way to the other end, over 5 s"),
    Channel(
        "loss_beyond",
        "fraction",
        "LinkQuality",
        "the larger of the two, less its longest silence, and less what a weak radio loses of so many packets",
        classes.ON_PATH,
        0.005,
        0.025,
        "{rate} of the packets lost beyond what a weak radio loses",
    ),
    Channel(
        "delay",
        "ms",
        "LinkQuality, local",
        "round trip above the least one of this session, less six times the longest wait of 3 s (`waited`)",
        classes.ON_PATH,
        60.0,
        60.0,
        "{rate} ms more delay than this path can do",
    ),
    Channel(
        "waited",
        "fraction",
        "/proc/self/schedstat",
        "of the time, how long the detector's process was ready to run and had no processor",
    ),
    Channel(
        "report_age",
        "s",
        "LinkQuality, peer",
        "age of the other end's newest LINK_REPORT, which comes once a second",
        classes.ON_PATH,
        3.0,
        3.0,
        "no report of the other end for {rate} s",
    ),
    Channel(
        "unreported",
        "s",
        "LinkQuality, peer; ServerStats",
        "what report_age has above 2.5 s, while packets are missing",
        classes.ON_PATH,
        0.01,
        0.3,
        "packets are missing, and all reports of the other end for {rate} s more than one may take",
    ),
    Channel(
        "silence",
        "s",
        "ServerStats",
        "time since the last packet of a drone that was heard, where more than a packet was to be expected",
        classes.BLACKOUT,
    ),
)
CHANNELS: Mapping[str, Channel] = {channel.name: channel for channel in _ALL}
SUMMED = tuple(channel.name for channel in _ALL if channel.limit > 0)
