# SPDX-License-Identifier: Apache-2.0
"""What goes to `/diagnostics`: level, sentence and figures of one subcomponent, and the messages made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

LOW_CHARGE = 0.2  # a flight battery with less than this (0-1) is a warning everywhere


class Level(IntEnum):
    """The levels of diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2


@dataclass(frozen=True)
class Diagnostic:
    """State of one subcomponent of a node; `values` are shown as str makes them."""

    subcomponent: str
    level: Level
    message: str
    values: Mapping[str, object] = field(default_factory=dict)


def to_messages(node: str, hardware_id: str, diagnostics: Sequence[Diagnostic]) -> list[Any]:
    """diagnostic_msgs/DiagnosticStatus of each, named "node: subcomponent"."""
    from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

    return [
        DiagnosticStatus(
            level=bytes([item.level]),
            name=f"{node}: {item.subcomponent}",
            message=item.message,
            hardware_id=hardware_id,
            values=[KeyValue(key=key, value=str(value)) for key, value in item.values.items()],
        )
        for item in diagnostics
    ]
