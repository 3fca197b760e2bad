"""Parameters as the user gives them: accepted, refused, and listed completely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pqc_mav_policy.node_parameters import node_schema
from pqc_mav_policy.parameter_table import ParameterError
from pqc_mav_policy.ros_parameters import parse


def test_defaults() -> None:
    config = parse({})
    assert (config.node.strategy, config.node.mode) == ("cascade", "auto")
    assert config.settings.policy.required == ("battery", "thermal", "vehicle", "link")
    assert config.settings.performance_file is None


def test_values_of_every_group_arrive() -> None:
    config = parse(
        {
            "strategy": "expert",
            "stale_s": 3,
            "required": ["link"],
            "expert.loss": 0.05,
            "performance_file": "~/table.csv",
            "use_sim_time": False,
            "suites": [""],
        }
    )
    assert config.node.strategy == "expert"
    assert config.node.suites == ()
    assert config.settings.policy.stale_s == 3.0
    assert config.settings.policy.required == ("link",)
    assert config.settings.expert.loss == 0.05
    assert config.settings.performance_file == Path.home() / "table.csv"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"stale": 1.0}, "There is no parameter 'stale'. Did you mean 'stale_s'?"),
        ({"zzz": 1.0}, "There is no parameter 'zzz'."),
        ({"stale_s": 0.1}, "Parameter stale_s: input should be greater than or equal to 0.5"),
        ({"stale_s": "2"}, "Parameter stale_s: input should be a valid number"),
        ({"stale_s": True}, "Parameter stale_s: input should be a valid number"),
        ({"rate_limit_count": 2.5}, "Parameter rate_limit_count: input should be a valid integer"),
        ({"strategy": "guess"}, "Parameter strategy: input should be 'cascade', 'expert', 'rl' or 'hybrid'"),
        ({"required": ["gps"]}, "Parameter required: input should be 'battery'"),
        ({"minimum_level": 2}, "Parameter minimum_level: input should be 1, 3 or 5"),
        ({"expert.loss": 2.0}, "Parameter expert.loss: input should be less than or equal to 1"),
        ({"expert.los": 0.1}, "There is no parameter 'expert.los'. Did you mean 'expert.loss'?"),
    ],
)
def test_refusals_are_one_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse(given)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_the_schema_lists_every_parameter_once_with_meaning_and_bounds() -> None:
    entries = node_schema()
    assert len({entry["key"] for entry in entries}) == len(entries) > 30
    for entry in entries:
        assert entry["description"].endswith((".", ")")), entry["key"]
        if entry["type"] in ("int", "float") and entry["key"] != "minimum_level":
            assert entry["min"] <= entry["default"] <= entry["max"], entry["key"]
            assert entry["unit"], entry["key"]
