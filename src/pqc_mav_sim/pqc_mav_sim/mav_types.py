# SPDX-License-Identifier: Apache-2.0
"""Types that mypy cannot take from pymavlink."""

from typing import Any, TypeAlias

# A decoded MAVLink message. Which attributes it has depends on its id, and pymavlink's base class declares none.
Message: TypeAlias = Any
# The class of a message, as in a dialect's mavlink_map: unpacker, crc_extra, msgname, fieldnames and so on.
MessageClass: TypeAlias = Any
