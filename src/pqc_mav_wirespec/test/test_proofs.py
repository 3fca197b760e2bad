# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import pytest
from support import initiator_for

from pqc_mav_wirespec import proofs
from pqc_mav_wirespec.suites import find_suite

RESTART_KEY, HOST, SERIAL = b"r" * 32, "192.0.2.7", 50_000


def ticket(host=HOST, drone_id=b"drone_1", serial=SERIAL):
    tag = proofs.address_tag(RESTART_KEY, drone_id, serial, host)
    return serial, tag, proofs.return_key(RESTART_KEY, drone_id, serial)


def hello(**changes):
    return initiator_for(find_suite("ML-512-AG-MD-44"), return_ticket=ticket(**changes)).hello


def verdict(message, host=HOST, serial=SERIAL, key=RESTART_KEY):
    found = proofs.check_return_proof(key, message, host, serial)
    return found.good, found.address_fits


def test_a_proof_is_good_for_its_week_from_its_address():
    message = hello()
    assert len(message.return_proof) == 28
    assert verdict(message) == (True, True)
    assert verdict(message, host="192.0.2.8") == (True, False)
    assert verdict(message, serial=SERIAL + 168) == verdict(message, serial=SERIAL - 168) == (True, True)
    assert verdict(message, serial=SERIAL + 169) == verdict(message, serial=SERIAL - 169) == (False, False)


def test_a_proof_is_of_one_gcs_one_drone_and_one_hello():
    message = hello()
    assert verdict(message, key=b"s" * 32) == (False, False)
    assert verdict(replace(message, client_nonce=bytes(32))) == (False, False)
    assert verdict(hello(drone_id=b"drone_2")) == (False, False)
    for at in range(28):
        bent = bytearray(message.return_proof)
        bent[at] ^= 1
        assert verdict(replace(message, return_proof=bytes(bent)))[0] is False


def test_the_gate_is_no_part_of_the_proof():
    assert verdict(hello().with_gate(b"g" * 32)) == (True, True)


def test_mapped_addresses():
    assert proofs.ip16("1.2.3.4").hex() == "00" * 10 + "ffff01020304"
    assert proofs.ip16("::1") == bytes(15) + b"\1"


@pytest.mark.parametrize(
    ("unix_s", "serial"), [(0, 0), (1_577_836_800, 0), (1_577_840_400, 1), (1_767_225_600, 52_608)]
)
def test_serials_are_hours_since_2020(unix_s, serial):
    assert proofs.serial_of(unix_s) == serial


def test_cookies_are_of_one_source_attempt_and_hello_for_half_a_minute():
    jar, address = proofs.CookieJar(b"k" * 32), ("198.51.100.7", 5000)
    cookie = jar.make(address, b"attempt1", b"M1", 100.9)
    assert len(cookie) == 32
    assert jar.good(cookie, address, b"attempt1", b"M1", 130.99)
    assert not jar.good(cookie, address, b"attempt1", b"M1", 131.0)
    assert not jar.good(cookie, address, b"attempt1", b"M1", 99.0)
    assert not jar.good(cookie, ("198.51.100.7", 5001), b"attempt1", b"M1", 101)
    assert not jar.good(cookie, ("198.51.100.8", 5000), b"attempt1", b"M1", 101)
    assert not jar.good(cookie, address, b"attempt2", b"M1", 101)
    assert not jar.good(cookie, address, b"attempt1", b"M2", 101)
    assert not proofs.CookieJar(b"l" * 32).good(cookie, address, b"attempt1", b"M1", 101)
