// SPDX-License-Identifier: Apache-2.0
#include "session/link_estimator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kStart = 1000 * kS;  // any instant

TEST(LinkEstimator, SaysNothingBeforeTheFirstPacket) {
  const LinkEstimator link;
  const auto report = link.report(kStart);
  EXPECT_EQ(report.window_ms, 0u);
  EXPECT_EQ(report.packets_per_s_milli, 0u);
  EXPECT_EQ(report.longest_silence_us, 0u);
  EXPECT_EQ(report.loss_ppm, 0u);
  EXPECT_EQ(report.blackouts, 0u);
}

TEST(LinkEstimator, ARegularStream) {
  LinkEstimator link;
  std::uint64_t now = kStart;
  for (std::uint64_t sequence = 0; sequence < 1000; ++sequence, now += 10 * kMs) link.on_packet(now, 1, sequence);
  const auto report = link.report(now - 10 * kMs);  // 9.99 s after the start: 49 whole slots and 90 ms
  EXPECT_EQ(report.window_ms, 4990u);
  EXPECT_NEAR(report.packets_per_s_milli, 100'200, 50);  // 500 packets in 4.99 s
  EXPECT_EQ(report.gap_p95_us, 10'000u);                 // never more than the longest gap
  EXPECT_EQ(report.longest_silence_us, 10'000u);
  EXPECT_EQ(report.jitter_us, 0u);
  EXPECT_EQ(report.loss_ppm, 0u);
  EXPECT_EQ(report.blackouts, 0u);
}

TEST(LinkEstimator, TheWindowIsShorterAtFirst) {
  LinkEstimator link;
  for (std::uint64_t i = 0; i <= 10; ++i) link.on_packet(kStart + i * 100 * kMs, 1, i);
  const auto report = link.report(kStart + kS);
  EXPECT_EQ(report.window_ms, 1000u);
  EXPECT_EQ(report.packets_per_s_milli, 11'000u);
}

TEST(LinkEstimator, LossComesFromGapsInTheSequence) {
  LinkEstimator link;
  for (std::uint64_t i = 0; i < 100; ++i) {
    if (i % 10 != 5) link.on_packet(kStart + i * kMs, 1, i);
  }
  EXPECT_EQ(link.report(kStart + 100 * kMs).loss_ppm, 100'000u);  // 10 of 100
}

TEST(LinkEstimator, ReorderingIsNotLoss) {
  std::mt19937 random(3);
  std::vector<std::uint64_t> order(2000);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = 0; i + 20 < order.size(); i += 10)
    std::shuffle(order.begin() + static_cast<long>(i), order.begin() + static_cast<long>(i + 20), random);
  LinkEstimator link;
  std::uint64_t now = kStart;
  for (const auto sequence : order) link.on_packet(now += kMs, 1, sequence);
  EXPECT_EQ(link.report(now).loss_ppm, 0u);
}

TEST(LinkEstimator, ALatePacketCancelsItsOwnGapEvenSlotsLater) {
  LinkEstimator link;
  std::uint64_t now = kStart;
  for (std::uint64_t i = 0; i < 100; ++i) {
    now += 10 * kMs;
    if (i != 20 && i != 60) link.on_packet(now, 1, i);
  }
  EXPECT_EQ(link.report(now).loss_ppm, 20'000u);
  link.on_packet(now, 1, 20);
  EXPECT_EQ(link.report(now).loss_ppm, 10'000u);
  link.on_packet(now, 1, 60);
  EXPECT_EQ(link.report(now).loss_ppm, 0u);
}

TEST(LinkEstimator, ALatePacketWhoseGapHasLeftTheWindowHidesNoOtherLoss) {
  LinkEstimator link;
  link.on_packet(kStart, 1, 0);
  link.on_packet(kStart + kMs, 1, 2);  // 1 is missing
  link.on_packet(kStart + 6 * kS, 1, 3);
  link.on_packet(kStart + 6 * kS + kMs, 1, 5);  // 4 is missing
  link.on_packet(kStart + 6 * kS + 2 * kMs, 1, 1);
  EXPECT_EQ(link.report(kStart + 6 * kS + 3 * kMs).loss_ppm, 250'000u);  // 4, beside 3, 5 and the late 1
}

TEST(LinkEstimator, SaysOfEachPacketWhatItSkippedAndWhetherItCameLate) {
  LinkEstimator link;
  std::uint64_t now = kStart;
  const auto skipped = [&](std::uint64_t key, std::uint64_t sequence) {
    return link.on_packet(now += kMs, key, sequence).skipped;
  };
  EXPECT_EQ(skipped(1, 5), 0u);  // the first of a key says nothing of those before
  EXPECT_EQ(skipped(1, 6), 0u);
  EXPECT_EQ(skipped(1, 10), 3u);
  const auto late = link.on_packet(now += kMs, 1, 8);
  EXPECT_TRUE(late.late);
  EXPECT_EQ(late.skipped, 0u);
  EXPECT_FALSE(link.on_packet(now += kMs, 1, 11).late);
  EXPECT_EQ(skipped(2, 0), 0u);
  EXPECT_EQ(skipped(1, 13), 1u);  // the key before is still followed
}

TEST(LinkEstimator, KnowsWhatCameInTheLastTenthsOfASecond) {
  LinkEstimator link;
  std::uint64_t now = kStart;
  for (std::uint64_t i = 0; i < 100; ++i) link.on_packet(now += 10 * kMs, 1, i);
  EXPECT_TRUE(link.lately(now, 1, 99));
  EXPECT_TRUE(link.lately(now, 1, 90));   // 90 ms old
  EXPECT_FALSE(link.lately(now, 1, 79));  // 200 ms
  EXPECT_FALSE(link.lately(now, 1, 5));
  EXPECT_FALSE(link.lately(now, 2, 99));  // of another key
  EXPECT_FALSE(link.lately(now + 200 * kMs, 1, 99));
  EXPECT_FALSE(LinkEstimator{}.lately(now, 0, 0));
}

TEST(LinkEstimator, LossLeavesWithTheWindow) {
  LinkEstimator link;
  link.on_packet(kStart, 1, 0);
  link.on_packet(kStart + kMs, 1, 10);
  EXPECT_GT(link.report(kStart + 4 * kS).loss_ppm, 0u);
  EXPECT_EQ(link.report(kStart + 5 * kS).loss_ppm, 0u);
}

TEST(LinkEstimator, ANewKeyIsNotLoss) {
  LinkEstimator link;
  std::uint64_t now = kStart;
  for (std::uint64_t i = 0; i < 100; ++i) link.on_packet(now += kMs, 1, i);
  for (std::uint64_t i = 0; i < 100; ++i) link.on_packet(now += kMs, 2, i);
  for (std::uint64_t i = 5000; i < 5100; ++i) link.on_packet(now += kMs, 3, i);
  EXPECT_EQ(link.report(now).loss_ppm, 0u);
}

TEST(LinkEstimator, TwoKeysThatOverlapDuringARekeyAreFollowedBoth) {
  LinkEstimator link;
  std::uint64_t now = kStart;
  for (std::uint64_t i = 0; i < 100; ++i) link.on_packet(now += kMs, 7, i);
  for (std::uint64_t i = 0; i < 50; ++i) {
    link.on_packet(now += kMs, 8, i);
    if (i % 10 != 5) link.on_packet(now += kMs, 7, 100 + i);  // five of the old key are lost
  }
  EXPECT_EQ(link.report(now).loss_ppm, 25'000u);  // 5 of 200
}

TEST(LinkEstimator, TheFirstPacketsOfAKeyMayComeOutOfOrder) {
  LinkEstimator link;
  std::uint64_t now = kStart;
  for (const std::uint64_t sequence : {3, 1, 0, 2, 4}) link.on_packet(now += kMs, 1, sequence);
  EXPECT_EQ(link.report(now).loss_ppm, 0u);
}

TEST(LinkEstimator, JitterIsTheMeanDifferenceOfSuccessiveGaps) {
  LinkEstimator link;
  std::uint64_t now = kStart;
  link.on_packet(now, 1, 0);
  // Gaps of 10, 30, 10, 30 ms: differences of 20 ms each.
  for (std::uint64_t i = 1; i <= 40; ++i) link.on_packet(now += (i % 2 ? 10 : 30) * kMs, 1, i);
  EXPECT_EQ(link.report(now).jitter_us, 20'000u);
  LinkEstimator even;
  for (std::uint64_t i = 0; i < 3; ++i) even.on_packet(kStart + i * 10 * kMs + (i == 2 ? 499 : 0), 1, i);
  EXPECT_EQ(even.report(kStart + 20 * kMs + 499).jitter_us, 0u) << "499 ns are no microsecond";
}

TEST(LinkEstimator, ASilenceUnderWayCountsAtOnce) {
  LinkEstimator link;
  for (std::uint64_t i = 0; i < 10; ++i) link.on_packet(kStart + i * 10 * kMs, 1, i);
  const auto last = kStart + 90 * kMs;
  EXPECT_EQ(link.report(last + 2 * kS).blackouts, 0u);
  const auto silent = link.report(last + 2 * kS + kMs);
  EXPECT_EQ(silent.blackouts, 1u);
  EXPECT_EQ(silent.longest_silence_us, 2'001'000u);
  const auto long_silent = link.report(last + 60 * kS);
  EXPECT_EQ(long_silent.blackouts, 1u);
  EXPECT_EQ(long_silent.packets_per_s_milli, 0u);
  EXPECT_EQ(long_silent.longest_silence_us, 60'000'000u);
}

TEST(LinkEstimator, EndedBlackoutsAreCountedWhereTheyEnd) {
  LinkEstimator link;
  link.on_packet(kStart, 1, 0);
  link.on_packet(kStart + 2500 * kMs, 1, 1);
  link.on_packet(kStart + 2900 * kMs, 1, 2);
  link.on_packet(kStart + 5500 * kMs, 1, 3);
  EXPECT_EQ(link.report(kStart + 5500 * kMs).blackouts, 2u);
  EXPECT_EQ(link.report(kStart + 5500 * kMs).longest_silence_us, 2'600'000u);
  EXPECT_EQ(link.report(kStart + 9000 * kMs).blackouts, 2u);  // the second one and the silence since
  EXPECT_EQ(link.report(kStart + 5500 * kMs).loss_ppm, 0u);
}

TEST(LinkEstimator, AWindowHoldsThreeBlackoutsAtMost) {
  LinkEstimator link;
  std::uint64_t now = kStart;
  std::uint32_t most = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    link.on_packet(now, 1, i);
    for (std::uint64_t step = 0; step < 2050; step += 50)
      most = std::max(most, link.report(now + step * kMs).blackouts);
    now += 2050 * kMs;
  }
  EXPECT_EQ(most, 3u);
}

/// What a session without telemetry carries: a report, half a second later a probe, and the answer to the peer's probe
/// somewhere between. `jump` is how late the ten-times-a-second timer may be.
void feed_idle_link(LinkEstimator& link, std::uint64_t jump, double loss, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> lost(0, 1);
  std::uint64_t sequence = 0;
  for (std::uint64_t second = 0; second < 60; ++second)
    for (const auto at : {std::uint64_t{0}, 300 * kMs, 500 * kMs}) {
      if (lost(random) >= loss) link.on_packet(kStart + second * kS + at + random() % jump, 1, sequence);
      ++sequence;
      const auto report = link.report(kStart + second * kS + at + jump);
      ASSERT_EQ(report.blackouts, 0u) << "second " << second;
      if (loss == 0) {
        ASSERT_LT(report.gap_p95_us, 1'000'000u) << "second " << second;
      }
    }
}

TEST(LinkEstimator, AnIdleLinkHasNoBlackoutsAndNoLongGaps) {
  LinkEstimator link;
  feed_idle_link(link, 100 * kMs, 0, 1);
}

TEST(LinkEstimator, NorHasOneThatLosesAPacketNowAndThen) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    LinkEstimator link;
    feed_idle_link(link, 100 * kMs, 0.1, seed);
  }
}

TEST(LinkEstimator, P95IsWithinTenPercentOverSixOrdersOfMagnitude) {
  std::mt19937_64 random(5);
  int compared = 0;
  for (double centre_us = 100; centre_us <= 300'000; centre_us *= 1.3) {
    LinkEstimator link;
    std::lognormal_distribution<double> spread(0.0, 0.6);
    std::vector<double> gaps;
    std::uint64_t now = kStart;
    link.on_packet(now, 1, 0);
    for (std::uint64_t i = 1; i < 4000 && now < kStart + 4800 * kMs; ++i) {
      const auto gap = static_cast<std::uint64_t>(centre_us * 1000 * spread(random));
      gaps.push_back(static_cast<double>(gap) / 1000);
      link.on_packet(now += gap, 1, i);
    }
    if (now > kStart + 4900 * kMs) gaps.clear();  // the first gaps have left the window: nothing exact to compare with
    if (gaps.size() < 10) continue;
    std::sort(gaps.begin(), gaps.end());
    const auto exact = gaps[static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(gaps.size()))) - 1];
    EXPECT_NEAR(link.report(now).gap_p95_us, exact, exact * 0.10) << "centre " << centre_us;
    ++compared;
  }
  EXPECT_GE(compared, 20);
}

TEST(LinkEstimator, P95HoldsAtRatesThatFillItsBytes) {
  // 19 of 20 gaps are short: the 95th percentile is the longest of those, at any rate.
  for (const std::uint64_t short_ns : {1'000'000u, 100'000u, 5'000u}) {
    LinkEstimator estimator;
    std::uint64_t now = kStart;
    for (std::uint64_t i = 0; now < kStart + 6'000'000'000; ++i) {
      now += i % 25 == 24 ? 20 * short_ns : short_ns;
      estimator.on_packet(now, 1, i);
    }
    EXPECT_NEAR(estimator.report(now).gap_p95_us * 1000.0, static_cast<double>(short_ns), 0.1 * short_ns) << short_ns;
  }
}

TEST(LinkEstimator, ABatchOfEqualOrDisorderedStampsIsHarmless) {
  LinkEstimator link;
  for (std::uint64_t i = 0; i < 64; ++i) link.on_packet(kStart, 1, i);
  link.on_packet(kStart - kS, 1, 64);
  link.on_packet(kStart + kMs, 1, 65);
  const auto report = link.report(kStart);
  EXPECT_EQ(report.longest_silence_us, 1000u);
  EXPECT_EQ(report.loss_ppm, 0u);
  EXPECT_EQ(report.window_ms, 1u);
}

TEST(LinkEstimator, FiguresThatDoNotFitSaturate) {
  LinkEstimator link;
  link.on_packet(kStart, 1, 0);
  link.on_packet(kStart + 1, 1, kSequenceLimit - 1);
  const auto report = link.report(kStart + 5000 * kS);
  EXPECT_EQ(report.longest_silence_us, 0xffffffffu);
  EXPECT_EQ(link.report(kStart + 1).loss_ppm, 1'000'000u);
  EXPECT_EQ(link.report(kStart + 1).packets_per_s_milli, 0xffffffffu);
  link.on_packet(std::uint64_t{1} << 62, 2, 0);
  EXPECT_EQ(link.report(std::uint64_t{1} << 62).longest_silence_us, 0xffffffffu);
}

TEST(LinkEstimator, WhatWasNeverSentHereIsNotLost) {
  LinkEstimator estimator;
  std::uint64_t now = 10 * kS, sequence = 0;
  for (int i = 0; i < 100; ++i, now += 20 * kMs) {
    estimator.on_packet(now, 1, sequence);
    sequence += i % 2 == 0 ? 2 : 1;  // every third number went elsewhere
  }
  EXPECT_GT(estimator.report(now).loss_ppm, 300'000u);
  estimator.on_aside(1);  // one of those that came was such a one
  estimator.on_aside_told(now, 2, 50);
  EXPECT_GT(estimator.report(now).loss_ppm, 300'000u) << "of another key";
  estimator.on_aside_told(now, 1, 40);
  estimator.on_aside_told(now, 1, 40);
  EXPECT_NEAR(estimator.report(now).loss_ppm, 11e6 / 111, 1000) << "50 less 39, once";
  estimator.on_aside_told(now, 1, 45);
  EXPECT_NEAR(estimator.report(now).loss_ppm, 6e6 / 106, 1000) << "five more";
  estimator.on_aside_told(now, 1, 51);
  EXPECT_EQ(estimator.report(now).loss_ppm, 0u);
  estimator.on_aside_told(now, 1, 1'000'000);
  EXPECT_EQ(estimator.report(now).loss_ppm, 0u);
}

}  // namespace
}  // namespace pqcmav
