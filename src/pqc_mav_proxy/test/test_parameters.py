# SPDX-License-Identifier: Apache-2.0
import pqc_mav_tunnel
import pytest

from pqc_mav_common.parameters import ParameterSpec
from pqc_mav_proxy import parameters
from pqc_mav_proxy.parameters import shown

DSCP = ParameterSpec("dscp", 46, "DSCP of encrypted packets.", 0, 63)
PERIOD = ParameterSpec("period_s", 1.0, "Period.", 0.5, 60.0)


@pytest.mark.parametrize("role", parameters.ROLES)
def test_every_schema_key_becomes_a_spec_with_its_own_default_valid(role: str) -> None:
    schema = pqc_mav_tunnel.config_schema(role)
    made = parameters.specs(role, schema)
    assert [each.name for each in made] == [entry["key"] for entry in schema]
    for each in made:
        assert each.description
        assert each.check("n", each.default) == each.default
    assert next(each for each in made if each.name == "role").default == role


def test_drone_specs_are_named_by_drone_and_there_once() -> None:
    made = parameters.nested_specs("drone", ["a", "b-1", "a"], pqc_mav_tunnel.per_drone_schema())
    names = {each.name for each in made}
    assert {"drone.a.plain_bind", "drone.b-1.plain_peer", "drone.b-1.require_signature"} <= names
    assert len(made) == len(names) == 2 * len(pqc_mav_tunnel.per_drone_schema())


@pytest.mark.parametrize(
    ("spec", "given", "expected"),
    [
        (DSCP, 7, 7),
        (DSCP, 64, 46),  # out of range: the engine refuses it, the parameter shows the default
        (DSCP, True, 46),
        (DSCP, "7", 46),
        (PERIOD, 2, 2.0),
        (PERIOD, "2", 1.0),
    ],
)
def test_shown_falls_back_to_the_default(spec: ParameterSpec, given: object, expected: object) -> None:
    value = shown(spec, {spec.name: given})
    assert value == expected and type(value) is type(expected)
    assert shown(spec, {}) == spec.default


def test_engine_config_leaves_out_what_belongs_to_the_node_and_nothing_else() -> None:
    given = {"autostart": True, "suite": "x", "sutie": "y", "drone.d1.plain_peer": "z", "drones": []}
    assert parameters.engine_config(given) == {name: given[name] for name in given if name != "autostart"}


def test_engine_config_expands_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/u")
    config = parameters.engine_config({"keys": "~/k", "state_dir": "~/s/", "peer": "~"})
    assert config == {"keys": "/home/u/k", "state_dir": "/home/u/s", "peer": "~"}
    assert parameters.engine_config({"state_dir": ""}) == {"state_dir": ""}  # not the working folder


def test_several_ground_stations_are_shown_as_one_text() -> None:
    spec = next(
        each for each in parameters.specs("drone", pqc_mav_tunnel.config_schema("drone")) if each.name == "peer"
    )
    assert parameters.shown(spec, {"peer": ["north@a", "south@b:1"]}) == "north@a, south@b:1"
