// SPDX-License-Identifier: Apache-2.0
#include "session/late_guard.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kAfter = 2 * kSecond;

/// Ten packets a second come, and are noted, from `from` to `to`; the number of each is its time in tenths of a second.
void pass(LateGuard& guard, std::uint64_t from, std::uint64_t to, std::uint64_t key = 7) {
  for (auto now = from; now <= to; now += kSecond / 10) guard.note(key, now / (kSecond / 10) + 1, now);
}

TEST(LateGuard, OvertakenLongAgoIsLateAndLatelyIsNot) {
  LateGuard guard;
  pass(guard, 10 * kSecond, 20 * kSecond);
  const auto now = 20 * kSecond;
  EXPECT_TRUE(guard.is_late(7, 150, kAfter, now));
  EXPECT_TRUE(guard.is_late(7, 177, kAfter, now));
  EXPECT_FALSE(guard.is_late(7, 182, kAfter, now)) << "a later one came less than 2 s ago";
  EXPECT_FALSE(guard.is_late(7, 200, kAfter, now));
  EXPECT_FALSE(guard.is_late(7, 150, 6 * kSecond, now)) << "over a slow link that is no time";
}

TEST(LateGuard, SilenceMakesNothingLate) {
  LateGuard guard;
  pass(guard, 10 * kSecond, 11 * kSecond);
  for (auto now = 11 * kSecond; now < 18 * kSecond; now += kSecond / 10) guard.note(7, 111, now);
  EXPECT_FALSE(guard.is_late(7, 111, kAfter, 18 * kSecond)) << "the next one, however late it comes";
  EXPECT_FALSE(guard.is_late(7, 115, kAfter, 18 * kSecond));
  EXPECT_TRUE(guard.is_late(7, 109, kAfter, 18 * kSecond));
}

TEST(LateGuard, AnotherKeyBeginsAnew) {
  LateGuard guard;
  pass(guard, 10 * kSecond, 20 * kSecond);
  EXPECT_FALSE(guard.is_late(8, 3, kAfter, 20 * kSecond));
  guard.note(8, 5, 20 * kSecond + 1);
  EXPECT_FALSE(guard.is_late(7, 100, kAfter, 20 * kSecond + 2));
  EXPECT_FALSE(guard.is_late(8, 3, kAfter, 21 * kSecond));
  EXPECT_TRUE(guard.is_late(8, 3, kAfter, 23 * kSecond));
}

TEST(LateGuard, KnowsNothingAtFirstAndEightSecondsAtMost) {
  LateGuard guard;
  EXPECT_FALSE(guard.is_late(0, 0, kAfter, 100 * kSecond));
  pass(guard, 10 * kSecond, 40 * kSecond);
  EXPECT_FALSE(guard.is_late(7, 200, 9 * kSecond, 40 * kSecond));
  EXPECT_TRUE(guard.is_late(7, 200, 7 * kSecond, 40 * kSecond));
}

}  // namespace
}  // namespace pqcmav
