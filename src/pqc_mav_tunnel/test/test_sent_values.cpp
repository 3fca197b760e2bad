// SPDX-License-Identifier: Apache-2.0
#include "shape/sent_values.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

TEST(SentValues, RemembersTheLastOfEachAndForgetsTheLongestAgo) {
  SentValues values(3);
  EXPECT_EQ(values.of(1), 0u);
  values.left(1, 10);
  values.left(2, 20);
  values.left(3, 30);
  values.left(1, 40);
  EXPECT_EQ(values.of(1), 40u);
  EXPECT_EQ(values.of(2), 20u);
  values.left(4, 50);
  EXPECT_EQ(values.of(2), 0u) << "there is room for three";
  EXPECT_EQ(values.of(1), 40u);
  EXPECT_EQ(values.of(3), 30u);
  EXPECT_EQ(values.of(4), 50u);
}

}  // namespace
}  // namespace pqcmav
