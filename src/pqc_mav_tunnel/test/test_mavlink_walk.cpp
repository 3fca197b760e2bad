// SPDX-License-Identifier: Apache-2.0
#include "shape/mavlink_walk.hpp"

#include <gtest/gtest.h>

#include <random>

#include "mavlink_bytes.hpp"

namespace pqcmav {
namespace {

using namespace test;

std::optional<std::vector<MavlinkHeader>> walk(const Bytes& datagram) {
  std::vector<MavlinkHeader> out;
  if (!walk_mavlink(datagram, [&](const MavlinkHeader& header) { out.push_back(header); })) return std::nullopt;
  return out;
}

TEST(MavlinkWalk, ReadsBothVersions) {
  const auto first = walk(mavlink1(33, 28, {7, 9, 200}));
  ASSERT_TRUE(first && first->size() == 1);
  EXPECT_EQ(first->front().version, 1);
  EXPECT_EQ(first->front().sequence, 200);
  EXPECT_EQ(first->front().system, 7);
  EXPECT_EQ(first->front().component, 9);
  EXPECT_EQ(first->front().id, 33u);
  EXPECT_EQ(first->front().size, 36u);
  EXPECT_FALSE(first->front().has_signature);
  const auto second = walk(mavlink2(0x123456, 0, {255, 190, 3}, true));
  ASSERT_TRUE(second && second->size() == 1);
  EXPECT_EQ(second->front().version, 2);
  EXPECT_EQ(second->front().sequence, 3);
  EXPECT_EQ(second->front().system, 255);
  EXPECT_EQ(second->front().component, 190);
  EXPECT_EQ(second->front().id, 0x123456u);
  EXPECT_EQ(second->front().size, 25u);
  EXPECT_TRUE(second->front().has_signature);
}

TEST(MavlinkWalk, GoesThroughAllOfADatagram) {
  const auto all = walk(together({mavlink2(30), mavlink1(0), mavlink2(76, 33, {}, true), mavlink1(1, 255)}));
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 4u);
  EXPECT_EQ((*all)[2].id, 76u);
  EXPECT_EQ((*all)[3].size, 263u);
}

TEST(MavlinkWalk, RefusesWhatIsCut) {
  const auto cut_anywhere = [](const Bytes& whole, std::size_t first) {
    ASSERT_TRUE(walk(whole));
    for (std::size_t size = 0; size < whole.size(); ++size)
      ASSERT_EQ(walk(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))).has_value(),
                size == first)
          << size;
  };
  constexpr std::size_t kNone = ~std::size_t{0};
  cut_anywhere(mavlink1(30, 20), kNone);
  cut_anywhere(mavlink2(30, 20), kNone);
  cut_anywhere(mavlink2(30, 20, {}, true), kNone);
  cut_anywhere(together({mavlink2(0), mavlink1(30, 20)}), mavlink2(0).size());
}

TEST(MavlinkWalk, RefusesWhatFollowsOrIsNothing) {
  EXPECT_FALSE(walk({}));
  EXPECT_FALSE(walk({0xfe}));
  EXPECT_FALSE(walk(Bytes(100, 0x55)));
  auto tail = mavlink2(30);
  tail.push_back(0);
  EXPECT_FALSE(walk(tail));
}

TEST(MavlinkWalk, StaysInsideRandomBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    Bytes datagram(random() % 90);
    for (auto& byte : datagram) byte = static_cast<std::uint8_t>(random() % 3 == 0 ? 0xfd + random() % 2 : random());
    std::size_t covered = 0;
    const bool whole = walk_mavlink(datagram, [&](const MavlinkHeader& header) { covered += header.size; });
    ASSERT_LE(covered, datagram.size());
    ASSERT_EQ(whole, covered == datagram.size() && covered != 0);
  }
}

}  // namespace
}  // namespace pqcmav
