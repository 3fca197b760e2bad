# SPDX-License-Identifier: Apache-2.0
"""The ratchet in memory (docs/protocol.md section 7)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import PSK

from pqc_mav_wirespec.errors import AuthenticationError, MalformedError, RejectedError
from pqc_mav_wirespec.keyschedule import FEATURE_COMPACT, FEATURE_RATCHET, SessionKeys
from pqc_mav_wirespec.ratchet import RatchetHello, RatchetInitiator, RatchetResponder, flags_of
from pqc_mav_wirespec.suites import find_suite

KEYS = SessionKeys(
    *(find_suite("ML-512-AG-MD-44"), bytes(range(8)), 255, bytes(32), bytes(32), b"c" * 32),
    features=FEATURE_RATCHET,
)


def run(drone: RatchetInitiator, gcs: RatchetResponder) -> None:
    drone.feed(gcs.feed(drone.start()))


@pytest.mark.parametrize("suite", ["ML-512-AG-MD-44", "HQC-192-CP-MD-65", "MC-8192-AS-MD-87"])
@pytest.mark.parametrize("hybrid", [True, False])
@pytest.mark.parametrize("fresh", [True, False])
def test_both_ends_get_the_same_keys(suite, hybrid, fresh):
    before = replace(KEYS, suite=find_suite(suite), hybrid=hybrid, drone_signed=True, ratchets=7)
    drone, gcs = RatchetInitiator(before, PSK, fresh=fresh), RatchetResponder(before, PSK)
    run(drone, gcs)
    assert drone.keys == gcs.keys
    assert drone.keys is not None
    assert (drone.keys.epoch, drone.keys.ratchets, drone.keys.drone_signed) == (0, 8, True)
    assert drone.keys.ck != before.ck
    assert drone.flags == (0 if not fresh else 3 if hybrid else 2)


def test_indices_change_with_compact_headers():
    before = replace(KEYS, features=FEATURE_RATCHET | FEATURE_COMPACT, own_index=1, peer_index=2)
    drone = RatchetInitiator(before, PSK, index=9)
    gcs = RatchetResponder(replace(before, own_index=2, peer_index=1), PSK, new_index=lambda: 700)
    run(drone, gcs)
    assert (drone.keys.own_index, drone.keys.peer_index) == (9, 700)
    assert (gcs.keys.own_index, gcs.keys.peer_index) == (700, 9)


@pytest.mark.parametrize("change", [{"ratchets": 8}, {"features": 0}, {"key_old": True}])
def test_what_is_not_allowed_is_rejected(change):
    key_old = bool(change.pop("key_old", False))
    drone, gcs = RatchetInitiator(KEYS, PSK), RatchetResponder(replace(KEYS, **change), PSK, key_old=key_old)
    run(drone, gcs)
    assert isinstance(drone.error, RejectedError) and drone.error.code == 4
    assert isinstance(gcs.error, RejectedError)


ML_KEM = 0x0001
HQC = replace(KEYS, suite=find_suite("HQC-192-CP-MD-65"))


def test_a_ratchet_brings_no_avoided_kem_to_a_suite_of_another():
    drone, gcs = RatchetInitiator(HQC, PSK), RatchetResponder(HQC, PSK, avoid=ML_KEM)
    run(drone, gcs)
    assert isinstance(drone.error, RejectedError) and (drone.error.code, drone.error.detail) == (2, ML_KEM)
    drone, gcs = RatchetInitiator(HQC, PSK, fresh=False), RatchetResponder(HQC, PSK, avoid=ML_KEM)
    run(drone, gcs)
    assert drone.error is None and gcs.error is None


def test_a_suite_that_the_gcs_avoids_gets_no_new_keys():
    families = KEYS.suite.families
    drone, gcs = RatchetInitiator(KEYS, PSK), RatchetResponder(KEYS, PSK, avoid=families)
    run(drone, gcs)
    assert isinstance(drone.error, RejectedError)
    assert (drone.error.code, drone.error.detail) == (2, families)
    assert isinstance(gcs.error, RejectedError) and gcs.keys is None


@pytest.mark.parametrize(
    ("hello", "error"),
    [
        (RatchetHello(1, 0, bytes(32), b"x" * 32), RejectedError),
        (RatchetHello(2, 0, bytes(32), b"", bytes(800)), RejectedError),
        (RatchetHello(3, 0, bytes(32), b"x" * 32, bytes(1184)), RejectedError),
        (RatchetHello(4, 0, bytes(32)), MalformedError),
        (RatchetHello(0, 0, bytes(32), b"x" * 32), MalformedError),
        (RatchetHello(3, 0, bytes(32), b"x" * 32), MalformedError),
        (RatchetHello(3, 0, bytes(32), bytes(32), bytes(800)), AuthenticationError),
    ],
)
def test_other_hellos_are_refused(hello, error):
    gcs = RatchetResponder(KEYS, PSK)
    reply = gcs.feed(hello.frame())
    assert isinstance(gcs.error, error)
    assert bool(reply) == (error is RejectedError)


def test_another_chain_or_psk_is_noticed():
    for gcs in (RatchetResponder(replace(KEYS, ck=b"d" * 32), PSK), RatchetResponder(KEYS, bytes(32))):
        drone = RatchetInitiator(KEYS, PSK)
        run(drone, gcs)
        assert isinstance(drone.error, AuthenticationError)
        assert drone.keys is None


@pytest.mark.parametrize("fresh", [True, False])
def test_a_changed_answer_is_noticed(fresh):
    size = len(RatchetResponder(KEYS, PSK).feed(RatchetInitiator(KEYS, PSK, fresh=fresh).start()))
    for at in range(0, size, 13 if fresh else 1):
        drone, gcs = RatchetInitiator(KEYS, PSK, fresh=fresh), RatchetResponder(KEYS, PSK)
        answer = bytearray(gcs.feed(drone.start()))
        answer[at] ^= 1
        drone.feed(bytes(answer))
        assert drone.keys is None and drone.error is not None


def test_flags():
    assert [flags_of(hybrid, fresh) for hybrid in (True, False) for fresh in (True, False)] == [3, 0, 2, 0]
