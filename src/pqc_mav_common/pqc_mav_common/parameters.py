"""ROS parameters as data: name, type, default, bounds and meaning, from which descriptors are made and declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

AUTOSTART = "autostart"
# Parameters that rclpy declares for every node: never the engine's.
ROS_OWN = frozenset({"use_sim_time", "start_type_description_service", AUTOSTART})
ROS_OWN_PREFIXES = ("qos_overrides.", "/")

_PYTHON_TYPES: Mapping[str, type] = {"bool": bool, "int": int, "float": float, "string": str, "string_list": list}


@dataclass(frozen=True)
class ParameterSpec:
    """One parameter: `type` is one of bool, int, float, string, string_list; bounds are inclusive, None = none."""

    name: str
    type: str
    default: Any
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()

    @classmethod
    def from_schema(cls, entry: Mapping[str, Any], prefix: str = "") -> ParameterSpec:
        """From one entry of the engine's schema; `prefix` goes before the key, e.g. `drone.d1.`."""
        return cls(
            name=prefix + entry["key"],
            type=entry["type"],
            default=list(entry["default"]) if entry["type"] == "string_list" else entry["default"],
            description=describe(entry),
            minimum=entry["min"],
            maximum=entry["max"],
            choices=tuple(entry["choices"] or ()),
        )

    def shown(self, value: Any) -> Any:
        """`value` in this parameter's type, or the default where it does not fit (the engine then refuses it)."""
        if self.type == "float" and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, _PYTHON_TYPES[self.type]) or (self.type == "int" and isinstance(value, bool)):
            return self.default
        if self.type in ("int", "float"):
            low: Any = self.minimum if self.minimum is not None else value
            high: Any = self.maximum if self.maximum is not None else value
            return value if low <= value <= high else self.default
        return value


def describe(entry: Mapping[str, Any]) -> str:
    """One line for `ros2 param describe`: meaning, unit and valid values."""
    text: str = entry["description"]
    if entry["choices"]:
        text += f" One of: {', '.join(entry['choices'])}."
    if entry["unit"]:
        text += f" [{entry['unit']}]"
    return text


def to_descriptor(spec: ParameterSpec) -> Any:
    """The rcl_interfaces ParameterDescriptor of a spec."""
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

    descriptor = ParameterDescriptor(name=spec.name, description=spec.description, read_only=True)
    if spec.choices:
        descriptor.additional_constraints = f"one of: {', '.join(spec.choices)}"
    if spec.minimum is not None and spec.maximum is not None:
        if spec.type == "int":
            descriptor.integer_range = [IntegerRange(from_value=int(spec.minimum), to_value=int(spec.maximum), step=0)]
        elif spec.type == "float":
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=float(spec.minimum), to_value=float(spec.maximum), step=0.0)
            ]
    return descriptor


def given_parameters(node: Any) -> dict[str, Any]:
    """Name -> value of every parameter the user gave this node, declared or not.

    rclpy has no public way to ask for this, and without it a misspelt key would silently be ignored.
    """
    return {name: parameter.value for name, parameter in node._parameter_overrides.items()}


def plain_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """The user's values without ROS' own parameters, and with empty lists as empty lists.

    A list that YAML gave empty arrives as None, and an empty string in a list is how others write an empty list.
    """
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name in ROS_OWN or name.startswith(ROS_OWN_PREFIXES):
            continue
        if value is None:
            value = []
        if isinstance(value, (list, tuple)):
            value = [item for item in value if item != ""]
        values[name] = value
    return values


def declare(node: Any, wanted: Iterable[ParameterSpec], config: Mapping[str, Any]) -> None:
    """Declares parameters with what `config` gives or their defaults."""
    from rclpy.parameter import Parameter

    for spec in wanted:
        value = spec.shown(config.get(spec.name, spec.default))
        # An empty Python list has no element type: declared by type alone, such a parameter stays unset.
        by_type = Parameter.Type.STRING_ARRAY if spec.type == "string_list" and not value else value
        node.declare_parameter(spec.name, by_type, to_descriptor(spec), ignore_override=True)
