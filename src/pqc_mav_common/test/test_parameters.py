# SPDX-License-Identifier: Apache-2.0
"""Parameters as data: what is valid, what is refused and how, what ROS is told, and what a dump of them holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pqc_mav_common.errors import ExitCode
from pqc_mav_common.parameters import (
    ParameterError,
    ParameterSpec,
    Values,
    check,
    declare,
    given_parameters,
    plain_values,
    yaml_text,
)

RATE = ParameterSpec("rate_hz", 4.0, "How often.", 0.5, 50.0, unit="Hz")
CELLS = ParameterSpec("cells", 0, "Cells.", 0, 24)
KIND = ParameterSpec("kind", "udp", "Which.", choices=("udp", "mavros"))
LEVEL = ParameterSpec("level", 1, "Least level.", choices=(1, 3, 5))
FLAG = ParameterSpec("simulated", False, "Whether.")
NAMES = ParameterSpec("names", (), "Which names.")
STREAMS = ParameterSpec("streams", ("a",), "Which streams.", choices=("a", "b"))
ALL = (RATE, CELLS, KIND, LEVEL, FLAG, NAMES, STREAMS)
ENTRY = {
    "key": "dscp",
    "type": "int",
    "default": 46,
    "min": 0.0,
    "max": 63.0,
    "unit": "",
    "description": "DSCP of encrypted packets.",
    "choices": [],
    "required": False,
}


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        (RATE, 50.0),
        (RATE, 2),
        (CELLS, 24),
        (KIND, "mavros"),
        (LEVEL, 5),
        (FLAG, True),
        (NAMES, ["x"]),
        (NAMES, []),
        (STREAMS, ("b", "a")),
    ],
)
def test_good_values(spec: ParameterSpec, value: Any) -> None:
    checked = spec.check("n", value)
    assert checked == (tuple(value) if isinstance(value, list) else value)
    assert type(checked) is type(spec.default)


@pytest.mark.parametrize(
    ("spec", "value", "said"),
    [
        (RATE, 51.0, "is 51; it must be between 0.5 and 50 Hz"),
        (RATE, "often", "a number"),
        (RATE, float("nan"), "between"),
        (RATE, True, "a number"),
        (CELLS, 2.0, "a whole number"),
        (CELLS, True, "a whole number"),
        (CELLS, 25, "between 0 and 24"),
        (KIND, "serial", "is 'serial'; it must be one of: udp, mavros"),
        (LEVEL, 2, "one of: 1, 3, 5"),
        (FLAG, 1, "true or false"),
        (FLAG, None, "true or false"),
        (NAMES, "x", "a list of strings"),
        (NAMES, [1], "a list of strings"),
        (STREAMS, ["a", "c"], "holds 'c'; it must be one of: a, b"),
    ],
)
def test_bad_values_are_one_sentence(spec: ParameterSpec, value: object, said: str) -> None:
    with pytest.raises(ParameterError, match=said) as caught:
        spec.check("pqc_thing", value)
    sentence = str(caught.value)
    assert sentence.startswith(f"Parameter '{spec.name}' of pqc_thing ") and sentence.endswith(".")
    assert caught.value.exit_code is ExitCode.CONFIG


def test_values_are_those_given_and_the_defaults_of_the_rest() -> None:
    values = check("n", ALL, {"rate_hz": 2, "other": 1}, siblings=["other"])
    assert values == {**{spec.name: spec.default for spec in ALL}, "rate_hz": 2.0}


def test_an_unknown_name_is_refused_with_the_closest() -> None:
    with pytest.raises(ParameterError, match=r"^n has no parameter 'rat_hz'\. Did you mean 'rate_hz'\?$"):
        check("n", ALL, {"rat_hz": 1.0})
    with pytest.raises(ParameterError, match=r"^n has no parameter 'zzzzzz'\.$"):
        check("n", ALL, {"zzzzzz": 1.0})
    with pytest.raises(ParameterError, match="Did you mean 'sibling'"):
        check("n", ALL, {"siblin": 1.0}, siblings=["sibling"])


def test_plain_values_leave_out_what_is_ros_own_and_read_both_spellings_of_an_empty_list() -> None:
    given = {
        "use_sim_time": False,
        "start_type_description_service": True,
        "qos_overrides./parameter_events.publisher.depth": 3,
        "drones": None,
        "allowed": [""],
        "suites": ("a", ""),
        "suite": "",
    }
    assert plain_values(given) == {"drones": [], "allowed": [], "suites": ["a"], "suite": ""}


def test_an_entry_of_a_schema_becomes_a_spec() -> None:
    assert ParameterSpec.from_schema(ENTRY, "drone.d1.") == ParameterSpec(
        "drone.d1.dscp", 46, "DSCP of encrypted packets.", 0.0, 63.0
    )
    made = ParameterSpec.from_schema({**ENTRY, "type": "string_list", "default": ["a"], "min": None, "max": None})
    assert made.default == ("a",)


@pytest.mark.parametrize(
    ("spec", "facts"),
    [
        (RATE, "number; 0.5 to 50.0 [Hz]; default 4.0"),
        (CELLS, "whole number; 0 to 24; default 0"),
        (KIND, 'one of udp, mavros; default "udp"'),
        (LEVEL, "one of 1, 3, 5; default 1"),
        (FLAG, "true or false; default false"),
        (NAMES, "list of strings; default []"),
        (STREAMS, 'any of a, b; default ["a"]'),
        (ParameterSpec("keys", "", "Folder.", required=True), "string; required"),
        (ParameterSpec.from_schema(ENTRY), "whole number; 0 to 63; default 46"),
        (ParameterSpec.from_schema({**ENTRY, "published": "x"}), "whole number; 0 to 63; default 46; source: x"),
    ],
)
def test_facts(spec: ParameterSpec, facts: str) -> None:
    assert spec.facts() == facts


def test_yaml_text_is_read_in_the_same_type() -> None:
    yaml = pytest.importorskip("yaml")
    for value in (True, 3, 3.0, 1e6, 0.0001, "", "no", "1e3", "a: b", ("x", ""), ()):
        read = yaml.safe_load(yaml_text(value))
        assert read == (list(value) if isinstance(value, tuple) else value)
        assert type(read) is (list if isinstance(value, tuple) else type(value))


def test_a_path_value_has_its_home_expanded() -> None:
    assert Values(folder="~/x").path("folder") == Path.home() / "x"


def test_descriptors_carry_meaning_bounds_and_choices() -> None:
    rate, cells, kind = (spec.descriptor() for spec in (RATE, CELLS, KIND))
    assert not rate.read_only and rate.description == "How often. [Hz]"
    assert (rate.floating_point_range[0].from_value, rate.floating_point_range[0].to_value) == (0.5, 50.0)
    assert (cells.integer_range[0].from_value, cells.integer_range[0].to_value) == (0, 24)
    assert kind.additional_constraints == "one of: udp, mavros" and not kind.integer_range


@pytest.fixture
def context() -> Iterator[Any]:
    import rclpy
    from rclpy.context import Context

    made = Context()
    rclpy.init(args=[], context=made)
    yield made
    rclpy.shutdown(context=made)


def make(context: Any, *arguments: str) -> Any:
    from rclpy.node import Node

    return Node("n", context=context, cli_args=["--ros-args", *arguments], use_global_arguments=False)


def test_a_node_declares_what_it_was_given(context: Any) -> None:
    node = make(context, "-p", "rate_hz:=2", "-p", "names:=[a1, b1]")
    try:
        assert given_parameters(node) == {"rate_hz": 2, "names": ["a1", "b1"]}
        values = check("n", ALL, given_parameters(node))
        declare(node, ALL, values, fixed=["rate_hz"])
        assert (values["rate_hz"], values["names"], values["streams"]) == (2.0, ("a1", "b1"), ("a",))
        assert node.get_parameter("names").value == ["a1", "b1"]
        assert node.describe_parameter("rate_hz").read_only and not node.describe_parameter("cells").read_only
    finally:
        node.destroy_node()


def test_an_empty_list_is_a_value_read_only_and_of_its_type(context: Any) -> None:
    from rclpy.parameter import Parameter

    node = make(context)
    try:
        declare(node, ALL, check("n", ALL, {}), fixed=["names"])
        parameter = node.get_parameter("names")
        assert (parameter.type_, parameter.value) == (Parameter.Type.STRING_ARRAY, [])
        described = node.describe_parameter("names")
        assert described.read_only and described.type == Parameter.Type.STRING_ARRAY.value
        assert described.description == NAMES.description
        (result,) = node.set_parameters([Parameter("names", value=["x"])])
        assert not result.successful
    finally:
        node.destroy_node()
