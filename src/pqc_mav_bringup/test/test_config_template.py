# SPDX-License-Identifier: Apache-2.0
"""The committed configuration files document every key of the engine, with its default and its valid values."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pqc_mav_tunnel
import pytest
import yaml

from pqc_mav_bringup import config_template
from pqc_mav_bringup.share import config_file
from pqc_mav_common.config_file import flatten, parameters
from pqc_mav_policy.node_parameters import node_specs
from pqc_mav_policy.ros_parameters import parse

CONFIG = Path(__file__).resolve().parent.parent / "config"
HOW = "differs from the engine's schema: make docs"


def with_examples(text: str) -> str:
    """The text of a file with its commented-out examples in force."""
    return re.sub(r"^( {6})#(?=drone:|path:|sign:| {2})", r"\1", text, flags=re.MULTILINE)


@pytest.mark.parametrize("name", ["drone", "gcs", "demo", "policy"])
def test_committed_file_is_what_the_schema_says(name: str) -> None:
    assert (CONFIG / f"{name}.yaml").read_text() == config_template.render(name), f"{name}.yaml {HOW}"


@pytest.mark.parametrize(
    ("role", "prefix", "nested"),
    [
        ("drone", f"path.{config_template.EXAMPLE_PATH}", pqc_mav_tunnel.per_path_schema),
        ("gcs", f"drone.{config_template.EXAMPLE_DRONE}", pqc_mav_tunnel.per_drone_schema),
    ],
)
def test_keys_and_defaults_in_the_file(role: str, prefix: str, nested: Callable[[], list[dict[str, Any]]]) -> None:
    data = yaml.safe_load(with_examples((CONFIG / f"{role}.yaml").read_text()))
    given = parameters(data, role, "pqc_proxy")
    schema = {entry["key"]: entry for entry in pqc_mav_tunnel.config_schema(role)}
    schema |= {f"{prefix}.{entry['key']}": entry for entry in nested()}
    assert set(given) == set(schema)
    for key, value in given.items():
        expected = role if key == "role" else config_template.EXAMPLES[role].get(key, schema[key]["default"])
        assert value == expected and type(value) is type(expected), key


def test_the_file_leaves_it_to_the_keys_folder_whether_a_drone_signs() -> None:
    assert "sign" not in parameters(yaml.safe_load((CONFIG / "drone.yaml").read_text()), "drone", "pqc_proxy")


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_the_demo_sets_what_differs_and_points_to_the_files_that_explain_the_rest(role: str) -> None:
    text = (CONFIG / "demo.yaml").read_text()
    assert parameters(yaml.safe_load(text), role, "pqc_proxy") == {"role": role, **config_template.DEMO[role]}
    assert "explained in drone.yaml and gcs.yaml" in text


@pytest.mark.parametrize("name", ["drone", "gcs", "policy"])
def test_every_key_has_its_meaning_before_it(name: str) -> None:
    lines = with_examples((CONFIG / f"{name}.yaml").read_text()).splitlines()
    keys = [
        number
        for number, line in enumerate(lines)
        if line.startswith("      ") and ":" in line and not line.lstrip().startswith("#") and not line.endswith(":")
    ]
    assert len(keys) >= 20
    for number in keys:
        facts = lines[number - 1]
        assert facts.lstrip().startswith("# ") and ("default " in facts or "required" in facts), lines[number]
        assert lines[number - 2].lstrip().startswith("# "), lines[number]


def test_another_drone_needs_no_change_of_the_gcs_file(tmp_path: Path) -> None:
    given = parameters(yaml.safe_load(config_file("gcs.yaml").read_text()), "gcs", "pqc_proxy")
    pqc_mav_tunnel.init_keys(str(tmp_path / "k"), ["alpha"], sig_tokens=["mldsa65"])
    engine = pqc_mav_tunnel.Engine({**given, "drones": ["alpha"], "keys": str(tmp_path / "k" / "gcs")})
    assert engine.config()["drones"] == ["alpha"]
    assert not [key for key in engine.config() if key.startswith("drone.")], "the default of each is what it needs"


@pytest.mark.parametrize("role", ["drone", "gcs"])
def test_the_engine_takes_the_files(role: str, tmp_path: Path) -> None:
    """All but the keys, which the example paths do not hold."""
    given = parameters(yaml.safe_load(config_file(f"{role}.yaml").read_text()), role, "pqc_proxy")
    drones = given.get("drones", [given.get("drone_id")])
    pqc_mav_tunnel.init_keys(str(tmp_path / "k"), drones, sig_tokens=["mldsa65"])
    folder = tmp_path / "k" / ("gcs" if role == "gcs" else f"drones/{drones[0]}")
    assert pqc_mav_tunnel.Engine({**given, "keys": str(folder)}).config()["role"] == role


def test_the_policy_takes_its_file_and_every_parameter_stands_in_it_with_its_default() -> None:
    given = parameters(yaml.safe_load(config_file("policy.yaml").read_text()), "drone", "pqc_policy")
    defaults = {spec.name: spec.default for spec in node_specs()}
    assert given == {name: list(value) if isinstance(value, tuple) else value for name, value in defaults.items()}
    assert parse(given) == parse({})


def test_flatten_is_what_ros_does() -> None:
    assert flatten({"drone": {"d1": {"plain_peer": "x"}}, "a": 1}) == {"drone.d1.plain_peer": "x", "a": 1}
