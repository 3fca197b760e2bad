# SPDX-License-Identifier: Apache-2.0
from pqc_mav_common.diagnostics import Diagnostic, Level, to_messages


def test_messages() -> None:
    bad = Diagnostic("battery", Level.ERROR, "nothing heard", {"cells": 4, "source": "mavlink"})
    first, second = to_messages("drone/pqc_battery", "host", [bad, Diagnostic("vehicle", Level.OK, "hover")])
    assert (first.level, first.name) == (b"\x02", "drone/pqc_battery: battery")
    assert (first.message, first.hardware_id) == ("nothing heard", "host")
    assert {value.key: value.value for value in first.values} == {"cells": "4", "source": "mavlink"}
    assert (second.level, second.name, list(second.values)) == (b"\x00", "drone/pqc_battery: vehicle", [])
