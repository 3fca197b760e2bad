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
from pqc_mav_wirespec.keys import load_gcs_policy
from pqc_mav_wirespec.peer import GcsPeer
from pqc_mav_wirespec.suites import find_suite

FROM, TO = find_suite("ML-512-AG-FA-512"), find_suite("ML-512-AG-MD-44")
FALCON = 0x0200


def test_engine_gcs_tells_what_it_avoids(folders):
    with gcs_under_test(folders, avoid=["falcon"]) as (gcs, plain, drone):
        with pytest.raises(RejectedError) as refused:
            drone.connect(FROM, identity(folders, FROM.id))
        assert (refused.value.code, refused.value.detail) == (2, FALCON)
        assert drone.connect(TO, identity(folders, TO.id)).suite == TO
        drone.send(b"through")
        assert plain.recv(100) == b"through"
        assert application_address(gcs)


def test_engine_drone_connects_to_a_gcs_that_avoids_its_family(folders):
    with (
        closing(GcsPeer(replace(load_gcs_policy(folders[0]), avoid=FALCON))) as gcs,
        plain_socket() as plain,
        engine_drone(folders, gcs, plain, FROM.id),
    ):
        assert _accepted(gcs).suite == TO


def test_engine_drone_leaves_the_family_in_its_session(folders):
    with drone_under_test(folders, FROM.id) as (drone, plain, gcs, first):
        assert first.suite == FROM
        gcs.station.policy = replace(gcs.station.policy, avoid=FALCON)
        gcs.send_control(DRONE, control.RekeyRequest(7, "", "avoid"))
        second = _accepted(gcs)
        assert (second.suite, second.epoch) == (TO, 1)
        result = gcs.receive_control(control.RekeyResult, TIMEOUT)
        assert (result.request_id, result.ok, result.epoch) == (7, True, 1)
        exchange(plain, drone, gcs.receive_payload, lambda payload: gcs.send(DRONE, payload))


def _accepted(gcs):
    """The keys of the handshake that comes after a refusal."""
    with pytest.raises(RejectedError) as refused:
        gcs.accept_handshake(TIMEOUT)
    assert refused.value.detail == FALCON
    return gcs.accept_handshake(TIMEOUT)
