# SPDX-License-Identifier: Apache-2.0
"""What the gcs does before, at and behind the gate."""

import pytest
from simlink import DRONE, RESTART_KEY, Link, connect, make_attempt, make_station
from support import DRONE_ID, LIGHT, PSK, policy_for

from pqc_mav_wirespec import proofs
from pqc_mav_wirespec.hsframes import FragmentKeys, HandshakeDatagram, seal_datagram
from pqc_mav_wirespec.suites import find_suite

DEFAULT = find_suite("ML-768-AG-MD-65")
FORGED = ("203.0.113.9", 9999)


def hello(seed=b"attempt", suite=LIGHT, **changes):
    """The first datagram of an attempt."""
    return make_attempt(suite, seed=seed, **changes).poll(0.0)[0]


def sent(station, now=0.0):
    return station.poll(now)[0]


@pytest.mark.parametrize("changes", [{"psk": bytes(32)}, {"drone_id": "stranger"}], ids=["wrong PSK", "unknown"])
def test_strangers_leave_nothing_and_get_nothing(changes):
    station = make_station()
    # the datagram's tag is made with the right PSK here, so that the gate decides
    attempt = make_attempt(**changes)
    outcome = station.on_datagram(attempt.poll(0.0)[0], DRONE, 0.0)
    assert outcome == ("hs_gate" if "psk" in changes else "hs_tag")
    assert sent(station) == []
    assert not station._records
    assert station.deadline() == float("inf")


def test_another_gcs_id_is_a_wrong_gate_and_others_are_malformed():
    station = make_station(policy=policy_for(LIGHT, gcs_id="north"))
    assert station.on_datagram(hello(), DRONE, 0.0) == "hs_gate"
    assert sent(station) == []
    bent = hello().replace(b"\0\0\0\x03gcs", b"\0\0\0\x03GCS")
    assert station.on_datagram(bent, DRONE, 0.0) == "hs_malformed"


def test_no_more_than_three_times_what_came():
    station = make_station(DEFAULT)
    datagram = hello(suite=DEFAULT)
    station.on_datagram(datagram, FORGED, 0.0)
    total, now = 0, 0.0
    while now < 12.0:
        total += sum(len(out) + 28 for _, out in sent(station, now))
        now += 0.01
    assert 0 < total <= 3 * (len(datagram) + 28)
    assert not station._records


@pytest.mark.parametrize("copied", range(6))
def test_a_copy_from_a_forged_address_first_changes_nothing(copied):
    def spoil(towards, index, datagram):
        if towards == "up" and index <= copied:
            link.inject(datagram, FORGED, 0.01)
        return

    station = make_station(DEFAULT)
    link = Link(make_attempt(DEFAULT), station, spoil=spoil)
    assert link.run() < 1.0
    done = station.completed[-1]
    assert done.addresses == [DRONE]
    assert sum(len(data) + 28 for _, data in link.strays) <= 3 * 4 * 1228


def test_a_second_hello_of_a_drone_needs_a_cookie():
    station = make_station()
    assert station.on_datagram(hello(b"first"), FORGED, 0.0) == "hs_taken"
    sent(station)
    assert station.on_datagram(hello(b"second"), DRONE, 0.0) == "hs_limit"
    [(address, retry)] = [entry for entry in sent(station) if entry[1][0] == 0x53]
    assert (address, len(retry)) == (DRONE, 57)
    _, seconds = connect(station=station, attempt=make_attempt(seed=b"third"))
    assert seconds < 0.4
    assert station.completed[-1].addresses == [DRONE]


def test_a_demanded_cookie_costs_one_round_trip():
    link, seconds = connect(station=make_station(demand_cookie=True))
    assert 0.3 < seconds < 0.4
    parsed = [HandshakeDatagram.parse(datagram) for datagram in link.to["up"]]
    assert [one.cookie is not None for one in parsed[:5]] == [False] * 3 + [True] * 2
    assert all(len(one.raw) < 300 for one in parsed[3:5])


def returning(station, seed=b"attempt"):
    """An attempt with a good proof for the drone's own address."""
    who = DRONE_ID.encode()
    key = proofs.return_key(RESTART_KEY, who, station.serial)
    tag = proofs.address_tag(RESTART_KEY, who, station.serial, DRONE[0])
    return make_attempt(DEFAULT, seed=seed, return_ticket=(station.serial, tag, key))


def test_a_return_proof_needs_no_padding_and_speaks_for_one_window():
    station = make_station(DEFAULT, serial=50_000)
    attempt = returning(station)
    link, seconds = connect(station=station, attempt=attempt)
    assert seconds < 0.25
    assert all(len(datagram) < 1000 for datagram in link.to["up"][:2])
    alone = make_station(DEFAULT, serial=50_000)
    datagram = returning(alone).poll(0.0)[0]
    alone.on_datagram(datagram, DRONE, 0.0)
    total = sum(len(out) + 28 for tick in range(900) for _, out in sent(alone, tick / 100))
    assert 3 * (len(datagram) + 28) < total <= 10 * 1228 + 3 * (len(datagram) + 28)


def test_recordings_with_proofs_hold_no_place_against_who_answers():
    station = make_station(DEFAULT, serial=50_000)
    recorded = [returning(station, b"old %d" % number).poll(0.0)[0] for number in range(50)]
    outcomes = [station.on_datagram(datagram, ("203.0.113.9", 1000 + n), 0.0) for n, datagram in enumerate(recorded)]
    assert outcomes == ["hs_taken"] + ["hs_limit"] * 49
    sent(station)
    _, seconds = connect(station=station, attempt=returning(station, b"new"))
    assert seconds < 0.4


def test_a_proof_speaks_for_the_attempt_that_showed_it_first():
    station = make_station(DEFAULT, serial=50_000)
    first = returning(station)
    datagram = first.poll(0.0)[0]
    assert station.on_datagram(datagram, DRONE, 0.0) == "hs_taken"
    station = make_station(DEFAULT, serial=50_000)
    connect(station=station, attempt=first)
    assert all(record.proven for record in station._records.values())
    name = bytes(8)
    m1 = HandshakeDatagram.parse(datagram).hello.pack()
    copy = seal_datagram(FragmentKeys.derive(PSK, name), is_drone=True, attempt=name, packet=0, frames=m1)
    assert station.on_datagram(copy, FORGED, 40.0) == "hs_taken"
    assert not station._records[DRONE_ID, name].proven


def test_one_copy_answered_with_retry_and_another_with_m2():
    """What comes of M1's copies does not matter: the transcript has no cookie in it."""
    station = make_station()

    def spoil(towards, index, _):
        if towards == "up":
            station.demand_cookie = index == 0
        return

    assert connect(station=station, spoil=spoil)[1] < 0.6


def test_ended_attempts_are_not_begun_again():
    station = make_station()
    link, _ = connect(station=station)
    assert station.poll(link.now + 31.0) == ([], [])
    assert station.on_datagram(link.to["up"][0], DRONE, link.now + 32.0) == "hs_replay"
    assert sent(station) == []


def test_two_attempts_of_a_drone_from_one_address_and_no_more():
    station = make_station(demand_cookie=True)
    outcomes = []
    for number in range(3):
        attempt = make_attempt(seed=b"%d" % number)
        first = attempt.poll(0.0)[0]
        outcome = station.on_datagram(first, DRONE, 0.0)
        for _, out in sent(station):
            if out[0] == 0x53:
                attempt.on_retry(out, 0.0)
                outcome = station.on_datagram(attempt.poll(0.0)[0], DRONE, 0.0)
        outcomes.append(outcome)
        rejected = [out for _, out in sent(station) if len(out) == 13 + 9 + 40 + 8]
        assert len(rejected) == (number == 2)
        if number == 2:
            assert attempt.on_datagram(rejected[0], 0.1) == "hs_taken"
            assert not attempt.finished
            assert attempt.poll(1.0) == []
            assert len(attempt.poll(1.2)) == 1
    assert outcomes == ["hs_taken", "hs_taken", "hs_limit"]


def test_attempt_bytes_copied_by_another_drone():
    other_psk = b"o" * 32
    policy = policy_for(LIGHT, psks={DRONE_ID: PSK, "thief": other_psk})
    station = make_station(policy=policy)
    victim = make_attempt()
    link = Link(victim, station)
    thief = make_attempt(drone_id="thief", psk=other_psk)
    m1 = HandshakeDatagram.parse(thief.poll(0.0)[0])
    keys = FragmentKeys.derive(other_psk, victim.id)
    copied = seal_datagram(keys, is_drone=True, attempt=victim.id, packet=0, frames=m1.hello.pack())
    assert station.on_datagram(copied, FORGED, 0.0) == "hs_taken"
    assert link.run() < 0.4
    assert station.completed[-1].drone_id == DRONE_ID


def test_a_refusal_ends_the_attempt_and_keeps_nothing():
    station = make_station(policy=policy_for(LIGHT, allowed_suites=frozenset()))
    attempt = make_attempt()
    Link(attempt, station).run()
    assert attempt.initiator.error.code == 2
    assert not station._records


def test_a_thief_of_the_psk_cancels_nothing():
    """He never finishes; the honest attempt does, although it began before his."""
    station = make_station(policy=policy_for(LIGHT, require_signature=frozenset([DRONE_ID])))
    link = Link(make_attempt(signed=True), station)

    def spoil(towards, index, _):
        if towards == "up":
            link.inject(hello(b"thief %d" % index, signed=True), FORGED, 0.01)
        return

    link._spoil = spoil
    assert link.run() < 1.0
    assert station.completed[-1].addresses == [DRONE]
