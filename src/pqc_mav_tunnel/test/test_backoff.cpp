// SPDX-License-Identifier: Apache-2.0
#include "control/backoff.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <utility>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

template <typename Draw>
std::pair<std::uint64_t, std::uint64_t> least_and_most(std::uint64_t count, const Draw& draw) {
  std::pair<std::uint64_t, std::uint64_t> out{~std::uint64_t{0}, 0};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t wait = draw(i);
    out = {std::min(out.first, wait), std::max(out.second, wait)};
  }
  return out;
}

TEST(Backoff, DoublesFromHalfASecondToEightAndSpreads) {
  Backoff backoff(1);
  std::uint64_t base = kS / 2;
  for (int i = 0; i < 40; ++i) {
    const auto wait = backoff.next_ns();
    EXPECT_GE(wait, base * 4 / 5) << i;
    EXPECT_LE(wait, base * 6 / 5) << i;
    base = std::min(2 * base, 8 * kS);
  }
}

TEST(Backoff, GoesFromWhereToWhereItIsTold) {
  Backoff backoff(1, kRekeyRetryFirst, kRekeyRetryMost);
  std::uint64_t base = 5 * kS;
  for (int i = 0; i < 20; ++i) {
    const auto wait = backoff.next_ns();
    EXPECT_GE(wait, base * 4 / 5) << i;
    EXPECT_LE(wait, base * 6 / 5) << i;
    base = std::min(2 * base, 60 * kS);
  }
}

TEST(Backoff, StartsOverAfterSuccess) {
  Backoff backoff(2);
  for (int i = 0; i < 10; ++i) (void)backoff.next_ns();
  backoff.reset();
  EXPECT_LE(backoff.next_ns(), kS * 6 / 10);
}

TEST(Backoff, AFleetDoesNotKnockInStep) {
  std::set<std::uint64_t> waits;
  for (std::uint64_t seed = 0; seed < 100; ++seed) waits.insert(Backoff(seed * 1'000'003 + 17).next_ns());
  EXPECT_GT(waits.size(), 90u);
}

TEST(Backoff, LongWaitsSpreadByAFifthEitherWay) {
  const auto [least, most] = least_and_most(1000, [](std::uint64_t seed) {
    return Backoff(seed * 1'000'003 + 17, kRekeyRetryMost, kRekeyRetryMost).next_ns();
  });
  EXPECT_GE(least, 48 * kS);
  EXPECT_LT(least, 49 * kS);
  EXPECT_LE(most, 72 * kS);
  EXPECT_GT(most, 71 * kS);
}

TEST(Backoff, OnlyAFailureThatCameAtOnceIsWaitedAfter) {
  Backoff backoff(3);
  EXPECT_EQ(wait_after(HandshakeError::timeout, backoff), 0u);
  EXPECT_EQ(wait_after(HandshakeError::cancelled, backoff), 0u);
  EXPECT_GE(wait_after(HandshakeError::bad_signature, backoff), kS * 4 / 10);
  EXPECT_GE(wait_after(HandshakeError::rejected, backoff), kS * 8 / 10);
}

TEST(PeriodicRekey, IsSpreadByATenthEitherWay) {
  std::minstd_rand random(7);
  const auto [least, most] = least_and_most(2000, [&](std::uint64_t) { return jittered_ns(60.0, random); });
  EXPECT_GE(least, 54 * kS);
  EXPECT_LT(least, 55 * kS);
  EXPECT_LE(most, 66 * kS);
  EXPECT_GT(most, 65 * kS);
}

TEST(PeriodicRekey, OfThousandDronesThatConnectedTogetherNoneTenthHasManyMore) {
  // Ten rekeys of each, counted by tenths of an interval.
  std::array<int, 100> begun{};
  for (unsigned drone = 1; drone <= 1000; ++drone) {
    std::minstd_rand random(drone * 7919);
    auto at = first_rekey_ns(60.0, random);
    for (; at < 600 * kS; at += jittered_ns(60.0, random)) ++begun[at / (6 * kS)];
  }
  EXPECT_EQ(begun[0], 0) << "the keys are new";
  for (std::size_t i = 1; i < begun.size(); ++i) EXPECT_LT(begun[i], 150) << "of 100 in the mean, in tenth " << i;
}

}  // namespace
}  // namespace pqcmav
