// SPDX-License-Identifier: Apache-2.0
#include "session/late_guard.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kAfter = 2 * kS;

/// Ten packets a second come, and are noted, from `from` to `to`; the number of each is its time in tenths of a second.
void pass(LateGuard& guard, std::uint64_t from, std::uint64_t to, std::uint64_t key = 7) {
  for (auto now = from; now <= to; now += kS / 10) guard.note(key, now / (kS / 10) + 1, now);
}

TEST(LateGuard, OvertakenLongAgoIsLateAndLatelyIsNot) {
  LateGuard guard;
  pass(guard, 10 * kS, 20 * kS);
  const auto now = 20 * kS;
  EXPECT_TRUE(guard.is_late(7, 150, kAfter, now));
  EXPECT_TRUE(guard.is_late(7, 177, kAfter, now));
  EXPECT_FALSE(guard.is_late(7, 182, kAfter, now)) << "a later one came less than 2 s ago";
  EXPECT_FALSE(guard.is_late(7, 200, kAfter, now));
  EXPECT_FALSE(guard.is_late(7, 150, 6 * kS, now)) << "over a slow link that is no time";
}

TEST(LateGuard, SilenceMakesNothingLate) {
  LateGuard guard;
  pass(guard, 10 * kS, 11 * kS);
  for (auto now = 11 * kS; now < 18 * kS; now += kS / 10) guard.note(7, 111, now);
  EXPECT_FALSE(guard.is_late(7, 111, kAfter, 18 * kS)) << "the next one, however late it comes";
  EXPECT_FALSE(guard.is_late(7, 115, kAfter, 18 * kS));
  EXPECT_TRUE(guard.is_late(7, 109, kAfter, 18 * kS));
}

TEST(LateGuard, AnotherKeyBeginsAnewAndTheOneBeforeIsKnown) {
  LateGuard guard;
  pass(guard, 10 * kS, 20 * kS);
  EXPECT_FALSE(guard.is_late(8, 3, kAfter, 20 * kS));
  guard.note(8, 5, 20 * kS + 1);
  EXPECT_TRUE(guard.is_late(7, 100, kAfter, 20 * kS + 2));
  EXPECT_FALSE(guard.is_late(7, 190, kAfter, 20 * kS + 2));
  EXPECT_FALSE(guard.is_late(8, 3, kAfter, 21 * kS));
  EXPECT_TRUE(guard.is_late(8, 3, kAfter, 23 * kS));
}

TEST(LateGuard, AfterASilenceAnAnswerSaysWhatIsNew) {
  LateGuard guard;
  pass(guard, 10 * kS, 11 * kS);
  guard.doubt(16 * kS);
  EXPECT_TRUE(guard.is_late(7, 115, kAfter, 18 * kS));
  guard.answered(7, 120, 15 * kS);
  EXPECT_TRUE(guard.is_late(7, 121, kAfter, 18 * kS)) << "the question was from before";
  guard.answered(9, 120, 17 * kS);
  EXPECT_TRUE(guard.is_late(7, 121, kAfter, 18 * kS)) << "under a strange key";
  guard.answered(7, 120, 17 * kS);
  EXPECT_FALSE(guard.doubted());
  EXPECT_TRUE(guard.is_late(7, 119, kAfter, 18 * kS));
  EXPECT_FALSE(guard.is_late(7, 121, kAfter, 18 * kS));
}

TEST(LateGuard, WithNewKeysTheOldOnesStayInDoubt) {
  LateGuard guard;
  pass(guard, 10 * kS, 11 * kS);
  guard.doubt(16 * kS);
  guard.note(8, 0, 18 * kS);
  EXPECT_FALSE(guard.is_late(8, 0, kAfter, 18 * kS));
  EXPECT_TRUE(guard.is_late(7, 200, kAfter, 18 * kS));
  guard.doubt(18 * kS);
  guard.answered(8, 3, 19 * kS);
  EXPECT_TRUE(guard.is_late(8, 2, kAfter, 19 * kS));
  EXPECT_TRUE(guard.is_late(7, 200, kAfter, 19 * kS)) << "it was sealed before what answered";
}

TEST(LateGuard, KnowsNothingAtFirstAndEightSecondsAtMost) {
  LateGuard guard;
  EXPECT_FALSE(guard.is_late(0, 0, kAfter, 100 * kS));
  pass(guard, 10 * kS, 40 * kS);
  EXPECT_FALSE(guard.is_late(7, 200, 9 * kS, 40 * kS));
  EXPECT_TRUE(guard.is_late(7, 200, 7 * kS, 40 * kS));
}

}  // namespace
}  // namespace pqcmav
