# SPDX-License-Identifier: Apache-2.0
"""How parameters are declared, checked and listed: one pydantic model per group, its fields the one account of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError
from pydantic.fields import FieldInfo

from pqc_mav_common.parameters import ParameterError, ParameterSpec

ModelT = TypeVar("ModelT", bound=BaseModel)
_TYPES: Mapping[Any, str] = {bool: "bool", int: "int", float: "float", str: "string"}


def number(default: Any, low: float, high: float, unit: str, description: str, published: str = "") -> Any:
    """A numeric field; bounds are inclusive. `published` names where a default was published, "" = it is ours."""
    return Field(
        default=default,
        ge=low,
        le=high,
        description=description,
        json_schema_extra={"unit": unit, "published": published},
    )


def choice(default: Any, description: str, published: str = "") -> Any:
    """A field that is no bounded number."""
    return Field(default=default, description=description, json_schema_extra={"unit": "", "published": published})


def build(model: type[ModelT], values: Mapping[str, Any], prefix: str = "") -> ModelT:
    """A checked model out of `values`, defaults for the rest. Raises ParameterError naming the parameter at fault."""
    # ROS and YAML have lists where the models, being immutable, have tuples.
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    try:
        return model(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = prefix + str(first["loc"][0] if first["loc"] else "")
        message = first["msg"][0].lower() + first["msg"][1:]
        raise ParameterError(f"Parameter '{name}': {message} (got {first['input']!r}).") from None


def schema(model: type[BaseModel], prefix: str = "") -> list[dict[str, Any]]:
    """One entry per parameter, in the form of the engine's `config_schema`, with `published` added."""
    return [_entry(prefix + name, field) for name, field in model.model_fields.items()]


def specs(model: type[BaseModel], prefix: str = "") -> list[ParameterSpec]:
    """The same as ROS parameters."""
    return [ParameterSpec.from_schema(entry) for entry in schema(model, prefix)]


def _entry(key: str, field: FieldInfo) -> dict[str, Any]:
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    kind, choices = _type(field.annotation)
    bounds = {type(bound).__name__: bound for bound in field.metadata}
    default = list(field.default) if kind == "string_list" else field.default
    return {
        "key": key,
        "type": kind,
        "default": default,
        "min": bounds["Ge"].ge if "Ge" in bounds else None,
        "max": bounds["Le"].le if "Le" in bounds else None,
        "description": field.description or "",
        "unit": extra.get("unit", ""),
        "choices": choices,
        "required": False,
        "published": extra.get("published", ""),
    }


def _type(annotation: Any) -> tuple[str, list[Any]]:
    if get_origin(annotation) is Literal:
        values = get_args(annotation)
        return _TYPES[type(values[0])], list(values)
    if get_origin(annotation) is tuple:
        return "string_list", _type(get_args(annotation)[0])[1]
    return _TYPES[annotation], []
