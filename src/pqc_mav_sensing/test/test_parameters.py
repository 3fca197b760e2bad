import pytest

from pqc_mav_sensing.errors import SensingError
from pqc_mav_sensing.parameters import Parameter, check_names

RATE = Parameter("rate_hz", 4.0, "How often.", 0.5, 50.0, unit="Hz")
CELLS = Parameter("cells", 0, "Cells.", 0, 24)
KIND = Parameter("kind", "udp", "Which.", choices=("udp", "mavros"))
FLAG = Parameter("simulated", False, "Whether.")


@pytest.mark.parametrize(("spec", "value"), [(RATE, 50.0), (RATE, 2), (CELLS, 24), (KIND, "mavros"), (FLAG, True)])
def test_good_values(spec: Parameter, value: object) -> None:
    checked = spec.check("n", value)
    assert checked == value and type(checked) is type(spec.default)


@pytest.mark.parametrize(
    ("spec", "value", "said"),
    [
        (RATE, 51.0, "between 0.5 and 50 Hz"),
        (RATE, "often", "a number"),
        (RATE, float("nan"), "between"),
        (RATE, True, "a number"),
        (CELLS, 2.0, "a whole number"),
        (CELLS, True, "a whole number"),
        (CELLS, 25, "between 0 and 24"),
        (KIND, "serial", "one of: udp, mavros"),
        (FLAG, 1, "true or false"),
        (FLAG, None, "true or false"),
    ],
)
def test_bad_values_are_one_sentence(spec: Parameter, value: object, said: str) -> None:
    with pytest.raises(SensingError, match=said) as caught:
        spec.check("pqc_thing", value)
    assert "pqc_thing" in str(caught.value) and spec.name in str(caught.value)


def test_names_nobody_knows() -> None:
    check_names("n", ["rate_hz", "use_sim_time", "qos_overrides./parameter_events.publisher.depth"], ["rate_hz"])
    with pytest.raises(SensingError, match=r"'rat_hz' of n\. Did you mean 'rate_hz'"):
        check_names("n", ["rat_hz"], ["rate_hz", "cells"])
