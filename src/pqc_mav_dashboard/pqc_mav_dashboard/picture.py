# SPDX-License-Identifier: Apache-2.0
"""What a source knows at one moment, in the same form from control sockets, ROS topics and recordings.

Fields keep the names of the control socket and the messages; a value that is not known is None, never 0.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SILENT_S = 3.0  # figures come once a second; as in `pqcmav status`
OLD_S = 10.0  # what senses said before tells nothing of now; as on the page of metrics
KINDS = ("battery", "thermal", "power", "load", "vehicle", "policy", "threat")


@dataclass
class End:
    """One tunnel as one of its ends sees it. `stats` and `link` are None until they are known."""

    name: str  # of a socket ("drone-d1", "gcs") or a node ("/drone/pqc_proxy")
    role: str
    drone: str
    heard_s: float  # on the clock of `Picture.clock_s`
    status: Mapping[str, Any]
    stats: Mapping[str, Any] | None = None
    link: Mapping[str, Any] | None = None  # rtt_ms, rtt_min_ms, age_s, local and peer: {loss, gap_p95_ms, ...}
    seen_s: float = 0.0  # seconds by which the figures were old when they were heard
    silent_after_s: float = SILENT_S
    was_up: bool = False  # the source itself knows of a session, now or before

    @property
    def quality(self) -> Mapping[str, Any]:
        """The link's figures; none without a session, when zeros would look like a good link."""
        return self.link if self.link and self.status.get("suite") else {}

    def silent_s(self, clock_s: float) -> float | None:
        """For how long nothing has come, once that is long enough to mean something."""
        age = clock_s - self.heard_s
        return age if age > self.silent_after_s else None


@dataclass(frozen=True)
class Sense:
    """The newest message of one kind from a drone's computer."""

    fields: Mapping[str, Any]
    at_s: float  # on the clock of `Picture.clock_s`


def fresh(senses: Mapping[str, Sense], kind: str, clock_s: float) -> Mapping[str, Any]:
    """The fields of a sense; none if it is too old or not there."""
    sense = senses.get(kind)
    return {} if sense is None or clock_s - sense.at_s > OLD_S else sense.fields


@dataclass
class Picture:
    """Everything at one moment."""

    time_s: float  # seconds since 1970: now, or the moment of a recording
    clock_s: float  # what `heard_s` and `at_s` are compared with
    ends: list[End] = field(default_factory=list)
    senses: dict[str, dict[str, Sense]] = field(default_factory=dict)  # drone -> kind -> newest
    absent: str = ""  # why there are no senses at all, as one sentence
    notes: list[str] = field(default_factory=list)  # what is wrong with a source or a machine

    def drones(self) -> dict[str, list[End]]:
        """The ends of each drone's tunnel, the one that tells most first."""
        found: dict[str, list[End]] = {}
        for end in self.ends:
            found.setdefault(end.drone, []).append(end)
        for ends in found.values():
            ends.sort(key=self._order)
        return found

    def _order(self, end: End) -> tuple[bool, bool, bool, bool, str]:
        without = not end.status.get("suite")
        waits = end.status.get("station_role") == "standby"
        return (end.silent_s(self.clock_s) is not None, end.role != "drone", without, waits, end.name)


def plain(value: Any) -> Any:
    """A value of a message as JSON has it: NaN and infinities are not known, so None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, bytes):
        return value[0] if len(value) == 1 else list(value)
    if hasattr(value, "tolist"):  # an array of numbers
        return plain(value.tolist())
    if isinstance(value, (list, tuple)) or type(value).__name__ == "array":
        return [plain(each) for each in value]
    return fields_of(value)


def fields_of(message: Any) -> dict[str, Any]:
    """The fields of a message of rclpy or of a recording; its header becomes `stamp_s`."""
    kinds = getattr(message, "get_fields_and_field_types", None)
    names = list(kinds()) if kinds is not None else list(message.__slots__)
    out = {name: plain(getattr(message, name)) for name in names if name != "header"}
    if "header" in names:
        stamp = message.header.stamp
        out["stamp_s"] = stamp.sec + getattr(stamp, "nanosec", getattr(stamp, "nsec", 0)) / 1e9
    return out
