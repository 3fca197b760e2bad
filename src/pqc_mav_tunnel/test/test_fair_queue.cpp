// SPDX-License-Identifier: Apache-2.0
#include "control/fair_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace pqcmav {
namespace {

using Queue = FairQueue<std::string>;

std::vector<std::string> all_of(Queue& queue, std::size_t most = 10'000) {
  std::vector<std::string> out;
  while (out.size() < most) {
    auto job = queue.pop();
    if (!job) break;
    out.push_back(std::move(*job));
  }
  return out;
}

std::size_t place_of(const std::vector<std::string>& jobs, const std::string& job) {
  return static_cast<std::size_t>(std::find(jobs.begin(), jobs.end(), job) - jobs.begin());
}

TEST(FairQueue, OneAskerIsServedInOrder) {
  Queue queue;
  EXPECT_FALSE(queue.pop());
  for (std::uint64_t i = 0; i < 5; ++i) queue.push(Standing::session, "uav1", i, std::to_string(i));
  EXPECT_EQ(queue.size(), 5u);
  EXPECT_EQ(all_of(queue), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_TRUE(queue.empty());
}

// The attack: a drone, whose PSK may be stolen, asks without end.
TEST(FairQueue, WhoFloodsDelaysTheOthersByItsOwnTurnsAlone) {
  for (const auto standing : {Standing::session, Standing::known, Standing::stranger}) {
    Queue queue;
    std::uint64_t id = 0;
    for (; id < 1000; ++id) queue.push(standing, "flood", id, "flood");
    for (int drone = 0; drone < 20; ++drone)
      queue.push(standing, "uav" + std::to_string(drone), id++, "uav" + std::to_string(drone));
    const auto order = all_of(queue, 41);
    for (int drone = 0; drone < 20; ++drone) EXPECT_LT(place_of(order, "uav" + std::to_string(drone)), 41u) << drone;
    // It gets a turn in each round: the others had none left after the first.
    EXPECT_EQ(std::count(order.begin(), order.begin() + 21, "flood"), 1);
  }
}

TEST(FairQueue, ALateComerWaitsForOneOfEachThatWait) {
  Queue queue;
  for (std::uint64_t i = 0; i < 300; ++i) queue.push(Standing::session, "uav" + std::to_string(i % 3), i, "old");
  (void)queue.pop();
  queue.push(Standing::session, "late", 999, "late");
  EXPECT_LE(place_of(all_of(queue), "late"), 3u);
}

// The attack: copies of old first messages, from many addresses.
TEST(FairQueue, StrangersTakeOneTurnInEightFromSessions) {
  Queue queue;
  std::uint64_t id = 0;
  for (; id < 1000; ++id) queue.push(Standing::stranger, "10.0.0." + std::to_string(id), id, "stranger");
  for (int i = 0; i < 50; ++i) queue.push(Standing::session, "uav" + std::to_string(i), id++, "session");
  const auto order = all_of(queue);
  std::size_t last = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] == "session") last = i + 1;
  EXPECT_LE(last, 50u * 8 / 5) << "sessions have five turns, strangers one, and those of the known go to the next";
}

TEST(FairQueue, NobodyIsLeftWaitingForEver) {
  Queue queue;
  for (std::uint64_t i = 0; i < 1000; ++i) queue.push(Standing::session, "uav" + std::to_string(i), i, "session");
  queue.push(Standing::known, "known", 2000, "known");
  queue.push(Standing::stranger, "10.0.0.1", 2001, "stranger");
  const auto order = all_of(queue, 8);
  EXPECT_LT(place_of(order, "known"), 8u);
  EXPECT_LT(place_of(order, "stranger"), 8u);
}

TEST(FairQueue, WhatNobodyWaitsForIsTakenOut) {
  Queue queue;
  queue.push(Standing::session, "uav1", 1, "a");
  queue.push(Standing::session, "uav1", 2, "b");
  queue.push(Standing::known, "uav2", 3, "c");
  queue.drop(1);
  queue.drop(3);
  queue.drop(77);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(all_of(queue), std::vector<std::string>{"b"});
  queue.push(Standing::known, "uav2", 4, "d");
  EXPECT_EQ(all_of(queue), std::vector<std::string>{"d"}) << "its owner may come again";
}

TEST(FairQueue, TellsHowManyComeFirst) {
  Queue queue;
  EXPECT_EQ(queue.ahead(Standing::session), 0u);
  for (std::uint64_t i = 0; i < 100; ++i) queue.push(Standing::stranger, "10.0.0.1", i, "stranger");
  // What is said is never too little: so many came first at most.
  const auto said = queue.ahead(Standing::session);
  queue.push(Standing::session, "uav1", 200, "session");
  EXPECT_LE(place_of(all_of(queue), "session"), said);
  for (std::uint64_t i = 0; i < 100; ++i) queue.push(Standing::session, "uav1", i, "session");
  const auto waits = queue.ahead(Standing::stranger);
  queue.push(Standing::stranger, "10.0.0.1", 300, "stranger");
  EXPECT_LE(place_of(all_of(queue), "stranger"), waits);
}

}  // namespace
}  // namespace pqcmav
