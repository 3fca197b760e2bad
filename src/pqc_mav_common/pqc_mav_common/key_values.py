# SPDX-License-Identifier: Apache-2.0
"""Nested figures as an array of diagnostic_msgs/KeyValue and back, exactly, so that every ROS tool can show them.

Keys are paths: {"battery": {"cells": 4}, "outcomes": [{"ok": True}]} is battery.cells = 4, outcomes[0].ok = true. A
text is written as it is, everything else as JSON; a text that reads as JSON itself or has a control character is in
quotes. A mapping whose own names are paths, such as a configuration, comes back by `flat`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

DEEPEST = 16  # steps of a key: what a message brings must not exhaust the stack


def to_key_values(content: Mapping[str, Any]) -> list[Any]:
    """The messages of `content`, in its order. Raises ValueError for what JSON cannot say, such as an infinity."""
    from diagnostic_msgs.msg import KeyValue

    return [KeyValue(key=key, value=value) for key, value in _leaves("", content)]


def flat(pairs: Iterable[Any]) -> dict[str, Any]:
    """Values by the whole keys; `pairs` are messages, or mappings with their fields. Raises ValueError."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, text = (pair["key"], pair["value"]) if isinstance(pair, Mapping) else (pair.key, pair.value)
        if key in found:
            raise ValueError(f"'{key}' is given twice")
        found[key] = _value(text)
    return found


def nested(pairs: Iterable[Any]) -> dict[str, Any]:
    """What `to_key_values` was given. Raises ValueError for keys that do not go together."""
    root: dict[Any, Any] = {}
    for key, value in flat(pairs).items():
        *way, last = _steps(key)
        place = root
        for step in way:
            place = place.setdefault(step, {})
            if not isinstance(place, dict):
                raise ValueError(f"'{key}' lies within another value")
        if last in place:
            raise ValueError(f"'{key}' lies within another value")
        place[last] = value
    whole = _with_lists(root)
    if not isinstance(whole, dict):
        raise ValueError("a key has no name before its index")
    return whole


def _leaves(path: str, value: Any) -> Iterable[tuple[str, str]]:
    if isinstance(value, Mapping) and (not path or (value and all(_is_step(name) for name in value))):
        for name, each in value.items():
            if not _is_plain(name) or not name:
                raise ValueError(f"'{name}' cannot be a key")
            yield from _leaves(f"{path}.{name}" if path else name, each)
    elif (
        isinstance(value, Sequence) and not isinstance(value, str) and any(isinstance(each, Mapping) for each in value)
    ):
        for index, each in enumerate(value):
            yield from _leaves(f"{path}[{index}]", each)
    else:
        yield path, _text(value)


def _is_step(name: str) -> bool:
    """What has other names, such as classes by their bounds, is one value, as JSON."""
    return bool(name) and _is_plain(name) and "." not in name and "[" not in name


def _text(value: Any) -> str:
    if isinstance(value, str) and _is_plain(value) and _value(value) == value:
        return value
    return json.dumps(value, allow_nan=False)


def _is_plain(text: str) -> bool:
    """No NUL, at which a message's text ends, and nothing else that a terminal would act upon."""
    return all(each >= " " for each in text)


def _value(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return text


def _refused(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _steps(key: str) -> list[str | int]:
    """ "a.b[0]" is "a", "b", 0."""
    steps: list[str | int] = []
    for part in key.split(".", DEEPEST):
        name, *indices = part.split("[", DEEPEST)
        steps += [name, *(int(index.removesuffix("]")) for index in indices)]
    if len(steps) > DEEPEST:
        raise ValueError(f"'{key[:80]}' has more than {DEEPEST} steps")
    return steps


def _with_lists(value: Any) -> Any:
    """Places that have only indices are lists; an index that is missing is a ValueError."""
    if not isinstance(value, dict):
        return value
    items = {step: _with_lists(each) for step, each in value.items()}
    if not items or not any(isinstance(step, int) for step in items):
        return items
    if set(items) != set(range(len(items))):
        raise ValueError("an index of a list is missing")
    return [items[index] for index in range(len(items))]
