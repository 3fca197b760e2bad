# SPDX-License-Identifier: Apache-2.0
"""Radios with simulated time: rates, turns, losses, what they say of themselves."""

import pytest
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.impairment.model import ImpairedDirection
from pqc_mav_sim.impairment.settings import Impairment
from pqc_mav_sim.radio.air import Air
from pqc_mav_sim.radio.modem import Modem
from pqc_mav_sim.radio.profile import PROFILES

STEP = 0.005
HEARTBEAT = bytes(mavlink.MAVLink(None).heartbeat_encode(2, 12, 0, 0, 4).pack(mavlink.MAVLink(None)))


class World:
    """Radios whose hosts read all that comes at once."""

    def __init__(self, profile: str = "sik-raw", radios: int = 2, loss: float = 0.0, bit_errors: float = 0.0) -> None:
        self.modems = [Modem(PROFILES[profile]) for _ in range(radios)]
        channel = ImpairedDirection("test", Impairment(loss=loss, dead_ms=200 if loss else 0))
        self.air = Air(self.modems, channel, bit_errors=bit_errors)
        self.heard = [b""] * radios
        self.now = 0.0

    def run(self, seconds: float, fill: tuple[int, ...] = ()) -> None:
        """`fill`: these always have something to send."""
        end = self.now + seconds
        while self.now < end:
            for number in fill:
                if self.modems[number].room > 500:
                    self.modems[number].from_host(bytes(range(200)), self.now)
            self.now += STEP
            self.air.advance(self.now)
            for number, modem in enumerate(self.modems):
                self.heard[number] += modem.take_for_host(10_000)


def test_one_way_a_sik_radio_carries_most_of_its_air():
    world = World()
    world.run(20, fill=(0,))
    assert 4_500 < len(world.heard[1]) / 20 < 6_500  # an idle end yields its turns
    assert world.heard[1] == (bytes(range(200)) * 1000)[: len(world.heard[1])]


def test_both_ways_each_has_its_half():
    world = World()
    world.run(20, fill=(0, 1))
    rates = [len(heard) / 20 for heard in world.heard]
    assert all(2_400 < rate < 3_400 for rate in rates)
    assert abs(rates[0] - rates[1]) < 200


def test_of_bent_bits_all_is_lost_that_ecc_does_not_repair():
    lost = {}
    for profile in ("sik", "sik-ecc"):
        world = World(profile, bit_errors=0.005)
        world.run(10, fill=(0,))
        lost[profile] = world.modems[1].counts.air_lost / world.modems[0].counts.sent_packets
    assert lost["sik"] > 0.9 and lost["sik-ecc"] < 0.01


def test_what_finds_no_room_is_lost_and_counted():
    world = World()
    world.modems[0].from_host(bytes(5_000), 0.0)
    assert world.modems[0].counts.overflowed == 5_000 - 1_849
    world.run(5)
    assert len(world.heard[1]) == 1_849


def test_bad_moments_lose_packets_and_bend_none():
    world = World(loss=0.2)
    world.run(60, fill=(0,))
    counts = world.modems[1].counts
    assert 0.1 < counts.air_lost / world.modems[0].counts.sent_packets < 0.3
    assert world.modems[0].counts.sent_bytes - len(world.heard[1]) <= 250 * (counts.air_lost + 1)


def test_a_broadcast_reaches_all_others():
    world = World(radios=3)
    world.modems[1].from_host(b"from one", 0.0)
    world.run(1)
    assert world.heard == [b"from one", b"", b"from one"]


def test_a_heartbeat_is_answered_to_its_host_alone():
    world = World("sik")
    world.modems[0].from_host(HEARTBEAT, 0.0)
    world.run(1)
    (status,) = mavlink.MAVLink(None).parse_buffer(world.heard[0])
    assert status.get_type() == "RADIO_STATUS"
    assert (status.get_srcSystem(), status.get_srcComponent()) == (51, 68)
    assert status.txbuf == 100
    assert world.heard[1] == HEARTBEAT


def test_the_status_tells_how_full_the_buffer_is():
    world = World("sik")
    world.modems[0].from_host(HEARTBEAT + bytes(1_500), 0.0)
    world.run(0.1)
    (status,) = mavlink.MAVLink(None).parse_buffer(world.heard[0])
    assert 15 < status.txbuf < 40


def test_raw_radios_say_nothing():
    world = World("sik-raw")
    world.modems[0].from_host(HEARTBEAT, 0.0)
    world.run(2)
    assert world.heard[0] == b""


@pytest.mark.parametrize("profile", ["elrs", "satellite"])
def test_what_repeats_delays_and_loses_nothing(profile):
    world = World(profile, loss=0.3)
    sent = bytes(range(250)) * 2
    world.modems[0].from_host(sent, 0.0)
    world.run(20)
    assert len(world.heard[1]) >= len(sent)
    assert world.modems[1].counts.air_lost == 0
    assert world.modems[0].counts.sent_bytes == len(sent)
    assert world.modems[0].counts.statuses == (0 if profile == "satellite" else pytest.approx(2_000, rel=0.6))


def test_what_repeats_comes_when_the_air_is_back():
    world = World("elrs")
    world.modems[0].from_host(HEARTBEAT * 3, 0.0)
    world.air.fade(0, 1.0)
    world.run(2)
    assert HEARTBEAT not in world.heard[1]
    world.air.fade(0, 0.0)
    world.run(2)
    assert world.heard[1].count(HEARTBEAT) == 3


def test_waiting_is_measured():
    world = World()
    world.run(10, fill=(0, 1))
    wait = world.modems[0].summary()["wait"]
    assert 200_000 < wait["p50_us"] < 900_000  # some 1,300 bytes before it


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_carries(profile):
    world = World(profile)
    world.modems[0].from_host(HEARTBEAT, 0.0)
    world.run(5)
    assert HEARTBEAT in world.heard[1]
