# SPDX-License-Identifier: Apache-2.0
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymavlink.dialects.v20 import ardupilotmega
from pymavlink.dialects.v20 import common as mavlink
from sim_support import Bench

from pqc_mav_sim.frames import MAX_DATAGRAM
from pqc_mav_sim.plaintext_watch import MESSAGES, PlaintextWatch, find_plaintext, v1_lengths
from pqc_mav_sim.rates import STREAMS

MAV = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
HEARTBEAT = mavlink.MAVLink_heartbeat_message(2, 12, 0, 0, 3, 3)


@pytest.mark.parametrize("spec", STREAMS, ids=lambda spec: spec.name)
@pytest.mark.parametrize("v1", [False, True])
def test_every_message_of_the_vehicle_is_found_in_both_versions(bench, spec, v1):
    if v1 and spec.msg_id > 255:
        pytest.skip("version 1 has no such message")
    raw = bench.pilot.telemetry.build(spec.msg_id, bench.t).pack(MAV, force_mavlink1=v1)
    (found,) = find_plaintext(raw)
    assert (found.name, found.version) == (spec.name, 1 if v1 else 2)


@settings(deadline=None)
@given(st.binary(max_size=200), st.binary(max_size=200), st.booleans())
def test_found_at_any_offset_inside_other_bytes(before, after, v1):
    raw = HEARTBEAT.pack(MAV, force_mavlink1=v1)
    # a stretch of junk that happens to swallow the frame would have to have a good CRC itself
    assert raw in [frame.raw for frame in find_plaintext(before + raw + after)]


def test_several_in_one_datagram():
    raw = HEARTBEAT.pack(MAV)
    assert len(find_plaintext(b"\x12" + raw + b"\xfd\xfe" + raw + raw)) == 3


def test_other_dialects_are_known_too():
    message = ardupilotmega.MAVLink_ahrs_message(0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0)
    raw = message.pack(ardupilotmega.MAVLink(None, srcSystem=1, srcComponent=1))
    assert [MESSAGES[f.msg_id].msgname for f in find_plaintext(raw)] == ["AHRS"]


def test_signed_frames_are_found():
    mav = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
    mav.signing.secret_key = bytes(32)
    mav.signing.sign_outgoing = True
    assert find_plaintext(HEARTBEAT.pack(mav))[0].signed


@pytest.mark.parametrize("position", range(12))
def test_a_broken_frame_is_no_plaintext(position):
    raw = bytearray(HEARTBEAT.pack(MAV))
    raw[position] ^= 0x10
    assert find_plaintext(bytes(raw)) == []


def test_random_bytes_are_no_leak():
    rng = random.Random(4)
    watch = PlaintextWatch()
    for _ in range(4000):
        watch.feed(rng.randbytes(300))
    assert not watch.leaked
    assert watch.payload_bytes == 1_200_000
    assert watch.expected_chance_hits(2) < 1e-7
    assert watch.expected_chance_hits(1) < 2e-3


def test_one_frame_among_megabytes_is_a_leak():
    rng = random.Random(5)
    watch = PlaintextWatch()
    for i in range(10_000):
        payload = rng.randbytes(200)
        if i == 7000:
            payload = payload[:50] + HEARTBEAT.pack(MAV) + payload[50:]
        assert watch.feed(payload) == (i == 7000)
    assert watch.leaked
    report = watch.to_dict()
    assert report["plaintext_by_type"] == {"HEARTBEAT": 1}
    assert report["examples"] == ["MAVLink 2 HEARTBEAT at byte 50 of datagram 7001"]


def test_a_single_version_1_frame_may_be_chance_but_two_are_not():
    rng = random.Random(6)
    watch = PlaintextWatch()
    for _ in range(5000):
        watch.feed(rng.randbytes(300))
    raw = HEARTBEAT.pack(MAV, force_mavlink1=True)
    watch.feed(raw)
    assert not watch.leaked
    watch.feed(raw)
    assert watch.leaked


def test_chance_figure_is_honest():
    """Count chance hits in random bytes under a format weak enough to produce some: only id and length have to fit."""
    rng = random.Random(7)
    data = rng.randbytes(1_000_000)
    starts = sum(
        data[i] == 0xFE and data[i + 5] in MESSAGES and data[i + 1] in v1_lengths(data[i + 5])
        for i in range(len(data) - 6)
    )
    watch = PlaintextWatch(payload_bytes=1_000_000)
    assert watch.expected_chance_hits(1) * 65536 == pytest.approx(starts, rel=0.3)


def test_lengths_of_version_1_leave_out_extensions():
    lengths = v1_lengths(mavlink.MAVLINK_MSG_ID_GPS_RAW_INT)
    assert {30, 52} <= lengths  # base message, and with all extension fields
    assert 31 not in lengths


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=MAX_DATAGRAM))
def test_any_bytes_are_survived(payload):
    for frame in find_plaintext(payload):
        assert frame.raw in payload


def test_worst_case_is_survived():
    assert find_plaintext(b"\xfd" * 60_000) == []


def test_encrypting_hides_what_is_found_otherwise():
    bench = Bench()
    raw = [bench.pilot.telemetry.build(spec.msg_id, bench.t).pack(MAV) for spec in STREAMS]
    rng = random.Random(9)
    clear, hidden = PlaintextWatch(), PlaintextWatch()
    for data in raw * 20:
        clear.feed(data)
        hidden.feed(bytes(b ^ k for b, k in zip(data, rng.randbytes(len(data)), strict=True)))
    assert clear.leaked
    assert not hidden.leaked
