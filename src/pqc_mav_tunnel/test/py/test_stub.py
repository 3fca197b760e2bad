# SPDX-License-Identifier: Apache-2.0
"""The type stub names exactly what the extension module has."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pqc_mav_tunnel as tunnel
import pytest
from pqc_mav_tunnel import _engine

STUB = ast.parse((Path(__file__).parents[2] / "python" / "pqc_mav_tunnel" / "_engine.pyi").read_text())
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}


def methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    """Those of a class and of the one that it shares some with."""
    shared = [CLASSES[base.id].body for base in node.bases if isinstance(base, ast.Name) and base.id in CLASSES]
    return [each for body in (*shared, node.body) for each in body if isinstance(each, ast.FunctionDef)]


def parameters(node: ast.FunctionDef) -> list[str]:
    arguments = node.args
    return [each.arg for each in arguments.args if each.arg != "self"]


def bound_parameters(function: object) -> list[str] | None:
    """The parameter names of pybind11's signature line; None where it names none."""
    doc = inspect.getdoc(function) or ""
    overloads = re.findall(r"^1\. (.*)$", doc, re.MULTILINE)  # the others are for what fits no signature
    line = overloads[0] if overloads else doc.split("\n")[0]
    names = re.findall(r"(\w+): ", line.split("->")[0])
    names = [name for name in names if name != "self"]
    return None if any(re.fullmatch(r"arg\d+", name) for name in names) else names


def test_names() -> None:
    public = {name for name in dir(_engine) if not name.startswith("_")}
    assert {name for name in CLASSES if name[0] != "_"} | set(FUNCTIONS) == public
    assert set(tunnel.__all__) == (public - {"call"}) | set(tunnel._calls.__all__)


@pytest.mark.parametrize("name", sorted(set(CLASSES) - {"TunnelError", "_Party"}))
def test_members(name: str) -> None:
    members = {node.name for node in methods(CLASSES[name])}
    assert members - {"__init__"} == {member for member in vars(getattr(_engine, name)) if not member.startswith("_")}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_parameters_of_functions(name: str) -> None:
    bound = bound_parameters(getattr(_engine, name))
    if bound is not None and name != "encode_control":
        assert bound == parameters(FUNCTIONS[name])


@pytest.mark.parametrize("name", sorted(set(CLASSES) - {"TunnelError", "_Party"}))
def test_parameters_of_methods(name: str) -> None:
    for node in methods(CLASSES[name]):
        if node.decorator_list:
            continue
        bound = bound_parameters(getattr(getattr(_engine, name), node.name))
        if bound is not None:
            assert bound == parameters(node), node.name
