# SPDX-License-Identifier: Apache-2.0
"""Fixtures: an autopilot or a flight in virtual time, vehicles and ground clients on ephemeral loopback ports."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sim_support import ANY_PORT, Bench, Stepper

from pqc_mav_sim.autopilot import AutopilotConfig
from pqc_mav_sim.endpoint import Endpoint
from pqc_mav_sim.ground_client import GroundClient
from pqc_mav_sim.vehicle import Vehicle


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def stepper() -> Stepper:
    return Stepper()


@pytest.fixture
def make_vehicle() -> Iterator[Callable[..., Vehicle]]:
    """Start vehicles on ephemeral ports; all are stopped at the end."""
    vehicles: list[Vehicle] = []

    def make(peer: Endpoint | None = None, **config: object) -> Vehicle:
        vehicle = Vehicle(AutopilotConfig(**{"profile": "client", **config}), ANY_PORT, peer)
        vehicles.append(vehicle)
        return vehicle.start()

    yield make
    for vehicle in vehicles:
        vehicle.stop()


@pytest.fixture
def make_ground() -> Iterator[Callable[..., GroundClient]]:
    """Start ground clients on ephemeral ports; all are stopped at the end."""
    clients: list[GroundClient] = []

    def make(**options: object) -> GroundClient:
        client = GroundClient(ANY_PORT, **options)
        clients.append(client)
        return client.start()

    yield make
    for client in clients:
        client.stop()
