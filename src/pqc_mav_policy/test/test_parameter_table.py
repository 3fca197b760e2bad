# SPDX-License-Identifier: Apache-2.0
"""Groups of parameters: checked whichever way they are made, frozen, listed."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, replace
from typing import Any, Literal

import pytest

from pqc_mav_common.parameters import ParameterError
from pqc_mav_policy.parameter_table import ParameterTable, build, choice, names, number, plain, schema, specs


@dataclass(frozen=True)
class Sample(ParameterTable):
    """One of each kind."""

    speed: float = number(1.0, 0.0, 2.0, "m/s", "How fast.", "a paper")
    count: int = number(3, 1, 5, "count", "How many.")
    on: bool = choice(True, "Whether.")
    kind: Literal["a", "b"] = choice("a", "Which.")
    names: tuple[Literal["x", "y"], ...] = choice(("x",), "Which ones.")


def test_defaults_and_values() -> None:
    assert Sample() == build(Sample, {})
    made = build(Sample, {"speed": 2, "names": ["x", "y"]})
    assert (made.speed, type(made.speed), made.names) == (2.0, float, ("x", "y"))
    assert plain(made) == {"speed": 2.0, "count": 3, "on": True, "kind": "a", "names": ["x", "y"]}
    assert names(Sample) == list(plain(made))
    with pytest.raises(FrozenInstanceError):
        made.count = 4  # type: ignore[misc]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"speed": 2.1}, "'speed' of the policy is 2.1; it must be between 0 and 2 m/s"),
        ({"speed": float("nan")}, "'speed' of the policy is nan"),
        ({"speed": "1"}, "must be a number"),
        ({"count": 2.5}, "must be a whole number"),
        ({"count": True}, "must be a whole number"),
        ({"on": 1}, "must be true or false"),
        ({"kind": "c"}, "one of: a, b"),
        ({"names": ("z",)}, "one of: x, y"),
        ({"spead": 1.0}, "no parameter 'pre.spead'"),
    ],
)
def test_refusals(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        build(Sample, values, "pre.")
    if "spead" not in values:
        with pytest.raises(ParameterError):
            Sample(**values)
        with pytest.raises(ParameterError):
            replace(Sample(), **values)


def test_the_list_has_meaning_bounds_and_source() -> None:
    entry = schema(Sample, "pre.")[0]
    assert entry == {
        "key": "pre.speed",
        "type": "float",
        "default": 1.0,
        "choices": [],
        "required": False,
        "min": 0.0,
        "max": 2.0,
        "unit": "m/s",
        "description": "How fast.",
        "published": "a paper",
    }
    assert [spec.name for spec in specs(Sample)] == names(Sample)
    assert specs(Sample)[4].choices == ("x", "y") and specs(Sample)[4].default == ("x",)
