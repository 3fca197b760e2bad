# SPDX-License-Identifier: Apache-2.0
"""Adds and removes a drone, or sets a list, in a configuration file, and leaves all else in it as it is, comments too.

The text is edited at the places where the YAML parser found things, and the result is parsed again: a file in which
that would change anything else is refused. ROS parameter files and those of pqcmav-tunneld look alike here.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from pqc_mav_cli.errors import CliError, ExitCode
from pqc_mav_common.atomic_file import alone, atomic_write

_MAX_BYTES = 1 << 20
_BOM = "\ufeff"
_TEXTS = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_INDENT = "  "
_SHIPPED = ("pqc_mav_bringup", "config")


class UnfitError(Exception):
    """Why a text cannot be edited, as the end of a sentence."""


def choose(files: Sequence[str]) -> Path | None:
    """Of the files that an engine reads the one that names its drones; later ones count. Raises CliError.

    None for the file that comes with the programs: every start without a configuration reads it.
    """
    for file in reversed(files):
        path = Path(file)
        if path.name.startswith("launch_params_"):
            continue  # made by a launch file from its arguments, and gone with it
        if _block(_composed(_read(path), path)) is not None:
            found = path.resolve()
            return None if found.parts[-3:-1] == _SHIPPED else found
    raise CliError(
        f"No 'drones' in {' or '.join(files)}: the ground station has them from its command line. Add --no-save, and "
        "change them there.",
        ExitCode.USAGE,
    )


def check_writable(path: Path) -> None:
    """Raises CliError, before anything has changed, where this user cannot replace the file."""
    if not os.access(path.parent, os.W_OK):
        raise CliError(
            f"{path} cannot be written by this user, so the change would not last: use sudo, or --no-save.",
            ExitCode.USAGE,
        )


def save(path: Path, drone: str, settings: Mapping[str, Any] | None) -> bool:
    """Adds the drone with these settings, or removes it for None. Returns whether it was not so. Raises CliError."""
    return _save(
        path, lambda text: _with_others(text, drone) if settings is None else with_drone(text, drone, settings)
    )


@contextmanager
def saved(path: Path, coming: Mapping[str, Mapping[str, Any]]) -> Iterator[None]:
    """Adds drones, in one step; one that is there gets its settings if some are given.

    If what follows fails, the file is as it was. Raises CliError.
    """
    with _alone(path):
        before = _read(path)
        _change(path, before, lambda text: _with_all(text, coming))
        try:
            yield
        except Exception:
            atomic_write(path, before)
            raise


def save_list(path: Path, key: str, names: Sequence[str]) -> None:
    """Sets a list of the ground station. Raises CliError."""
    _save(path, lambda text: with_list(text, key, names))


def _save(path: Path, change: Callable[[str], str]) -> bool:
    with _alone(path):
        return _change(path, _read(path), change)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with ExitStack() as stack:
        with suppress(OSError):  # what is wrong with the folder is said by those who read or write there
            stack.enter_context(alone(path.parent))
        yield


def _change(path: Path, text: str, change: Callable[[str], str]) -> bool:
    try:
        if (changed := change(text)) != text:
            atomic_write(path, changed)
        return changed != text
    except UnfitError as error:
        raise CliError(f"{path} is as it was: {error}.") from None
    except OSError as error:
        raise CliError(f"{path} is as it was: {error.strerror}.") from None


def _with_all(text: str, coming: Mapping[str, Mapping[str, Any]]) -> str:
    _needed(text)
    settings = _block_data(_plain(text)).get("drone") or {}
    for drone, given in coming.items():
        if given and drone in settings and settings[drone] != _plain(json.dumps(given)):
            text = _without(text, drone, listed=True)
    return with_drones(text, coming)


def _with_others(text: str, drone: str) -> str:
    _needed(text)
    if _block_data(_plain(text))["drones"] == [drone]:
        raise UnfitError("a ground station has to name a drone")
    return without_drone(text, drone)


def with_drone(text: str, drone: str, settings: Mapping[str, Any]) -> str:
    """The text with one drone more. Raises UnfitError."""
    return with_drones(text, {drone: settings})


def with_drones(text: str, drones: Mapping[str, Mapping[str, Any]]) -> str:
    """The text with these drones, and settings for those that have none. Raises UnfitError."""
    block = _needed(text)
    names = _value(block, "drones")
    wanted = _plain(text)
    inner = _block_data(wanted)
    there = inner.get("drone") or {}
    new = [drone for drone in drones if drone not in inner["drones"]]
    given = {drone: settings for drone, settings in drones.items() if settings and drone not in there}
    edits = []
    if new:
        inner["drones"] += new
        edits.append(_appended(text, names, [json.dumps(drone) for drone in new]))
    if given:
        edits.append(_settings_edit(text, block, given))
        inner.setdefault("drone", {}).update(_plain(json.dumps(given)))
    return _checked(_apply(text, edits), wanted) if edits else text


def without_drone(text: str, drone: str) -> str:
    """The text with one drone less, and without its settings. Raises UnfitError."""
    return _without(text, drone, listed=False)


def _without(text: str, drone: str, listed: bool) -> str:
    """Without its settings, and unless it stays `listed` without its name."""
    block = _needed(text)
    names = _value(block, "drones")
    at = [] if listed else [i for i, name in enumerate(_names(names)) if name == drone]
    wanted = _plain(text)
    inner = _block_data(wanted)
    edits = [_removed(text, names.value[i], names.value, i, names.flow_style) for i in at]
    if at:
        inner["drones"] = [name for name in inner["drones"] if name != drone]
        if not inner["drones"] and not names.flow_style:  # the key alone would be no list
            key = next(key for key, value in block.value if value is names)
            edits.append((key.end_mark.index + 1, key.end_mark.index + 1, " []"))
    keys = [key.value for key, _ in block.value]
    prefix = f"drone.{drone}"
    for i, (key, value) in enumerate(block.value):
        if key.value == prefix or key.value.startswith(prefix + "."):
            edits.append(_removed(text, (key, value), block.value, i, block.flow_style))
            del inner[key.value]
    if "drone" in keys and isinstance(value := _value(block, "drone"), yaml.MappingNode):
        for i, (key, settings) in enumerate(value.value):
            if key.value != drone:
                continue
            if len(value.value) == 1:
                whole = keys.index("drone")
                edits.append(_removed(text, block.value[whole], block.value, whole, block.flow_style))
                del inner["drone"]
            else:
                edits.append(_removed(text, (key, settings), value.value, i, value.flow_style))
                del inner["drone"][drone]
    return _checked(_apply(text, edits), wanted)


def with_list(text: str, key: str, names: Sequence[str]) -> str:
    """The text with this list where it has one, else below that of the drones. Raises UnfitError."""
    block = _needed(text)
    wanted = _plain(text)
    inner = _block_data(wanted)
    if inner.get(key, []) == list(names):
        return text
    inner[key] = list(names)
    drones, there, items = _value(block, "drones"), _value(block, key), json.dumps(list(names))
    if isinstance(there, yaml.SequenceNode) and there.flow_style:
        edit = (there.start_mark.index, there.end_mark.index, items)
    elif there is not None:
        raise UnfitError(f"its '{key}' is not in one line")
    elif block.flow_style:
        edit = (drones.end_mark.index, drones.end_mark.index, f", {key}: {items}")
    else:
        edit = _below(text, drones, [f"{' ' * block.value[0][0].start_mark.column}{key}: {items}"])
    return _checked(_apply(text, [edit]), wanted)


# --- reading ---


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise CliError(f"{path} is larger than {_MAX_BYTES} bytes; no configuration file is.")
        return path.read_bytes().decode()
    except FileNotFoundError:
        raise CliError(
            f"The ground station reads {path}, which is not on this machine (a container?). Add --no-save, and change "
            "it there.",
            ExitCode.USAGE,
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"Cannot read {path}: {getattr(error, 'strerror', None) or 'not a text file'}.") from None


def _compose(text: str) -> yaml.Node | None:
    """In C if PyYAML has that, since a file may name a thousand drones; its marks do not count a byte order mark."""
    loader = yaml.SafeLoader if text.startswith(_BOM) else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.compose(text, Loader=loader)


def _composed(text: str, path: Path) -> yaml.Node | None:
    try:
        return _compose(text)
    except yaml.YAMLError as error:
        raise CliError(f"{path}: not valid YAML: {' '.join(str(error).split())}.") from None


def _needed(text: str) -> yaml.MappingNode:
    block = _block(_compose(text))
    if block is None:
        raise UnfitError("it has no list 'drones', or several")
    return block


def _block(root: yaml.Node | None) -> yaml.MappingNode | None:
    """The only mapping that has a list of drones: the whole file, or `ros__parameters` of the proxy."""
    found = [block for block in _mappings(root) if isinstance(_value(block, "drones"), yaml.SequenceNode)]
    return found[0] if len(found) == 1 else None


def _mappings(node: yaml.Node | None) -> Iterator[yaml.MappingNode]:
    if isinstance(node, yaml.MappingNode):
        yield node
        for _, value in node.value:
            yield from _mappings(value)


def _value(block: yaml.MappingNode, name: str) -> Any:
    return next((value for key, value in block.value if key.value == name), None)


def _names(names: yaml.SequenceNode) -> list[str]:
    return [str(each.value) for each in names.value]


def _plain(text: str) -> Any:
    """All scalars as texts, and nothing in two places at once, as an alias would have it."""
    try:
        return json.loads(json.dumps(yaml.load(text, Loader=_TEXTS)))  # noqa: S506 - makes only texts
    except ValueError:
        raise UnfitError("it contains itself") from None


def _block_data(data: Any) -> dict[str, Any]:
    """The same mapping in the parsed file."""
    found = [block for block in _dicts(data) if isinstance(block.get("drones"), list)]
    return found[0]


def _dicts(data: Any) -> Iterator[dict[str, Any]]:
    if isinstance(data, dict):
        yield data
        for value in data.values():
            yield from _dicts(value)


# --- editing: (from, to, what stands there instead) ---

_Edit = tuple[int, int, str]


def _appended(text: str, names: yaml.SequenceNode, items: Sequence[str]) -> _Edit:
    if not names.value:
        end = names.end_mark.index - 1  # the bracket of []
        return end, end, ", ".join(items)
    last = names.value[-1]
    if names.flow_style:
        return last.end_mark.index, last.end_mark.index, "".join(f", {item}" for item in items)
    start = _line_start(text, last.start_mark.index)
    end = _line_end(text, last.end_mark.index)
    return end, end, "".join(f"\n{text[start : last.start_mark.index]}{item}" for item in items)


def _settings_edit(text: str, block: yaml.MappingNode, drones: Mapping[str, Mapping[str, Any]]) -> _Edit:
    there = _value(block, "drone")
    if isinstance(there, yaml.MappingNode) and there.value:
        if there.flow_style:
            end = there.value[-1][1].end_mark.index
            return end, end, f", {json.dumps(drones)[1:-1]}"
        return _below(text, there.value[-1][1], _lines(drones, there.value[0][0].start_mark.column))
    if there is not None:
        raise UnfitError("its 'drone' is empty or no block of drones")
    names = _value(block, "drones")
    if block.flow_style:
        end = names.end_mark.index
        return end, end, f", {json.dumps({'drone': drones})[1:-1]}"
    column = block.value[0][0].start_mark.column
    return _below(text, names, [" " * column + "drone:", *_lines(drones, column + len(_INDENT))])


def _lines(drones: Mapping[str, Mapping[str, Any]], column: int) -> list[str]:
    lines = []
    for drone, settings in drones.items():
        lines.append(f"{' ' * column}{json.dumps(drone)}:")
        lines += [f"{' ' * column}{_INDENT}{key}: {json.dumps(value)}" for key, value in settings.items()]
    return lines


def _below(text: str, node: yaml.Node, lines: Sequence[str]) -> _Edit:
    end = _line_end(text, _end(node))
    return end, end, "".join(f"\n{line}" for line in lines)


def _removed(text: str, entry: Any, siblings: Sequence[Any], place: int, flow: bool) -> _Edit:
    """One entry of a list or a mapping goes, with its comma or its lines."""

    def first(each: Any) -> int:
        return int((each[0] if isinstance(each, tuple) else each).start_mark.index)

    def end(each: Any) -> int:
        return _end(each[1] if isinstance(each, tuple) else each)

    if not flow:
        return _line_start(text, first(entry)), min(_line_end(text, end(entry)) + 1, len(text)), ""
    if place + 1 < len(siblings):
        return first(entry), first(siblings[place + 1]), ""
    return (end(siblings[place - 1]) if place else first(entry)), end(entry), ""


def _end(node: yaml.Node) -> int:
    """Where the last value in a node ends: blocks themselves end only where something else begins."""
    while isinstance(node, (yaml.MappingNode, yaml.SequenceNode)) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    found = text.find("\n", index)
    return len(text) if found < 0 else found


def _apply(text: str, edits: Sequence[_Edit]) -> str:
    """From behind; of two at one place the first one's text comes first."""
    for _, (start, end, what) in sorted(enumerate(edits), key=lambda each: (each[1][0], each[0]), reverse=True):
        text = text[:start] + what + text[end:]
    return text


def _checked(text: str, wanted: Any) -> str:
    try:
        fits = _plain(text) == wanted
    except yaml.YAMLError:
        fits = False
    if not fits:
        raise UnfitError("its form is one that can only be edited by hand")
    return text
