// SPDX-License-Identifier: Apache-2.0
#include "control/rekey_plan.hpp"

#include <gtest/gtest.h>

#include "constants.hpp"
#include "nanoseconds.hpp"
#include "session/frame.hpp"

namespace pqcmav {
namespace {

/// Just due, with the default times.
RekeyFacts due() {
  RekeyFacts out;
  out.ratchets = true;
  out.interval = out.since_change = out.since_full = 600 * kS;
  out.key_limit = 3600 * kS;
  return out;
}

TEST(RekeyPlan, ASmallSuiteIsRekeyedInFull) { EXPECT_EQ(next_rekey(due()), HandshakeKind::rekey); }

TEST(RekeyPlan, ALargeSuiteRatchetsSevenTimesInARowAtMost) {
  for (std::uint8_t row = 0; row < kRatchetsInARow + 2; ++row) {
    auto facts = due();
    facts.large = true;
    facts.in_a_row = row;
    facts.key_limit = 100'000 * kS;
    EXPECT_EQ(next_rekey(facts), row < 7 ? HandshakeKind::ratchet : HandshakeKind::rekey) << unsigned{row};
  }
}

TEST(RekeyPlan, AFullOneComesBeforeTheKeysAreOld) {
  auto facts = due();
  facts.large = true;
  facts.since_full = 2939 * kS;  // with the next interval and its jitter just below the limit
  EXPECT_EQ(next_rekey(facts), HandshakeKind::ratchet);
  facts.since_full = 2940 * kS;
  EXPECT_EQ(next_rekey(facts), HandshakeKind::rekey);
}

TEST(RekeyPlan, WhatDoesNotGetThroughBecomesShorterAndBeginsAllOverAgain) {
  for (const bool large : {false, true}) {
    auto facts = due();
    facts.large = large;
    facts.since_change = 2 * facts.interval - 1;
    EXPECT_FALSE(rekey_is_late(facts));
    facts.since_change = 2 * facts.interval;
    ASSERT_TRUE(rekey_is_late(facts));
    for (const auto kind : {HandshakeKind::ratchet, HandshakeKind::ratchet_plain, HandshakeKind::rekey,
                            HandshakeKind::ratchet, HandshakeKind::ratchet_plain}) {
      EXPECT_EQ(next_rekey(facts), kind) << facts.late_failures;
      ++facts.late_failures;
    }
  }
}

TEST(RekeyPlan, WithoutRatchetsItIsAFullOneAlways) {
  auto facts = due();
  facts.ratchets = false;
  for (const bool large : {false, true})
    for (const auto since : {600 * kS, 6000 * kS})
      for (unsigned failures = 0; failures < 4; ++failures) {
        facts.large = large;
        facts.since_change = since;
        facts.late_failures = failures;
        EXPECT_EQ(next_rekey(facts), HandshakeKind::rekey);
      }
}

TEST(RekeyPlan, SaysForHowLongRatchetsMayRenewTheKeys) {
  constexpr auto kAll = features::kRatchet;
  EXPECT_EQ(ratchets_for(kAll, 0, 600 * kS, 3600 * kS), 3000 * kS);
  EXPECT_EQ(ratchets_for(kAll, kRatchetsInARow - 1, 3599 * kS, 3600 * kS), kS);
  EXPECT_EQ(ratchets_for(kAll, kRatchetsInARow, 600 * kS, 3600 * kS), 0u);
  EXPECT_EQ(ratchets_for(kAll, 0, 3600 * kS, 3600 * kS), 0u);
  EXPECT_EQ(ratchets_for(kAll, 0, 9000 * kS, 3600 * kS), 0u);
  EXPECT_EQ(ratchets_for(features::kCompact, 0, 0, 3600 * kS), 0u) << "one end does not allow it";
}

TEST(RekeyPlan, WithoutAnIntervalNothingIsLate) {
  auto facts = due();
  facts.interval = 0;
  facts.since_change = 1'000'000 * kS;
  EXPECT_FALSE(rekey_is_late(facts));
}

TEST(RekeyPlan, TheFactsOfASession) {
  Session::Info key;
  key.suite = &require_suite("cs-classicmceliece348864-aesgcm-mldsa44");
  key.features = features::kRatchet;
  key.ratchets = 3;
  key.installed_ns = 40;
  key.full_boot_ns = 1000;
  const auto facts = facts_of(key, false, 100, 1500);
  EXPECT_TRUE(facts.large);
  EXPECT_TRUE(facts.ratchets);
  EXPECT_EQ(facts.in_a_row, 3);
  EXPECT_EQ(facts.since_change, 60u);
  EXPECT_EQ(facts.since_full, 500u);
  EXPECT_FALSE(facts_of(key, true, 100, 1500).ratchets);
  key.suite = &require_suite("cs-mlkem768-aesgcm-mldsa65");
  EXPECT_FALSE(facts_of(key, false, 100, 1500).large);
}

}  // namespace
}  // namespace pqcmav
