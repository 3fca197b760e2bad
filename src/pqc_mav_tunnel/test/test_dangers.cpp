// SPDX-License-Identifier: Apache-2.0
#include "dangers.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
using Lines = std::vector<std::string>;

TEST(Dangers, LastForThirtySecondsAfterTheyWereLastTold) {
  Dangers dangers;
  EXPECT_EQ(dangers.at(5), Lines{});
  dangers.tell({"a"}, 100 * kSecond);
  EXPECT_EQ(dangers.at(130 * kSecond - 1), Lines{"a"});
  EXPECT_EQ(dangers.at(130 * kSecond), Lines{}) << "whoever found it has fallen silent";
  dangers.tell({"a", "b"}, 200 * kSecond);
  dangers.tell({"b"}, 210 * kSecond);
  EXPECT_EQ(dangers.at(239 * kSecond), Lines{"b"}) << "the last one counts";
  EXPECT_EQ(dangers.at(240 * kSecond), Lines{});
}

}  // namespace
}  // namespace pqcmav
