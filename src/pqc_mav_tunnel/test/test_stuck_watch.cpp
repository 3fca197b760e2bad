// SPDX-License-Identifier: Apache-2.0
#include "net/stuck_watch.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

TEST(StuckWatch, IsStuckWhenNothingLeavesForASecond) {
  StuckWatch watch;
  EXPECT_EQ(watch.due(), StuckWatch::kNever);
  EXPECT_FALSE(watch.is_stuck(21, 0, 121, 5 * kS)) << "it begins to wait";
  EXPECT_EQ(watch.due(), 6 * kS);
  EXPECT_FALSE(watch.is_stuck(21, 21, 121, 6 * kS - 1));
  EXPECT_FALSE(watch.is_blocked());
  EXPECT_TRUE(watch.is_stuck(42, 21, 142, 6 * kS));
  EXPECT_FALSE(watch.is_stuck(42, 21, 142, 7 * kS - 1)) << "once in a second";
  EXPECT_FALSE(watch.is_stuck(0, 0, 163, 8 * kS));
  EXPECT_EQ(watch.due(), StuckWatch::kNever);
}

TEST(StuckWatch, IsBlockedUntilBytesLeave) {
  StuckWatch watch;
  EXPECT_FALSE(watch.is_stuck(21, 0, 121, 5 * kS));
  EXPECT_TRUE(watch.is_stuck(21, 0, 121, 6 * kS));
  watch.threw_away(21);
  EXPECT_FALSE(watch.is_stuck(0, 0, 121, 7 * kS));
  EXPECT_TRUE(watch.is_blocked()) << "what was thrown away has not left";
  EXPECT_FALSE(watch.is_stuck(21, 0, 142, 8 * kS));
  EXPECT_TRUE(watch.is_blocked());
  EXPECT_FALSE(watch.is_stuck(20, 0, 142, 8 * kS + 1));
  EXPECT_FALSE(watch.is_blocked());
}

TEST(StuckWatch, ALineThatIsAlwaysBusyIsNotStuck) {
  StuckWatch watch;
  for (std::uint64_t now = 0; now < 10 * kS; now += 900 * kMs)
    EXPECT_FALSE(watch.is_stuck(4000, 0, 4000 + now / kMs, now));
  EXPECT_FALSE(watch.is_stuck(0, 0, 9999, 20 * kS)) << "idle for long";
  EXPECT_FALSE(watch.is_stuck(21, 0, 10020, 30 * kS)) << "what waits has just come";
}

}  // namespace
}  // namespace pqcmav
