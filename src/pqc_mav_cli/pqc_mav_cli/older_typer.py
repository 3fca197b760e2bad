# SPDX-License-Identifier: Apache-2.0
"""Lets typer 0.9, which Ubuntu 24.04 has, read our annotations: later versions know `int | None`, and `Annotated` in a
module whose annotations are texts.
"""

from types import UnionType
from typing import Any, Union, get_type_hints

import typer
import typer.main

KNOWS_BOTH = (0, 10)


def prepare() -> None:
    """To be called before any command is made."""
    if tuple(map(int, typer.__version__.split(".")[:2])) >= KNOWS_BOTH:
        return
    main: Any = typer.main
    inner_function, inner_param = main.get_params_from_function, main.get_click_param

    def get_params_from_function(function: Any) -> Any:
        function.__annotations__ = get_type_hints(function, include_extras=True)
        return inner_function(function)

    def get_click_param(param: Any) -> Any:
        param.annotation = as_typing(param.annotation)
        return inner_param(param)

    main.get_params_from_function = get_params_from_function
    main.get_click_param = get_click_param


def as_typing(annotation: Any) -> Any:
    """A union in the older of its two forms; anything else as it is."""
    return Union[annotation.__args__] if isinstance(annotation, UnionType) else annotation  # noqa: UP007 - meant
