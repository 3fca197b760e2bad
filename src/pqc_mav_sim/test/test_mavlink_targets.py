# SPDX-License-Identifier: Apache-2.0
"""The engine's table of messages with a target, against pymavlink's definitions of all dialects."""

from __future__ import annotations

from typing import Any

import pytest
from pymavlink.dialects.v20 import all as dialect

engine = pytest.importorskip("pqc_mav_tunnel._testing", reason="the engine's module for tests is not built")

MESSAGES = sorted(dialect.mavlink_map.values(), key=lambda each: each.id)
TARGET = {"target_system": 201, "target_component": 102}


def packed(message: Any) -> bytes:
    """A message with a target where it names one, and something else in all other fields."""
    values = []
    for name, kind in zip(message.fieldnames, message.fieldtypes, strict=True):
        length = message.array_lengths[message.ordered_fieldnames.index(name)]
        value: Any = TARGET.get(name, b"x" if kind == "char" else 7)
        values.append([value] * length if length and kind != "char" else value)
    return bytes(message(*values).pack(dialect.MAVLink(None, srcSystem=1, srcComponent=1)))


@pytest.mark.parametrize("message", MESSAGES, ids=[each.msgname for each in MESSAGES])
def test_the_target_is_where_the_message_has_it(message: Any) -> None:
    expected = tuple(value if name in message.fieldnames else 0 for name, value in TARGET.items())
    assert engine.mavlink_target(packed(message)) == expected


def test_what_is_no_whole_message() -> None:
    whole = packed(dialect.MAVLink_command_long_message)
    assert engine.mavlink_target(whole) == tuple(TARGET.values())
    assert engine.mavlink_target(whole[:-1]) is None
    assert engine.mavlink_target(b"") is None
