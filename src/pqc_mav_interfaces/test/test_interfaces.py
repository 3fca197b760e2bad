# SPDX-License-Identifier: Apache-2.0
"""Every interface is generated and importable, and every field says in a comment what it is and in which unit."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent
FILES = sorted([*PACKAGE.glob("msg/*.msg"), *PACKAGE.glob("srv/*.srv"), *PACKAGE.glob("action/*.action")])

# Endings of field names that promise a unit, and how the comment writes it.
UNITS = {
    "_ms": "[ms]",
    "_ns": "[ns]",
    "_s": "[s]",
    "_kbit": "[kbit/s]",
    "packets_per_s": "[1/s]",
    "bytes_per_s": "[B/s]",
    "_bytes": "[B]",
    "_mib": "[MiB]",
    "_count": "[count]",
    "_v": "[V]",
    "_a": "[A]",
    "_w": "[W]",
    "_j": "[J]",
    "_c": "[Cel]",
    "_hz": "[Hz]",
    "_mhz": "[MHz]",
    "_mah": "[mAh]",
    "_m": "[m]",
    "_m_s": "[m/s]",
    "mv_per_min": "[mV/min]",
    "c_per_min": "[Cel/min]",
}
FIELD = re.compile(r"^(?P<type>[\w/\[\]]+)\s+(?P<name>[a-z]\w*)\s*(?P<comment>#.*)?$")
CONSTANT = re.compile(r"^\w+\s+[A-Z0-9_]+=\S+\s*(?P<comment>#.*)?$")


def declarations(path: Path) -> list[str]:
    lines = [line.rstrip() for line in path.read_text().splitlines()]
    return [line for line in lines if line and not line.startswith("#") and line != "---"]


def unit_of(name: str) -> str | None:
    for ending in sorted(UNITS, key=len, reverse=True):
        if name.endswith(ending):
            return UNITS[ending]
    return None


def test_there_are_interfaces() -> None:
    assert {path.stem for path in FILES} == {
        "BatteryHealth",
        "ClockSync",
        "GetInfo",
        "HandshakeReport",
        "LinkQuality",
        "ListSuites",
        "PathStatus",
        "PinSuite",
        "PolicyDecision",
        "PowerSample",
        "Rekey",
        "RunCampaign",
        "ServerStats",
        "SetMode",
        "SetTraffic",
        "StartSuite",
        "StopSuite",
        "SuiteInfo",
        "SystemLoad",
        "ThermalState",
        "ThreatReport",
        "TunnelStats",
        "TunnelStatus",
        "UsePath",
        "VehicleState",
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_file_says_what_it_is_for(path: Path) -> None:
    licence, first, *_ = path.read_text().splitlines()
    assert licence == "# SPDX-License-Identifier: Apache-2.0"
    assert first.startswith("# ")
    assert first.endswith(".")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_field_has_a_comment_and_its_unit(path: Path) -> None:
    for line in declarations(path):
        if constant := CONSTANT.match(line):
            assert constant["comment"], f"{path.name}: no comment: {line}"
            continue
        field = FIELD.match(line)
        assert field, f"{path.name}: not understood: {line}"
        assert field["comment"], f"{path.name}: no comment: {line}"
        assert len(field["comment"]) > 8, f"{path.name}: comment says nothing: {line}"
        unit = unit_of(field["name"])
        if unit:
            assert unit in field["comment"], f"{path.name}: {field['name']} must state {unit}"
        elif field["type"].startswith(("uint", "int", "float")):
            comment = field["comment"]
            assert re.search(r"\[\w+\]|\d|constant", comment), f"{path.name}: {field['name']}: unit or range missing"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_python_class_has_the_fields_of_the_file(path: Path) -> None:
    kind = path.suffix[1:]
    generated = getattr(importlib.import_module(f"pqc_mav_interfaces.{kind}"), path.stem)
    parts = path.read_text().split("\n---\n")
    parts_of = {"msg": [""], "srv": ["Request", "Response"], "action": ["Goal", "Result", "Feedback"]}
    classes = [getattr(generated, part) if part else generated for part in parts_of[kind]]
    for text, cls in zip(parts, classes, strict=True):
        fields = [match["name"] for line in text.splitlines() if (match := FIELD.match(line.rstrip()))]
        # Services without a field carry a placeholder that generators add.
        known = [name for name in cls.get_fields_and_field_types() if name != "structure_needs_at_least_one_member"]
        assert known == fields
        cls()


def test_states_are_numbered_as_published() -> None:
    from pqc_mav_interfaces.msg import TunnelStatus

    states = [
        TunnelStatus.DOWN,
        TunnelStatus.HANDSHAKING,
        TunnelStatus.UP,
        TunnelStatus.DEGRADED,
        TunnelStatus.REKEYING,
    ]
    assert states == [0, 1, 2, 3, 4]


def test_status_survives_serialization() -> None:
    from pqc_mav_interfaces.msg import LinkQuality, TunnelStatus
    from rclpy.serialization import deserialize_message, serialize_message

    status = TunnelStatus(state=TunnelStatus.UP, drone_id="alpha", epoch=255, key_age_s=1.5, hybrid=True)
    assert deserialize_message(serialize_message(status), TunnelStatus) == status

    link = deserialize_message(serialize_message(LinkQuality(rtt_ms=float("nan"))), LinkQuality)
    assert link.rtt_ms != link.rtt_ms
