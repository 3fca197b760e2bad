// SPDX-License-Identifier: Apache-2.0
#include "handshake/path_ledger.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

TEST(PathLedger, AnUnvalidatedPathGetsThreeTimesItsBytesAndNoMore) {
  PathLedger ledger(false);
  EXPECT_FALSE(ledger.may_send(1, 0)) << "nothing came from there";
  ledger.on_received(1, 372);  // 400 with its headers
  EXPECT_TRUE(ledger.may_send(1, 1172));
  EXPECT_FALSE(ledger.may_send(1, 1173));
  ledger.on_sent(1, 572);
  EXPECT_TRUE(ledger.may_send(1, 572));
  EXPECT_FALSE(ledger.may_send(1, 573));
  EXPECT_FALSE(ledger.may_send(0, 0)) << "each path has its own account";
  ledger.validate(1);
  EXPECT_TRUE(ledger.may_send(1, 100'000));
}

TEST(PathLedger, TheNewestValidatedPathCounts) {
  PathLedger ledger(false);
  EXPECT_FALSE(ledger.validated());
  EXPECT_FALSE(ledger.known(0));
  ledger.validate(2);
  ledger.validate(0);
  EXPECT_EQ(ledger.validated(), 0);
  ledger.validate(2);
  EXPECT_EQ(ledger.validated(), 2);
  EXPECT_TRUE(ledger.known(0));
  EXPECT_FALSE(ledger.known(1));
}

TEST(PathLedger, ADroneIsFree) {
  const PathLedger ledger(true);
  EXPECT_TRUE(ledger.may_send(0, 100'000));
  EXPECT_TRUE(ledger.known(0));
  EXPECT_FALSE(ledger.validated());
}

}  // namespace
}  // namespace pqcmav
