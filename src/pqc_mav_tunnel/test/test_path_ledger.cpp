// SPDX-License-Identifier: Apache-2.0
#include "handshake/path_ledger.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

TEST(PathLedger, WhoDidNotAnswerGetsThreeTimesItsBytesAndNoMore) {
  PathLedger ledger(false);
  EXPECT_FALSE(ledger.may_send(1, 0)) << "nothing came from there";
  ledger.on_received(1, 372);  // 400 with its headers
  EXPECT_TRUE(ledger.may_send(1, 1172));
  EXPECT_FALSE(ledger.may_send(1, 1173));
  ledger.on_sent(1, 572);
  EXPECT_TRUE(ledger.may_send(1, 572));
  EXPECT_FALSE(ledger.may_send(1, 573));
  EXPECT_FALSE(ledger.may_send(0, 0)) << "each path has its own account";
  ledger.lift(1, 1000);
  EXPECT_TRUE(ledger.may_send(1, 1572));
  EXPECT_FALSE(ledger.may_send(1, 1573));
  ledger.answered(1);
  EXPECT_TRUE(ledger.may_send(1, 100'000));
}

TEST(PathLedger, WhatIsNewGoesToTheFirstAndThenToAllWhoAnswered) {
  PathLedger ledger(false);
  EXPECT_TRUE(ledger.is_target(0));
  EXPECT_FALSE(ledger.is_target(1));
  ledger.answered(2);
  ledger.answered(1);
  EXPECT_FALSE(ledger.is_target(0)) << "it did not answer";
  EXPECT_TRUE(ledger.is_target(1));
  EXPECT_TRUE(ledger.is_target(2));
  ledger.answered(0);
  EXPECT_TRUE(ledger.is_target(0));
}

TEST(PathLedger, ANewcomerTakesTheNextPlaceThenTheUnansweredOneThenTheOldest) {
  PathLedger ledger(false);
  for (std::uint8_t used = 1; used < 4; ++used) {
    EXPECT_EQ(ledger.place(used), used);
    ledger.answered(used);
  }
  EXPECT_EQ(ledger.place(4), 0);
  ledger.answered(0);
  EXPECT_EQ(ledger.place(4), 1);
  ledger.answered(1);
  EXPECT_EQ(ledger.place(4), 2);
}

TEST(PathLedger, ADroneIsFree) {
  const PathLedger ledger(true);
  EXPECT_TRUE(ledger.may_send(0, 100'000));
  EXPECT_TRUE(ledger.is_target(0));
  EXPECT_FALSE(ledger.is_target(1));
  EXPECT_FALSE(ledger.any_answered());
}

}  // namespace
}  // namespace pqcmav
