# SPDX-License-Identifier: Apache-2.0
"""What stands in a registry, and what a store that lies can make of it: nothing but silence."""

from __future__ import annotations

import json
import random
from base64 import b64decode, b64encode
from typing import Any

import pytest

from pqc_mav_cli.fleet import entry
from pqc_mav_cli.fleet.entry import EntryError, Order, Refusal
from pqc_mav_cli.fleet.identity import Operator, Station

OPERATOR, STRANGER = Operator.make(), Operator.make()
NORTH, SOUTH = Station.make(), Station.make()
FILES = {"psk.key": "pqcmav-key 1\nnorth's\n", "mldsa65.pub": "pqcmav-key 1\n"}
NAME = "drone.d7"


def made(name: str = NAME, revision: int = 5, operator: Operator = OPERATOR, **what: Any) -> bytes:
    stations = {"north": (NORTH.public, FILES), "south": (SOUTH.public, {"psk.key": "pqcmav-key 1\nsouth's\n"})}
    return entry.make(operator, name, revision, what or {"settings": {"plain_bind": "127.0.0.1:1"}}, stations)


def read(value: bytes, name: str = NAME, gcs_id: str = "north", station: Station = NORTH, newest: int = 4) -> Order:
    return entry.read(value, name, gcs_id, station, OPERATOR.public, newest)


def refusal(value: bytes, **how: Any) -> Refusal:
    with pytest.raises(EntryError) as caught:
        read(value, **how)
    return caught.value.refusal


def changed(value: bytes, **body: Any) -> bytes:
    """The entry with another body, below the old signature."""
    outer = json.loads(value)
    outer["body"] = json.dumps(json.loads(outer["body"]) | body)
    return json.dumps(outer).encode()


def test_each_station_reads_its_own_keys() -> None:
    value = made()
    order = read(value)
    assert (order.name, order.drone_id, order.revision) == (NAME, "d7", 5)
    assert (order.settings, order.files) == ({"plain_bind": "127.0.0.1:1"}, FILES)
    assert read(value, gcs_id="south", station=SOUTH).files["psk.key"].endswith("south's\n")
    assert b"north's" not in value
    assert b"north's" not in b64decode(json.loads(json.loads(value)["body"])["sealed"]["north"])


def test_all_stations_have_one_key_to_warn_each_other_and_another_without_one_of_them() -> None:
    north, south = read(made()), read(made(revision=9), gcs_id="south", station=SOUTH)
    assert north.warning == south.warning and len(north.warning) == 32
    alone = read(entry.make(OPERATOR, NAME, 9, {"settings": {}}, {"north": (NORTH.public, FILES)}))
    assert alone.warning != north.warning
    assert read(made(operator=OPERATOR)).receipt != north.warning


def test_a_drone_that_goes_and_families_to_avoid() -> None:
    gone = read(made(settings=None))
    assert gone.settings is None and gone.drone_id == "d7"
    order = read(made("avoid", families=["lattices"]), name="avoid")
    assert order.families == ("lattices",) and order.drone_id == ""


@pytest.mark.parametrize(
    ("value", "how", "why"),
    [
        (made(operator=STRANGER), {}, Refusal.SIGNATURE),
        (changed(made(), settings={"plain_bind": "0.0.0.0:1"}), {}, Refusal.SIGNATURE),
        (changed(made(), settings=None), {}, Refusal.SIGNATURE),
        (changed(made(), revision=99), {}, Refusal.SIGNATURE),
        (made(), {"name": "drone.d8"}, Refusal.NAME),
        (made(), {"name": "avoid"}, Refusal.NAME),
        (made(), {"newest": 6}, Refusal.OLD),
        (made(), {"gcs_id": "south"}, Refusal.SEALED),
        (made(), {"station": SOUTH}, Refusal.SEALED),
        (made(), {"gcs_id": "west"}, Refusal.SEALED),
        (made("drone.../../etc"), {"name": "drone.../../etc"}, Refusal.FORM),
        (made() + b" " * entry.LARGEST, {}, Refusal.FORM),
        (b"[" * 100_000, {}, Refusal.FORM),
        (b'{"body": 1, "signature": ""}', {}, Refusal.FORM),
        (b'{"body": "{}", "signature": "not base64"}', {}, Refusal.SIGNATURE),
    ],
)
def test_what_is_not_done_says_why(value: bytes, how: dict[str, Any], why: Refusal) -> None:
    assert refusal(value, **how) is why


def test_a_sealed_part_of_another_entry_or_station_does_not_open_in_this_one() -> None:
    """Even the operator's own signature, put around the wrong sealed part by mistake, gives no drone another's key."""
    body = json.loads(json.loads(made())["body"])
    other = json.loads(json.loads(made("drone.d8"))["body"])
    for part in (other["sealed"]["north"], body["sealed"]["south"]):
        text = json.dumps(body | {"sealed": {"north": part}})
        signature = OPERATOR.key.sign(b"pqcmav registry 1\0" + text.encode())
        value = json.dumps({"body": text, "signature": b64encode(signature).decode()}).encode()
        assert refusal(value) is Refusal.SEALED


def test_no_alteration_of_a_byte_is_done() -> None:
    value, chance = made(), random.Random(1)
    for _ in range(500):
        at = chance.randrange(len(value))
        other = value[:at] + bytes([value[at] ^ (1 << chance.randrange(8))]) + value[at + 1 :]
        try:
            order = read(other)
        except EntryError:
            continue
        assert (order.settings, order.files) == (read(value).settings, FILES)  # as a blank between two fields


@pytest.mark.parametrize("files", [{"../psk.key": "x"}, {"psk.key": 1}, {"a.pub": "x" * 70_000}, {"A.pub": ""}])
def test_a_file_that_no_drone_has_is_no_entry(files: dict[str, Any]) -> None:
    value = entry.make(OPERATOR, NAME, 5, {"settings": {}}, {"north": (NORTH.public, files)})
    assert refusal(value) is Refusal.FORM


def test_a_receipt_is_that_stations_of_that_revision() -> None:
    order = read(made())
    value = entry.receipt(order, "there")

    def confirmed(gcs_id: str = "north", name: str = NAME, revision: int = 5, said: bytes = value) -> str | None:
        return entry.confirmed(OPERATOR, gcs_id, name, revision, said)

    assert confirmed() == "there"
    assert confirmed("south") is confirmed(name="drone.d8") is confirmed(revision=6) is None
    assert confirmed(said=value.replace(b"there", b"where")) is None
    assert confirmed(said=b"{}") is confirmed(said=b"\xff") is confirmed(said=value[:-9]) is None
    assert entry.confirmed(STRANGER, "north", NAME, 5, value) is None


def test_what_a_station_says_moves_no_terminal() -> None:
    assert entry.confirmed(OPERATOR, "north", NAME, 5, entry.receipt(read(made()), "a\x1b[2Jb" + "c" * 900)) == (
        "a?[2Jb" + "c" * 294
    )
