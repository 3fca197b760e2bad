"""What `/diagnostics` says about a sensor, without ROS: "node: subcomponent", level, sentence, figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pqc_mav_common import diagnostics as messages
from pqc_mav_common.diagnostics import Level


@dataclass(frozen=True)
class Diagnostic:
    """State of one subcomponent; `values` are shown as they are."""

    subcomponent: str
    level: Level
    message: str
    values: Mapping[str, object] = field(default_factory=dict)


def to_messages(node: str, hardware_id: str, diagnostics: Sequence[Diagnostic]) -> list[Any]:
    """diagnostic_msgs/DiagnosticStatus of each."""
    return messages.to_messages(
        [
            messages.Diagnostic(
                f"{node}: {item.subcomponent}",
                item.level,
                item.message,
                hardware_id,
                {key: str(value) for key, value in item.values.items()},
            )
            for item in diagnostics
        ]
    )
