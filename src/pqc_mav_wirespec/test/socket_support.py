# SPDX-License-Identifier: Apache-2.0
"""A running engine beside this package's peers: key folders, configurations, conditions with a deadline."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import replace

from engine_support import engine

from pqc_mav_wirespec.dataplane import Outcome
from pqc_mav_wirespec.drone_peer import DroneIdentity, DronePeer
from pqc_mav_wirespec.gcs_peer import GcsPeer
from pqc_mav_wirespec.keys import load_drone_keys, load_gcs_policy
from pqc_mav_wirespec.suites import find_suite

DRONE = "drone-1"
LOCAL = "127.0.0.1"
TIMEOUT = 20.0
TOKENS = ["mldsa44", "mldsa65", "falcon512", "falcon1024"]
DROPS = [outcome.value for outcome in Outcome if outcome.value.startswith("drop_")]


def make_key_folders(root, drone, tokens=TOKENS):
    """(gcs folder, drone folder) as the engine's own key tool makes them."""
    engine.init_keys(str(root), [DRONE], list(tokens), True)
    engine.export_drone(str(root), DRONE, str(drone))
    return root / "gcs", drone


@contextmanager
def plain_socket():
    """What stands for the application behind the engine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        plain.bind((LOCAL, 0))
        plain.settimeout(TIMEOUT)
        yield plain


@contextmanager
def running(**config):
    """A started engine."""
    instance = engine.Engine(config)
    instance.start()
    try:
        yield instance
    finally:
        instance.stop()


def engine_gcs(folders, plain, **more):
    """A gcs engine on free ports, whose application listens at `plain`."""
    config = {
        "role": "gcs",
        "keys": str(folders[0]),
        "bind": LOCAL,
        "data_port": 0,
        "drones": [DRONE],
    }
    application = {f"drone.{DRONE}.plain_bind": f"{LOCAL}:0", f"drone.{DRONE}.plain_peer": at(plain)}
    unsigned = {f"drone.{DRONE}.require_signature": False}  # the gcs knows the drone's keys
    return running(**(config | application | unsigned | more))


def engine_drone(folders, gcs, plain, suite, **more):
    """A drone engine that connects to the peer `gcs`."""
    config = {"role": "drone", "keys": str(folders[1]), "drone_id": DRONE, "suite": suite, "peer": LOCAL, "bind": LOCAL}
    config["sign"] = False
    ports = {"data_port": gcs.address[1], "local_data_port": 0}
    return running(**(config | ports | {"plain_bind": f"{LOCAL}:0", "plain_peer": at(plain)} | more))


@contextmanager
def gcs_under_test(folders, **more):
    """(engine as gcs, its application's socket, this package's drone)."""
    with plain_socket() as plain, engine_gcs(folders, plain, **more) as gcs, drone_peer(gcs) as drone:
        yield gcs, plain, drone


@contextmanager
def drone_under_test(folders, suite, features=0, **more):
    """(engine as drone, its application's socket, this package's gcs, the keys of their first session)."""
    with (
        closing(GcsPeer(replace(load_gcs_policy(folders[0]), features=features))) as gcs,
        plain_socket() as plain,
        engine_drone(folders, gcs, plain, suite, **more) as drone,
    ):
        keys = gcs.accept_handshake(TIMEOUT)
        gcs.receive(lambda got: got.outcome is Outcome.CONTROL, TIMEOUT)
        yield drone, plain, gcs, keys


def at(plain):
    return "{}:{}".format(*plain.getsockname())


def application_address(instance):
    """Where the application sends to."""
    return LOCAL, instance.ports()["plain"][DRONE]


def drone_peer(instance):
    return closing(DronePeer((LOCAL, instance.ports()["data"])))


def identity(folders, suite, signed=False, **changes):
    own, token = load_drone_keys(folders[1]), find_suite(suite).sig.token
    values = {"drone_id": own.drone_id, "psk": own.psk, "gcs_public": own.gcs_publics[token]}
    return DroneIdentity(**(values | changes), sign_secret=own.sign_secrets[token] if signed else None)


def eventually(condition):
    """Waits until `condition()` holds, and fails after the deadline."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.01)


def settled(instance, peer):
    """Waits until every datagram of the data plane that the peer sent has its outcome; returns the engine's totals."""
    totals = {}

    def all_in():
        totals.update(instance.totals())
        return sum(totals[name] for name in ("delivered", "control", *DROPS)) >= peer.datagrams_sent

    eventually(all_in)
    assert sum(totals[name] for name in ("delivered", "control", *DROPS)) == peer.datagrams_sent
    return totals


@contextmanager
def in_background(work, results):
    """Runs `work` beside the block and appends what it returned or raised."""

    def call():
        try:
            results.append(work())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    try:
        yield
    finally:
        thread.join(2 * TIMEOUT)
        assert not thread.is_alive()


def exchange(plain, instance, receive, send):
    """Datagrams of several sizes from the application to the peer and back."""
    for size in (1, 280, 1432):
        plain.sendto(bytes([size % 251]) * size, application_address(instance))
        assert receive() == bytes([size % 251]) * size
        send(bytes([size % 241]) * size)
        assert plain.recv(2000) == bytes([size % 241]) * size
