# SPDX-License-Identifier: Apache-2.0
"""Mutation check: every comparison in the rules is held by a case.

Each `<`, `<=`, `>`, `>=` in the modules that decide is replaced, one at a time, by its loose or strict sibling and by
its opposite; then the boundary cases run, and at least one has to fail. A comparison that may be changed unnoticed
would be a threshold nobody tests.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest
from boundaries import BOUNDARIES

from pqc_mav_policy import memory, senses, situation
from pqc_mav_policy.parameters import PolicyParameters
from pqc_mav_policy.strategies.cascade import cascade, rules, signs

DEFAULTS = PolicyParameters()
MODULES = (signs, rules, memory, situation, senses)
USERS = (rules, cascade, situation, memory, senses)
SIBLING: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}
# Comparisons without a threshold of their own, where both siblings mean the same, with why.
SAME = {
    ("situation", "catalogue[n].level >= floor"): "levels; test_situation holds it",
    ("situation", "self._level(name) >= self._level(free)"): "levels; test_situation holds it",
    ("situation", "self._level(decision.to_suite) >= self._level(free.to_suite)"): "levels; test_situation holds it",
    ("rules", "it.ladder.catalogue[name].level >= suite.level"): "levels; test_rules holds it",
    ("memory", "after - before > SAME_SWITCH_S"): "two sessions; test_memory holds it",
    ("memory", "now - memory.last_s > parameters.stale_s"): "a gap between decisions; test_memory holds it",
}


def comparisons(module: ModuleType) -> list[tuple[int, str]]:
    """Number and source of every ordering comparison of a module."""
    tree = ast.parse(inspect.getsource(module))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Compare) and type(node.ops[0]) in SIBLING]
    return [(number, ast.unparse(node)) for number, node in enumerate(found)]


def mutated(module: ModuleType, number: int, operators: dict[type[ast.cmpop], type[ast.cmpop]]) -> ast.Module:
    """The module's syntax tree with one comparison replaced."""
    tree = ast.parse(inspect.getsource(module))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Compare) and type(node.ops[0]) in SIBLING]
    found[number].ops[0] = operators[type(found[number].ops[0])]()
    return tree


@contextmanager
def in_place(module: ModuleType, tree: ast.Module) -> Iterator[None]:
    """The mutated module under its own name, for all who use it; the good ones come back afterwards."""
    saved = {user: dict(vars(user)) for user in {module, *USERS}}
    try:
        exec(compile(tree, module.__file__ or "", "exec"), vars(module))
        for user in USERS:
            for name, old in saved[user].items():
                if user is not module and getattr(old, "__module__", None) == module.__name__:
                    setattr(user, name, getattr(module, name))
        yield
    finally:
        for user, names in saved.items():
            vars(user).clear()
            vars(user).update(names)


MUTANTS = [
    pytest.param(module, number, operators, id=f"{module.__name__.split('.')[-1]}-{number}-{kind}-{text}")
    for module in MODULES
    for number, text in comparisons(module)
    for kind, operators in (("sibling", SIBLING), ("opposite", OPPOSITE))
    if (module.__name__.split(".")[-1], text) not in SAME
]


def all_hold() -> bool:
    return all(boundary.holds(DEFAULTS) for boundary in BOUNDARIES)


@pytest.mark.parametrize(("module", "number", "operators"), MUTANTS)
def test_a_changed_comparison_does_not_go_unnoticed(
    module: ModuleType, number: int, operators: dict[type[ast.cmpop], type[ast.cmpop]]
) -> None:
    with in_place(module, mutated(module, number, operators)):
        assert not all_hold()
    assert cascade.rules is rules


def test_without_a_mutation_all_cases_hold_and_the_exceptions_exist() -> None:
    for module in MODULES:
        with in_place(module, ast.parse(inspect.getsource(module))):
            assert all_hold()
    texts = {(module.__name__.split(".")[-1], text) for module in MODULES for _, text in comparisons(module)}
    assert set(SAME) <= texts
    assert len(MUTANTS) >= 34
