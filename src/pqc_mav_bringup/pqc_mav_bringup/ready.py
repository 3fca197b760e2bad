# SPDX-License-Identifier: Apache-2.0
"""A process that is checked and has its command line: all that the supervisor keeps of it. It imports little."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pqc_mav_bringup.respawn import Respawn


@dataclass(frozen=True)
class Ready:
    """`environment` is what is added to that of the supervisor."""

    label: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    respawn: Respawn | None


def to_plain(processes: Iterable[Ready]) -> list[dict[str, Any]]:
    """As JSON has it."""
    return [asdict(process) | {"respawn": _policy(process.respawn)} for process in processes]


def from_plain(plain: Iterable[Mapping[str, Any]]) -> list[Ready]:
    """What `to_plain` made, perhaps by way of JSON."""
    return [
        Ready(
            label=each["label"],
            command=tuple(each["command"]),
            environment=each["environment"],
            respawn=each["respawn"] and Respawn(**{name: _thawed(value) for name, value in each["respawn"].items()}),
        )
        for each in plain
    ]


def _policy(respawn: Respawn | None) -> dict[str, Any] | None:
    if respawn is None:
        return None
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in asdict(respawn).items()}


def _thawed(value: Any) -> Any:
    return frozenset(value) if isinstance(value, list) else value
