// SPDX-License-Identifier: Apache-2.0
#include "line/line_queue.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

Bytes numbered(std::size_t number) { return Bytes(10 + number % 1000, static_cast<std::uint8_t>(number)); }

TEST(LineQueue, GivesOutWhatCameInOrder) {
  LineQueue queue;
  for (std::size_t round = 0; round < 100; ++round) {
    for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(queue.push(numbered(round + i), 0), 0u);
    for (std::size_t i = 0; i < 20; ++i) {
      const auto front = queue.front();
      ASSERT_EQ(Bytes(front.begin(), front.end()), numbered(round + i));
      queue.pop();
    }
    ASSERT_TRUE(queue.empty());
    ASSERT_EQ(queue.bytes(), 0u);
  }
}

TEST(LineQueue, ANewOneTakesTheOldestsPlace) {
  LineQueue queue;
  for (std::size_t i = 0; i < LineQueue::kPlaces; ++i) EXPECT_EQ(queue.push(numbered(i), 0), 0u);
  EXPECT_EQ(queue.push(numbered(99), 0), 1u);
  EXPECT_EQ(queue.front()[0], 1) << "the first is gone";
  EXPECT_EQ(queue.clear(), LineQueue::kPlaces);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(LineQueue, WhatIsTooOldGoes) {
  LineQueue queue;
  queue.push(numbered(1), 0);
  queue.push(numbered(2), 500'000'000);
  EXPECT_EQ(queue.expire(LineQueue::kAge), 0u);
  EXPECT_EQ(queue.expire(LineQueue::kAge + 1), 1u);
  EXPECT_EQ(queue.front()[0], 2);
  EXPECT_EQ(queue.expire(10 * LineQueue::kAge), 1u);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace pqcmav
