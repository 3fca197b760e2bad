# SPDX-License-Identifier: Apache-2.0
"""What the engine says as ROS messages. It speaks their names: each field is filled with what has its name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from std_msgs.msg import Header

from pqc_mav_common.errors import one_line
from pqc_mav_common.local_socket import ControlError

Message = TypeVar("Message")


def message_of(kind: type[Message], picture: Mapping[str, Any], header: Header | None = None) -> Message:
    """A message of this kind. A value the engine does not know yet is None there and NaN in a float field here."""
    made: Any = fill(kind(), picture)
    if header is not None:
        made.header = header
    return made  # type: ignore[no-any-return]


def answered(response: Any, host: Any, aim: str, command: str, fields: Mapping[str, Any]) -> Any:
    """A service's response with what an engine says to a command, or why not; `host` is None while there is none."""
    if host is None:
        response.message = f"The node is not active, so there is no tunnel to {aim}; activate it first."
        return response
    # JSON has no NaN: the engine then says what it wants of such a field.
    fields = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in fields.items()}
    try:
        return fill(response, {"ok": True, **host.ask(command, **fields)})
    except ControlError as error:
        response.message = one_line(error)
        return response


def fill(message: Message, picture: Mapping[str, Any]) -> Message:
    """The same message, filled."""
    fields: Any = message
    for field, type_name in fields.get_fields_and_field_types().items():
        if field in picture:
            value = picture[field]
            is_float = type_name in ("float", "double")
            setattr(fields, field, (math.nan if value is None else float(value)) if is_float else value)
    return message
