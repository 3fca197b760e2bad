// SPDX-License-Identifier: Apache-2.0
#include "console/handshake_tally.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace pqcmav {
namespace {

HandshakeEvent took(std::uint64_t ns, HandshakeKind kind = HandshakeKind::rekey) {
  HandshakeEvent event;
  event.ok = true;
  event.kind = kind;
  event.duration_ns = ns;
  return event;
}

TEST(HandshakeTally, ABucketHoldsItsUpperEnd) {
  HandshakeTally tally;
  for (const std::uint64_t ns : {0u, 1'000'000u, 1'000'001u, 2'000'000u, 2'000'001u}) tally.add(took(ns));
  const auto& kind = tally.of(HandshakeKind::rekey);
  EXPECT_EQ(kind.counts[0], 2u);
  EXPECT_EQ(kind.counts[1], 2u);
  EXPECT_EQ(kind.counts[2], 1u);
  EXPECT_EQ(kind.sum_ns, 6'000'002u);
}

TEST(HandshakeTally, WhatTookLongerThanAllBucketsCounts) {
  HandshakeTally tally;
  tally.add(took(50'000'000'000));
  tally.add(took(50'000'000'001));
  tally.add(took(~std::uint64_t{0} / 2));
  const auto& counts = tally.of(HandshakeKind::rekey).counts;
  EXPECT_EQ(counts[kHandshakeBuckets.size() - 1], 1u);
  EXPECT_EQ(counts.back(), 2u);
}

TEST(HandshakeTally, KindsAndFailuresAreApart) {
  HandshakeTally tally;
  tally.add(took(3'000'000, HandshakeKind::first));
  tally.add(took(3'000'000, HandshakeKind::ratchet_plain));
  auto failed = took(9'000'000'000);
  failed.ok = false;
  failed.error = HandshakeError::timeout;
  tally.add(failed);
  tally.add(failed);
  for (const auto kind : {HandshakeKind::first, HandshakeKind::ratchet_plain}) {
    const auto& counts = tally.of(kind).counts;
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}), 1u);
    for (const auto count : tally.of(kind).failed) EXPECT_EQ(count, 0u);
  }
  const auto& rekeys = tally.of(HandshakeKind::rekey);
  EXPECT_EQ(std::accumulate(rekeys.counts.begin(), rekeys.counts.end(), std::uint64_t{0}), 0u);
  EXPECT_EQ(rekeys.sum_ns, 0u);
  EXPECT_EQ(rekeys.failed[static_cast<std::size_t>(HandshakeError::timeout)], 2u);
}

}  // namespace
}  // namespace pqcmav
