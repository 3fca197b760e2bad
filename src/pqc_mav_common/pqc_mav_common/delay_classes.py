# SPDX-License-Identifier: Apache-2.0
"""How delays are distributed: exact counts in classes whose edges are the preferred numbers R10 of ISO 3.

Ten classes a decade from 0.01 ms to 10 s, so a class is at most a quarter wide. 20, 50 and 100 ms, which time-critical
control, real-time control and telemetry may take, are edges: the shares within them are exact.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping

_R10 = (1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0)
_SCALES = ("0.01", "0.1", "1", "10", "100", "1000")
#: Upper edges of the classes [ms]; a delay on an edge is within its class.
EDGES_MS: tuple[float, ...] = (*(float(f"{digit * float(scale):.6g}") for scale in _SCALES for digit in _R10), 10000.0)
#: The class of what took longer than the last edge.
LONGER = "longer"
_NAMES = (*(f"{edge:g}" for edge in EDGES_MS), LONGER)


class DelayClasses:
    """Counts delays."""

    def __init__(self) -> None:
        self._counts = [0] * len(_NAMES)

    def add(self, ms: float) -> None:
        """Count one delay [ms]; below the first edge, and below zero, it is of the first class."""
        self._counts[bisect_left(EDGES_MS, ms)] += 1

    def to_dict(self) -> dict[str, int]:
        """Delays by the upper edge of their class [ms], in order, without the empty classes."""
        return {name: count for name, count in zip(_NAMES, self._counts, strict=True) if count}


def classes_of(delays_ms: Iterable[float]) -> dict[str, int]:
    """The delays of a series, counted."""
    found = DelayClasses()
    for ms in delays_ms:
        found.add(ms)
    return found.to_dict()


def within(classes: Mapping[str, int], limit_ms: float) -> float | None:
    """Share of the delays up to a limit, which is one of EDGES_MS; None where there are no delays.

    Raises ValueError for another limit and for classes that are not of this module.
    """
    if limit_ms not in EDGES_MS:
        raise ValueError(f"{limit_ms:g} ms is no edge of a class")
    if unknown := set(classes) - set(_NAMES):
        raise ValueError(f"there is no class {min(unknown)!r}")
    total = sum(classes.values())
    if not total:
        return None
    return sum(count for name, count in classes.items() if name != LONGER and float(name) <= limit_ms) / total
