# SPDX-License-Identifier: Apache-2.0
"""The running engine and this package's peers over a link that loses 20 % each way: every KEM, both roles, rekeys.

With PQCMAV_ALL_SUITES=1 all suites that liboqs has, which takes a quarter of an hour.
"""

from __future__ import annotations

import os
from contextlib import closing

import pytest
from lossy_relay import lossy
from socket_support import (
    DRONE,
    LOCAL,
    TIMEOUT,
    application_address,
    engine_drone,
    engine_gcs,
    eventually,
    identity,
    make_key_folders,
    plain_socket,
)

from pqc_mav_wirespec import control
from pqc_mav_wirespec.dataplane import Outcome
from pqc_mav_wirespec.drone_peer import DronePeer
from pqc_mav_wirespec.gcs_peer import GcsPeer
from pqc_mav_wirespec.keys import load_gcs_policy
from pqc_mav_wirespec.oqs_library import library_name, offers
from pqc_mav_wirespec.suites import ALL_SUITES, KEMS, find_suite

SIGNATURE_OF_LEVEL = {1: "FA-512", 3: "MD-65", 5: "FA-1024"}
SUITES = [f"{kem.code}-AG-{SIGNATURE_OF_LEVEL[kem.level]}" for kem in KEMS if library_name(kem)]
ALL = bool(os.environ.get("PQCMAV_ALL_SUITES"))
if ALL:
    SUITES = [suite.short_code for suite in ALL_SUITES if offers(suite)]
LIMIT_S = 40.0


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """As for all tests, with a key pair for each signature that these suites use."""
    tokens = sorted({find_suite(suite).sig.token for suite in SUITES})
    return make_key_folders(tmp_path_factory.mktemp("keys") / "all", tmp_path_factory.mktemp("drone") / "keys", tokens)


class Behind:
    """Stands for a gcs at the relay's address."""

    def __init__(self, relay):
        self.address = relay.address


@pytest.mark.parametrize("suite", SUITES)
def test_engine_as_gcs(folders, suite):
    with (
        plain_socket() as plain,
        engine_gcs(folders, plain) as gcs,
        lossy((LOCAL, gcs.ports()["data"]), seed=len(suite)) as relay,
        closing(DronePeer(relay.address)) as drone,
    ):
        keys = drone.connect(find_suite(suite), identity(folders, suite), timeout=LIMIT_S)
        relay.loss = 0.0
        drone.send(b"up")
        assert plain.recv(100) == b"up"
        plain.sendto(b"down", application_address(gcs))
        assert drone.receive_payload(TIMEOUT) == b"down"
        assert gcs.status()[0]["session_id"] == keys.session_id.hex()
        relay.loss = 0.2
        assert drone.rekey(find_suite(suite), identity(folders, suite), timeout=LIMIT_S).epoch == 1
        relay.loss = 0.0
        drone.send(b"up again")
        assert plain.recv(100) == b"up again"
        # of so many suites with a dozen datagrams each some lose none
        assert ALL or relay.lost["up"] + relay.lost["down"] > 0


@pytest.mark.parametrize("suite", SUITES)
def test_engine_as_drone(folders, suite):
    with (
        closing(GcsPeer(load_gcs_policy(folders[0]))) as gcs,
        lossy(gcs.address, seed=len(suite)) as relay,
        plain_socket() as plain,
        engine_drone(folders, Behind(relay), plain, suite, reconnect_after_s=30.0) as drone,
    ):
        first = gcs.accept_handshake(LIMIT_S)
        gcs.receive(lambda got: got.outcome is Outcome.CONTROL, LIMIT_S)
        relay.loss = 0.0
        request = gcs.send_control(DRONE, control.RekeyRequest(7, "", "over a lossy link"))
        eventually(lambda: request in relay.recent)
        relay.loss = 0.2
        second = gcs.accept_handshake(LIMIT_S)
        assert (second.epoch, second.suite) == (1, first.suite)
        relay.loss = 0.0
        plain.sendto(b"up", application_address(drone))
        assert gcs.receive_payload(TIMEOUT) == b"up"
        gcs.send(DRONE, b"down")
        assert plain.recv(100) == b"down"
