import pqc_mav_tunnel
import pytest

from pqc_mav_proxy import parameters
from pqc_mav_proxy.parameters import ParameterSpec

ENTRY = {
    "key": "dscp",
    "type": "int",
    "default": 46,
    "min": 0.0,
    "max": 63.0,
    "unit": "",
    "description": "DSCP of encrypted packets.",
    "choices": [],
}


def spec(**changes: object) -> ParameterSpec:
    return ParameterSpec.from_schema({**ENTRY, **changes})


@pytest.mark.parametrize("role", parameters.ROLES)
def test_every_schema_key_becomes_a_spec_with_its_own_default_valid(role: str) -> None:
    schema = pqc_mav_tunnel.config_schema(role)
    made = parameters.specs(role, schema)
    assert [each.name for each in made] == [entry["key"] for entry in schema]
    for each in made:
        assert each.description
        assert each.shown(each.default) == each.default
    assert next(each for each in made if each.name == "role").default == role


def test_drone_specs_are_named_by_drone() -> None:
    names = {each.name for each in parameters.drone_specs(["a", "b-1"], pqc_mav_tunnel.per_drone_schema())}
    assert {"drone.a.plain_bind", "drone.b-1.plain_peer", "drone.b-1.require_signature"} <= names
    assert len(names) == 2 * len(pqc_mav_tunnel.per_drone_schema())


def test_description_names_choices_and_unit() -> None:
    text = parameters.describe({**ENTRY, "choices": ["a", "b"], "unit": "s"})
    assert text == "DSCP of encrypted packets. One of: a, b. [s]"


@pytest.mark.parametrize(
    ("kind", "given", "shown"),
    [
        ("int", 7, 7),
        ("int", 64, 46),  # out of range: the engine refuses it, the parameter shows the default
        ("int", True, 46),
        ("int", "7", 46),
        ("float", 2, 2.0),
        ("float", "2", 46),
    ],
)
def test_shown_falls_back_to_the_default(kind: str, given: object, shown: object) -> None:
    value = spec(type=kind).shown(given)
    assert value == shown and type(value) is type(shown)


def test_engine_config_leaves_out_what_belongs_to_ros_and_nothing_else() -> None:
    given = {
        "use_sim_time": False,
        "autostart": True,
        "qos_overrides./parameter_events.publisher.depth": 3,
        "suite": "x",
        "sutie": "y",
        "drone.d1.plain_peer": "z",
    }
    assert parameters.engine_config(given, str) == {"suite": "x", "sutie": "y", "drone.d1.plain_peer": "z"}


def test_engine_config_reads_both_spellings_of_an_empty_list_and_expands_paths() -> None:
    given = {"drones": None, "allowed_suites": [""], "keys": "~/k", "peer": "~"}
    config = parameters.engine_config(given, lambda path: path.replace("~", "/home/u"))
    assert config == {"drones": [], "allowed_suites": [], "keys": "/home/u/k", "peer": "~"}


def test_descriptor_carries_bounds_choices_and_read_only() -> None:
    descriptor = parameters.to_descriptor(spec())
    assert descriptor.read_only and descriptor.description
    assert (descriptor.integer_range[0].from_value, descriptor.integer_range[0].to_value) == (0, 63)
    descriptor = parameters.to_descriptor(spec(type="float", default=1.0, min=0.5, max=2.0))
    assert (descriptor.floating_point_range[0].from_value, descriptor.floating_point_range[0].to_value) == (0.5, 2.0)
    descriptor = parameters.to_descriptor(spec(type="string", default="a", min=None, max=None, choices=["a", "b"]))
    assert descriptor.additional_constraints == "one of: a, b"
