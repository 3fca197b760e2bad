# SPDX-License-Identifier: Apache-2.0
"""Reads ROS parameter files (`/**: NODE: ros__parameters: ...`) so that a fault gets one clear line.

rcl reads the same files itself; it reports a fault with source lines of its own and, for a node name that matches
nothing, not at all. Checking here first costs a few milliseconds at start.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from pqc_mav_common.errors import ProcessError

MAX_BYTES = 1 << 20
_PARAMETERS = "ros__parameters"


class _Loader(yaml.SafeLoader):
    """Plain YAML, plus the one tag that launch_ros writes into its temporary files: a list parameter as a tuple.

    Without aliases, as in ROS' own reader: nine of them in nine lines stand for a billion values.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        """As the parent's."""
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not allowed in a parameter file", mark)
        return super().compose_node(parent, index)


_Loader.add_constructor("tag:yaml.org,2002:python/tuple", yaml.SafeLoader.construct_yaml_seq)  # type: ignore[type-var]


def load(path: str | Path) -> dict[str, Any]:
    """The parsed file. Raises ProcessError naming file, line and fault."""
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ProcessError(f"{path} is larger than {MAX_BYTES} bytes; no configuration file is.")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ProcessError(f"Cannot read the configuration file {path}: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise ProcessError(f"{path} is not a text file (byte {error.start}): expected YAML in UTF-8.") from None
    try:
        data = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise ProcessError(f"{path}{line}: not valid YAML: {error.problem or error.context}.") from None
    except yaml.YAMLError as error:
        raise ProcessError(f"{path}: not valid YAML: {' '.join(str(error).split())}.") from None
    if not isinstance(data, dict):
        raise ProcessError(f"{path}: expected '/**: NODE: {_PARAMETERS}: ...'; the files in config/ show it.")
    if not any(True for _ in _sections(data)):
        raise ProcessError(f"{path}: has no '{_PARAMETERS}:' block for a node; the files in config/ show it.")
    return data


def parameters(data: Mapping[str, Any], namespace: str, node: str) -> dict[str, Any]:
    """Flat parameters that `data` gives the node `namespace`/`node`; later blocks win, as in rcl."""
    return _of_node(((pattern, flatten(block)) for pattern, block in _sections(data)), namespace, node)


def flatten(block: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings joined by dots: {'drone': {'d1': {'plain_peer': x}}} -> {'drone.d1.plain_peer': x}."""
    flat: dict[str, Any] = {}
    for key, value in block.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            flat.update(flatten(value, name + "."))
        else:
            flat[name] = value
    return flat


def named_files(arguments: Sequence[str]) -> list[str]:
    """Absolute paths of the parameter files that a ROS command line names."""
    return [str(Path(path).absolute()) for flag, path in pairwise(arguments) if flag == "--params-file"]


def given_by(arguments: Sequence[str], namespace: str, node: str) -> dict[str, Any]:
    """What the files and the `-p` of a ROS command line give a node as the files are now.

    Later ones win, as in rcl: but a name that comes again, also in another file or as `-p`, keeps its first place, so
    that a block for `/**` never wins against one that stands after the first such block. Raises ProcessError for a file
    that is not good.
    """
    given: list[tuple[str, dict[str, Any]]] = []
    for flag, text in pairwise(arguments):
        if flag == "--params-file":
            given += [(pattern, flatten(block)) for pattern, block in _sections(load(text))]
        elif flag in ("-p", "--param"):
            rule, _, value = text.partition(":=")
            of, _, name = rule.rpartition(":")
            given.append((f"/{of or '**'}", {name: yaml.safe_load(value)}))
    return _of_node(given, namespace, node)


def check_params_files(arguments: Sequence[str]) -> None:
    """Check every file named by `--params-file` in a ROS command line."""
    for flag, path in pairwise(arguments):
        if flag == "--params-file":
            load(path)


def without_a_block(arguments: Sequence[str], nodes: Iterable[str]) -> list[str]:
    """The files of a ROS command line that say nothing for any of these nodes, which then have their defaults."""
    names = list(nodes)
    return [
        path
        for path in named_files(arguments)
        if not any(_matches(pattern, name) for pattern, _ in _sections(load(path)) for name in names)
    ]


def _of_node(given: Iterable[tuple[str, Mapping[str, Any]]], namespace: str, node: str) -> dict[str, Any]:
    full = f"/{namespace.strip('/')}/{node}"
    blocks: dict[str, dict[str, Any]] = {}
    for pattern, values in given:
        if _matches(pattern, full):
            blocks.setdefault(pattern, {}).update(values)
    return {name: value for block in blocks.values() for name, value in block.items()}


def _sections(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every (node name pattern, parameter block) of the file."""
    for key, value in data.items():
        if key == _PARAMETERS:
            if isinstance(value, Mapping):
                yield prefix, value
        elif isinstance(value, Mapping):
            yield from _sections(value, f"{prefix}/{str(key).strip('/')}")


def _matches(pattern: str, name: str) -> bool:
    """Whether a node name pattern of a parameter file matches: `*` one token, `**` any number of them."""
    return _match_tokens(pattern.strip("/").split("/"), name.strip("/").split("/"))


def _match_tokens(pattern: Sequence[str], name: Sequence[str]) -> bool:
    if not pattern:
        return not name
    head, rest = pattern[0], pattern[1:]
    if head == "**":
        return any(_match_tokens(rest, name[skip:]) for skip in range(len(name) + 1))
    return bool(name) and head in ("*", name[0]) and _match_tokens(rest, name[1:])
