// SPDX-License-Identifier: Apache-2.0
#include "paths/packet_again.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

std::vector<Bytes> due(PacketAgain& again, std::uint64_t now) {
  std::vector<Bytes> out;
  again.send_due(now, [&](ByteView packet) { out.emplace_back(packet.begin(), packet.end()); });
  return out;
}

TEST(PacketAgain, GoesOnceMoreInTheOrderOfTheFirstTime) {
  PacketAgain again;
  again.keep(Bytes(30, 1), 0);
  again.keep(Bytes(40, 2), 50 * kMs);
  EXPECT_TRUE(due(again, 199 * kMs).empty());
  EXPECT_EQ(due(again, 200 * kMs), std::vector<Bytes>({Bytes(30, 1)}));
  again.keep(Bytes(50, 3), 200 * kMs);
  EXPECT_EQ(due(again, 400 * kMs), (std::vector<Bytes>{Bytes(40, 2), Bytes(50, 3)}));
  EXPECT_TRUE(due(again, 1000 * kMs).empty());
}

TEST(PacketAgain, WhatIsLongOrTooManyGoesOnce) {
  PacketAgain again;
  again.keep(Bytes(PacketAgain::kMost + 1, 1), 0);
  EXPECT_TRUE(due(again, 1000 * kMs).empty());
  for (std::uint8_t i = 0; i < 40; ++i) again.keep(Bytes(PacketAgain::kMost, i), 0);
  const auto got = due(again, 1000 * kMs);
  ASSERT_EQ(got.size(), PacketAgain::kPlaces);
  EXPECT_EQ(got.front(), Bytes(PacketAgain::kMost, 0));
}

}  // namespace
}  // namespace pqcmav
