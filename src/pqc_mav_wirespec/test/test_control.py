# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vectors_data import TLVS, UNUSABLE

from pqc_mav_wirespec import control
from pqc_mav_wirespec.errors import MalformedError

u8s, u32s, u64s = st.integers(0, 2**8 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)
texts = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=255)
any_tlv = st.one_of(
    st.builds(control.Probe, u32s, u64s),
    st.builds(control.ProbeReply, u32s, u64s, u64s, u64s),
    st.builds(control.LinkReport, *[u32s] * 7, *[u64s] * 6),
    st.builds(control.Switched, u8s),
    st.builds(control.RekeyRequest, u32s, texts, texts),
    st.builds(control.Close, u8s),
    st.just(control.Keepalive()),
    st.builds(control.RekeyResult, u32s, st.booleans(), u8s, u32s, texts),
    st.builds(control.Handshake, st.binary(min_size=8, max_size=8), u32s, st.binary(max_size=50)),
    st.builds(control.Return, u32s, st.binary(min_size=8, max_size=8), st.binary(min_size=32, max_size=32)),
    st.builds(control.Restart, st.binary(min_size=16, max_size=16)),
    st.builds(control.PathChallenge, st.binary(min_size=8, max_size=8)),
    st.builds(control.Aside, u64s),
    st.builds(control.Arrived, u64s, u64s, u64s),
    st.builds(control.PathResponse, st.binary(min_size=8, max_size=8), st.none() | st.integers(0, 3)),
    st.builds(control.Paths, u32s, st.integers(0, 3), st.sampled_from([0, 5, 15, 0x40, 0x80, 0xCF])),
    st.builds(control.Role, st.sampled_from([control.Role.ACTIVE, control.Role.STANDBY]), u32s),
    st.builds(control.Term, u32s),
    st.builds(control.Got, u8s, st.binary(min_size=4, max_size=4)),
    st.builds(control.Pin, u32s, u32s),
    st.builds(
        control.Alarm, st.integers(0, 2), st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=24)
    ),
)


@given(st.lists(any_tlv, min_size=1, max_size=5))
def test_decodes_what_it_encoded(tlvs):
    content = control.encode(*tlvs)
    assert control.decode(content) == tlvs
    with pytest.raises(MalformedError):
        control.decode(content[:-1])


@given(st.binary(max_size=60))
def test_any_bytes_decode_or_are_refused(content):
    try:
        tlvs = control.decode(content)
    except MalformedError:
        return
    assert control.decode(content) == tlvs


def test_every_type_has_a_vector():
    assert {tlv.TYPE for tlv in TLVS.values()} == {*range(1, 9), *range(32, 41), 42, 43, 44, 45}


def test_unknown_types_are_skipped():
    content = bytes.fromhex("ff0000") + control.encode(control.Close(1)) + bytes.fromhex("00000155")
    assert control.decode(content) == [control.Close(1)]
    assert control.decode(bytes.fromhex("ff0000")) == []


def test_a_frame_has_a_greatest_number_of_tlvs():
    full = control.encode(*[control.Keepalive()] * control.MAX_TLVS)
    assert len(control.decode(full + bytes.fromhex("ff0000"))) == control.MAX_TLVS
    with pytest.raises(MalformedError, match="17 TLVs"):
        control.decode(full + control.encode(control.Keepalive()))


@pytest.mark.parametrize("content", UNUSABLE.values(), ids=UNUSABLE)
def test_unusable_content(content):
    with pytest.raises(MalformedError):
        control.decode(content)


@pytest.mark.parametrize("character", [0x00, 0x0A, 0x1F, 0x7F, 0x80, 0xFF])
def test_text_that_is_not_printable(character):
    with pytest.raises(MalformedError, match="printable"):
        control.decode(bytes.fromhex("0500070000000101") + bytes([character, 0]))
    with pytest.raises((MalformedError, UnicodeEncodeError)):
        control.encode(control.RekeyRequest(1, chr(character), ""))


def test_probe_arithmetic():
    # the peer's clock is 1,000 ahead, each way takes 30, answering takes 5
    reply = control.ProbeReply(id=1, t1=100, t2=1130, t3=1135)
    assert (reply.rtt(165), reply.offset(165)) == (60, 1000.0)
