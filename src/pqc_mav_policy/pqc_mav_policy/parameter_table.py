# SPDX-License-Identifier: Apache-2.0
"""How parameters are declared, checked and listed: one frozen class per group, its fields the one account of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from pqc_mav_common.parameters import ParameterError, ParameterSpec

TableT = TypeVar("TableT", bound="ParameterTable")
_TYPES: Mapping[Any, str] = {bool: "bool", int: "int", float: "float", str: "string"}


def number(default: Any, low: float, high: float, unit: str, description: str, published: str = "") -> Any:
    """A numeric field; bounds are inclusive. `published` names where a default was published, "" = it is ours."""
    facts = {"min": low, "max": high, "unit": unit, "description": description, "published": published}
    return field(default=default, metadata=facts)


def choice(default: Any, description: str, published: str = "") -> Any:
    """A field that is no bounded number."""
    facts = {"min": None, "max": None, "unit": "", "description": description, "published": published}
    return field(default=default, metadata=facts)


@dataclass(frozen=True)
class ParameterTable:
    """A group of parameters. Raises ParameterError for a value of the wrong type or out of range."""

    def __post_init__(self) -> None:
        """Checks the values; whole numbers become what their fields are."""
        table = type(self)
        if table not in _SPECS:
            _SPECS[table] = specs(table)
        for spec in _SPECS[table]:
            object.__setattr__(self, spec.name, spec.check("the policy", getattr(self, spec.name)))


def names(table: type[ParameterTable]) -> list[str]:
    """Of all parameters, in their order."""
    return [each.name for each in fields(table)]


def plain(values: ParameterTable) -> dict[str, Any]:
    """All values as JSON has them, which knows no tuples."""
    found = {name: getattr(values, name) for name in names(type(values))}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def build(table: type[TableT], values: Mapping[str, Any], prefix: str = "") -> TableT:
    """A checked table out of `values`, defaults for the rest. Raises ParameterError naming the parameter at fault."""
    unknown = set(values) - set(names(table))
    if unknown:
        raise ParameterError(f"The policy has no parameter '{prefix}{min(unknown)}'.")
    return table(**values)


def schema(table: type[ParameterTable], prefix: str = "") -> list[dict[str, Any]]:
    """One entry per parameter, in the form of the engine's `config_schema`, with `published` added."""
    hints = get_type_hints(table)
    entries = []
    for each in fields(table):
        kind, choices = _type(hints[each.name])
        value: Any = each.default
        default = list(value) if kind == "string_list" else value
        entry = {"key": prefix + each.name, "type": kind, "default": default, "choices": choices, "required": False}
        entries.append({**entry, **each.metadata})
    return entries


def specs(table: type[ParameterTable], prefix: str = "") -> list[ParameterSpec]:
    """The same as ROS parameters."""
    return [ParameterSpec.from_schema(entry) for entry in schema(table, prefix)]


# Types are slow to resolve, and training makes tables by the thousand.
_SPECS: dict[type[ParameterTable], list[ParameterSpec]] = {}


def _type(annotation: Any) -> tuple[str, list[Any]]:
    if get_origin(annotation) is Literal:
        values = get_args(annotation)
        return _TYPES[type(values[0])], list(values)
    if get_origin(annotation) is tuple:
        return "string_list", _type(get_args(annotation)[0])[1]
    return _TYPES[annotation], []
