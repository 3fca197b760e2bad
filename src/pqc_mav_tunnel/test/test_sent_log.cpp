// SPDX-License-Identifier: Apache-2.0
#include "handshake/sent_log.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

TEST(SentLog, NumbersGoOnWhileTheOldestAreForgotten) {
  SentLog log(100);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(log.next_packet(), 100 + i);
    log.add({i, i, 1200, 0, false});
  }
  EXPECT_EQ(SentLog::kMost, 1024U);
  const auto first = static_cast<std::uint32_t>(3100U - SentLog::kMost);
  ASSERT_NE(log.find(first), nullptr);
  EXPECT_EQ(log.find(first)->fragment, first - 100);
  EXPECT_EQ(log.find(3099)->at, 2999U);
  EXPECT_EQ(log.find(first - 1), nullptr);
  EXPECT_EQ(log.find(3100), nullptr);
}

}  // namespace
}  // namespace pqcmav
