"""ROS parameters as data: type, default, bounds and meaning in one place, from which nodes and YAML files are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pqc_mav_sensing.errors import SensingError

# Parameters that rclpy declares for every node.
_ROS_OWN = frozenset({"use_sim_time", "start_type_description_service"})
_ROS_OWN_PREFIXES = ("qos_overrides.", "/")


@dataclass(frozen=True)
class Parameter:
    """One parameter; its type is that of `default` (bool, int, float, str). Bounds are inclusive."""

    name: str
    default: bool | int | float | str
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""

    def check(self, node: str, value: Any) -> Any:
        """`value` in this parameter's type. Raises SensingError with one sentence."""
        kind: type = type(self.default)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        checked: Any = value
        if type(value) is not kind:
            raise SensingError(f"Parameter '{self.name}' of {node} is {value!r}; it must be {_WORDS[kind]}.")
        if self.choices and value not in self.choices:
            raise SensingError(
                f"Parameter '{self.name}' of {node} is '{value}'; it must be one of: {', '.join(self.choices)}."
            )
        if self.minimum is not None and self.maximum is not None and not self.minimum <= checked <= self.maximum:
            raise SensingError(
                f"Parameter '{self.name}' of {node} is {checked:g}; it must be between {self.minimum:g} and "
                f"{self.maximum:g}{f' {self.unit}' if self.unit else ''}."
            )
        return checked

    def facts(self) -> str:
        """Type, valid values and default on one line."""
        facts = "one of " + ", ".join(self.choices) if self.choices else _WORDS[type(self.default)]
        if self.minimum is not None:
            facts += f"; {self.minimum:g} to {self.maximum:g}"
        return facts + (f" [{self.unit}]" if self.unit else "")


_WORDS: Mapping[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


class Values(dict[str, Any]):
    """Checked values by name."""

    def path(self, name: str) -> Path:
        """A value that is a path, with `~` expanded."""
        return Path(self[name]).expanduser()


def check_names(node: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuses names nobody knows: a misspelt one would otherwise silently be ignored. Raises SensingError."""
    names = set(known)
    for name in given:
        if name in names or name in _ROS_OWN or name.startswith(_ROS_OWN_PREFIXES):
            continue
        close = get_close_matches(name, names, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        raise SensingError(f"There is no parameter '{name}' of {node}.{hint}")


def declare(node: Any, wanted: Iterable[Parameter], siblings: Iterable[str] = ()) -> Values:
    """Declares and checks parameters. Raises SensingError.

    `siblings` are the names of parameters of nodes that share the process: values given without a node's name reach
    them all, and each takes its own.
    """
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

    mine = list(wanted)
    # rclpy has no public way to ask what was given; without it a misspelt name would silently be ignored.
    given = {name: parameter.value for name, parameter in node._parameter_overrides.items()}
    check_names(node.get_name(), given, [*(spec.name for spec in mine), *siblings])
    values = Values()
    for spec in mine:
        value = spec.check(node.get_name(), given.get(spec.name, spec.default))
        text = spec.description + (f" [{spec.unit}]" if spec.unit else "")
        descriptor = ParameterDescriptor(name=spec.name, description=text, read_only=True)
        if spec.choices:
            descriptor.additional_constraints = f"one of: {', '.join(spec.choices)}"
        if spec.minimum is not None and spec.maximum is not None:
            low, high = spec.minimum, spec.maximum
            if isinstance(spec.default, float):
                descriptor.floating_point_range = [FloatingPointRange(from_value=float(low), to_value=float(high))]
            else:
                descriptor.integer_range = [IntegerRange(from_value=int(low), to_value=int(high), step=1)]
        node.declare_parameter(spec.name, value, descriptor, ignore_override=True)
        values[spec.name] = value
    return values
