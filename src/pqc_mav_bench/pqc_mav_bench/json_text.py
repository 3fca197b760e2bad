# SPDX-License-Identifier: Apache-2.0
"""JSON files that a person can read and compare line by line, and that hold no digits nobody measured."""

import json
from collections.abc import Mapping
from typing import Any

#: As many as it takes to write a message's float32 without loss.
DIGITS = 9


def as_lines(value: Any, depth: int) -> str:
    """JSON that opens objects and lists onto lines of their own down to `depth`, and keeps the rest on one line."""
    if depth and isinstance(value, Mapping) and value:
        inner = ",\n".join(f"{json.dumps(name)}: {as_lines(each, depth - 1)}" for name, each in value.items())
        return f"{{\n{inner}\n}}"
    if depth and isinstance(value, (list, tuple)) and value:
        return "[\n" + ",\n".join(as_lines(each, depth - 1) for each in value) + "\n]"
    return json.dumps(value)


def rounded(value: Any, digits: int = DIGITS) -> Any:
    """The same with floats cut to so many significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, Mapping):
        return {name: rounded(each, digits) for name, each in value.items()}
    return [rounded(each, digits) for each in value] if isinstance(value, (list, tuple)) else value


def counted(counters: Mapping[str, Any]) -> dict[str, Any]:
    """Counters without those that are 0: what is not named was never counted."""
    return {name: counted(each) if isinstance(each, Mapping) else each for name, each in counters.items() if each != 0}
