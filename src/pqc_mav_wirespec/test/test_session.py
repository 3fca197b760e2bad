# SPDX-License-Identifier: Apache-2.0
import pytest

from pqc_mav_wirespec.dataplane import HEADER, Header, Outcome
from pqc_mav_wirespec.errors import NoSessionError
from pqc_mav_wirespec.keyschedule import SessionKeys
from pqc_mav_wirespec.session import SESSION_LIMIT_S, UNUSED_KEY_S, Link
from pqc_mav_wirespec.suites import find_suite

SUITE = find_suite("ML-768-AG-MD-65")


def keys(number: int, epoch: int = 0) -> SessionKeys:
    return SessionKeys(SUITE, bytes([number] * 8), epoch, bytes([number] * 32), bytes([number + 100] * 32))


def pair(now: float = 0.0) -> tuple[Link, Link]:
    """A drone and a gcs with one session between them, both of whose directions were used."""
    drone, gcs = Link(is_drone=True), Link(is_drone=False)
    for link in (drone, gcs):
        link.install(keys(1), now)
    assert deliver(drone, gcs, now) is Outcome.DELIVERED
    assert deliver(gcs, drone, now) is Outcome.DELIVERED
    return drone, gcs


def pass_on(datagram: bytes, to: Link, now: float) -> Outcome:
    return to.open(Header.parse(datagram), datagram[HEADER.size :], now)[0]


def deliver(sender: Link, receiver: Link, now: float) -> Outcome:
    return pass_on(sender.seal(b"payload"), receiver, now)


def test_nothing_is_sent_without_a_session():
    with pytest.raises(NoSessionError):
        Link(is_drone=True).seal(b"secret")


def test_rekey_loses_nothing():
    drone, gcs = pair()
    in_flight_up, in_flight_down = drone.seal(b"old"), gcs.seal(b"old")
    gcs.install(keys(2, 1), 1.0)
    assert gcs.sending.keys.epoch == 0, "the gcs waits for the first packet of the new epoch"
    assert deliver(gcs, drone, 1.0) is Outcome.DELIVERED
    drone.install(keys(2, 1), 1.0)
    assert drone.sending.keys.epoch == 1
    assert deliver(gcs, drone, 1.0) is Outcome.DELIVERED
    assert deliver(drone, gcs, 1.0) is Outcome.DELIVERED
    assert gcs.sending.keys.epoch == 1
    assert pass_on(in_flight_up, gcs, 2.9) is Outcome.DELIVERED
    assert deliver(gcs, drone, 1.0) is Outcome.DELIVERED
    assert pass_on(in_flight_down, drone, 2.9) is Outcome.DELIVERED


def test_old_keys_go_after_the_grace():
    drone, gcs = pair()
    late = drone.seal(b"late")
    for link in (drone, gcs):
        link.install(keys(2, 1), 1.0)
    deliver(drone, gcs, 1.0)
    assert pass_on(late, gcs, 3.0) is Outcome.UNKNOWN


def test_a_new_key_that_nobody_uses_is_dropped_and_the_old_session_stays():
    drone, gcs = pair()
    gcs.install(keys(2, 1), 1.0)
    gcs.expire(1.0 + UNUSED_KEY_S)
    assert deliver(drone, gcs, 1.0 + UNUSED_KEY_S) is Outcome.DELIVERED
    assert gcs.holds(bytes([2] * 8), 1) is None


def test_a_second_attempt_replaces_the_first():
    drone, gcs = pair()
    gcs.install(keys(2, 1), 1.0)
    gcs.install(keys(3, 1), 1.1)
    assert gcs.holds(bytes([2] * 8), 1) is None
    assert deliver(drone, gcs, 1.2) is Outcome.DELIVERED
    drone.install(keys(3, 1), 1.2)
    assert deliver(drone, gcs, 1.2) is Outcome.DELIVERED


def test_silence_wipes_the_keys():
    drone, _ = pair()
    drone.expire(SESSION_LIMIT_S + 0.1)
    with pytest.raises(NoSessionError):
        drone.seal(b"secret")


def test_what_comes_again_is_told_from_what_only_has_its_number():
    drone, gcs = pair()
    first = drone.seal(b"1")
    header = Header.parse(first)
    pass_on(first, gcs, 0.0)
    assert gcs.is_current(header)
    assert gcs.is_repeat(header, first[HEADER.size :])
    assert not gcs.is_repeat(header, first[HEADER.size : -1] + bytes([first[-1] ^ 1]))
    for link in (drone, gcs):
        link.install(keys(2, 1), 0.0)
    deliver(drone, gcs, 0.0)
    assert not gcs.is_current(header)


def test_a_forgery_does_not_count_as_use():
    drone, gcs = pair()
    for link in (drone, gcs):
        link.install(keys(2, 1), 1.0)
    good = drone.seal(b"x")
    assert pass_on(good[:-1] + bytes([good[-1] ^ 1]), gcs, 1.0) is Outcome.AUTH_FAIL
    assert gcs.sending.keys.epoch == 0
