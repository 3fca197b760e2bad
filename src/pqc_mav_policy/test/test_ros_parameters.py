# SPDX-License-Identifier: Apache-2.0
"""Parameters as the user gives them: accepted, refused, and listed completely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pqc_mav_common.parameters import ParameterError, check
from pqc_mav_policy.node_parameters import node_specs
from pqc_mav_policy.ros_parameters import changed, parse, waiting


def test_defaults() -> None:
    config = parse({})
    assert (config.node.strategy, config.node.mode) == ("measured", "auto")
    assert config.settings.policy.required == ()
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
        ({"stale": 1.0}, "pqc_policy has no parameter 'stale'. Did you mean 'stale_s'?"),
        ({"zzz": 1.0}, "pqc_policy has no parameter 'zzz'."),
        ({"stale_s": 0.1}, "Parameter 'stale_s' of pqc_policy is 0.1; it must be between 0.5 and 60 s."),
        ({"stale_s": "2"}, "Parameter 'stale_s' of pqc_policy is '2'; it must be a number."),
        ({"stale_s": True}, "Parameter 'stale_s' of pqc_policy is True; it must be a number."),
        ({"rate_limit_count": 2.5}, "Parameter 'rate_limit_count' of pqc_policy is 2.5; it must be a whole number."),
        (
            {"strategy": "guess"},
            "Parameter 'strategy' of pqc_policy is 'guess'; it must be one of: measured, ",
        ),
        ({"required": ["gps"]}, "Parameter 'required' of pqc_policy holds 'gps'; it must be one of: battery, "),
        ({"minimum_level": 2}, "Parameter 'minimum_level' of pqc_policy is '2'; it must be one of: 0, 1, 3, 5."),
        ({"expert.loss": 2.0}, "Parameter 'expert.loss' of pqc_policy is 2; it must be between 0 and 1."),
        ({"expert.los": 0.1}, "pqc_policy has no parameter 'expert.los'. Did you mean 'expert.loss'?"),
    ],
)
def test_refusals_are_one_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse(given)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_the_schema_lists_every_parameter_once_with_meaning_and_bounds() -> None:
    specs = node_specs()
    assert len({spec.name for spec in specs}) == len(specs) > 30
    for spec in specs:
        assert spec.description.endswith((".", ")")), spec.name
        if isinstance(spec.default, (int, float)) and not isinstance(spec.default, bool) and not spec.choices:
            assert spec.minimum is not None and spec.maximum is not None and spec.unit, spec.name
            assert spec.minimum <= spec.default <= spec.maximum, spec.name


def test_what_was_set_and_waits_is_told_from_what_counts() -> None:
    in_force = changed(check("pqc_policy", node_specs(), {"stale_s": 3, "suites": ["ML-768-AG-MD-65"]}))
    assert in_force == {"stale_s": 3.0, "suites": ["ML-768-AG-MD-65"]}
    assert waiting(in_force, in_force) == waiting({}, {}) == {}
    told = {"stale_s": 2.0, "suites": [""], "rekey_mlkem_s": 60.0, "expert.loss": 0.05}
    assert waiting(in_force, told) == {
        "stale_s": (3.0, 2.0),
        "suites": (("ML-768-AG-MD-65",), ()),
        "expert.loss": (0.03, 0.05),
    }
