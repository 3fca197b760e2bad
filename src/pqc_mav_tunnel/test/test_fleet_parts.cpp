// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "mavlink_messages.hpp"
#include "shape/mavlink_walk.hpp"
#include "timer_heap.hpp"

namespace pqcmav::fleet {
namespace {

TEST(TimerHeap, RingsInTheOrderOfTimesAndOnce) {
  TimerHeap timers(3);
  EXPECT_EQ(timers.next(), TimerHeap::kNever);
  timers.set(0, 30);
  timers.set(1, 10);
  timers.set(2, 20);
  EXPECT_EQ(timers.next(), 10u);
  EXPECT_FALSE(timers.take(9));
  EXPECT_EQ(timers.take(25)->second, 1u);
  EXPECT_EQ(timers.take(25)->second, 2u);
  EXPECT_FALSE(timers.take(25));
  EXPECT_EQ(timers.take(30), std::pair(std::uint64_t{30}, std::size_t{0}));
  EXPECT_FALSE(timers.take(1000));
}

TEST(TimerHeap, TheLastTimeThatWasSetCounts) {
  TimerHeap timers(2);
  timers.set(0, 10);
  timers.set(0, 50);
  timers.set(0, 50);
  timers.set(1, 20);
  timers.set(1, TimerHeap::kNever);
  EXPECT_EQ(timers.next(), 50u);
  timers.set(0, 5);
  EXPECT_EQ(timers.take(100)->first, 5u);
  EXPECT_FALSE(timers.take(100));
}

TEST(FleetMessages, AreNamedAndAsLongAsAskedFor) {
  ByteArray<kMessageLargest> room;
  for (const std::size_t size : {kAttitudeSize, kAttitudeSize + kHeartbeatSize, std::size_t{300}, kMessageLargest}) {
    const auto message = write_message(room, size, {70'000, 123'456});
    EXPECT_LE(message.size(), size);
    EXPECT_GT(message.size() + kAttitudeSize, size);
    EXPECT_EQ(read_message(message), (MessageName{70'000, 123'456}));
  }
}

TEST(FleetMessages, AreMavlinkFromOneEndToTheOther) {
  ByteArray<kMessageLargest> room;
  std::vector<std::uint32_t> ids;
  EXPECT_TRUE(walk_mavlink(write_message(room, 120, {3, 9}), [&](const MavlinkHeader& header) {
    ids.push_back(header.id);
    EXPECT_EQ(header.system, 4);
  }));
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{30, 0, 30}));
}

TEST(FleetMessages, WhatIsSpoiledHasNoName) {
  ByteArray<kMessageLargest> room;
  const auto message = write_message(room, kAttitudeSize, {1, 2});
  EXPECT_FALSE(read_message(message.first(kAttitudeSize - 1)));
  for (std::size_t i = 0; i < kAttitudeSize; ++i) {
    room[i] ^= 1;
    EXPECT_FALSE(read_message(message)) << i;
    room[i] ^= 1;
  }
  EXPECT_FALSE(read_message(write_answer(room, 7, 1)));
}

TEST(FleetMessages, AnAnswerNamesItsDroneUnlessItIsSpoiled) {
  ByteArray<kHeartbeatSize> room;
  const auto answer = write_answer(room, 7, 70'000);
  EXPECT_EQ(read_answer(answer), 70'000u);
  EXPECT_FALSE(read_answer(answer.first(kHeartbeatSize - 1)));
  for (std::size_t i = 0; i < kHeartbeatSize; ++i) {
    room[i] ^= 1;
    EXPECT_FALSE(read_answer(answer)) << i;
    room[i] ^= 1;
  }
  ByteArray<kMessageLargest> message;
  EXPECT_FALSE(read_answer(write_message(message, 300, {1, 2})));
}

}  // namespace
}  // namespace pqcmav::fleet
