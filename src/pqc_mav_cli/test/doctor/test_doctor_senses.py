# SPDX-License-Identifier: Apache-2.0
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pqc_mav_cli.doctor import senses
from pqc_mav_cli.doctor.finding import Level
from pqc_mav_policy.telemetry import snapshot
from pqc_mav_policy.telemetry.inputs import Battery, DecisionInput, Link, Thermal, Vehicle

WHOLE: dict[str, Any] = {
    "battery": Battery(voltage_v=16.0, age_s=0.1, valid=True, cells=4),
    "thermal": Thermal(temperature_c=50.0, age_s=0.1, valid=True),
    "vehicle": Vehicle(armed=False, age_s=0.1, valid=True),
    "link": Link(loss=0.0, age_s=0.1, valid=True),
}


def decision(parameters: dict[str, Any] | None = None, **changes: Any) -> Any:
    return SimpleNamespace(inputs=snapshot.dump(DecisionInput(**{**WHOLE, **changes}), 1.0, (), parameters))


def test_a_machine_without_a_thermal_zone(tmp_path: Path) -> None:
    found = senses.thermal(tmp_path)
    assert found.level is Level.WARN
    assert "no thermal zone" in found.text
    zone = tmp_path / "thermal_zone0"
    zone.mkdir()
    (zone / "type").write_text("cpu-thermal\n")
    (zone / "temp").write_text("51000\n")
    assert senses.thermal(tmp_path) == senses.ok("senses", "temperature from zone cpu-thermal")


def test_what_running_policies_lack_one_line_each() -> None:
    missing = ("thermal: There is no thermal zone here", "battery: no battery reading has arrived yet")
    found = senses.of_policies(
        {
            "/d2/pqc_policy/decision": decision(),
            "/d1/pqc_policy/decision": decision(battery=Battery(), thermal=Thermal(), missing=missing),
            "/d3/pqc_policy/decision": SimpleNamespace(inputs=[]),
        }
    )
    assert [each.level for each in found] == [Level.WARN, Level.WARN, Level.OK, Level.WARN]
    assert found[0].text == "/d1/pqc_policy does without battery: no battery reading has arrived yet; its rules are out"
    assert all(each.remedy for each in found if each.level is Level.WARN)
    assert found[2].text == "/d2/pqc_policy has all of its senses"
    assert "another version" in found[3].text


def test_a_pack_of_unknown_cells_is_said() -> None:
    (found,) = senses.of_policies({"/d1/pqc_policy/decision": decision(battery=Battery(16.0, age_s=0.1, valid=True))})
    assert "number of cells is unknown" in found.text


def test_a_sense_is_old_by_the_policy_s_own_limit() -> None:
    late = {"link": Link(loss=0.0, age_s=5.0, valid=True)}
    assert [each.level for each in senses.of_policies({"/d1": decision({"stale_s": 10.0}, **late)})] == [Level.OK]
    assert [each.level for each in senses.of_policies({"/d1": decision({}, **late)})] == [Level.WARN]


def test_nobody_to_listen_to() -> None:
    assert senses.listened(0.2) == {}
