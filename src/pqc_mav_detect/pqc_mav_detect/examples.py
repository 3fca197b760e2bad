# SPDX-License-Identifier: Apache-2.0
"""Recordings into what a model learns from: windows in a row, and what each should be called, if anything. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pqc_mav_detect.channels import CHANNELS
from pqc_mav_detect.classes import BLACKOUT, ON_PATH
from pqc_mav_detect.dataset import Row, ends_of, stood_still
from pqc_mav_detect.history import LONG
from pqc_mav_detect.learned import NORMAL, OUTPUTS

UNSURE = -1
# Nobody can know at once: figures of the link are those of 5 s, and a silence has to last.
ONSET_S = {ON_PATH: 1.5, BLACKOUT: 0.8}
AFTER_S = 7.0  # as long the figures of an attack that is over still show
SIGNS = {
    kind: tuple(name for name, channel in CHANNELS.items() if channel.kind == kind)
    for kind in OUTPUTS
    if kind != NORMAL
}


@dataclass(frozen=True)
class Seen:
    """What one end saw from the beginning to the end of a recording. `targets`: index into OUTPUTS, or UNSURE."""

    name: str
    end: str
    rows: Sequence[Row]
    targets: Sequence[int]

    @property
    def disturbed(self) -> bool:
        """Whether it is a recording of disturbances without an attacker, as the parts of the data set are named."""
        return "-benign-" in self.name


def sequences(files: Iterable[Path]) -> Iterator[Seen]:
    """Of each file and end, in order of time."""
    for path in files:
        for end, rows in ends_of(path).items():
            yield Seen(path.stem, end, rows, targets(rows))


def targets(rows: Sequence[Row]) -> list[int]:
    """For each row what it should be called.

    Unsure are: normal traffic while the machine stood still, the beginning of an attack while nothing of it can have
    shown, windows of a slow attack while none of its datagrams came to this end in the last 5 s, and the time after an
    attack in which its figures still show.
    """
    found: list[int] = []
    stood = stood_still(rows)
    begun_s, over_s, before = 0.0, -AFTER_S, ""
    for index, row in enumerate(rows):
        now_s, kind = row.window.time_s, row.episode
        if kind != before:
            begun_s = now_s if kind else begun_s
            over_s = over_s if kind else now_s
            before = kind
        if not kind:
            found.append(UNSURE if stood[index] or (now_s - over_s < AFTER_S and over_s > 0) else 0)
        elif now_s - begun_s < ONSET_S.get(kind, 0.0) or not (kind == BLACKOUT or _shows(rows, index, kind)):
            found.append(UNSURE)
        else:
            found.append(OUTPUTS.index(kind))
    return found


def _shows(rows: Sequence[Row], index: int, kind: str) -> bool:
    newest = rows[max(0, index - LONG + 1) : index + 1]
    return any(row.episode and any(row.window.values[name] > 0 for name in SIGNS[kind]) for row in newest)
