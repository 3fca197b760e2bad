# SPDX-License-Identifier: Apache-2.0
"""A flight in the store: the operator alone finds and opens it, and nobody changes it unnoticed."""

from __future__ import annotations

import io
import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from pqc_mav_cli.errors import CliError
from pqc_mav_cli.fleet import entry, flights
from pqc_mav_cli.fleet.flights import Flight, described, look_into, seal, unseal
from pqc_mav_cli.fleet.identity import Operator
from pqc_mav_cli.fleet.view import Key
from pqc_mav_recorder.file import RecordingError

OPERATOR = Operator.make()
KEY = Key("drone.d7", 5, entry.receipt_key(OPERATOR, "north", "drone.d7", 5))
FLIGHT = Flight("north", "flight_20260304T050607Z.mcap", 10.0, 70.5, ("d7", "d8"), 99)
PIECE = 1 << 20
RECORDED = Path(__file__).parents[4] / "bench" / "results" / "flights" / "simulated-low-battery.mcap"


def sealed(plain: bytes) -> tuple[str, bytes]:
    out = io.BytesIO()
    return seal(KEY, replace(FLIGHT, size=len(plain)), io.BytesIO(plain), out), out.getvalue()


def opened(description: str, data: bytes, size: int | None = None) -> bytes:
    found = described(OPERATOR, FLIGHT.name, description, len(data) if size is None else size)
    assert found is not None and replace(found[0], size=FLIGHT.size) == FLIGHT
    out = io.BytesIO()
    unseal(found[1], io.BytesIO(data), out)
    return out.getvalue()


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
def test_it_is_as_it_was(size: int) -> None:
    plain = os.urandom(size)
    description, data = sealed(plain)
    assert opened(description, data) == plain
    assert size < 64 or plain[:64] not in data
    assert '"d8"' not in description and "70.5" not in description


def test_a_change_of_any_kind_is_noticed() -> None:
    plain = os.urandom(2 * PIECE + 5)
    description, data = sealed(plain)
    piece = PIECE + 16
    first, second, third = data[:piece], data[piece : 2 * piece], data[2 * piece :]
    for changed in (
        first + second, first + third, second + first + third, first + second + third[:-1], b"", data + b"\0" * 16,
        first + second + second + third, bytes([data[0] ^ 1]) + data[1:],
    ):  # fmt: skip
        with pytest.raises(CliError, match="something else in the place of this flight"):
            opened(description, changed, len(data))
    assert described(OPERATOR, FLIGHT.name, description, len(data) + 1) is None, "larger than what was sent"
    _, other = sealed(plain)  # the same flight, sent again: another salt
    with pytest.raises(CliError):
        opened(description, other)


def test_another_name_operator_or_description_is_no_flight() -> None:
    description, data = sealed(b"x")
    assert described(OPERATOR, FLIGHT.name, description, len(data)) is not None
    assert described(OPERATOR, "south/" + FLIGHT.file, description, len(data)) is None
    assert described(OPERATOR, "north/other.mcap", description, len(data)) is None
    assert described(Operator.make(), FLIGHT.name, description, len(data)) is None
    fields = json.loads(description)
    for changed in ("", "{}", json.dumps(fields | {"salt": "!"}), json.dumps(fields | {"revision": 6}), "[" * 9_999):
        assert described(OPERATOR, FLIGHT.name, changed, len(data)) is None


@pytest.mark.parametrize(
    "bad", [{"begin_s": 80.0}, {"end_s": 1e300}, {"drones": ["a\x1b[2J"]}, {"drones": 1}, {"size": None}, {"file": 1}]
)
def test_a_station_that_lies_about_the_form_has_no_flight(bad: dict[str, object]) -> None:
    box = flights.Box.of(KEY, b"s" * 32, FLIGHT.name)
    about = flights.b64encode(box.close(0, False, json.dumps({**asdict(FLIGHT), **bad}).encode())).decode()
    salt = flights.b64encode(b"s" * 32).decode()
    description = json.dumps({"name": KEY.name, "revision": KEY.revision, "salt": salt, "about": about})
    assert described(OPERATOR, FLIGHT.name, description, FLIGHT.sealed_size) is None


@pytest.mark.parametrize("file", ["../x.mcap", "/etc/x.mcap", "a b.mcap", ".x.mcap", "x", "x.mcap\n", "a/b.mcap"])
def test_a_name_that_leads_elsewhere_is_none(file: str) -> None:
    with pytest.raises(ValueError, match="its name is not of letters"):
        replace(FLIGHT, file=file)


def test_what_a_recording_is_about(tmp_path: Path) -> None:
    if not RECORDED.exists():
        pytest.skip("the repository's recorded flight is not here")
    found = look_into("north", RECORDED)
    assert found.drones == ("demo",) and 0 < found.end_s - found.begin_s < 7200
    assert found.size == RECORDED.stat().st_size
    (tmp_path / "no.mcap").write_bytes(b"nonsense")
    with pytest.raises(RecordingError):
        look_into("north", tmp_path / "no.mcap")
