# SPDX-License-Identifier: Apache-2.0
"""Families that a gcs avoids (docs/protocol.md section 4), between the running engine and this package's peers."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import pytest
from socket_support import (
    DRONE,
    TIMEOUT,
    application_address,
    drone_under_test,
    engine_drone,
    exchange,
    gcs_under_test,
    identity,
    plain_socket,
)

from pqc_mav_wirespec import control
from pqc_mav_wirespec.errors import RejectedError
from pqc_mav_wirespec.gcs_peer import GcsPeer
from pqc_mav_wirespec.keys import load_gcs_policy
from pqc_mav_wirespec.suites import find_suite

FALCON, LEVEL_1 = 0x0200, 0x4000
# What is avoided, by its name and its bits; the suite before and the one after it.
AVOIDED = pytest.mark.parametrize(
    ("name", "bits", "before", "after"),
    [
        ("falcon", FALCON, find_suite("ML-512-AG-FA-512"), find_suite("ML-512-AG-MD-44")),
        ("level1", LEVEL_1, find_suite("ML-512-AG-MD-44"), find_suite("ML-768-AG-MD-65")),
    ],
)


@AVOIDED
def test_engine_gcs_tells_what_it_avoids(folders, name, bits, before, after):
    with gcs_under_test(folders, avoid=[name]) as (gcs, plain, drone):
        with pytest.raises(RejectedError) as refused:
            drone.connect(before, identity(folders, before.id))
        assert (refused.value.code, refused.value.detail) == (2, bits)
        assert drone.connect(after, identity(folders, after.id)).suite == after
        drone.send(b"through")
        assert plain.recv(100) == b"through"
        assert application_address(gcs)


@AVOIDED
def test_engine_drone_connects_to_a_gcs_that_avoids_its_suite(folders, name, bits, before, after):
    with (
        closing(GcsPeer(replace(load_gcs_policy(folders[0]), avoid=bits))) as gcs,
        plain_socket() as plain,
        engine_drone(folders, gcs, plain, before.id),
    ):
        assert _accepted(gcs, bits).suite == after


@AVOIDED
def test_engine_drone_leaves_it_in_its_session(folders, name, bits, before, after):
    with drone_under_test(folders, before.id) as (drone, plain, gcs, first):
        assert first.suite == before
        gcs.station.policy = replace(gcs.station.policy, avoid=bits)
        gcs.send_control(DRONE, control.RekeyRequest(7, "", "avoid"))
        second = _accepted(gcs, bits)
        assert (second.suite, second.epoch) == (after, 1)
        result = gcs.receive_control(control.RekeyResult, TIMEOUT)
        assert (result.request_id, result.ok, result.epoch) == (7, True, 1)
        exchange(plain, drone, gcs.receive_payload, lambda payload: gcs.send(DRONE, payload))


def _accepted(gcs, bits):
    """The keys of the handshake that comes after a refusal."""
    with pytest.raises(RejectedError) as refused:
        gcs.accept_handshake(TIMEOUT)
    assert refused.value.detail == bits
    return gcs.accept_handshake(TIMEOUT)
