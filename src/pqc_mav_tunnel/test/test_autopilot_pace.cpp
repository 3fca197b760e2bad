// SPDX-License-Identifier: Apache-2.0
#include "shape/autopilot_pace.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

/// When a status was due within so many tenths of a second from `from` on.
std::vector<std::uint64_t> times_due(AutopilotPace& pace, unsigned free, bool shaped, std::uint64_t from, int tenths) {
  std::vector<std::uint64_t> out;
  for (int i = 0; i < tenths; ++i) {
    const auto now = from + static_cast<std::uint64_t>(i) * 100 * kMs;
    if (pace.due(free, shaped, now)) out.push_back(now);
  }
  return out;
}

TEST(AutopilotPace, SaysNothingOfALinkThatIsNotShapedUnlessRoomGetsScarce) {
  AutopilotPace pace;
  EXPECT_TRUE(times_due(pace, 50, false, kS, 1'000).empty());
  EXPECT_TRUE(pace.due(49, false, 200 * kS));
  EXPECT_TRUE(pace.due(50, false, 200 * kS + 100 * kMs));
}

TEST(AutopilotPace, SpeaksOnceASecond) {
  AutopilotPace pace;
  EXPECT_EQ(times_due(pace, 100, true, kS, 30), (std::vector<std::uint64_t>{kS, 2 * kS, 3 * kS}));
}

TEST(AutopilotPace, SpeaksAtOnceWhenRoomGetsScarceAndWhenItIsBack) {
  AutopilotPace pace;
  EXPECT_TRUE(pace.due(100, true, kS));
  EXPECT_FALSE(pace.due(50, true, kS + 100 * kMs));
  EXPECT_TRUE(pace.due(49, true, kS + 200 * kMs));
  EXPECT_FALSE(pace.due(10, true, kS + 300 * kMs));
  EXPECT_TRUE(pace.due(50, true, kS + 400 * kMs));
}

TEST(AutopilotPace, GoesOnForAMinuteSoThatTheAutopilotRecovers) {
  AutopilotPace pace;
  EXPECT_TRUE(pace.due(5, true, kS));
  const auto after = times_due(pace, 100, false, 2 * kS, 1'000);
  ASSERT_FALSE(after.empty());
  EXPECT_EQ(after.front(), 2 * kS);
  EXPECT_EQ(after.back(), 60 * kS);
}

}  // namespace
}  // namespace pqcmav
