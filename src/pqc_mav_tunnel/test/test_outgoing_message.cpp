// SPDX-License-Identifier: Apache-2.0
#include "handshake/outgoing_message.hpp"

#include <gtest/gtest.h>

#include "handshake/incoming_message.hpp"
#include "transport_world.hpp"

namespace pqcmav {
namespace {

using test::made_up;

OutgoingMessage message(std::size_t size, CutTerms terms = {}) {
  return {made_up(MessageType::server_hello, size), terms, 100};
}

/// Sends all that may go, from packet number `packet` on; returns the indices.
std::vector<std::uint32_t> send_all(OutgoingMessage& out, std::uint32_t packet, std::uint32_t window = 10000) {
  std::vector<std::uint32_t> sent;
  while (const auto index = out.next_new(0, window)) {
    out.on_sent(*index, packet++);
    out.advance(0);
    sent.push_back(*index);
  }
  return sent;
}

Ack ack(std::uint32_t echo, std::uint16_t base, ByteView bitmap = {}) { return {2, echo, 0, base, bitmap}; }

TEST(OutgoingMessage, IsCutAsThePageSays) {
  const auto cut = [](std::size_t size, bool in_session, std::size_t limit) {
    return message(size, {in_session, limit, true}).layout();
  };
  EXPECT_EQ(cut(1170, false, 1200).count, 1U);
  EXPECT_EQ(cut(1170, false, 1200).size, 1170U);
  EXPECT_EQ(cut(1171, false, 1200).count, 2U);
  EXPECT_EQ(cut(1171, false, 1200).size, 1150U);
  EXPECT_EQ(cut(518, false, 548).count, 1U);
  EXPECT_EQ(cut(519, false, 548).size, 498U);
  EXPECT_EQ(cut(1138, true, 1200).count, 1U);
  EXPECT_EQ(cut(1139, true, 1200).size, 1127U);
  EXPECT_EQ(cut(486, true, 548).count, 1U);
  EXPECT_EQ(cut(487, true, 548).size, 475U);
}

TEST(OutgoingMessage, AnyOneOfAGroupComesBackFromParity) {
  for (const std::size_t limit : {1200U, 548U}) {
    for (std::uint32_t count = 2; count <= 16; ++count) {
      const auto size = limit - 50;
      auto out = message(count * size - 3, {false, limit, true});
      ASSERT_EQ(out.layout().count, count);
      for (std::uint32_t lost = 0; lost < count; ++lost) {
        IncomingMessage in(2, out.layout());
        for (std::uint32_t i = 0; i < out.layout().all(); ++i) {
          if (i == lost) continue;
          Bytes frame;
          out.append_to(frame, i);
          const auto parsed = parse_frames(frame, FramesOf::gcs);
          ASSERT_TRUE(parsed);
          EXPECT_TRUE(in.add(parsed->fragments[0]) || in.complete());
        }
        const bool has_parity = lost / 4 < out.layout().groups;
        EXPECT_EQ(in.complete(), has_parity) << count << " " << lost;
        EXPECT_EQ(in.rebuilt(), has_parity ? 1U : 0U);
        if (has_parity) {
          EXPECT_EQ(in.take(), made_up(MessageType::server_hello, count * size - 3));
        }
      }
    }
  }
}

TEST(OutgoingMessage, WithoutParityTheOrderIsTheMessage) {
  auto out = message(4600, {false, 1200, false});
  EXPECT_EQ(send_all(out, 100), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  auto with = message(5700);
  EXPECT_EQ(send_all(with, 100), (std::vector<std::uint32_t>{0, 1, 2, 3, 5, 4}));
}

TEST(OutgoingMessage, WindowAndReachLimitWhatGoes) {
  auto out = message(600 * 1150);
  EXPECT_EQ(send_all(out, 100, 10).size(), 10U);
  EXPECT_EQ(out.on_its_way(), 10U);
  EXPECT_EQ(send_all(out, 110).back(), 256U);  // base 0 + 256
  EXPECT_FALSE(out.next_new(0, 10000));
  EXPECT_TRUE(out.on_ack(ack(356, 1)).fresh);
  EXPECT_EQ(send_all(out, 400), (std::vector<std::uint32_t>{257}));
}

TEST(OutgoingMessage, WhatAnAckLacksIsLostOldestFirst) {
  auto out = message(10 * 1150);
  send_all(out, 100);  // 0 1 2 3 P 4 5 6 7 P 8 9 P
  const Bytes bits{0b0000'0100};
  const auto news = out.on_ack(ack(106, 1, bits));  // 0 and 4 are here, echo is that of 5
  EXPECT_TRUE(news.fresh);
  EXPECT_EQ(news.lost, 4U);  // 1, 2, 3, 5
  EXPECT_TRUE(out.acked(0));
  EXPECT_TRUE(out.acked(4));
  EXPECT_FALSE(out.acked(5));
  EXPECT_EQ(out.on_its_way(), 6U);  // 6 7 P 8 9 P
  EXPECT_EQ(out.next_lost(), 1U);
  out.on_sent(1, 113);
  EXPECT_EQ(out.next_lost(), 2U);
  // The same again says nothing new, and takes nothing back.
  const auto again = out.on_ack(ack(106, 1, bits));
  EXPECT_FALSE(again.fresh);
  EXPECT_EQ(again.lost, 0U);
  out.on_ack(ack(50, 1));                        // older than the cut
  EXPECT_FALSE(out.on_ack(ack(106, 11)).fresh);  // beyond the message
  EXPECT_TRUE(out.on_ack(ack(120, 10)).fresh);
  EXPECT_TRUE(out.done());
  EXPECT_FALSE(out.next_lost());
  EXPECT_FALSE(out.next_new(0, 100));
}

TEST(OutgoingMessage, BitmapEdges) {
  for (const std::uint32_t held : {0U, 1U, 255U, 256U}) {
    auto out = message(300 * 1150);
    send_all(out, 100);
    Bytes bits((held + 7) / 8);
    for (std::uint32_t i = 0; i < held; ++i) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (1U << i % 8));
    const auto news = out.on_ack(ack(356, 0, bits));
    EXPECT_EQ(news.fresh, held > 0);
    EXPECT_EQ(news.lost, 257 - held);
    for (std::uint32_t i = 0; i < 257; ++i) EXPECT_EQ(out.acked(i), i >= 1 && i <= held) << i;
    EXPECT_EQ(out.on_its_way(), 0U);
  }
}

TEST(OutgoingMessage, TimeoutTakesTheTwoOldest) {
  auto out = message(4 * 1150);
  EXPECT_EQ(out.on_timeout(), 0U);
  send_all(out, 100);
  out.on_sent(0, 105);  // sent again: not the oldest any more
  EXPECT_EQ(out.on_timeout(), 2U);
  EXPECT_EQ(out.next_lost(), 1U);
  out.on_sent(1, 106);
  EXPECT_EQ(out.next_lost(), 2U);
  out.on_sent(2, 107);
  EXPECT_FALSE(out.next_lost());
  out.on_ack(ack(107, 3));
  EXPECT_EQ(out.on_timeout(), 0U);  // 3 was lost by that ACK; parity is sent once
  EXPECT_EQ(out.next_lost(), 3U);
}

TEST(OutgoingMessage, CutAgainForgetsWhatTheOldCutHeard) {
  auto out = message(4 * 1150);
  EXPECT_TRUE(out.large_unheard());
  send_all(out, 100);
  out.on_ack(ack(101, 1));
  EXPECT_TRUE(out.heard_of());
  EXPECT_FALSE(out.large_unheard());
  auto unheard = message(4 * 1150);
  send_all(unheard, 100);
  unheard.cut_again({false, 548, true}, 105);
  EXPECT_EQ(unheard.layout().size, 498U);
  EXPECT_FALSE(unheard.large_unheard());
  EXPECT_FALSE(unheard.on_ack(ack(104, 4)).fresh);  // of the old cut
  EXPECT_FALSE(unheard.heard_of());
  EXPECT_EQ(unheard.on_its_way(), 0U);
  send_all(unheard, 105);
  EXPECT_EQ(unheard.on_timeout(), 2U);
  EXPECT_EQ(unheard.next_lost(), 0U);
  EXPECT_TRUE(unheard.on_ack(ack(105, 1)).fresh);
  out.cut_again({false, 548, true}, 110);
  EXPECT_FALSE(out.heard_of());
}

TEST(OutgoingMessage, LastLargeFragmentDecidesWhatIsLarge) {
  auto out = message(1150 + 20);  // one datagram of 1,200
  EXPECT_TRUE(out.large_unheard());
  EXPECT_FALSE(message(518).large_unheard());
  EXPECT_TRUE(message(519).large_unheard());
  auto two = message(1150 + 40);
  send_all(two, 100);
  two.on_ack(ack(101, 0, Bytes{1}));  // only the short second one came
  EXPECT_TRUE(two.large_unheard());
}

TEST(OutgoingMessage, EachPathGetsAllOfItWithoutMoreWindow) {
  auto out = message(4 * 1150);
  send_all(out, 100);
  const auto before = out.on_its_way();
  EXPECT_EQ(out.position(1), 0U);
  std::uint32_t count = 0;
  while (const auto index = out.next_new(1, 1)) {
    out.on_sent(*index, 200 + count++);
    out.advance(1);
  }
  EXPECT_EQ(count, 5U);
  EXPECT_EQ(out.on_its_way(), before);
}

TEST(OutgoingMessage, WhatIsLostIsNotNewToAnotherPath) {
  auto out = message(4 * 1150);
  send_all(out, 100);
  EXPECT_EQ(out.on_ack(ack(101, 1)).lost, 1U);  // 0 is here, 1 is lost
  EXPECT_EQ(out.next_new(1, 100), 2U);
}

TEST(IncomingMessage, ParityMayComeFirstAndSaysNothingTheSecondTime) {
  const auto out = message(4 * 1150);
  IncomingMessage in(2, out.layout());
  const auto add = [&](std::uint32_t index) {
    Bytes frame;
    out.append_to(frame, index);
    return in.add(parse_frames(frame, FramesOf::gcs)->fragments[0]);
  };
  EXPECT_TRUE(add(4));
  EXPECT_FALSE(add(4));
  EXPECT_TRUE(add(0));
  EXPECT_TRUE(add(3));
  EXPECT_FALSE(in.complete());
  EXPECT_TRUE(add(1));
  EXPECT_TRUE(in.complete());
  EXPECT_EQ(in.rebuilt(), 1U);
  EXPECT_EQ(in.take(), made_up(MessageType::server_hello, 4 * 1150));
}

TEST(IncomingMessage, BitmapAndBaseSayWhatIsHere) {
  const auto layout = FragmentLayout::of(300 * 500, 500).value();
  const Bytes bytes(500, 1);
  const auto part = [&](std::uint16_t index) { return Fragment{2, layout.total, 500, index, bytes}; };
  IncomingMessage in(2, layout);
  IncomingMessage::Bitmap bits;
  EXPECT_EQ(in.bitmap(bits), 0U);
  EXPECT_TRUE(in.add(part(1)));
  EXPECT_FALSE(in.add(part(1)));
  EXPECT_EQ(in.base(), 0U);
  EXPECT_EQ(in.bitmap(bits), 1U);
  EXPECT_EQ(bits[0], 1);
  in.add(part(256));
  EXPECT_EQ(in.bitmap(bits), 32U);
  EXPECT_EQ(bits[31], 0x80);
  in.add(part(257));
  EXPECT_EQ(in.bitmap(bits), 32U);
  EXPECT_EQ(bits[31], 0x80);
  in.add(part(0));
  EXPECT_EQ(in.base(), 2U);
  EXPECT_EQ(in.bitmap(bits), 32U);
  EXPECT_EQ(bits[31], 0x60);
  for (std::uint16_t i = 2; i < 300; ++i) in.add(part(i));
  EXPECT_TRUE(in.complete());
  EXPECT_EQ(in.base(), 300U);
  EXPECT_EQ(in.bitmap(bits), 0U);
}

}  // namespace
}  // namespace pqcmav
