# SPDX-License-Identifier: Apache-2.0
"""A recorded flight (MCAP) into windows: what the detector of each end saw, but for the kernel's counters."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pqc_mav_detect.statuses import Statuses
from pqc_mav_detect.window import LinkView, Reading, Refused, Window, Windows

COUNTERS, LINK, STATUS = (f"pqc_mav_interfaces/msg/{name}" for name in ("ServerStats", "LinkQuality", "TunnelStatus"))
_NS = 1e-9


@dataclass
class _End:
    windows: Windows = field(default_factory=Windows)
    found: list[Window] = field(default_factory=list)
    local: dict[str, LinkView] = field(default_factory=dict)
    peer: dict[str, LinkView] = field(default_factory=dict)
    statuses: Statuses = field(default_factory=Statuses)

    def take(self, kind: str, message: Any, now_s: float) -> None:
        """A message of this end's proxy."""
        if kind == LINK:
            (self.peer if message.side == "peer" else self.local)[message.drone_id] = LinkView.of(message, now_s)
        elif kind == STATUS:
            self.windows.role = message.role
            self.statuses.hear(message)
        else:
            totals = {name: value for name in _names(message) if isinstance(value := getattr(message, name), int)}
            opened = dict(zip(message.drone_ids, message.opened, strict=False))
            network = getattr(message, "refused_network", "")  # older recordings have none
            refused = Refused(network, message.refused_share) if network else None
            links = dict(self.local), dict(self.peer)
            said = self.statuses
            reading = Reading(now_s, totals, opened, {}, *links, said.down, refused, said.watchful)
            window = self.windows.update(reading)
            if window is not None:
                self.found.append(window)


def read(path: Path) -> tuple[dict[str, list[Window]], str]:
    """The windows of each end, by its namespace, and what is wrong with a file that cannot be read to its end, or "".

    Raises ValueError for a file without counters, or that is none.
    """
    from pqc_mav_recorder.file import RecordingError
    from pqc_mav_recorder.reader import RecordingReader

    ends: dict[str, _End] = {}
    reader = RecordingReader(path)
    try:
        for message in reader.messages():
            if message.topic.type_name in (COUNTERS, LINK, STATUS):
                namespace = message.topic.name.rsplit("/", 2)[0].strip("/") or "/"
                what = reader.decode(message)
                ends.setdefault(namespace, _End()).take(message.topic.type_name, what, message.log_ns * _NS)
    except RecordingError as error:
        raise ValueError(str(error)) from None
    found = {name: end.found for name, end in ends.items() if end.found}
    if not found:
        raise ValueError(reader.problem or f"{path} has no counters of a proxy (server_stats)")
    return found, reader.problem


def _names(message: Any) -> tuple[str, ...]:
    return tuple(name for name in getattr(message, "__slots__", ()) if not name.startswith("_"))
