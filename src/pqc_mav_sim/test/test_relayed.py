# SPDX-License-Identifier: Apache-2.0
"""Clients behind a forwarder: they see another source port than the vehicle's, and answer to it, as behind a tunnel.

The vehicle sends to the forwarder's near side; the far side sends to the client's fixed port from a port of its own.
"""

import select
import socket
import threading

import pytest
from sim_support import ANY_PORT

from pqc_mav_sim.endpoint import Endpoint
from pqc_mav_sim.ground_client import GroundClient
from pqc_mav_sim.modes import Result
from pqc_mav_sim.testing import mavproxy_param_session, missing

DEADLINE_S = 30.0


class Forwarder:
    """Passes datagrams from whoever sent last to the near side on to a fixed port, and the answers back."""

    def __init__(self, client_port):
        self._client = ("127.0.0.1", client_port)
        self._near, self._far = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        for sock in (self._near, self._far):
            sock.bind(("127.0.0.1", 0))
        self.endpoint = Endpoint(socket.AF_INET, self._near.getsockname())
        self._vehicle = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop.is_set():
            ready, _, _ = select.select([self._near, self._far], [], [], 0.1)
            if self._near in ready:
                data, self._vehicle = self._near.recvfrom(2048)
                self._far.sendto(data, self._client)
            if self._far in ready:
                data, source = self._far.recvfrom(2048)
                if source == self._client and self._vehicle is not None:
                    self._near.sendto(data, self._vehicle)

    def stop(self):
        self._stop.set()
        self._thread.join()
        self._near.close()
        self._far.close()


@pytest.fixture
def make_forwarder():
    made = []

    def make(client_port):
        made.append(Forwarder(client_port))
        return made[-1]

    yield make
    for forwarder in made:
        forwarder.stop()


def test_ground_client_commands_through_a_forwarder(make_vehicle, make_forwarder):
    with GroundClient(ANY_PORT) as ground:
        vehicle = make_vehicle(make_forwarder(ground.link.address.sockaddr[1]).endpoint)
        assert ground.wait_for(lambda view: view.ready, DEADLINE_S)
        assert ground.arm() == Result.ACCEPTED
        assert len(ground.fetch_params()) == len(vehicle.autopilot.params)
        snapshot = ground.snapshot()
    assert snapshot["lost"] == 0
    assert snapshot["peer"] != str(vehicle.link.address)
    assert vehicle.snapshot()["armed"]


@pytest.mark.skipif(missing("MAVProxy") is not None, reason=missing("MAVProxy") or "")
def test_mavproxy_through_a_forwarder(make_vehicle, make_forwarder):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    vehicle = make_vehicle(make_forwarder(port).endpoint)
    assert mavproxy_param_session(port)["count"] == len(vehicle.autopilot.params)
