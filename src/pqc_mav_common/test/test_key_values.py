# SPDX-License-Identifier: Apache-2.0
"""Nested figures as KeyValue and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("diagnostic_msgs")

from pqc_mav_common.key_values import DEEPEST, flat, nested, to_key_values

names = st.text(
    st.characters(codec="utf-8", exclude_characters=".[", exclude_categories=["Cc"]), min_size=1, max_size=6
)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3))


def written(content: Any) -> dict[str, str]:
    return {pair.key: pair.value for pair in to_key_values(content)}


def pairs(**given: str) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in given.items()]


def test_keys_are_paths_and_texts_are_written_as_they_are() -> None:
    content = {
        "battery": {"cells": 4, "voltage_v": 16.1, "valid": True},
        "suite": "ML-768",
        "number": "24",
        "none": None,
        "empty": "",
        "outcomes": [{"ok": True}, {"ok": False}],
        "names": ["a", "b"],
        "nothing": {},
    }
    assert written(content) == {
        "battery.cells": "4",
        "battery.voltage_v": "16.1",
        "battery.valid": "true",
        "suite": "ML-768",
        "number": '"24"',
        "none": "null",
        "empty": "",
        "outcomes[0].ok": "true",
        "outcomes[1].ok": "false",
        "names": '["a", "b"]',
        "nothing": "{}",
    }
    assert nested(to_key_values(content)) == content


@settings(deadline=None)
@given(st.dictionaries(names, values, max_size=4))
def test_there_and_back_is_exact(content: dict[str, Any]) -> None:
    from rclpy.serialization import deserialize_message, serialize_message

    taken = [deserialize_message(serialize_message(pair), type(pair)) for pair in to_key_values(content)]
    assert json.dumps(nested(taken)) == json.dumps(content)


def test_names_that_are_paths_come_back_flat() -> None:
    content = {"drones": ["a"], "drones.a.plain": "127.0.0.1:1"}
    assert flat(to_key_values(content)) == content
    for name in ("", "a\0b"):
        with pytest.raises(ValueError, match="cannot be a key"):
            to_key_values({name: 1})


def test_a_mapping_within_whose_names_are_paths_is_one_value() -> None:
    content = {"owd": {"classes": {"0.1": 3, "1": 4}}}
    assert flat(to_key_values(content)) == {"owd.classes": {"0.1": 3, "1": 4}}
    assert nested(to_key_values(content)) == content


def test_what_json_cannot_say_is_not_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_key_values({"a": float("inf")})
    assert written({"a": "NaN"}) == {"a": "NaN"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (pairs(a="1", **{"a.b": "2"}), "lies within another"),
        ([*pairs(**{"a.b": "2"}), *pairs(a="1")], "lies within another"),
        ([*pairs(a="1"), *pairs(a="2")], "given twice"),
        (pairs(**{"a[0]": "1", "a[2]": "2"}), "missing"),
        (pairs(**{"a[0]": "1", "a.b": "2"}), "missing"),
        (pairs(**{"a[x]": "1"}), "invalid literal"),
        (pairs(**{"a" + ".a" * 100000: "1"}), f"more than {DEEPEST} steps"),
        (pairs(**{"a" + "[0]" * 100000: "1"}), "."),
    ],
)
def test_what_does_not_go_together_is_refused(given: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        nested(given)
