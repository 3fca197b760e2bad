# SPDX-License-Identifier: Apache-2.0
"""Two readings of counters into what happened between them: one figure per channel. Pure; time is an argument."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan, sqrt
from typing import Any

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.kernel import OF_INTERFACE
from pqc_mav_detect.statuses import AT_THE_TUNNEL, WATCHFUL

PERIOD_S = 0.1
LEAST_S = 0.03
NEVER_S = -1e9
GRACE_S = 10.0  # after a start or a break, what belongs to no session may be the peer's old one
BREAK_S = 1.0  # a silence this long may end a session
STALE_S = 4.0  # link figures older than this say nothing
BASE_S = 5.0  # over which the usual rate of packets is taken
EXPECTED, EXPECTED_LOSSY = 3.2, 8.0  # packets that should have come before a silence counts; on a link that loses some
LOSSY = 0.02
WINDOW_S = 5.0  # of the link's figures
# Losses count beyond what a weak radio does, which loses two in a row on the average, 5 % of all. Each row of missing
# packets is worth what speaks for losses one by one, or for rows of five, against such a radio (the logarithm of how
# much likelier it is, by a straight line), and what came without speaks against both.
SINGLES, SINGLE_LEAST, CAME_SINGLE = 2, -1, 0.035
ROWS, ROW_LEAST, ROW_MOST, CAME_ROW = 3, -1, 4, 0.003
SCALED_FROM, SCALE = 25.0, 0.2  # packets/s; where more come, chance makes larger sums, by this power
WEAK_LOSS, WEAK_SPREAD, DEVIATIONS = 0.055, 0.15, 2.5  # as a share, and how it spreads: variance times packets
CUT_S = 0.25  # such a silence of the other end's window is one loss
MISSED_S, MISSED_SKIPS = 2.5, 2  # a report that is so late while packets are missing, so many times in 4 s
# A busy machine delays what it judges by. A round trip, and a report on its way to this process, pass through so many
# threads, each of which may have waited for a processor as long as this one did at most in so many seconds; a silence
# may be made by both ends and this one.
HOST_S, ROUND_TRIP_WAITS, SILENCE_WAITS = 3.0, 6.0, 4.0
STALL_S = 0.25  # a window this long says that this machine stood still, not the link
# A machine that stands still (so long a window) imitates attacks: both ends repeat handshakes, reports, round trips are
# late, packets overflow, counters are read far apart. For so long afterwards these channels say nothing. What strangers
# must have sent, such as garbage and forgeries, counts as ever. After a shorter stop, or such a wait for a processor,
# it is those that a moment spoils.
STOOD_SPAN_S, STOOD_HOLD_S = 0.5, 10.0
JERK_SPAN_S, JERK_WAIT_S, JERK_HOLD_S = 0.3, 0.1, 3.0
MOMENTARY = ("delay", "unasked", "overflow", "silence")
IMITATED = (
    *("hs_strange", "losses", "long_losses", "loss_here", "loss_there", "loss_beyond", "report_age", "unreported"),
    *MOMENTARY,
)
SILENCE_S: Mapping[str, float] = {"gcs": 0.75, "drone": 0.7}
HEADERS_BYTES = 42  # Ethernet, IPv4 and UDP before the payload that the engine counts
MALFORMED = ("drop_malformed", "drop_unknown")
STRANGE = ("hs_malformed", "hs_unknown", "hs_tag", "hs_gate", "hs_replay", "hs_limit")


@dataclass(frozen=True)
class LinkView:
    """The newest LinkQuality of one drone and side; None = not known."""

    time_s: float
    loss: float | None = None
    delay_ms: float | None = None  # round trip above the least one
    repeated: int = 0  # drop_replay + drop_seq_old
    forged: int = 0  # drop_auth_fail + drop_decrypt_fail
    packets_per_s: float = 0.0
    silence_s: float = 0.0  # the longest time between two packets

    @classmethod
    def of(cls, message: Any, now_s: float) -> "LinkView":
        """What a LinkQuality says, which may be one of a recording."""

        def known(value: float) -> float | None:
            return None if isnan(value) else value

        rtt, least = known(message.rtt_ms), known(message.rtt_min_ms)
        return cls(
            time_s=now_s - (known(message.age_s) or 0.0),
            loss=known(message.loss),
            delay_ms=None if rtt is None or least is None else max(0.0, rtt - least),
            repeated=message.drop_replay + message.drop_seq_old,
            forged=message.drop_auth_fail + message.drop_decrypt_fail,
            packets_per_s=known(message.packets_per_s) or 0.0,
            silence_s=(known(message.longest_silence_ms) or 0.0) / 1e3,
        )


@dataclass(frozen=True)
class Refused:
    """The network with the largest share of what was lately refused at the data port. The address may be forged."""

    network: str  # "203.0.113.0/24"
    share: float  # at least


@dataclass(frozen=True)
class Through:
    """The interface that most of what came in a window came through, the tunnel's own packets among it."""

    interface: str
    share: float


@dataclass(frozen=True)
class Reading:
    """Counters at one time. `totals`: ServerStats; `opened`: of each drone; `kernel`: see kernel.py, may be empty."""

    time_s: float
    totals: Mapping[str, int]
    opened: Mapping[str, int]
    kernel: Mapping[str, int] = field(default_factory=dict)
    local: Mapping[str, LinkView] = field(default_factory=dict)
    peer: Mapping[str, LinkView] = field(default_factory=dict)
    down: frozenset[str] = frozenset()  # drones whose tunnel is down by its own account
    refused: Refused | None = None
    watchful: bool = False  # the other end tells of an attack: there, or on a drone of the same network


@dataclass(frozen=True)
class Window:
    """What happened in `span_s` up to `time_s`: the value of every channel, 0 where nothing is known."""

    time_s: float
    span_s: float
    values: Mapping[str, float]
    silent: Mapping[str, float] = field(default_factory=dict)  # drone -> silence [s], where it counts
    refused: Refused | None = None
    through: Through | None = None  # where the host has several interfaces
    watchful: bool = False

    def weight(self, kind: str) -> float:
        """How much what speaks for an attack of this class counts."""
        return WATCHFUL if self.watchful and kind in AT_THE_TUNNEL else 1.0


@dataclass
class _Drone:
    opened: int
    heard_s: float
    since_s: float  # heard without a break since then
    rate: float = 0.0
    known: bool = False  # heard since the start or since its tunnel went down


class Stops:
    """Remembers when this machine stood still."""

    def __init__(self) -> None:
        self.blinded = False
        self._all_s = self._momentary_s = NEVER_S  # until when these channels say nothing

    def held(self, now_s: float, span_s: float, waited_s: float) -> tuple[str, ...]:
        """The channels that say nothing in a window that ends now. `waited_s`: for a processor, within it."""
        if span_s > STOOD_SPAN_S:
            self._all_s = now_s + STOOD_HOLD_S
        if span_s > JERK_SPAN_S or waited_s > JERK_WAIT_S:
            self._momentary_s = now_s + JERK_HOLD_S
        self.blinded = now_s < self._all_s
        return IMITATED if self.blinded else MOMENTARY if now_s < self._momentary_s else ()


class Windows:
    """Remembers the last reading. `role`: the end it looks from; it may be set later."""

    def __init__(self, role: str = "drone") -> None:
        self.role = role
        self._last: Reading | None = None
        self._drones: dict[str, _Drone] = {}
        self._carry = {"packets": 0, "bytes": 0}
        self._grace_s = NEVER_S
        self._peer: dict[str, LinkView] = {}
        self._skipped_s: list[float] = []  # when packets were missing, lately
        self._stops = Stops()
        self._waits: list[tuple[float, float]] = []  # when, and how long this process waited for a processor [s]

    def update(self, now: Reading) -> Window | None:
        """The window that ends with this reading; None for the first one, and after the proxy started anew."""
        last = self._last
        if last is not None and now.time_s - last.time_s < LEAST_S:
            return None  # messages that waited come together; the next one has what this one had
        self._last = now
        if last is None or self._restarted(last, now):
            self._drones = {name: _Drone(count, now.time_s, now.time_s) for name, count in now.opened.items()}
            self._carry = {"packets": 0, "bytes": 0}
            self._grace_s = now.time_s + GRACE_S
            self._peer = dict(now.peer)
            return None
        span = now.time_s - last.time_s
        values = dict.fromkeys(CHANNELS, 0.0)
        waited = self._host(last, now)
        values["waited"] = waited / span
        silent = self._silences(now, span)
        grown = {name: value - last.totals.get(name, value) for name, value in now.totals.items()}
        garbage = sum(grown.get(name, 0) for name in MALFORMED)
        if now.time_s < self._grace_s:
            garbage -= grown.get("drop_unknown", 0)
        values["opened"] = (grown.get("delivered", 0) + grown.get("control", 0)) / span
        values["received_bytes"] = grown.get("enc_rx_bytes", 0) / span
        values["garbage"] = garbage / span
        doubled = grown.get("doubled", 0)
        values["doubled"] = doubled / span
        values["replayed"] = (grown.get("drop_replay", 0) - doubled + grown.get("drop_seq_old", 0)) / span
        values["forged"] = (grown.get("drop_auth_fail", 0) + grown.get("drop_decrypt_fail", 0)) / span
        values["hs_strange"] = sum(grown.get(name, 0) for name in STRANGE) / span
        values["hs_repeated"] = grown.get("hs_repeated", 0) / span
        self._kernel(last, now, grown, span, values)
        self._losses(now, grown, span, values)
        self._link(now, span, values)
        values["silence"] = max(silent.values(), default=0.0)
        held = self._stops.held(now.time_s, span, waited)
        if held:
            silent = {}
            values.update(dict.fromkeys(held, 0.0))
        through = loudest(last.kernel, now.kernel)
        return Window(now.time_s, span, values, silent, now.refused, through, now.watchful)

    @property
    def blinded(self) -> bool:
        """Whether this machine stood still a short time ago: what that imitates is not judged."""
        return self._stops.blinded

    @staticmethod
    def _restarted(last: Reading, now: Reading) -> bool:
        return any(now.totals.get(name, 0) < value for name, value in last.totals.items())

    def _host(self, last: Reading, now: Reading) -> float:
        """How long this process waited for a processor since the last reading, in seconds."""
        there = "waited_ns" in now.kernel and "waited_ns" in last.kernel
        waited = max(0, now.kernel["waited_ns"] - last.kernel["waited_ns"]) * 1e-9 if there else 0.0
        self._waits = [each for each in self._waits if now.time_s - each[0] <= HOST_S] + [(now.time_s, waited)]
        return waited

    def _waited_most(self) -> float:
        return max((waited for _, waited in self._waits), default=0.0)

    def _silences(self, now: Reading, span: float) -> dict[str, float]:
        found = {}
        for name, count in now.opened.items():
            drone = self._drones.setdefault(name, _Drone(count, now.time_s, now.time_s))
            grown, drone.opened = count - drone.opened, count
            drone.heard_s += max(0.0, span - STALL_S)
            silence = now.time_s - drone.heard_s
            if grown > 0:
                if not drone.known or silence > BREAK_S:
                    self._grace_s = max(self._grace_s, now.time_s + GRACE_S)
                    drone.since_s = now.time_s
                drone.heard_s, drone.known, silence = now.time_s, True, 0.0
            if name in now.down:
                drone.known, drone.rate = False, 0.0
            elif drone.known and silence > BREAK_S:
                self._grace_s = max(self._grace_s, now.time_s + GRACE_S)
            view = now.local.get(name)
            expected = EXPECTED_LOSSY if view is not None and (view.loss or 0.0) > LOSSY else EXPECTED
            if grown > 0 or silence <= 3 * PERIOD_S:
                drone.rate += (grown / span - drone.rate) * min(1.0, span / BASE_S)
            enough_s = SILENCE_S.get(self.role, 0.75) + SILENCE_WAITS * self._waited_most()
            if drone.known and silence >= enough_s and drone.rate * silence >= expected:
                found[name] = silence
        return found

    def _kernel(
        self, last: Reading, now: Reading, grown: Mapping[str, int], span: float, values: dict[str, float]
    ) -> None:
        if "packets" not in now.kernel or "packets" not in last.kernel:
            return

        def more(name: str) -> int:
            return max(0, now.kernel.get(name, 0) - last.kernel.get(name, 0))

        ours = grown.get("enc_rx_datagrams", 0)
        # A socket of the host's own programs may be full of what they send each other.
        lost = min(more("udp_overflow"), more("packets"))
        packets = self._beyond("packets", more("packets") - ours - lost)
        bytes_ = self._beyond("bytes", more("bytes") - grown.get("enc_rx_bytes", 0) - HEADERS_BYTES * ours)
        # What programs of this host send to closed ports of it crosses loopback twice: as the datagram, which nobody
        # takes, and as the kernel's "unreachable", which it sends at any rate here.
        own = min(more("udp_no_port"), more("unreachable"), more("loopback") // 2)
        # Other programs of this host took what the tunnel did not, and what did not come over loopback.
        merged = max(0, more("segments") - more("received"))
        others = max(0, more("taken") + merged - (more("loopback") - 2 * own) - ours)
        values["foreign_packets"] = packets / span
        values["unasked"] = max(0, packets - others) / span
        values["foreign_bytes"] = bytes_ / span
        values["overflow"] = (lost + more("dropped")) / span
        # What else the host sends to itself is in these counters, too: no more came from outside than interfaces saw.
        values["echo"] = min(more("icmp_echo"), packets) / span
        values["no_port"] = min(more("udp_no_port") - own + more("udp_bad"), packets) / span
        values["tcp_strange"] = min(max(0, more("tcp_strange") - more("tcp_failed")), packets) / span

    def _beyond(self, name: str, surplus: int) -> int:
        """Not below 0; kernel and engine are read at different times, so a deficit counts in the next window, too.

        In no later one: a deficit with another cause would hide a slow attack for long.
        """
        found = max(surplus + self._carry[name], 0)
        self._carry[name] = min(surplus, 0)
        return found

    def _losses(self, now: Reading, grown: Mapping[str, int], span: float, values: dict[str, float]) -> None:
        late = grown.get("late", 0)
        skipped, skips = max(0, grown.get("skipped", 0) - late), max(0, grown.get("skips", 0) - late)
        values["skipped"], values["skips"] = skipped / span, skips / span
        usual = sum(drone.rate for drone in self._drones.values())
        values["losses"], values["long_losses"] = losses(skipped, skips, values["opened"] * span, span, usual)
        self._skipped_s = [each for each in self._skipped_s if now.time_s - each <= STALE_S] + [now.time_s] * skips

    def _link(self, now: Reading, span: float, values: dict[str, float]) -> None:
        for views, channel in ((now.local, "loss_here"), (now.peer, "loss_there")):
            for view in views.values():
                if now.time_s - view.time_s <= STALE_S:
                    values[channel] = max(values[channel], view.loss or 0.0)
                    values["loss_beyond"] = max(values["loss_beyond"], _beyond_weak(view))
        for name, view in now.local.items():
            # In a silence the last round trip is all that is known, and says nothing of the path any more.
            if now.time_s - view.time_s <= STALE_S and self._heard(name, now):
                beyond = (view.delay_ms or 0.0) - 1e3 * ROUND_TRIP_WAITS * self._waited_most()
                values["delay"] = max(values["delay"], beyond)
        for name, view in now.peer.items():
            if self._heard(name, now):
                drone = self._drones[name]
                age = now.time_s - max(view.time_s, drone.since_s) - ROUND_TRIP_WAITS * self._waited_most()
                values["report_age"] = max(values["report_age"], age)
                if age > MISSED_S and len(self._skipped_s) >= MISSED_SKIPS:
                    values["unreported"] = max(values["unreported"], age - MISSED_S)
            before = self._peer.get(name)
            self._peer[name] = view
            if now.time_s - view.time_s <= STALE_S:
                values["peer_opened"] += view.packets_per_s
            if before is not None:
                values["peer_replayed"] += max(0, view.repeated - before.repeated) / span
                values["peer_forged"] += max(0, view.forged - before.forged) / span

    def _heard(self, name: str, now: Reading) -> bool:
        """Whether this drone was heard lately."""
        drone = self._drones.get(name)
        return drone is not None and now.time_s - drone.heard_s <= BREAK_S


def losses(skipped: float, skips: float, came: float, span_s: float, usual: float) -> tuple[float, float]:
    """What speaks for losses one by one, and for rows of five, in a window. `usual`: packets/s on the average."""
    scale = span_s * max(1.0, usual / SCALED_FROM) ** SCALE
    single = max(SINGLES * skips - skipped, SINGLE_LEAST * skips) - CAME_SINGLE * came
    row = min(max(skipped - ROWS * skips, ROW_LEAST * skips), ROW_MOST * skips) - CAME_ROW * came
    return single / scale, row / scale


def loudest(last: Mapping[str, int], now: Mapping[str, int]) -> Through | None:
    """Of two readings of the kernel's counters; None where there is one interface, or nothing came."""
    grown = {name: max(0, now[name] - last.get(name, now[name])) for name in now if name.startswith(OF_INTERFACE)}
    whole = sum(grown.values())
    if len(grown) < 2 or not whole:
        return None
    name = max(grown, key=lambda each: grown[each])
    return Through(name.removeprefix(OF_INTERFACE), grown[name] / whole)


def _beyond_weak(view: LinkView) -> float:
    """The share that was lost beyond what a weak radio and one cut explain, where so few packets were to come."""
    loss = view.loss or 0.0
    if view.silence_s > CUT_S:
        loss = max(0.0, loss - view.silence_s / WINDOW_S)
    due = max(1.0, view.packets_per_s * WINDOW_S / max(0.01, 1.0 - loss))
    return max(0.0, loss - WEAK_LOSS - DEVIATIONS * sqrt(WEAK_SPREAD / due))
