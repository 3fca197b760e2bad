"""What goes to `/diagnostics`: level, sentence and figures of one subcomponent, and the messages made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any


class Level(IntEnum):
    """The levels of diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2


@dataclass(frozen=True)
class Diagnostic:
    """One DiagnosticStatus: `name` is "<namespace>/<node>: <subcomponent>", which tells the two ends apart."""

    name: str
    level: Level
    message: str
    hardware_id: str
    values: dict[str, str] = field(default_factory=dict)


def to_messages(diagnostics: Sequence[Diagnostic]) -> list[Any]:
    """diagnostic_msgs/DiagnosticStatus of each."""
    from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

    return [
        DiagnosticStatus(
            level=bytes([item.level]),
            name=item.name,
            message=item.message,
            hardware_id=item.hardware_id,
            values=[KeyValue(key=key, value=value) for key, value in item.values.items()],
        )
        for item in diagnostics
    ]
