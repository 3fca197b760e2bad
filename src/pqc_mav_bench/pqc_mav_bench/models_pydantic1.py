# SPDX-License-Identifier: Apache-2.0
"""As much of pydantic 2 as the benchmark uses, in terms of pydantic 1.10. See `models.py`."""

# mypy: ignore-errors
# ruff: noqa: D102 - the methods are pydantic 2's

import json
import math
from types import SimpleNamespace
from typing import Any

import pydantic

if not pydantic.VERSION.startswith("1."):
    from pydantic import v1 as pydantic  # for the tests of this module

from pqc_mav_bench.errors import BenchError

ModelMetaclass = pydantic.main.ModelMetaclass
ValidationError = pydantic.ValidationError
ConfigDict = dict
_OWN = "allow_inf_nan"  # a setting of pydantic 2 alone


def Field(default: Any = ..., *, pattern: str | None = None, json_schema_extra: Any = None, **given: Any) -> Any:  # noqa: N802
    """A field; pydantic 1 has other names for some of its properties."""
    if pattern is not None:
        given["regex"] = pattern
    if "min_length" in given and isinstance(default, list):
        given["min_items"] = given.pop("min_length")
    if "default_factory" in given:
        return pydantic.Field(extra=json_schema_extra, **given)
    return pydantic.Field(default, extra=json_schema_extra, **given)


def field_validator(name: str) -> Any:
    """Checks one field after its type."""
    return lambda method: pydantic.validator(name, allow_reuse=True)(method)


class _Meta(ModelMetaclass):
    """Takes `model_config`, which pydantic 1 would hold for a field, as its `Config`."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **given: Any) -> Any:
        config = namespace.pop("model_config", None)
        if config is not None:
            namespace["Config"] = type("Config", (), dict(config))
        return super().__new__(cls, name, bases, namespace, **given)

    @property
    def model_fields(cls) -> dict[str, Any]:
        """What pydantic 2 says of each field."""
        return {
            name: SimpleNamespace(
                annotation=field.annotation,
                description=field.field_info.description,
                json_schema_extra=field.field_info.extra.get("extra"),
            )
            for name, field in cls.__fields__.items()
        }


def _is(field: Any, kind: type) -> bool:
    """Whether it holds one value of this type; bounds make a field's type a subclass."""
    return field.outer_type_ is field.type_ and isinstance(field.type_, type) and issubclass(field.type_, kind)


class BaseModel(pydantic.BaseModel, metaclass=_Meta):
    """With the methods of pydantic 2, and its refusal to bend a value into another type."""

    @pydantic.validator("*", pre=True, allow_reuse=True)
    def _as_it_is(cls, value: Any, field: Any, config: Any) -> Any:  # noqa: N805
        if isinstance(value, float) and not math.isfinite(value) and not getattr(config, _OWN, True):
            raise ValueError("Input should be a finite number")
        if _is(field, int) and isinstance(value, float) and not value.is_integer():
            raise ValueError("Input should be a valid integer, got a number with a fractional part")
        if _is(field, str) and not isinstance(value, str) and value is not None:
            raise ValueError("Input should be a valid string")
        return value

    @classmethod
    def model_validate(cls, data: Any) -> Any:
        if not isinstance(data, dict | cls):
            fault = pydantic.error_wrappers.ErrorWrapper(TypeError("Input should be a valid dictionary"), loc=())
            raise ValidationError([fault], cls)
        return cls.parse_obj(data)

    def model_dump(self, mode: str = "python") -> dict[str, Any]:
        return json.loads(self.json()) if mode == "json" else self.dict()

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        raise BenchError("The JSON Schema needs pydantic 2; here is pydantic 1.")
