# SPDX-License-Identifier: Apache-2.0
"""ROS parameters as data: type, default, bounds and meaning in one place, from which nodes and YAML files are made."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pqc_mav_common.errors import ProcessError

# Parameters that rclpy declares for every node.
_ROS_OWN = frozenset({"use_sim_time", "start_type_description_service"})
_ROS_OWN_PREFIXES = ("qos_overrides.", "/")
_PURE_NUMBERS = frozenset({"count", "fraction"})  # units that a sentence does without
_WORDS: Mapping[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    tuple: "a list of strings",
}
_TYPES: Mapping[str, type] = {"bool": bool, "int": int, "float": float, "string": str, "string_list": tuple}


class ParameterError(ProcessError, ValueError):
    """A parameter that does not exist or has a bad value, in one sentence."""


@dataclass(frozen=True)
class ParameterSpec:
    """One parameter; its type is that of `default`, a list of strings being a tuple. Bounds are inclusive, None = none.

    `choices` are the valid values, of a list the valid items. `required`: there is no default to rely on. `live`: a
    node that works takes a new value at once. `fixed`: set at the start alone. `source`: where the default was
    published.
    """

    name: str
    default: bool | int | float | str | tuple[str, ...]
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str | int, ...] = ()
    unit: str = ""
    required: bool = False
    live: bool = False
    fixed: bool = False
    source: str = ""

    @classmethod
    def from_schema(cls, entry: Mapping[str, Any], prefix: str = "") -> ParameterSpec:
        """From an entry in the form of the engine's `config_schema`; `prefix` goes before the key, e.g. `drone.d1.`."""
        return cls(
            name=prefix + entry["key"],
            default=_TYPES[entry["type"]](entry["default"]),
            description=entry["description"],
            minimum=entry["min"],
            maximum=entry["max"],
            choices=tuple(entry["choices"] or ()),
            unit=entry["unit"],
            required=entry["required"],
            live=not entry.get("read_only", True),
            fixed=entry.get("fixed", False),
            source=entry.get("published", ""),
        )

    def check(self, node: str, value: Any) -> Any:
        """Return `value` in this parameter's type. Raises ParameterError."""
        kind: type = type(self.default)
        if kind is float and type(value) is int:
            value = float(value)
        if kind is tuple and isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
            value = tuple(value)
        if type(value) is not kind:
            raise ParameterError(f"Parameter '{self.name}' of {node} is {value!r}; it must be {_WORDS[kind]}.")
        checked: Any = value
        if self.choices:
            for item in checked if kind is tuple else (checked,):
                if item not in self.choices:
                    raise ParameterError(
                        f"Parameter '{self.name}' of {node} {'holds' if kind is tuple else 'is'} '{item}'; "
                        f"it must be one of: {self._choices()}."
                    )
        low, high = self.minimum, self.maximum
        # Written so that a NaN, which no comparison holds for, is refused.
        if low is not None and high is not None and not low <= checked <= high:
            unit = f" {self.unit}" if self.unit and self.unit not in _PURE_NUMBERS else ""
            raise ParameterError(
                f"Parameter '{self.name}' of {node} is {checked:g}; it must be between {low:g} and {high:g}{unit}."
            )
        return checked

    def facts(self) -> str:
        """Valid values and default on one line, and the default's source if it has one."""
        default = "required" if self.required else f"default {yaml_text(self.default)}"
        return f"{self.valid()}; {default}" + (f"; source: {self.source}" if self.source else "")

    def valid(self) -> str:
        """The values it takes, on one line."""
        kind: type = type(self.default)
        if self.choices:
            return f"{'any of' if kind is tuple else 'one of'} {self._choices()}"
        text = _WORDS[kind].removeprefix("a ")
        if self.minimum is not None and self.maximum is not None:
            text += f"; {kind(self.minimum)} to {kind(self.maximum)}"
        return f"{text} [{self.unit}]" if self.unit else text

    def descriptor(self, *, read_only: bool = False) -> Any:
        """The rcl_interfaces ParameterDescriptor."""
        from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

        text = self.description + (f" [{self.unit}]" if self.unit else "")
        made = ParameterDescriptor(name=self.name, description=text, read_only=read_only)
        if self.choices:
            made.additional_constraints = f"one of: {self._choices()}"
        if self.minimum is not None and self.maximum is not None:
            # A step of 0 means that there is none.
            if isinstance(self.default, float):
                low, high = float(self.minimum), float(self.maximum)
                made.floating_point_range = [FloatingPointRange(from_value=low, to_value=high, step=0.0)]
            else:
                made.integer_range = [IntegerRange(from_value=int(self.minimum), to_value=int(self.maximum), step=0)]
        return made

    def _choices(self) -> str:
        return ", ".join(str(choice) for choice in self.choices)


def yaml_text(value: Any) -> str:
    """A parameter's value as YAML that ROS reads in the same type."""
    return json.dumps(list(value) if isinstance(value, tuple) else value)


# Of every node.
AUTOSTART = ParameterSpec(
    "autostart", True, "Configure and activate at start; false leaves both to a lifecycle manager."
)


class Values(dict[str, Any]):
    """Checked values by name."""

    def path(self, name: str) -> Path:
        """A value that is a path, with `~` expanded."""
        return Path(self[name]).expanduser()


def given_parameters(node: Any) -> dict[str, Any]:
    """Name -> value of every parameter the user gave this node, declared or not; see `plain_values`.

    rclpy has no public way to ask for this, and without it a misspelt key would silently be ignored.
    """
    return plain_values({name: parameter.value for name, parameter in node._parameter_overrides.items()})


def plain_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """The user's values without ROS' own parameters, and with empty lists as empty lists.

    A list that YAML gave empty arrives as None, and an empty string in a list is how others write an empty list.
    """
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name in _ROS_OWN or name.startswith(_ROS_OWN_PREFIXES):
            continue
        if value is None:
            value = []
        if isinstance(value, (list, tuple)):
            value = [item for item in value if item != ""]
        values[name] = value
    return values


def check(node: str, wanted: Iterable[ParameterSpec], given: Mapping[str, Any], siblings: Iterable[str] = ()) -> Values:
    """Return the values of all wanted parameters: those given, checked, else the defaults. Raises ParameterError.

    `siblings` are the names of parameters of nodes that share the process: values given without a node's name reach
    them all, and each takes its own.
    """
    specs = {spec.name: spec for spec in wanted}
    known = {*specs, *siblings}
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            raise ParameterError(f"{node} has no parameter '{name}'.{hint}")
    return Values((name, spec.check(node, given.get(name, spec.default))) for name, spec in specs.items())


def declare(
    node: Any, wanted: Iterable[ParameterSpec], values: Mapping[str, Any], *, fixed: Collection[str] = ()
) -> None:
    """Declare parameters with these values, those of `fixed` read-only. What the user gave is not asked again."""
    from rclpy.parameter import Parameter

    for spec in wanted:
        value = values[spec.name]
        if value != ():
            value = list(value) if isinstance(value, tuple) else value
            descriptor = spec.descriptor(read_only=spec.name in fixed)
            node.declare_parameter(spec.name, value, descriptor, ignore_override=True)
            continue
        # rclpy takes an empty list for one of bytes. Declared by type alone a parameter is unset, and one unset
        # parameter has the whole of a GetParameters answer empty, and with it 'ros2 param dump'. Hence in three steps.
        strings = Parameter.Type.STRING_ARRAY
        node.declare_parameter(spec.name, strings, spec.descriptor(), ignore_override=True)
        node.set_parameters([Parameter(spec.name, strings, [])])
        descriptor = spec.descriptor(read_only=spec.name in fixed)
        descriptor.type = strings.value
        node.set_descriptor(spec.name, descriptor)


class Settable:
    """Checks what is set of a node's parameters while it runs, and keeps it for the node's next configure.

    `take` is given the name and value of a live parameter, and says whether it counts already. `why_not` is given those
    of any and says why it must not be set, one sentence, or "".
    """

    def __init__(
        self,
        node: Any,
        specs: Iterable[ParameterSpec],
        take: Callable[[str, Any], bool],
        why_not: Callable[[str, Any], str],
    ) -> None:
        """From now on; the parameters are declared already."""
        self._take, self._why_not = take, why_not
        self.changed: dict[str, Any] = {}
        self._node = node
        self._specs = {spec.name: spec for spec in specs}
        node.add_on_set_parameters_callback(self._judge)
        node.add_post_set_parameters_callback(self._keep)

    def _judge(self, parameters: Iterable[Any]) -> Any:
        from rcl_interfaces.msg import SetParametersResult

        try:
            for parameter in parameters:
                if parameter.name not in self._specs:
                    continue
                value = self._specs[parameter.name].check(self._node.get_name(), parameter.value)
                if why := self._why_not(parameter.name, value):
                    return SetParametersResult(successful=False, reason=why)
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _keep(self, parameters: Iterable[Any]) -> None:
        for parameter in parameters:
            if parameter.name not in self._specs:
                continue
            self.changed.update(plain_values({parameter.name: parameter.value}))
            value = self.changed[parameter.name]
            now = self._specs[parameter.name].live and self._take(parameter.name, value)
            self._node.get_logger().info(
                f"'{parameter.name}' is set to {yaml_text(value)}; it counts from "
                f"{'now' if now else 'the next configure'} on."
            )
