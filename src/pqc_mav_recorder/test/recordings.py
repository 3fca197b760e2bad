# SPDX-License-Identifier: Apache-2.0
"""Messages for the tests of the recorder: every field of every message type set to something of its own."""

from __future__ import annotations

import importlib
import itertools
import math
from typing import Any


def message_class(type_name: str) -> Any:
    package, _, name = type_name.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), name)


def filled(cls: Any, counter: Any = None) -> Any:
    """An instance of which no two numbers or texts are alike, so that a shifted field cannot go unnoticed."""
    counter = counter if counter is not None else itertools.count(1)
    message = cls()
    for field, kind in cls.get_fields_and_field_types().items():
        if kind.startswith("sequence<"):
            inner = kind.removeprefix("sequence<").split(",")[0].rstrip(">")
            value: Any = [single(inner, counter) for _ in range(3)]
        elif kind.endswith("]"):
            inner, _, length = kind.rstrip("]").rpartition("[")
            value = [single(inner, counter) for _ in range(int(length))]
        else:
            value = single(kind, counter)
        setattr(message, field, value)
    return message


def single(kind: str, counter: Any) -> Any:
    number = next(counter)
    if "/" in kind:
        package, name = kind.split("/")
        return filled(getattr(importlib.import_module(f"{package}.msg"), name), counter)
    if kind == "boolean":
        return number % 2 == 0
    if kind.startswith("string"):
        return f"text {number} \N{DEGREE SIGN}"
    if kind in ("float", "double"):
        return number + 0.5
    if kind == "octet":
        return bytes([number % 256])
    return number % 127


def plain(value: Any) -> Any:
    """A message of rclpy or of the decoder as dictionaries, lists, numbers and texts."""
    fields = getattr(value, "get_fields_and_field_types", None)
    if fields is not None:
        return {name: plain(getattr(value, name)) for name in fields()}
    if hasattr(value, "__slots__") and not isinstance(value, (bytes, str)):
        return {name: plain(getattr(value, name)) for name in value.__slots__}
    if isinstance(value, bytes) and len(value) == 1:
        return value[0]
    if isinstance(value, str):
        return value
    if hasattr(value, "__len__"):
        return [plain(item) for item in value]
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    return value
