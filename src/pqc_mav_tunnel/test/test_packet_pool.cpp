// SPDX-License-Identifier: Apache-2.0
#include "shape/packet_pool.hpp"

#include <gtest/gtest.h>

#include <set>

namespace pqcmav {
namespace {

TEST(PacketPool, PlacesDoNotTouch) {
  PacketPool pool(5, 22, 100, 16);
  EXPECT_EQ(pool.capacity(), 100u);
  std::set<std::uint16_t> places;
  for (int i = 0; i < 5; ++i) places.insert(pool.take());
  EXPECT_EQ(places.size(), 5u);
  for (const auto place : places) {
    auto whole = pool.with_room(place, 100);
    ASSERT_EQ(whole.size(), 138u);
    std::fill(whole.begin(), whole.end(), static_cast<std::uint8_t>(place));
  }
  for (const auto place : places)
    for (const auto byte : pool.with_room(place, 100)) ASSERT_EQ(byte, place);
}

TEST(PacketPool, ThePayloadIsInsideTheRoom) {
  PacketPool pool(1, 22, 100, 16);
  const auto place = pool.take();
  EXPECT_EQ(pool.payload(place, 40).data(), pool.with_room(place, 40).data() + 22);
  EXPECT_EQ(pool.with_room(place, 40).size(), 78u);
  pool.give_back(place);
  EXPECT_EQ(pool.take(), place);
}

}  // namespace
}  // namespace pqcmav
