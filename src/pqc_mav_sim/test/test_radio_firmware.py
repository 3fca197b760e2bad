# SPDX-License-Identifier: Apache-2.0
"""The simulated radio beside SiK's own code, where PQCMAV_SIK_SOURCE says where that is."""

import ctypes
import random

import pytest
import sik_firmware
from pymavlink.dialects.v20 import common as mavlink

from pqc_mav_sim.radio.at_mode import AtMode
from pqc_mav_sim.radio.packets import MessageCutter
from pqc_mav_sim.radio.profile import TICK_S, RadioProfile
from pqc_mav_sim.radio.registers import Registers

pytestmark = pytest.mark.skipif(not sik_firmware.SOURCE.is_dir(), reason="PQCMAV_SIK_SOURCE names no SiK firmware")
MAV = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
COMMANDS = (
    [
        "",
        "&F",
        "&W",
        "&T",
        "&T=RSSI",
        "&T=X",
        "&UPDATE?",
        "I",
        "I0",
        "I1",
        "I2",
        "I3",
        "I4",
        "I5",
        "I9",
        "Z",
        "O",
        "+A=1",
    ]
    + [f"S{number}?" for number in (0, 1, 15, 16, 255, 256, 271)]
    + [f"S{number}={value}" for number in range(17) for value in ("0", "1", "2", "57", "64", "131", "132", "300", "")]
    + ["X", "M", "P", "PP", "S", "S=", "S99999999999=", "S3", "S3=70000"]
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return sik_firmware.build(tmp_path_factory.mktemp("sik"))


@pytest.fixture
def firmware(library):
    library.host_begin()
    return library


@pytest.mark.parametrize("ecc", [False, True])
@pytest.mark.parametrize("rate", [2, 4, 8, 16, 19, 24, 32, 48, 64, 96, 128, 192, 250])
def test_turns_and_times_are_the_firmwares(firmware, rate, ecc):
    out = (ctypes.c_uint16 * 5)()
    firmware.host_turns(rate, ecc, out)
    own = RadioProfile("", air_kbit=rate, ecc=ecc)
    times = [own.window_s, own.silence_s, own.reach_s, own.byte_s]
    assert [round(each / TICK_S) for each in times] + [own.most] == list(out)


@pytest.mark.parametrize("bit_errors", [0.0, 0.01, 0.03, 0.05])
def test_as_many_packets_arrive_bent_as_the_firmware_repairs(firmware, bit_errors):
    draw, own, tries, good = random.Random(1), RadioProfile("", ecc=True), 2_000, 0
    for _ in range(tries):
        sent = draw.randbytes(20)
        air, came = ctypes.create_string_buffer(252), ctypes.create_string_buffer(252)
        size = firmware.host_encode(len(sent) + 2, sent + bytes(2), air)
        bent = sum(1 << at for at in range(8 * size) if draw.random() < bit_errors)
        heard = (int.from_bytes(air.raw[:size], "little") ^ bent).to_bytes(size, "little")
        good += bool(firmware.host_decode(size, heard, came)) and came.raw[:20] == sent
    expected = own.arrives(20, bit_errors)
    assert abs(good / tries - expected) <= 3 * (expected * (1 - expected) / tries) ** 0.5


def test_a_byte_takes_the_air_of_two_and_the_longest_packet_is_the_firmwares(firmware):
    own, air = RadioProfile("", ecc=True), ctypes.create_string_buffer(256)
    sizes = {size: firmware.host_encode(size + 2, bytes(size + 2), air) for size in range(own.most + 1)}
    assert sizes[own.most] <= 252 < sizes[own.most] + 12  # what its radio holds
    raw = RadioProfile("").byte_s
    for size, encoded in sizes.items():  # the firmware's own reckoning does not round to words
        assert abs(encoded - sizes[0] - round((own.flight_s(size) - own.flight_s(0)) / raw)) <= 4


def anything(draw: random.Random) -> bytes:
    """Messages, whole and cut, signed, of both versions, and foreign bytes."""
    attitude = bytes(MAV.attitude_encode(1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6).pack(MAV))
    beat = bytes(MAV.heartbeat_encode(2, 12, 0, 0, 4).pack(MAV, force_mavlink1=draw.random() < 0.5))
    long = bytes([0xFD, draw.randrange(256), draw.choice([0, 1])]) + draw.randbytes(300)
    size = draw.choice([0, 225, 226, draw.randrange(256)])  # the tunnel's own have 225 at most
    carrier = bytes([0xFE, size, draw.randrange(256), 51, 191, 131]) + draw.randbytes(size + 2)
    return draw.choice(
        [
            attitude,
            beat,
            attitude[: draw.randrange(28)],
            long,
            carrier,
            draw.randbytes(draw.randrange(60)),
            b"\xfd",
            b"\xfe",
            b"",
        ]
    )


@pytest.mark.parametrize("seed", range(30))
def test_every_packet_is_cut_where_the_firmware_cuts_it(firmware, seed):
    draw = random.Random(seed)
    own = RadioProfile("")
    firmware.packet_set_max_xmit(own.most)
    firmware.packet_set_serial_speed(57 * 125)
    cutter, waiting, ticks = MessageCutter(own.most, own.serial_byte_s), bytearray(), 0
    room = (ctypes.c_uint8 * 252)()
    for _ in range(3_000):
        data = anything(draw)
        if len(waiting) + len(data) < 1_800:
            firmware.host_put(data, len(data))
            waiting += data
        ticks += draw.choice([0, 10, 300, 3_000])
        firmware.host_at(ticks % 65_536)
        most = draw.choice([15, 40, 100, 250])
        size = firmware.packet_get_next(most, room)
        assert cutter.next(waiting, most, ticks * TICK_S) == bytes(room[:size])
        assert firmware.host_held() == len(waiting)


@pytest.mark.parametrize("seed", range(20))
def test_every_command_is_answered_as_the_firmware_answers(firmware, seed):
    draw = random.Random(seed)
    registers, remotes, now = Registers(RadioProfile("", aligns=True)), [], 0.0
    own = AtMode(registers, list, remotes.append)
    heard = ctypes.create_string_buffer(65_536)

    def silence(seconds: float) -> None:
        nonlocal now
        for _ in range(round(seconds * 100)):
            now += 0.01
            firmware.host_tick()
        own.work(now + 1e-6)

    def type_in(text: str) -> None:
        for byte in text.encode():
            firmware.host_type(byte)
            firmware.host_loop()
            own.take(bytes([byte]), now)
        assert own.active == bool(firmware.host_active())
        size = firmware.host_said(heard)
        assert own.take_answers() == heard.raw[:size]

    for _ in range(40):
        silence(draw.choice([1.2, 1.2, 0.3]))
        type_in(draw.choice(["+++", "+++", "++", "++++", "a+++", "+"]))
        silence(draw.choice([1.2, 1.2, 0.3]))
        for _ in range(draw.randrange(8)):
            type_in(
                draw.choice(["AT", "AT", "at", "RT", "X"]) + draw.choice(COMMANDS) + draw.choice(["\r", "\r", "\b\b\r"])
            )
            silence(0.02)
        type_in(draw.choice(["ATO\r", "ATZ\r", "ATIIIIIIIIIIIIIIIIIIII"]))
    assert own.resets == firmware.host_resets()
    assert len(remotes) == firmware.host_remotes()
