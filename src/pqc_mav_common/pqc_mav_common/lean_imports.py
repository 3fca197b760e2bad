# SPDX-License-Identifier: Apache-2.0
"""Keeps out of a process what rclpy imports and a running node never uses."""

from __future__ import annotations

import sys

# The package from which messages get their type support also imports, where it can, the generator of message code; that
# builds the grammar of IDL: 13 MB of memory and half a second. Where it cannot, it goes on without.
_GENERATOR = "rosidl_generator_py.generate_py_impl"


def without_code_generator() -> None:
    """Call it before the first message is used. Nothing happens where the generator has been imported already."""
    if "rosidl_generator_py" not in sys.modules:
        sys.modules.setdefault(_GENERATOR, None)  # type: ignore[arg-type]
