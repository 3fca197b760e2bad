// SPDX-License-Identifier: Apache-2.0
#include "handshake/rate_limiter.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

TEST(RateLimiter, GivesTheBurstAndThenRefillsOnePerSecond) {
  RateLimiter limiter(5, 1);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(limiter.allows("a", kS)) << i;
    limiter.charge("a", kS);
  }
  EXPECT_FALSE(limiter.allows("a", kS));
  EXPECT_FALSE(limiter.allows("a", 2 * kS - 1000));
  EXPECT_TRUE(limiter.allows("a", 2 * kS));
  limiter.charge("a", 2 * kS);
  EXPECT_FALSE(limiter.allows("a", 2 * kS));
}

TEST(RateLimiter, ABurstOfOneIsOneAndLessIsNone) {
  RateLimiter one(1.0, 1);
  EXPECT_TRUE(one.allows("a", 0));
  one.charge("a", 0);
  EXPECT_FALSE(one.allows("a", 0));
  EXPECT_FALSE(RateLimiter(0.9, 1).allows("a", 0));
}

TEST(RateLimiter, AskingCostsNothing) {
  RateLimiter limiter(5, 1);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limiter.allows("a", 0));
  EXPECT_EQ(limiter.sources(), 0u);
}

TEST(RateLimiter, NeverHoldsMoreThanTheBurst) {
  RateLimiter limiter(3, 1);
  limiter.charge("a", 0);
  const auto later = 1000 * kS;
  for (int i = 0; i < 3; ++i) limiter.charge("a", later);
  EXPECT_FALSE(limiter.allows("a", later));
}

TEST(RateLimiter, OwesNothingBelowZero) {
  RateLimiter limiter(5, 1);
  for (int i = 0; i < 100; ++i) limiter.charge("a", 0);
  EXPECT_FALSE(limiter.allows("a", kS - 1000));
  EXPECT_TRUE(limiter.allows("a", kS));
}

TEST(RateLimiter, SourcesAreIndependent) {
  RateLimiter limiter(5, 1);
  for (int i = 0; i < 10; ++i) limiter.charge("a", 0);
  EXPECT_FALSE(limiter.allows("a", 0));
  EXPECT_TRUE(limiter.allows("b", 0));
}

TEST(RateLimiter, AClockThatStepsBackGivesNothing) {
  RateLimiter limiter(5, 1);
  for (int i = 0; i < 5; ++i) limiter.charge("a", 100 * kS);
  EXPECT_FALSE(limiter.allows("a", 0));
  limiter.charge("a", 0);
  EXPECT_FALSE(limiter.allows("a", 100 * kS));
  EXPECT_TRUE(limiter.allows("a", 101 * kS));
}

TEST(RateLimiter, MemoryIsBoundedAndFullBucketsGoFirst) {
  RateLimiter limiter(5, 1, 16);
  for (int i = 0; i < 15; ++i) limiter.charge("early" + std::to_string(i), 0);
  for (int i = 0; i < 5; ++i) limiter.charge("attacker", 100 * kS);
  limiter.charge("late", 100 * kS);  // the early ones have refilled by now
  EXPECT_EQ(limiter.sources(), 2u);
  EXPECT_FALSE(limiter.allows("attacker", 100 * kS));
}

TEST(RateLimiter, WhenNoneIsFullTheOldestGoes) {
  RateLimiter limiter(5, 0, 16);
  for (int i = 0; i < 5; ++i) limiter.charge("oldest", 1);
  for (std::uint64_t i = 0; i < 15; ++i) limiter.charge("other" + std::to_string(i), 2 + i);
  EXPECT_EQ(limiter.sources(), 16u);
  EXPECT_FALSE(limiter.allows("oldest", 20));
  limiter.charge("new", 20);
  EXPECT_EQ(limiter.sources(), 16u);
  EXPECT_TRUE(limiter.allows("oldest", 20)) << "forgotten";
  for (int i = 0; i < 100000; ++i) limiter.charge("s" + std::to_string(i), 21);
  EXPECT_EQ(limiter.sources(), 16u);
}

}  // namespace
}  // namespace pqcmav
