// SPDX-License-Identifier: Apache-2.0
#include "line/line_pace.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

TEST(LinePace, NeverMoreThanAMomentBeforeAFrame) {
  LinePace pace(57'600);  // 5.76 bytes in a millisecond
  EXPECT_EQ(pace.ready_at(0, 1000), 1000u);
  std::uint64_t now = 0, sent = 0;
  for (int i = 0; i < 500; ++i) {
    now = pace.ready_at(0, now);
    const auto left = sent - std::min(sent, now * 5760 / 1'000'000'000);
    ASSERT_LE(left, 20 * 5760 / 1000 + 2) << "20 ms before the frame";
    pace.wrote(232, now);
    sent += 232;
  }
  EXPECT_NEAR(static_cast<double>(sent) * 1e9 / static_cast<double>(now), 5760, 60) << "and the line is full";
}

TEST(LinePace, WhatTheDriverHoldsCountsToo) {
  const LinePace pace(9'600);
  EXPECT_EQ(pace.ready_at(19, 0), 0u);
  EXPECT_NEAR(static_cast<double>(pace.ready_at(96, 0)), 80.0 * kMillisecond, kMillisecond);
}

TEST(LinePace, ForgetsWhatIsGone) {
  LinePace pace(9'600);
  pace.wrote(9'600, 0);
  EXPECT_GT(pace.ready_at(0, 0), 9'000 * kMillisecond);
  pace.forget();
  EXPECT_EQ(pace.ready_at(0, 7), 7u);
}

}  // namespace
}  // namespace pqcmav
