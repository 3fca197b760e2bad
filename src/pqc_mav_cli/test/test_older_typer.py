# SPDX-License-Identifier: Apache-2.0
"""Annotations for typer 0.9; that all commands work with it, 'make test-ubuntu' shows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Annotated, Any, Union, get_origin

import pytest
import typer

from pqc_mav_cli import older_typer


def command(size: Annotated[int | None, "how big"] = None) -> None:
    """Its annotations are texts."""


@pytest.mark.parametrize(("version", "older"), [("0.9.0", True), ("0.10.0", False), ("1.2", False)])
def test_an_older_typer_gets_annotations_it_reads(monkeypatch: pytest.MonkeyPatch, version: str, older: bool) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(typer, "__version__", version)
    inner = {
        "get_click_param": lambda param: seen.append(param.annotation),
        "get_params_from_function": lambda function: seen.append(function.__annotations__),
    }
    for name, function in inner.items():
        monkeypatch.setattr(typer.main, name, function, raising=False)
    monkeypatch.setattr(command, "__annotations__", dict(command.__annotations__))
    older_typer.prepare()
    for annotation in (int | None, str):
        typer.main.get_click_param(SimpleNamespace(annotation=annotation))
    assert (get_origin(seen[0]) is Union) is older and seen[0] == int | None and seen[1] is str
    typer.main.get_params_from_function(command)
    assert (seen[2]["size"] == Annotated[int | None, "how big"]) is older
