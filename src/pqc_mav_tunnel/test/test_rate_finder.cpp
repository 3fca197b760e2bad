// SPDX-License-Identifier: Apache-2.0
// What is found of simulated links, and what commands have of it, beside a rate set by hand and none. The table comes
// with --gtest_filter=*Table --gtest_also_run_disabled_tests.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "rate_world.hpp"

namespace pqcmav {
namespace {

using namespace test;
using Mode = RateWorld::Mode;

AirFigures of(const AirTerms& terms, Mode mode, std::uint64_t seed = 1) { return RateWorld(terms, mode, seed).run(); }

/// Offered three times what it carries, with a queue of two seconds.
AirTerms thin(double kbit, double loss, unsigned delay_ms, unsigned jitter_ms) {
  return {.kbit = kbit,
          .queue_bytes = kbit * 250,
          .loss = loss,
          .delay = delay_ms * kMs,
          .jitter = jitter_ms * kMs,
          .offered_kbit = 3 * kbit};
}

std::string text(const AirTerms& terms) {
  char out[80];
  std::snprintf(out, sizeof out, "%.0f kbit/s, loss %.0f %%, %llu+%llu ms", terms.kbit, 100 * terms.loss,
                static_cast<unsigned long long>(terms.delay / kMs),
                static_cast<unsigned long long>(terms.jitter / kMs));
  return out;
}

template <typename Visit>
void for_each_thin_link(Visit visit) {
  for (const double kbit : {32.0, 64.0, 128.0, 256.0})
    for (const double loss : {0.0, 0.05})
      for (const unsigned delay_ms : {10U, 300U})
        for (const unsigned jitter_ms : {0U, 50U}) visit(thin(kbit, loss, delay_ms, jitter_ms));
}

TEST(RateFinder, DISABLED_Table) {
  for_each_thin_link([](const AirTerms& terms) {
    for (const auto mode : {Mode::off, Mode::by_hand, Mode::found}) {
      static constexpr const char* kModes[] = {"off", "by hand", "found"};
      const auto got = of(terms, mode);
      std::printf("| %s | %s | %.1f | %.0f | %.0f | %.1f |\n", text(terms).c_str(), kModes[static_cast<int>(mode)],
                  100 * got.answered, got.p50_ms, got.p95_ms, 100 * got.filled);
    }
  });
}

TEST(RateFinder, AnswersAndFillsAsARateSetByHandDoes) {
  double answered = 0, filled = 0, p50_later = 0, p95_later = 0;
  unsigned runs = 0;
  for_each_thin_link([&](const AirTerms& terms) {
    SCOPED_TRACE(text(terms));
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto by_hand = of(terms, Mode::by_hand, seed), found = of(terms, Mode::found, seed);
      EXPECT_GE(found.answered, 0.85 * by_hand.answered) << seed;
      EXPECT_GE(found.filled, 0.8 * by_hand.filled) << seed;
      EXPECT_LE(found.p50_ms, by_hand.p50_ms + 150) << seed;
      EXPECT_LE(found.p95_ms, by_hand.p95_ms + 400) << seed;
      EXPECT_GE(found.least_kbit, 0.8 * terms.kbit / RateFinder::kFloorPart) << seed;
      answered += found.answered / by_hand.answered;
      filled += found.filled / by_hand.filled;
      p50_later += found.p50_ms - by_hand.p50_ms;
      p95_later += found.p95_ms - by_hand.p95_ms;
      ++runs;
    }
    EXPECT_LE(of(terms, Mode::off).answered, 0.05);
  });
  EXPECT_GE(answered / runs, 0.95);
  EXPECT_GE(filled / runs, 0.95);
  EXPECT_LE(p50_later / runs, 15);
  EXPECT_LE(p95_later / runs, 120);
}

/// Its commands are among what it drops; nothing else waits for longer than a quarter of a second.
TEST(RateFinder, FindsALinkWithAShortQueueThatWasFullFromTheBeginning) {
  for (const double queue : {2'000.0, 4'000.0}) {
    auto terms = thin(64, 0, 1, 0);
    terms.queue_bytes = queue;
    terms.offered_kbit = 280;
    EXPECT_LE(of(terms, Mode::off).answered, 0.3) << queue;
    EXPECT_GE(of(terms, Mode::found).answered, 0.95) << queue;
  }
}

TEST(RateFinder, LeavesALinkAloneThatIsNotFull) {
  const AirTerms lan{.kbit = 100'000, .queue_bytes = 1e6, .delay = kMs / 2, .offered_kbit = 400};
  AirTerms lossy = lan, lte = lan, far = lan, chased = lan;
  lossy.loss = 0.4;
  lossy.delay = 100 * kMs;
  lossy.jitter = 100 * kMs;
  lte.kbit = 5'000;
  lte.delay = 30 * kMs;
  lte.jitter = 30 * kMs;
  lte.stop_every = 7 * kS;
  lte.stop_for = 450 * kMs;
  far.changes_at = 10 * kS;  // to a satellite
  far.kbit_then = lan.kbit;
  far.delay_then = 600 * kMs;
  chased.held_back = 900 * kMs;
  AirTerms just_enough = thin(128, 0.05, 150, 50);
  just_enough.offered_kbit = 100;
  for (const auto& terms : {lan, lossy, lte, far, chased, just_enough}) {
    SCOPED_TRACE(text(terms));
    EXPECT_EQ(of(terms, Mode::found).shaped, 0);
  }
}

/// A video beside it takes what it leaves free: the less of it there is, the less arrives.
TEST(RateFinder, LeavesALinkToItselfThatAnotherFills) {
  for (const double other : {2'000.0, 2'600.0, 4'000.0})
    for (const double queue : {60e3, 250e3, 500e3}) {
      SCOPED_TRACE(std::to_string(other) + " kbit/s of video, a queue of " + std::to_string(queue));
      const AirTerms terms{.kbit = 2'000,
                           .queue_bytes = queue,
                           .delay = 40 * kMs,
                           .jitter = 20 * kMs,
                           .offered_kbit = 120,
                           .other_kbit = other};
      const auto off = RateWorld(terms, Mode::off).run(3 * kS, 123 * kS);
      const auto found = RateWorld(terms, Mode::found).run(3 * kS, 123 * kS);
      EXPECT_GE(found.filled, 0.88 * off.filled);
      EXPECT_GE(found.answered, 0.9 * off.answered);
      EXPECT_LE(found.shaped, 0.2);
    }
}

TEST(RateFinder, FollowsARateThatChanges) {
  auto less = thin(256, 0, 50, 10), more = thin(32, 0, 50, 10);
  less.changes_at = more.changes_at = 10 * kS;
  less.kbit_then = 32;
  less.queue_bytes = 16'000;
  more.kbit_then = 256;
  more.offered_kbit = 768;
  const auto thinner = of(less, Mode::found), wider = of(more, Mode::found);
  EXPECT_GE(thinner.last_kbit, 24u);
  EXPECT_LE(thinner.last_kbit, 40u);
  EXPECT_GE(wider.last_kbit == 0 ? 256 : wider.last_kbit, 150u);
  EXPECT_GE(thinner.answered, 0.7);
}

TEST(RateFinder, OfAWayThatBecomesLongerOnlyTheDelayIsLearnt) {
  auto terms = thin(64, 0, 20, 0);
  terms.changes_at = 12 * kS;
  terms.kbit_then = 64;
  terms.delay_then = 320 * kMs;
  const auto got = of(terms, Mode::found);
  EXPECT_GE(got.filled, 0.75);
  EXPECT_GE(got.answered, 0.85);
}

/// Who delays or drops on the way cannot bring the rate to nothing.
/// A ground station sends little. A late packet and a lost one of a busy machine say nothing of what the link carries.
TEST(RateFinder, OfAFewBytesNothingIsConcluded) {
  RateFinder finder;
  std::uint64_t sequence = 0, bytes = 0, arrived = 0;
  const auto send = [&](std::uint64_t at) { finder.on_sent(++sequence, bytes += 110, at); };
  const auto word = [&](std::uint64_t at, std::uint64_t delay, std::uint64_t lost = 0) {
    arrived += 110 - lost;
    finder.on_arrived({sequence, at + delay, arrived}, false, at + delay + 35 * kMs);
  };
  auto at = kS;
  for (; at < 11 * kS; at += 125 * kMs) {
    send(at);
    word(at, 35 * kMs);
  }
  for (int late = 0; late < 5; ++late, at += 125 * kMs) {
    send(at);
    word(at, 300 * kMs, late == 2 ? 110 : 0);
    EXPECT_EQ(finder.kbit(at), 0u);
  }
}

TEST(RateFinder, HasAFloor) {
  auto terms = thin(64, 0, 20, 0);
  terms.changes_at = 8 * kS;
  terms.kbit_then = 1;
  EXPECT_GE(of(terms, Mode::found).least_kbit, static_cast<std::uint32_t>(RateFinder::kLeastKbit));
}

TEST(RateFinder, WithoutWordsNothingIsShaped) {
  auto terms = thin(64, 0, 20, 0);
  terms.word_every = 3'600 * kS;  // an old end's
  EXPECT_EQ(of(terms, Mode::found).shaped, 0);
}

TEST(RateFinder, OfWordsThatMakeNoSenseNothingIsBelieved) {
  RateFinder finder;
  for (std::uint64_t i = 0; i < 100; ++i) finder.on_sent(i, (i + 1) * 100, (i + 1) * 10 * kMs);
  finder.on_arrived({1'000, 5, 5}, true, kS);  // never sent
  finder.on_arrived({10, 500 * kMs, 1'000}, true, kS);
  finder.on_arrived({9, 400 * kMs, 900}, true, kS);  // backwards
  finder.on_arrived({99, ~0ULL, ~0ULL}, true, kS);
  finder.on_arrived({99, 0, 0}, true, kS);
  EXPECT_EQ(finder.kbit(kS), 0u);
}

TEST(RateFinder, DelaysMayBeFurtherApartThanASignedNumberHolds) {
  RateFinder finder;
  finder.on_sent(100, 10'100, kS);
  finder.on_arrived({100, 1, 1'000}, true, kS);
  finder.on_arrived({100, (1ULL << 63) + 500 * kMs, 2'000}, true, kS);
  EXPECT_EQ(finder.kbit(kS), 0u);
}

}  // namespace
}  // namespace pqcmav
