# SPDX-License-Identifier: Apache-2.0
"""Keeps out of a process what rclpy and messages import and a running node never uses.

To be called before the first import of a message. What is there already stays, and what is used after all is loaded
when it is used: a node cannot tell the difference, but by its memory.
"""

import re
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

# The package from which messages get their type support also imports, where it can, the generator of message code; that
# builds the grammar of IDL: 13 MB of memory and half a second. Where it cannot, it goes on without.
_GENERATOR = "rosidl_generator_py.generate_py_impl"
# A line of the generated __init__.py of an interface package: where one of its types is.
_TYPE = re.compile(r"^from \S+\.(\w+) import (\w+)", re.MULTILINE)
_STEPPING_ASIDE = threading.Lock()


def lean() -> None:
    """All of these."""
    without_code_generator()
    numpy_when_used()
    messages_when_used()


def without_code_generator() -> None:
    """Call it before the first message is used. Nothing happens where the generator has been imported already."""
    if "rosidl_generator_py" not in sys.modules:
        sys.modules.setdefault(_GENERATOR, None)  # type: ignore[arg-type]


def numpy_when_used() -> None:
    """Imports numpy at its first use: 12 MB.

    Every message with an array of fixed length imports it, and every service, whose event has one (Jazzy and later),
    even where none is ever made. Not for `importlib.util.LazyLoader`, whose modules the second import of them loads.
    """
    if "numpy" not in sys.modules and (spec := find_spec("numpy")) is not None:
        sys.modules["numpy"] = _WhenUsed(spec)


def messages_when_used() -> None:
    """Imports the types of an interface package one by one, when they are asked for: 3 MB.

    `from sensor_msgs.msg import BatteryState` otherwise brings in all of that package.
    """
    if not any(isinstance(finder, _TypesWhenUsed) for finder in sys.meta_path):
        sys.meta_path.insert(0, _TypesWhenUsed())


class _WhenUsed(ModuleType):
    """In the place of a module that has not been imported yet; whoever imported this keeps it, and it hands out what
    the real one has."""

    def __init__(self, spec: ModuleSpec) -> None:
        super().__init__(spec.name)
        self.__file__ = spec.origin  # `inspect`, and so each line that is logged, asks every module for it

    def __getattr__(self, name: str) -> Any:
        with _STEPPING_ASIDE:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


class _TypesWhenUsed(Loader):
    """Finds and loads the `msg`, `srv` and `action` of interface packages."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """As importlib has it."""
        if name.rpartition(".")[2] not in ("msg", "srv", "action") or "." not in name:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None or not _TYPE.search(_source(spec.origin)):
            return None  # nothing that was generated: the ordinary way
        spec.loader = self
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Fills the package with nothing but the way to its types."""
        assert module.__spec__ is not None and module.__spec__.origin is not None
        homes = {kind: home for home, kind in _TYPE.findall(_source(module.__spec__.origin))}

        def find(name: str) -> Any:
            if name not in homes:
                raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")
            value = getattr(import_module(f"{module.__name__}.{homes[name]}"), name)
            setattr(module, name, value)
            return value

        module.__all__ = list(homes)  # type: ignore[attr-defined]
        module.__getattr__ = find  # type: ignore[method-assign]


def _source(origin: str) -> str:
    return Path(origin).read_text(encoding="utf-8") if origin.endswith("__init__.py") else ""
