# SPDX-License-Identifier: Apache-2.0
"""The embedded definitions: complete, in rosbag2's form, and what the messages themselves say."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from pqc_mav_recorder.schema import (
    SEPARATOR,
    SchemaError,
    contained_types,
    full_definition,
    installed_definition,
    split_type,
)


def share(folder: Path) -> object:
    return lambda package: str(folder / package)


def write(folder: Path, package: str, name: str, text: str) -> None:
    path = folder / package / "msg" / f"{name}.msg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_every_kind_of_field_is_recognised() -> None:
    text = """
# Comment = nothing
uint8 NONE=0          # a constant, not a field of type NONE
string NAME = "geometry_msgs/Point p"
std_msgs/Header header
string<=10 bounded
float64[] sequence
uint8[<=3] few
string<=5[<=2] both
Inner[4] inner
other_msgs/msg/Deep deep   # long form
Inner again
int32 with_default 5
"""
    assert contained_types("my_msgs", text) == ["std_msgs/Header", "my_msgs/Inner", "other_msgs/Deep"]


def test_dependencies_come_once_each_after_the_message_itself(tmp_path: Path) -> None:
    write(tmp_path, "a_msgs", "Top", "Mid[] mids\nb_msgs/Leaf leaf\n")
    write(tmp_path, "a_msgs", "Mid", "b_msgs/Leaf one\nb_msgs/Leaf two\n")
    write(tmp_path, "b_msgs", "Leaf", "float32 x\n")
    text = full_definition("a_msgs/msg/Top", share(tmp_path))
    assert text == (
        f"Mid[] mids\nb_msgs/Leaf leaf\n{SEPARATOR}\nMSG: a_msgs/Mid\nb_msgs/Leaf one\nb_msgs/Leaf two\n"
        f"{SEPARATOR}\nMSG: b_msgs/Leaf\nfloat32 x\n"
    )


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a_msgs", "Top", "Gone gone\n")
    with pytest.raises(SchemaError, match="a_msgs/msg/Gone"):
        full_definition("a_msgs/msg/Top", share(tmp_path))
    with pytest.raises(SchemaError, match="no_such_package"):
        full_definition("no_such_package/msg/Top")
    for bad in ("Top", "a/srv/Top", "a/b/c/d", "/Top", ""):
        with pytest.raises(SchemaError, match="package/msg/Name"):
            split_type(bad)


@pytest.mark.parametrize("package", ["pqc_mav_interfaces", "diagnostic_msgs", "sensor_msgs", "std_msgs"])
def test_installed_messages_contain_what_their_classes_say(package: str) -> None:
    """Against an independent source: the field types compiled into the Python classes."""
    module = importlib.import_module(f"{package}.msg")
    names = [name for name in dir(module) if isinstance(getattr(module, name), type)]
    assert names
    for name in names:
        expected: dict[str, None] = {}
        waiting = [f"{package}/{name}"]
        while waiting:
            inner_package, inner_name = waiting.pop(0).split("/")
            cls = getattr(importlib.import_module(f"{inner_package}.msg"), inner_name)
            for kind in cls.get_fields_and_field_types().values():
                found = re.search(r"[a-z]\w*/[A-Z]\w*", kind)
                if found and found.group() not in expected:
                    expected[found.group()] = None
                    waiting.append(found.group())
        text = installed_definition(f"{package}/msg/{name}")
        assert set(re.findall(r"^MSG: (\S+)$", text, re.MULTILINE)) == set(expected)
