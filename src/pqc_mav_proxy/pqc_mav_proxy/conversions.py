# SPDX-License-Identifier: Apache-2.0
"""What the engine says as ROS messages. It speaks their names: each field is filled with what has its name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from pqc_mav_interfaces.msg import TunnelStatus
from std_msgs.msg import Header

from pqc_mav_proxy.names import REMOVED

Message = TypeVar("Message")


def message_of(kind: type[Message], picture: Mapping[str, Any], header: Header | None = None) -> Message:
    """A message of this kind. A value the engine does not know yet is None there and NaN in a float field here."""
    message: Any = kind()
    if header is not None:
        message.header = header
    for field, type_name in message.get_fields_and_field_types().items():
        if field in picture:
            value = picture[field]
            is_float = type_name in ("float", "double")
            setattr(message, field, (math.nan if value is None else float(value)) if is_float else value)
    return message  # type: ignore[no-any-return]


def removed_message(drone_id: str, role: str, header: Header) -> TunnelStatus:
    """The last status of a drone that is not served any more."""
    text = f"{REMOVED}: this ground station does not serve the drone any more."
    return TunnelStatus(header=header, state=TunnelStatus.DOWN, role=role, drone_id=drone_id, last_error=text)
