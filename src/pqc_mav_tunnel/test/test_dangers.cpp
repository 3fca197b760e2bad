// SPDX-License-Identifier: Apache-2.0
#include "dangers.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

using Lines = std::vector<std::string>;

TEST(Dangers, LastForThirtySecondsAfterTheyWereLastTold) {
  Dangers dangers;
  EXPECT_EQ(dangers.at(5), Lines{});
  dangers.tell({"a"}, 100 * kS);
  EXPECT_EQ(dangers.at(130 * kS - 1), Lines{"a"});
  EXPECT_EQ(dangers.at(130 * kS), Lines{}) << "whoever found it has fallen silent";
  dangers.tell({"a", "b"}, 200 * kS);
  dangers.tell({"b"}, 210 * kS);
  EXPECT_EQ(dangers.at(239 * kS), Lines{"b"}) << "the last one counts";
  EXPECT_EQ(dangers.at(240 * kS), Lines{});
}

}  // namespace
}  // namespace pqcmav
