// SPDX-License-Identifier: Apache-2.0
#include "line/line_again.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

Bytes packet(std::uint8_t number, std::size_t size = 40, std::uint8_t first = 0x80) {
  Bytes out(size, number);
  out[0] = first;
  return out;
}

TEST(LineAgain, WhatIsGivenTwiceInARowGoesAgainAMomentLater) {
  LineAgain again;
  EXPECT_FALSE(again.take(packet(1), 0));
  EXPECT_FALSE(again.take(packet(2), 0));
  EXPECT_EQ(again.due(), LineAgain::kNever);
  EXPECT_TRUE(again.take(packet(2), 10 * kMs));
  EXPECT_FALSE(again.take(packet(1), 10 * kMs)) << "another packet came between the two";
  EXPECT_EQ(again.due(), 410 * kMs);
  EXPECT_FALSE(again.next(409 * kMs, false));
  const auto due = again.next(410 * kMs, false);
  ASSERT_TRUE(due);
  EXPECT_EQ(Bytes(due->begin(), due->end()), packet(2));
  EXPECT_FALSE(again.next(999 * kMs, false)) << "once";
}

TEST(LineAgain, AnotherPacketTakesItAlongSooner) {
  LineAgain again;
  (void)again.take(packet(1), 0);
  (void)again.take(packet(1), 0);
  EXPECT_FALSE(again.next(199 * kMs, true));
  EXPECT_FALSE(again.next(200 * kMs, false));
  EXPECT_TRUE(again.next(200 * kMs, true));
  EXPECT_FALSE(again.next(999 * kMs, true));
}

TEST(LineAgain, KeepsAFewInTheirOrder) {
  LineAgain again;
  for (std::uint8_t i = 0; i < 2 * LineAgain::kPlaces; ++i) {
    EXPECT_FALSE(again.take(packet(i), i * kMs));
    EXPECT_TRUE(again.take(packet(i), i * kMs)) << "the second is never the queue's";
  }
  for (std::uint8_t i = 0; i < LineAgain::kPlaces; ++i) {
    const auto due = again.next(999 * kMs, false);
    ASSERT_TRUE(due);
    EXPECT_EQ((*due)[1], i);
  }
  EXPECT_FALSE(again.next(999 * kMs, false));
  (void)again.take(packet(1), 0);
  (void)again.take(packet(1), 0);
  again.clear();
  EXPECT_FALSE(again.next(999 * kMs, false));
}

TEST(LineAgain, HandshakesAndLongPacketsAreNotItsBusiness) {
  LineAgain again;
  LineCopies copies;
  for (const auto& each :
       {packet(1, 40, 0x33), packet(1, 40, 0x63), packet(1, LinePacket::kMost + 1), Bytes{}, packet(1, 2000)})
    for (int i = 0; i < 2; ++i) {
      EXPECT_FALSE(again.take(each, 0));
      EXPECT_FALSE(copies.is_copy(each));
    }
  EXPECT_FALSE(again.take(packet(1), 0));
  EXPECT_FALSE(again.take(packet(1, 40, 0x33), 0));
  EXPECT_FALSE(again.take(packet(1), 0)) << "not in a row";
  EXPECT_TRUE(again.take(packet(1), 0));
}

TEST(LineCopies, TheSecondOneIsACopyUntilManyOthersCame) {
  LineCopies copies;
  EXPECT_FALSE(copies.is_copy(packet(1)));
  EXPECT_FALSE(copies.is_copy(packet(1, 41))) << "longer";
  EXPECT_FALSE(copies.is_copy(packet(1, 40, 0x03))) << "another header";
  EXPECT_TRUE(copies.is_copy(packet(1)));
  EXPECT_TRUE(copies.is_copy(packet(1)));
  for (std::uint8_t i = 2; i < LineCopies::kPlaces + 2; ++i) EXPECT_FALSE(copies.is_copy(packet(i)));
  EXPECT_FALSE(copies.is_copy(packet(1))) << "what is as old as that is a session's to judge";
}

}  // namespace
}  // namespace pqcmav
