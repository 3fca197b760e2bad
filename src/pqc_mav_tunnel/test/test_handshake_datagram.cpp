// SPDX-License-Identifier: Apache-2.0
#include "handshake/handshake_datagram.hpp"

#include <gtest/gtest.h>

#include "crypto/kdf.hpp"
#include "handshake/fragment_layout.hpp"

namespace pqcmav {
namespace {

constexpr AttemptId kAttempt{1, 2, 3, 4, 5, 6, 7, 8};

Psk psk() {
  Psk out;
  out.mut()[31] = 9;
  return out;
}

Bytes fragment(std::uint8_t message, std::uint32_t total, std::uint16_t size, std::uint16_t index, std::size_t bytes) {
  Bytes out;
  append_fragment_header(out, {message, total, size, index, {}});
  out.insert(out.end(), bytes, 0xab);
  return out;
}

bool parses(const Bytes& frames, FramesOf of = FramesOf::drone) { return parse_frames(frames, of).has_value(); }

Bytes operator+(Bytes a, const Bytes& b) {
  append(a, b);
  return a;
}

TEST(HandshakeDatagram, HeaderComesBackAndLengthsAreBounded) {
  for (const auto side : {HandshakeSide::drone, HandshakeSide::gcs}) {
    Bytes datagram;
    append_handshake_header(datagram, {side, kAttempt, 0x01020304});
    EXPECT_EQ(datagram.size(), kDatagramHeaderSize);
    EXPECT_EQ(datagram[0], side == HandshakeSide::drone ? 0x33 : 0x43);
    datagram.resize(20);
    EXPECT_FALSE(parse_handshake_header(datagram));
    for (const std::size_t size : {21, 1200}) {
      datagram.resize(size);
      const auto header = parse_handshake_header(datagram);
      ASSERT_TRUE(header);
      EXPECT_EQ(header->from, side);
      EXPECT_EQ(header->attempt, kAttempt);
      EXPECT_EQ(header->packet, 0x01020304U);
      EXPECT_EQ(frames_of(datagram).size(), size - 21);
    }
    datagram.resize(1201);
    EXPECT_FALSE(parse_handshake_header(datagram));
  }
  Bytes other(21);
  for (const std::uint8_t type : {0x03, 0x13, 0x23, 0x32, 0x53, 0x63, 0x83}) {
    other[0] = type;
    EXPECT_FALSE(parse_handshake_header(other));
  }
}

TEST(HandshakeDatagram, KeysAreThoseOfThePage) {
  const auto keys = derive_fragment_keys(psk(), kAttempt);
  Bytes info;
  append(info, as_bytes("PQMAV/3 fragment"));
  append(info, kAttempt);
  Bytes expected(64);
  hkdf_expand(psk().view(), info, expected);
  EXPECT_TRUE(std::equal(expected.begin(), expected.begin() + 32, keys.from_drone.view().begin()));
  EXPECT_TRUE(std::equal(expected.begin() + 32, expected.end(), keys.from_gcs.view().begin()));
  EXPECT_EQ(&keys.from(HandshakeSide::drone), &keys.from_drone);
  EXPECT_EQ(&keys.from(HandshakeSide::gcs), &keys.from_gcs);
  const auto copy = keys.clone();
  EXPECT_TRUE(constant_time_equal(copy.from_drone.view(), keys.from_drone.view()));
  EXPECT_TRUE(constant_time_equal(copy.from_gcs.view(), keys.from_gcs.view()));
}

TEST(HandshakeDatagram, TagCatchesEveryFlippedBit) {
  const auto keys = derive_fragment_keys(psk(), kAttempt);
  Bytes datagram;
  append_handshake_header(datagram, {HandshakeSide::drone, kAttempt, 5});
  append(datagram, fragment(1, 40, 40, 0, 40));
  const auto content = datagram;
  append_tag(keys.from_drone, datagram);
  ASSERT_EQ(datagram.size(), content.size() + 8);
  const auto mac = hmac_sha256(keys.from_drone.view(), {content});
  EXPECT_TRUE(std::equal(datagram.end() - 8, datagram.end(), mac.begin()));
  EXPECT_TRUE(tag_good(keys.from_drone, datagram));
  EXPECT_FALSE(tag_good(keys.from_gcs, datagram));
  for (std::size_t bit = 0; bit < 8 * datagram.size(); ++bit) {
    auto bent = datagram;
    bent[bit / 8] = static_cast<std::uint8_t>(bent[bit / 8] ^ (1U << bit % 8));
    EXPECT_FALSE(tag_good(keys.from_drone, bent)) << bit;
  }
  for (std::size_t size = 0; size < datagram.size(); ++size)
    EXPECT_FALSE(tag_good(keys.from_drone, ByteView(datagram).first(size)));
}

TEST(HandshakeDatagram, FragmentComesBack) {
  const auto frame = fragment(2, 70000, 1150, 3, 1150);
  const auto parsed = parse_frames(frame, FramesOf::gcs);
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->fragment_count, 1);
  const auto& first = parsed->fragments[0];
  EXPECT_EQ(first.message, 2);
  EXPECT_EQ(first.total, 70000U);
  EXPECT_EQ(first.size, 1150);
  EXPECT_EQ(first.index, 3);
  EXPECT_EQ(first.bytes.size(), 1150U);
  EXPECT_EQ(first.bytes[0], 0xab);
}

TEST(HandshakeDatagram, FragmentsAreExactlyAsLongAsTheirIndexSays) {
  EXPECT_TRUE(parses(fragment(2, 1151, 1150, 1, 1)));
  EXPECT_FALSE(parses(fragment(2, 1151, 1150, 1, 0)));
  EXPECT_FALSE(parses(fragment(2, 1151, 1150, 1, 2) + Bytes{0xff}));
  EXPECT_TRUE(parses(fragment(2, 1151, 1150, 2, 1150)));  // parity
  EXPECT_FALSE(parses(fragment(2, 1151, 1150, 2, 1149)));
  EXPECT_FALSE(parses(fragment(2, 1151, 1150, 3, 1150)));  // there is one group
  EXPECT_FALSE(parses(fragment(2, 0, 1150, 0, 0)));
  EXPECT_FALSE(parses(fragment(2, 10, 0, 0, 10)));
  EXPECT_TRUE(parses(fragment(2, 10, 10, 0, 10)));
  EXPECT_FALSE(parses(fragment(2, 10, 10, 1, 10)));  // no parity of one
  EXPECT_TRUE(parses(fragment(2, 1000, 475, 0, 475)));
  EXPECT_FALSE(parses(fragment(2, 1000, 474, 0, 474)));
  EXPECT_FALSE(parses(fragment(2, 3000, 1151, 0, 1151)));
  EXPECT_TRUE(parses(fragment(2, 1170, 1170, 0, 1170)));
}

TEST(HandshakeDatagram, ParityBelongsToMessagesOfTwoToSixteen) {
  EXPECT_TRUE(parses(fragment(2, 16 * 500, 500, 19, 500)));
  EXPECT_FALSE(parses(fragment(2, 16 * 500, 500, 20, 500)));
  EXPECT_FALSE(parses(fragment(2, 17 * 500, 500, 17, 500)));
  EXPECT_TRUE(parses(fragment(2, 5 * 500, 500, 5, 500)));
  EXPECT_FALSE(parses(fragment(2, 5 * 500, 500, 6, 500)));  // no parity for a group of one
  EXPECT_TRUE(parses(fragment(2, 6 * 500, 500, 7, 500)));
}

TEST(HandshakeDatagram, FragmentsOfOneMessageOnly) {
  const auto short_one = fragment(2, 951, 475, 2, 1);
  EXPECT_TRUE(parses(short_one + short_one));
  EXPECT_FALSE(parses(short_one + fragment(3, 951, 475, 2, 1)));
  EXPECT_TRUE(parses(short_one + short_one + short_one + short_one));
  EXPECT_FALSE(parses(short_one + short_one + short_one + short_one + short_one));
}

TEST(HandshakeDatagram, AckComesBackAndItsBitmapIsBounded) {
  Bytes bitmap(32, 0x81);
  for (const std::size_t length : {0, 1, 31, 32}) {
    Bytes out;
    append_ack(out, {2, 0x80000001, 777, 5, ByteView(bitmap).first(length)});
    EXPECT_EQ(out.size(), kAckHeaderSize + length);
    const auto parsed = parse_frames(out, FramesOf::gcs);
    ASSERT_TRUE(parsed);
    ASSERT_EQ(parsed->ack_count, 1);
    const auto& ack = parsed->acks[0];
    EXPECT_EQ(ack.message, 2);
    EXPECT_EQ(ack.echo, 0x80000001U);
    EXPECT_EQ(ack.delay_ms, 777);
    EXPECT_EQ(ack.base, 5);
    EXPECT_EQ(ack.bitmap.size(), length);
    EXPECT_TRUE(ack.has(4));
    EXPECT_FALSE(ack.has(5));
    EXPECT_EQ(ack.has(6), length > 0);
    EXPECT_FALSE(ack.has(7));
    EXPECT_EQ(ack.has(13), length > 0);
    EXPECT_EQ(ack.has(5 + 256), length == 32);
    EXPECT_FALSE(ack.has(5 + 257));
    for (std::size_t cut = 0; cut < out.size(); ++cut)
      EXPECT_FALSE(parses(Bytes(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(cut)))) << cut;
  }
  bitmap.resize(33);
  Bytes out;
  append_ack(out, {2, 1, 0, 5, bitmap});
  EXPECT_FALSE(parses(out));
  Bytes many;
  for (int i = 0; i < 4; ++i) append_ack(many, {2, 1, 0, 5, {}});
  EXPECT_TRUE(parses(many));
  append_ack(many, {2, 1, 0, 5, {}});
  EXPECT_FALSE(parses(many));
}

TEST(HandshakeDatagram, CookieGoesWithM1Only) {
  Cookie cookie;
  cookie.fill(0x55);
  Bytes frame;
  append_cookie(frame, cookie);
  const auto hello = fragment(1, 40, 40, 0, 40);
  for (const auto& frames : {hello + frame, frame + hello}) {
    const auto parsed = parse_frames(frames, FramesOf::drone);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->cookie, cookie);
    for (const auto of : {FramesOf::gcs, FramesOf::session}) EXPECT_FALSE(parses(frames, of));
  }
  EXPECT_FALSE(parse_frames(hello, FramesOf::drone)->cookie);
  EXPECT_FALSE(parses(frame));
  EXPECT_FALSE(parses(hello + frame + frame));
  EXPECT_FALSE(parses(fragment(3, 40, 40, 0, 40) + frame));
  frame.pop_back();
  EXPECT_FALSE(parses(hello + frame));
}

TEST(HandshakeDatagram, PadIsZerosUpToTheTag) {
  auto frames = fragment(1, 40, 40, 0, 40);
  append_pad(frames, 60);
  EXPECT_EQ(frames.size(), 60U);
  EXPECT_TRUE(parses(frames));
  append_pad(frames, 50);
  EXPECT_EQ(frames.size(), 60U);
  for (std::size_t at = 50; at < 60; ++at) {
    auto bent = frames;
    bent[at] = 1;
    EXPECT_FALSE(parses(bent)) << at;
  }
  EXPECT_FALSE(parses({}));
  EXPECT_TRUE(parses({0}));
  EXPECT_FALSE(parses({0}, FramesOf::session));
}

TEST(HandshakeDatagram, UnknownFramesDropTheWhole) {
  for (int type = 4; type < 256; ++type) EXPECT_FALSE(parses({static_cast<std::uint8_t>(type)})) << type;
  EXPECT_FALSE(parses(fragment(1, 40, 40, 0, 40) + Bytes{4}));
  const auto whole = fragment(1, 40, 40, 0, 40);
  for (std::size_t cut = 1; cut < whole.size(); ++cut)
    EXPECT_FALSE(parses(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)))) << cut;
}

TEST(HandshakeDatagram, WholeMessageIsOneFragmentOfAll) {
  const auto whole = fragment(1, 40, 40, 0, 40);
  const auto of = [](const Bytes& frames) { return whole_message_of(*parse_frames(frames, FramesOf::drone), 1); };
  ASSERT_TRUE(of(whole));
  EXPECT_EQ(of(whole)->size(), 40U);
  EXPECT_FALSE(of({0}));
  EXPECT_FALSE(of(fragment(3, 40, 40, 0, 40)));
  EXPECT_FALSE(of(whole + whole));
  EXPECT_FALSE(of(fragment(1, 500, 475, 1, 25)));
  EXPECT_FALSE(of(fragment(1, 500, 475, 2, 475)));
}

TEST(FragmentLayout, EveryByteHasItsPlaceAndParityFollowsItsGroup) {
  for (const std::uint32_t size : {475U, 498U, 1127U, 1150U}) {
    for (std::uint32_t count = 1; count <= 40; ++count) {
      for (const std::uint32_t total : {(count - 1) * size + 1, count * size}) {
        const auto layout = FragmentLayout::of(total, size).value();
        ASSERT_EQ(layout.count, count);
        std::uint32_t bytes = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
          EXPECT_EQ(layout.offset(i), bytes);
          bytes += layout.length(i);
        }
        EXPECT_EQ(bytes, total);
        const bool parity = count >= 2 && count <= 16;
        EXPECT_EQ(layout.groups, !parity ? 0 : count % 4 == 1 ? count / 4 : (count + 3) / 4);
        std::vector<bool> seen(layout.all());
        for (std::uint32_t at = 0; at < layout.all(); ++at) {
          const auto index = layout.nth(at);
          ASSERT_LT(index, layout.all());
          EXPECT_FALSE(seen[index]);
          seen[index] = true;
          if (!layout.is_parity(index)) continue;
          const auto group = index - count;
          for (auto i = layout.group_begin(group); i < layout.group_end(group); ++i) EXPECT_TRUE(seen[i]);
          if (layout.group_end(group) < count) {
            EXPECT_FALSE(seen[layout.group_end(group)]);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace pqcmav
