# SPDX-License-Identifier: Apache-2.0
"""What is measured, as data: the figures, the parts of a run that they belong to, and their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pqc_mav_bench.analysis.intervals import run_median

OWN = "pqcmav"
AHEAD, BEHIND, TIE = "ahead", "behind", "tie"
#: What of a run is given up after, s; such a value is recorded as this and counted.
LIMIT_S = 30.0
#: From the first datagram until what a flight costs is measured: PQC-MAV lets go of a handshake's code after 5 s.
SETTLED_S = 7.0
#: Repetitions from which two systems are compared.
COMPARED_FROM = 5


@dataclass(frozen=True)
class Figure:
    """One column of the page.

    Attributes:
        key: name in the data.
        part: part of the run.
        title: head of the column.
        sentence: what a sentence calls it.
        unit: behind the value in a sentence.
        digits: behind the decimal point.
        more_is_better: which way is ahead.
        why: where PQC-MAV is behind in it, what it comes from; may be empty.
    """

    key: str
    part: str
    title: str
    sentence: str
    unit: str
    digits: int = 0
    more_is_better: bool = False
    why: str = ""


_POST_QUANTUM = "Post-quantum public keys, ciphertexts and signatures are kilobytes long; those of curves are 32 bytes."
_MEMORY = "Most of it are pages of the program, of libcrypto and of the C library."
_FRESH = "A post-quantum handshake goes through much of liboqs, libcrypto and its own buffers."
_SOCKETS = (
    "Applications reach each end through a UDP socket, as with the plain forwarders, which encrypt nothing; "
    "an application that writes to a tunnel's network interface saves that way through the kernel."
)
FIGURES = (
    *(
        Figure(f"rate_{size}", "rate", f"{size} bytes, k/s", f"lossless rate at {size} bytes", "k/s", 0, True)
        for size in (64, 256, 1200)
    ),
    *(
        Figure(key, "delay", f"{title}, us", sentence, "us", 0, why=_SOCKETS)
        for key, title, sentence in (
            ("delay_320", "one way at 320/s", "median one-way delay at 320/s"),
            ("delay_320_p99", "its p99", "99th percentile of the one-way delay at 320/s"),
            ("delay_4000", "one way at 4,000/s", "median one-way delay at 4,000/s"),
            ("delay_4000_p99", "its p99", "99th percentile of the one-way delay at 4,000/s"),
            ("rtt_320", "round trip at 320/s", "median round trip at 320/s"),
            ("rtt_4000", "round trip at 4,000/s", "median round trip at 4,000/s"),
        )
    ),
    Figure("cpu_320", "cost", "CPU at 320/s, %", "CPU of both ends at 320/s", "% of a core", 2, why=_SOCKETS),
    Figure("cpu_4000", "cost", "CPU at 4,000/s, %", "CPU of both ends at 4,000/s", "% of a core", 1, why=_SOCKETS),
    Figure("pss_320", "cost", "PSS at 320/s, MB", "memory of both ends at 320/s", "MB", 1, why=_MEMORY),
    Figure("cpu_8mbit", "cost", "CPU at 8 Mb/s, %", "CPU of both ends at 8 Mb/s", "% of a core", 2, why=_SOCKETS),
    Figure(
        "pss_fresh", "cost", "PSS just connected, MB", "memory of both ends just after connecting", "MB", 1, why=_FRESH
    ),
    Figure("handshake_ms", "connect", "handshake, ms", "handshake on the wire", "ms", 2, why=_POST_QUANTUM),
    Figure("handshake_bytes", "connect", "its bytes", "bytes of the handshake", "bytes", 0, why=_POST_QUANTUM),
    Figure("start_ms", "connect", "start to first packet, ms", "time from the start to the first packet", "ms", 0),
    *(
        Figure(f"loss_{loss}", "loss", f"{loss} % lost, s", f"time to connect at {loss} % loss", "s", 3)
        for loss in (0, 10, 30)
    ),
    Figure("recovery_s", "recovery", "outage, s", "outage after a kill -9 of the ground's end", "s", 2),
    Figure("rekey_lost", "rekey", "lost datagrams", "datagrams lost over changes of keys", "datagrams", 0),
)
PARTS = tuple(dict.fromkeys(figure.part for figure in FIGURES))


@dataclass
class Sheet:
    """The values of one part: per figure and system one for each repetition, and what went wrong."""

    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)
    notes: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    waited_s: float = 0.0  # for a quiet machine

    def add(self, figure: str, system: str, value: float) -> None:
        """One repetition's value."""
        self.values.setdefault(figure, {}).setdefault(system, []).append(round(value, 6))

    def note(self, name: str, system: str, value: float) -> None:
        """Something that is no figure, such as lost datagrams of a delay measurement."""
        self.notes.setdefault(name, {}).setdefault(system, []).append(round(value, 6))

    def fail(self, system: str, why: str) -> None:
        """A repetition that gave no value."""
        self.failures.setdefault(system, []).append(why)

    @staticmethod
    def of(part: Mapping[str, Any]) -> Sheet:
        """What was kept of an earlier run, to be gone on with."""
        return Sheet(part["values"], part["failures"], part["notes"])

    def last(self, figure: str, system: str) -> float | None:
        """The newest value; None where there is none."""
        values = self.values.get(figure, {}).get(system, [])
        return values[-1] if values else None

    def to_dict(self) -> dict[str, Any]:
        """As it is kept."""
        return {"values": self.values, "failures": self.failures, "notes": self.notes}


@dataclass(frozen=True)
class Cell:
    """A median and its 95 % interval over the repetitions."""

    median: float
    low: float
    high: float
    n: int


def cell(values: Sequence[float]) -> Cell:
    """Over the repetitions; the ends are NaN where they tell nothing. Raises ValueError without a value."""
    return Cell(*run_median([[value] for value in values]), len(values))


def verdict(own: Cell, other: Cell, more_is_better: bool) -> str:
    """How `own` stands to `other`: they are told apart if neither interval touches the other."""
    if own.low > other.high or own.high < other.low:
        return AHEAD if (own.low > other.high) == more_is_better else BEHIND
    return TIE


def cells(parts: Mapping[str, Any], figure: Figure) -> dict[str, Cell]:
    """The cell of each system that has values of this figure."""
    found = parts.get(figure.part, {}).get("values", {}).get(figure.key, {})
    return {system: cell(values) for system, values in found.items() if values}
