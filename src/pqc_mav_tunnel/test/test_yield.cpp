// SPDX-License-Identifier: Apache-2.0
#include "net/yield.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

/// A link that carries 80 packets a second behind a queue of `queue` ms.
Yield::Signs signs(std::uint32_t timeouts, std::uint64_t queue = 500, std::uint32_t arriving = 80'000) {
  return {timeouts, (100 + queue) * kMs, 100 * kMs, arriving};
}

/// How many of the packets that are offered at `rate` per second go, from `from` on.
std::size_t admitted(Yield& yield, std::uint64_t from, std::uint64_t duration, std::uint64_t rate) {
  std::size_t out = 0;
  for (std::uint64_t at = from; at < from + duration; at += kS / rate) out += yield.admits(at) ? 1 : 0;
  return out;
}

TEST(Yield, NeedsTimeoutsAQueueAndAReport) {
  for (const auto& each : {signs(2), signs(3, 499), signs(3, 500, 0), Yield::Signs{3, {}, 100 * kMs, 80'000},
                           Yield::Signs{3, 900 * kMs, {}, 80'000}}) {
    Yield yield;
    yield.consider(each, kS);
    EXPECT_FALSE(yield.active());
    EXPECT_EQ(admitted(yield, kS, kS, 200), 200U);
  }
  Yield yield;
  yield.consider(signs(3), kS);
  EXPECT_TRUE(yield.active());
}

TEST(Yield, ThreeQuartersOfWhatArrives) {
  Yield yield;
  yield.consider(signs(3), kS);
  EXPECT_NEAR(static_cast<double>(admitted(yield, kS, 10 * kS, 250)), 600, 2);
}

TEST(Yield, LessThanThatIsNotTouched) {
  Yield yield;
  yield.consider(signs(3), kS);
  EXPECT_EQ(admitted(yield, kS, 10 * kS, 50), 500U);
}

TEST(Yield, SmallGroupsPass) {
  Yield yield;
  yield.consider(signs(3), kS);
  for (std::uint64_t at = 2 * kS; at < 10 * kS; at += 100 * kMs)
    for (int packet = 0; packet < 6; ++packet) EXPECT_TRUE(yield.admits(at)) << at;
}

TEST(Yield, WhatItHoldsBackDoesNotLowerItsRate) {
  Yield yield;
  yield.consider(signs(3), kS);
  yield.consider(signs(3, 500, 60'000), 2 * kS);
  EXPECT_NEAR(static_cast<double>(admitted(yield, 2 * kS, 5 * kS, 250)), 300, 6);
  yield.consider(signs(0, 0, 120'000), 8 * kS);
  EXPECT_NEAR(static_cast<double>(admitted(yield, 8 * kS, 5 * kS, 250)), 450, 12) << "a better report counts";
}

TEST(Yield, EndsAfterTwentySecondsOncePerRekey) {
  Yield yield;
  yield.consider(signs(3), kS);
  EXPECT_LT(admitted(yield, kS, 20 * kS - kMs, 250), 1'300U);
  EXPECT_EQ(admitted(yield, 21 * kS, kS, 250), 250U);
  EXPECT_FALSE(yield.active());
  yield.consider(signs(9), 22 * kS);
  EXPECT_FALSE(yield.active()) << "the same rekey";
  yield.over();
  yield.consider(signs(3), 23 * kS);
  EXPECT_TRUE(yield.active()) << "the next one";
}

TEST(Yield, EndsWithTheRekey) {
  Yield yield;
  yield.consider(signs(3), kS);
  yield.over();
  EXPECT_EQ(admitted(yield, kS, kS, 250), 250U);
}

TEST(Yield, AClockThatStandsOrAVastRateIsHarmless) {
  Yield yield;
  yield.consider(signs(3, 500, ~std::uint32_t{0}), kS);
  for (int packet = 0; packet < 1000; ++packet) (void)yield.admits(kS);
  EXPECT_TRUE(yield.admits(20 * kS));
  EXPECT_TRUE(yield.active());
}

}  // namespace
}  // namespace pqcmav
