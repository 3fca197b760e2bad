# SPDX-License-Identifier: Apache-2.0
"""Several ground stations: the running engine against this package's peers."""

import json
from contextlib import closing
from dataclasses import replace

import pytest
from socket_support import (
    DRONE,
    LOCAL,
    TIMEOUT,
    application_address,
    at,
    engine,
    engine_gcs,
    eventually,
    in_background,
    plain_socket,
    running,
)

from pqc_mav_wirespec import control
from pqc_mav_wirespec.dataplane import Outcome
from pqc_mav_wirespec.drone_peer import DroneIdentity, DronePeer
from pqc_mav_wirespec.gcs_peer import GcsPeer
from pqc_mav_wirespec.keys import load_drone_keys, load_gcs_policy
from pqc_mav_wirespec.messages import FEATURE_STATIONS
from pqc_mav_wirespec.suites import find_suite

SUITE = "ML-512-AG-MD-44"
NAMES = ("north", "south")
ROLE = control.Role


@pytest.fixture(scope="module")
def stations(tmp_path_factory):
    """(folder of each station, the drone's folder)."""
    root = tmp_path_factory.mktemp("stations")
    engine.init_keys(str(root), [DRONE], ["mldsa44"], stations=list(NAMES))
    engine.export_drone(str(root), DRONE, str(root / "exported"))
    return [root / "stations" / name for name in NAMES], root / "exported"


def gcs_peer(stations, number):
    policy = load_gcs_policy(stations[0][number])
    return closing(GcsPeer(replace(policy, gcs_id=NAMES[number], features=FEATURE_STATIONS)))


def test_keys_of_the_stations_differ(stations):
    north, south = (load_gcs_policy(folder) for folder in stations[0])
    assert north.psks != south.psks
    assert north.sign_secrets != south.sign_secrets
    own = [load_drone_keys(stations[1], gcs_id=name) for name in NAMES]
    assert [each.psk for each in own] == [north.psks[DRONE], south.psks[DRONE]]
    assert own[0].gcs_publics != own[1].gcs_publics


def test_engine_as_gcs_follows_the_roles(stations):
    own = load_drone_keys(stations[1], gcs_id="south")
    who = DroneIdentity(DRONE, own.psk, own.gcs_publics["mldsa44"], gcs_id="south")
    with (
        plain_socket() as plain,
        engine_gcs((stations[0][1], None), plain, gcs_id="south") as gcs,
        closing(DronePeer((LOCAL, gcs.ports()["data"]), features=FEATURE_STATIONS)) as drone,
    ):
        keys = drone.connect(find_suite(SUITE), who, standby=True, term=7)
        assert keys.features == FEATURE_STATIONS
        assert drone.receive_control(control.Term, TIMEOUT).term == 7
        eventually(lambda: (gcs.status()[0]["station_role"], gcs.status()[0]["term"]) == ("standby", 7))
        plain.sendto(b"refused", application_address(gcs))
        eventually(lambda: gcs.stats()[0]["plain_dropped_no_session"] == 1)
        assert drone.send(b"delivered in either role")
        assert plain.recv(100) == b"delivered in either role"
        for role, term, shown in (
            (ROLE.ACTIVE, 9, "active"),
            (ROLE.STANDBY, 8, "active"),
            (ROLE.STANDBY, 9, "standby"),
        ):
            drone.tell_role(role, term)
            drone.receive_control(control.Got, TIMEOUT)
            assert drone.role_open is None
            eventually(lambda shown=shown: gcs.status()[0]["station_role"] == shown)
            assert gcs.status()[0]["term"] == 9
        # another life of the drone: the gcs remembers
        drone.connect(find_suite(SUITE), who, term=3)
        eventually(lambda: not drone.drain(0.1) or drone.term_told == 9)
        eventually(lambda: (gcs.status()[0]["station_role"], gcs.status()[0]["term"]) == ("active", 3))


def test_engine_as_drone_moves_without_a_handshake(stations):
    with plain_socket() as plain, gcs_peer(stations, 0) as north, gcs_peer(stations, 1) as south:
        peers = [f"{name}@{LOCAL}:{gcs.address[1]}" for name, gcs in zip(NAMES, (north, south), strict=True)]
        config = {"role": "drone", "keys": str(stations[1]), "drone_id": DRONE, "suite": SUITE, "bind": LOCAL}
        ports = {"local_data_port": 0, "plain_bind": f"{LOCAL}:0", "plain_peer": at(plain)}
        with running(**config, **ports, peer=peers, standby=True) as drone:
            keys = north.accept_handshake(TIMEOUT)
            assert (keys.standby, keys.term, keys.features) == (False, 1, FEATURE_STATIONS)
            north.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
            assert north.roles[DRONE] == ROLE(ROLE.ACTIVE, 1)
            waiting = south.accept_handshake(TIMEOUT)
            assert (waiting.standby, waiting.term) == (True, 1)
            south.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
            assert south.roles[DRONE] == ROLE(ROLE.STANDBY, 1)
            south.send(DRONE, b"of the standby")
            north.send(DRONE, b"of the active one")
            assert plain.recv(100) == b"of the active one"
            eventually(lambda: drone.totals()["drop_standby"] == 1)
            told = []
            with in_background(lambda: north.receive_control(control.Role, TIMEOUT), told):
                assert json.loads(engine.Door(drone).ask('{"v": 1, "command": "station", "gcs_id": "south"}'))["ok"]
                assert south.receive_control(control.Role, TIMEOUT) == ROLE(ROLE.ACTIVE, 2)
            assert told == [ROLE(ROLE.STANDBY, 2)]
            south.send(DRONE, b"of the new one")
            north.send(DRONE, b"of the old one")
            assert plain.recv(100) == b"of the new one"
            eventually(lambda: drone.totals()["drop_standby"] == 2)
            # a station that knows more than the drone does
            south.send_control(DRONE, control.Term(40))
            assert south.receive_control(control.Role, TIMEOUT) == ROLE(ROLE.ACTIVE, 41)
            eventually(lambda: drone.status()[0]["term"] == 41)
            assert [each.split()[:2] for each in drone.status()[0]["stations"]] == [
                ["north", "standby"],
                ["south", "active"],
            ]
