# SPDX-License-Identifier: Apache-2.0
"""Message definitions in the form MCAP embeds: the text of a message and of everything it contains. No ROS node.

The form is that of rosbag2 (schema encoding `ros2msg`): the message's own text, then for each message it contains,
once, a line of 80 equals signs, `MSG: package/Name` and its text. A recording can thus be read without this workspace.
https://mcap.dev/spec/registry#ros2msg
"""

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from pqc_mav_recorder.file import TopicInfo

SEPARATOR = "=" * 80
PRIMITIVES = frozenset(
    (
        *("bool", "byte", "char", "float32", "float64", "int8", "uint8", "int16", "uint16"),
        *("int32", "uint32", "int64", "uint64", "string", "wstring"),
    )
)
# A field's type: an optional package, a name, and what may follow it: a string's bound, an array's length.
_FIELD = re.compile(r"^\s*((?:[a-z]\w*/(?:msg/)?)?[A-Za-z]\w*)(?:<=\d+)?(?:\[(?:<=)?\d*\])?\s+[A-Za-z]\w*")
_CONSTANT = re.compile(r"^\s*\S+\s+[A-Za-z]\w*\s*=")

ShareFolder = Callable[[str], str]


class SchemaError(Exception):
    """A message type has no definition here: one sentence for a person."""


def split_type(type_name: str) -> tuple[str, str]:
    """(package, name) of `package/msg/Name` or `package/Name`. Raises SchemaError for anything else."""
    parts = type_name.split("/")
    if len(parts) == 3 and parts[1] == "msg":
        del parts[1]
    if len(parts) != 2 or not all(parts):
        raise SchemaError(f"'{type_name}' is not the name of a message type; expected package/msg/Name.")
    return parts[0], parts[1]


def contained_types(package: str, text: str) -> list[str]:
    """`package/Name` of every message a definition has as a field, in order, each once."""
    found: dict[str, None] = {}
    for line in text.splitlines():
        match = _FIELD.match(line.split("#", 1)[0])
        if match is None or _CONSTANT.match(line):
            continue
        base = match.group(1).replace("/msg/", "/")
        if base not in PRIMITIVES:
            found[base if "/" in base else f"{package}/{base}"] = None
    return list(found)


def installed_share(package: str) -> str:
    """Where an installed ROS package keeps its message files. Raises SchemaError."""
    from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

    try:
        return str(get_package_share_directory(package))
    except (PackageNotFoundError, ValueError):
        raise SchemaError(f"The ROS package '{package}' is not installed here.") from None


def message_text(package: str, name: str, share_of: ShareFolder = installed_share) -> str:
    """A message's own definition. Raises SchemaError."""
    path = Path(share_of(package)) / "msg" / f"{name}.msg"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SchemaError(f"No definition of {package}/msg/{name}: {path} cannot be read ({error.strerror}).") from None


def full_definition(type_name: str, share_of: ShareFolder = installed_share) -> str:
    """The definition of `package/msg/Name` with those of all messages in it. Raises SchemaError."""
    package, name = split_type(type_name)
    top = f"{package}/{name}"
    texts = {top: message_text(package, name, share_of)}
    waiting = contained_types(package, texts[top])
    while waiting:
        wanted = waiting.pop(0)
        if wanted in texts:
            continue
        inner_package, inner_name = split_type(wanted)
        texts[wanted] = message_text(inner_package, inner_name, share_of)
        waiting += contained_types(inner_package, texts[wanted])
    parts = [texts.pop(top).rstrip("\n")]
    parts += [f"{SEPARATOR}\nMSG: {inner}\n{text.rstrip(chr(10))}" for inner, text in texts.items()]
    return "\n".join(parts) + "\n"


@lru_cache(maxsize=256)
def installed_definition(type_name: str) -> str:
    """`full_definition` of an installed type, read once per process."""
    return full_definition(type_name)


def installed_topic(name: str, type_name: str) -> TopicInfo:
    """A topic of an installed type, with its definition. Raises SchemaError."""
    return TopicInfo(name, type_name, installed_definition(type_name))
