// SPDX-License-Identifier: Apache-2.0
// What waits for a slow stream: whole datagrams, the newest ones, in order.
#include "route/out_queue.hpp"

#include <gtest/gtest.h>

#include <random>

namespace pqcmav {
namespace {

Bytes made_of(std::uint8_t value, std::size_t size) { return Bytes(size, value); }

TEST(OutQueue, KeepsOrder) {
  OutQueue queue(100);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.push(made_of(1, 10)), 0u);
  EXPECT_EQ(queue.push(made_of(2, 10)), 0u);
  EXPECT_EQ(queue.push({}), 0u);
  EXPECT_EQ(queue.next().size(), 20u);
  EXPECT_EQ(queue.taken(15), 1u);
  EXPECT_EQ(queue.next()[0], 2);
  EXPECT_EQ(queue.taken(5), 1u);
  EXPECT_TRUE(queue.empty());
}

TEST(OutQueue, TheOldestGoes) {
  OutQueue queue(30);
  for (std::uint8_t i = 1; i <= 3; ++i) EXPECT_EQ(queue.push(made_of(i, 10)), 0u);
  EXPECT_EQ(queue.push(made_of(4, 15)), 2u);
  EXPECT_EQ(queue.next()[0], 3);
  EXPECT_EQ(queue.next()[10], 4);
}

TEST(OutQueue, NeverHalfADatagram) {
  OutQueue queue(30);
  for (std::uint8_t i = 1; i <= 3; ++i) EXPECT_EQ(queue.push(made_of(i, 10)), 0u);
  EXPECT_EQ(queue.taken(4), 0u);
  EXPECT_EQ(queue.push(made_of(4, 10)), 1u);
  ASSERT_EQ(queue.next().size(), 26u);
  EXPECT_EQ(queue.next()[5], 1) << "the one that has begun goes on";
  EXPECT_EQ(queue.next()[6], 3);
  EXPECT_EQ(queue.push(made_of(5, 30)), 3u) << "no room beside what has begun: the others go, and so does it";
  EXPECT_EQ(queue.next().size(), 6u);
}

TEST(OutQueue, TooLargeForItAtAll) {
  OutQueue queue(30);
  EXPECT_EQ(queue.push(made_of(1, 31)), 1u);
  EXPECT_TRUE(queue.empty());
}

TEST(OutQueue, ClearSaysHowMany) {
  OutQueue queue(30);
  queue.push(made_of(1, 10));
  queue.push(made_of(2, 10));
  (void)queue.taken(3);
  EXPECT_EQ(queue.clear(), 2u);
  EXPECT_EQ(queue.push(made_of(3, 30)), 0u);
  EXPECT_EQ(queue.next().size(), 30u);
}

TEST(OutQueue, WhatComesOutIsWholeDatagramsOfWhatWentIn) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    OutQueue queue(500);
    std::uint8_t value = 0;
    std::size_t pushed = 0, dropped = 0, complete = 0;
    Bytes out;
    std::vector<std::size_t> sizes(256);
    for (int step = 0; step < 250; ++step) {
      if (random() % 2 == 0) {
        sizes[++value] = 1 + random() % 200;
        dropped += queue.push(made_of(value, sizes[value]));
        ++pushed;
      } else {
        const auto size = random() % (queue.next().size() + 1);
        append(out, queue.next().first(size));
        complete += queue.taken(size);
      }
    }
    append(out, queue.next());
    complete += queue.taken(queue.next().size());
    EXPECT_EQ(pushed, dropped + complete);
    std::size_t seen = 0;
    for (std::size_t at = 0; at < out.size(); ++seen) {
      const auto one = out[at];
      for (std::size_t i = 0; i < sizes[one]; ++i) ASSERT_EQ(out.at(at + i), one);
      at += sizes[one];
    }
    EXPECT_EQ(seen, complete);
  }
}

}  // namespace
}  // namespace pqcmav
