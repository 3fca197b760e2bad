# SPDX-License-Identifier: Apache-2.0
"""The committed parameter file documents every parameter of every node, with its default and its valid values."""

import importlib
from pathlib import Path

import pytest
import yaml

from pqc_mav_sensing.config_template import render
from pqc_mav_sensing.main import NODES

FILE = Path(__file__).resolve().parents[2] / "pqc_mav_bringup" / "config" / "sensing.yaml"
HOW = "differs: make docs"
MODULES = [importlib.import_module(module) for module, _ in NODES.values()]


@pytest.mark.skipif(not FILE.parent.is_dir(), reason="pqc_mav_bringup is not next to this package")
def test_committed_file_is_what_the_tables_say() -> None:
    assert FILE.read_text() == render(), f"{FILE.name} {HOW}"


@pytest.mark.parametrize("module", MODULES, ids=list(NODES))
def test_values_in_the_file_are_the_defaults(module) -> None:
    block = yaml.safe_load(render())["/**"][module.NODE_NAME]["ros__parameters"]
    assert set(block) == {spec.name for spec in module.PARAMETERS}
    for spec in module.PARAMETERS:
        assert block[spec.name] == spec.default and type(block[spec.name]) is type(spec.default), spec.name
        assert spec.check("n", spec.default) == spec.default


def test_no_two_nodes_share_a_name() -> None:
    """Values given without a node's name reach every node of the process."""
    names = [spec.name for module in MODULES for spec in module.PARAMETERS]
    assert len(names) == len(set(names))
