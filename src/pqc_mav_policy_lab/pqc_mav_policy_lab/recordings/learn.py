# SPDX-License-Identifier: Apache-2.0
"""What recorded flights say about the cost of suites: the table that the strategies measured and expert go by.

Handshakes as the drone's proxy reported them; the computer's power and the link's loss while a suite was in use. Power
that a model computed from the load is left out: a strategy would take it for a measurement. Suites that differ in the
cipher alone make the same handshake, so theirs are taken together.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any

from pqc_mav_policy.strategies.expert.performance import Performance, PerformanceTable
from pqc_mav_policy.strategies.measured.costs import cost_model
from pqc_mav_policy.strategies.measured.parameters import MeasuredParameters
from pqc_mav_policy.suites import Catalogue
from pqc_mav_recorder.file import RecordingError
from pqc_mav_recorder.reader import RecordingReader

_INTERFACES = "pqc_mav_interfaces/msg/"
HANDSHAKE, STATUS, POWER, LINK = (
    f"{_INTERFACES}{name}" for name in ("HandshakeReport", "TunnelStatus", "PowerSample", "LinkQuality")
)


@dataclass
class Figures:
    """What was heard about one suite; its handshakes by the number of the flight."""

    flights_ms: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    powers_w: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)

    @property
    def handshakes(self) -> int:
        """How many there were."""
        return sum(map(len, self.flights_ms.values()))


def listen(paths: Iterable[Path], namespace: str) -> dict[str, Figures]:
    """Figures by suite over all flights. Raises RecordingError, also where no handshake was recorded."""
    found: dict[str, Figures] = defaultdict(Figures)
    prefix = f"/{namespace.strip('/')}/"
    for flight, path in enumerate(paths):
        reader = RecordingReader(path)
        suite = ""
        for message in reader.messages():
            kind = message.topic.type_name
            if not message.topic.name.startswith(prefix) or kind not in (HANDSHAKE, STATUS, POWER, LINK):
                continue
            decoded: Any = reader.decode(message)
            if kind == STATUS:
                suite = decoded.suite
            elif kind == HANDSHAKE:
                # a ratchet is no handshake of its suite: it has neither its KEM nor a signature
                if decoded.ok and decoded.handshake_ms > 0 and not decoded.kind.startswith("ratchet"):
                    found[decoded.suite].flights_ms[flight].append(float(decoded.handshake_ms))
            elif kind == POWER:
                if suite and decoded.measured and decoded.valid:
                    found[suite].powers_w.append(float(decoded.power_mean_w))
            elif suite and decoded.side == "peer" and math.isfinite(decoded.loss):
                found[suite].losses.append(float(decoded.loss))
    learned = {name: figures for name, figures in found.items() if figures.flights_ms}
    if not learned:
        raise RecordingError(
            f"No good handshake was recorded in namespace {prefix.rstrip('/')}: nothing can be learned."
        )
    return learned


def pair_of(suite: str) -> str:
    """KEM and signature of a suite's id, without its cipher."""
    family, kem, _, sig = suite.split("-", 3)
    return f"{family}-{kem}-*-{sig}"


def flights_of_pairs(learned: Mapping[str, Figures]) -> dict[str, list[list[float]]]:
    """The handshakes [ms] of each KEM and signature, a list a flight: the flight is what differs from time to time."""
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for suite, figures in learned.items():
        for flight, times in figures.flights_ms.items():
            found[pair_of(suite)][flight] += times
    return {pair: list(flights.values()) for pair, flights in found.items()}


def table(learned: Mapping[str, Figures], flights: int, base: PerformanceTable | None = None) -> list[Performance]:
    """One row for each suite that shook hands, by id; rows of `base` for those that did not. The handshake is the
    median over flights of the medians of its KEM and signature. Its energy stays that of `base`: most of a handshake in
    flight is waiting for the link, which costs the computer nothing more."""
    rows = {} if base is None else dict(base.items())
    pairs = {pair: median(map(median, each)) for pair, each in flights_of_pairs(learned).items()}
    for suite, figures in learned.items():
        handshake_ms = pairs[pair_of(suite)]
        power_w = fmean(figures.powers_w) if figures.powers_w else None
        rows[suite] = Performance(
            suite=suite,
            handshake_ms=round(handshake_ms, 3),
            power_w=None if power_w is None else round(power_w, 4),
            energy_j=rows[suite].energy_j if suite in rows else None,
            loss=round(fmean(figures.losses), 5) if figures.losses else None,
            source=f"recorded flights: {flights}, handshakes: {figures.handshakes}",
            simulated=False,
        )
    return [rows[name] for name in sorted(rows)]


def order(rows: Sequence[Performance], catalogue: Catalogue) -> list[tuple[list[str], float]]:
    """The core suites with what their handshake is now expected to take [s], from light to heavy; those that differ in
    the cipher alone are one entry. The recorded times contain the transfer, which is not added to them once more."""
    costs = cost_model(catalogue, MeasuredParameters(), PerformanceTable(rows))
    pairs: dict[str, list[str]] = defaultdict(list)
    for suite in catalogue.values():
        if suite.core:
            pairs[pair_of(suite.id)].append(suite.id)
    known = [(names, costs.compute_s[names[0]]) for names in pairs.values()]
    return sorted(known, key=lambda entry: (entry[1], entry[0]))
