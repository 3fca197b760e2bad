// SPDX-License-Identifier: Apache-2.0
// Round trips, time-outs and the window.
#include "handshake/send_window.hpp"

#include <gtest/gtest.h>

#include "handshake/ack_timer.hpp"
#include "handshake/hello_schedule.hpp"
#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

RttEstimator estimator(std::uint64_t rtt) {
  RttEstimator out(600 * kMs);
  out.sample(rtt);
  return out;
}

/// One round of `sent` datagrams, `lost` of them lost, with that least round trip.
void round_of(SendWindow& window, std::uint32_t& next, std::uint32_t sent, std::uint32_t lost, std::uint64_t rtt,
              const RttEstimator& all) {
  const auto first = next;
  for (std::uint32_t i = 0; i < sent; ++i) window.on_sent();
  for (std::uint32_t i = 0; i < lost; ++i) window.on_lost();
  if (rtt > 0) window.on_rtt(rtt);
  next += sent;
  window.on_ack(first, next, all);
}

TEST(RttEstimator, FollowsRfc6298FromAnEighth) {
  RttEstimator rtt(200 * kMs);
  EXPECT_FALSE(rtt.srtt());
  EXPECT_EQ(rtt.timeout(0), 200 * kMs);
  rtt.sample(80 * kMs);
  EXPECT_EQ(rtt.srtt(), 80 * kMs);
  EXPECT_EQ(rtt.variation(), 10 * kMs);
  EXPECT_EQ(rtt.timeout(0), (80 + 20 + 10) * kMs);
  rtt.sample(160 * kMs);
  EXPECT_EQ(rtt.srtt(), 90 * kMs);
  EXPECT_EQ(rtt.variation(), (30 + 80) * kMs / 4);
  EXPECT_EQ(rtt.least(), 80 * kMs);
  rtt.sample(40 * kMs);
  EXPECT_EQ(rtt.variation(), (3 * 27'500'000 + 50 * kMs) / 4);
  EXPECT_EQ(rtt.least(), 40 * kMs);
}

TEST(RttEstimator, TimeoutHasItsFloors) {
  EXPECT_EQ(estimator(1 * kMs).timeout(0), 21 * kMs);
  auto steady = estimator(400 * kMs);
  for (int i = 0; i < 50; ++i) steady.sample(400 * kMs);
  EXPECT_EQ(steady.timeout(0), (400 + 100 + 10) * kMs);
}

TEST(RttEstimator, SixTimeoutsAreLevelThenTheyGrow) {
  RttEstimator rtt(200 * kMs);
  for (std::uint32_t n = 0; n <= 6; ++n) EXPECT_EQ(rtt.timeout(n), 200 * kMs);
  EXPECT_EQ(rtt.timeout(7), 300 * kMs);
  EXPECT_EQ(rtt.timeout(8), 450 * kMs);
  EXPECT_EQ(rtt.timeout(100), 2000 * kMs);
  EXPECT_EQ(estimator(3000 * kMs).timeout(50), 3760 * kMs);  // its own length, if that is more
}

TEST(SendWindow, DoublesUntilItIsCrowded) {
  const auto rtt = estimator(100 * kMs);
  SendWindow window(10, true, 0);
  std::uint32_t next = 0;
  EXPECT_EQ(window.size(), 10U);
  round_of(window, next, 10, 3, 100 * kMs, rtt);
  EXPECT_EQ(window.size(), 20U);
  round_of(window, next, 20, 6, 150 * kMs, rtt);  // not above the limit
  EXPECT_EQ(window.size(), 40U);
  round_of(window, next, 40, 12, 150 * kMs + 1, rtt);
  EXPECT_EQ(window.size(), 28U);
  round_of(window, next, 28, 8, 100 * kMs, rtt);  // doubling has ended
  EXPECT_EQ(window.size(), 31U);
}

TEST(SendWindow, ShortRoundTripsMayGrowBy30Ms) {
  const auto rtt = estimator(10 * kMs);
  SendWindow window(10, true, 0);
  std::uint32_t next = 0;
  round_of(window, next, 10, 0, 40 * kMs, rtt);
  EXPECT_EQ(window.size(), 20U);
  round_of(window, next, 10, 0, 41 * kMs, rtt);
  EXPECT_EQ(window.size(), 14U);
}

TEST(SendWindow, OnlyMoreLossThanTheLinkHasShrinksIt) {
  const auto rtt = estimator(100 * kMs);
  SendWindow window(10, true, 0);
  std::uint32_t next = 0;
  round_of(window, next, 20, 6, 100 * kMs, rtt);
  round_of(window, next, 20, 9, 100 * kMs, rtt);
  EXPECT_EQ(window.size(), 40U);  // 45 % is not 20 points above 30
  round_of(window, next, 15, 15, 100 * kMs, rtt);
  EXPECT_EQ(window.size(), 80U);  // too few to judge
  round_of(window, next, 16, 9, 100 * kMs, rtt);
  EXPECT_EQ(window.size(), 56U);
}

TEST(SendWindow, SmallFirstRoundsDoNotSetTheLeastLoss) {
  const auto rtt = estimator(100 * kMs);
  SendWindow window(10, true, 0);
  std::uint32_t next = 0;
  round_of(window, next, 7, 0, 100 * kMs, rtt);
  round_of(window, next, 16, 8, 100 * kMs, rtt);
  EXPECT_EQ(window.size(), 40U);
  round_of(window, next, 8, 0, 100 * kMs, rtt);
  round_of(window, next, 16, 8, 100 * kMs, rtt);
  EXPECT_EQ(window.size(), 56U);
}

TEST(SendWindow, InASessionItStartsLowAndNeverDoubles) {
  const auto rtt = estimator(100 * kMs);
  SendWindow window(2, false, 50);
  std::uint32_t next = 50;
  EXPECT_EQ(window.size(), 2U);
  round_of(window, next, 2, 0, 100 * kMs, rtt);
  EXPECT_EQ(window.size(), 3U);
  for (int i = 0; i < 5; ++i) round_of(window, next, 2, 0, 900 * kMs, rtt);
  EXPECT_EQ(window.size(), 2U);
}

TEST(SendWindow, ARoundLastsUntilWhatWasNextIsEchoed) {
  const auto rtt = estimator(100 * kMs);
  SendWindow window(10, true, 100);
  window.on_ack(100, 100, rtt);  // nothing sent: no round
  EXPECT_EQ(window.size(), 10U);
  window.on_sent();
  window.on_ack(99, 101, rtt);
  EXPECT_EQ(window.size(), 10U);
  window.on_ack(100, 110, rtt);
  EXPECT_EQ(window.size(), 20U);
  window.on_sent();
  window.on_ack(109, 111, rtt);
  EXPECT_EQ(window.size(), 20U);
  window.on_ack(110, 111, rtt);
  EXPECT_EQ(window.size(), 40U);
  std::uint32_t next = 111;
  for (int i = 0; i < 10; ++i) round_of(window, next, 1, 0, 100 * kMs, rtt);
  EXPECT_EQ(window.size(), 256U);
}

TEST(SendWindow, WideningTakesNothingAway) {
  SendWindow window(2, false, 0);
  window.widen(10);
  EXPECT_EQ(window.size(), 10U);
  SendWindow wide(40, true, 0);
  wide.widen(10);
  EXPECT_EQ(wide.size(), 40U);
}

TEST(SendWindow, PacesOverMostOfARoundTrip) {
  const SendWindow window(10, true, 0);
  EXPECT_EQ(window.gap(RttEstimator(200 * kMs)), 0U);
  EXPECT_EQ(window.gap(estimator(100 * kMs)), 8 * kMs);
  EXPECT_EQ(window.gap(estimator(1000 * kMs)), 50 * kMs);
}

TEST(AckTimer, QuietEveryEighthAndRepeats) {
  AckTimer timer;
  EXPECT_EQ(timer.due(), AckTimer::kNever);
  for (int i = 1; i <= 7; ++i) {
    timer.on_fragment(i * kMs);
    EXPECT_EQ(timer.due(), (i + 10) * kMs);
  }
  timer.on_fragment(8 * kMs);
  EXPECT_EQ(timer.due(), 8 * kMs);
  timer.on_sent(8 * kMs, std::nullopt);
  EXPECT_EQ(timer.due(), 258 * kMs);
  EXPECT_EQ(timer.in_vain(), 0U);
  timer.on_fragment(20 * kMs);
  EXPECT_EQ(timer.due(), 30 * kMs);
  EXPECT_EQ(timer.in_vain(), 0U);
  for (int i = 0; i < 7; ++i) timer.on_sent(0, 100 * kMs);
  EXPECT_EQ(timer.in_vain(), 6U);
  EXPECT_EQ(timer.due(), 125 * kMs);
  timer.on_sent(0, 100 * kMs);
  EXPECT_EQ(timer.due(), 187'500'000U);
  for (int i = 0; i < 200; ++i) timer.on_sent(0, 100 * kMs);
  EXPECT_EQ(timer.due(), 1000 * kMs);
  timer.on_fragment(0);
  timer.on_sent(0, 20 * kMs);
  EXPECT_EQ(timer.due(), 50 * kMs);
  timer.on_fragment(7, true);
  EXPECT_EQ(timer.due(), 7U) << "the other end waits for it";
  timer.stop();
  EXPECT_EQ(timer.due(), AckTimer::kNever);
}

TEST(HelloSchedule, CopiesPayForM2AsFarAsThatIsCheapTheFirstForMost) {
  using Sizes = HelloSchedule::Sizes;
  // m = 360, default suite: 3 x 840 bytes, of which the first takes all that a datagram may have.
  EXPECT_EQ(HelloSchedule::padded_sizes(360, 4698, 1200), (Sizes{1200, 660}));
  EXPECT_EQ(HelloSchedule::padded_sizes(360, 3301, 1200), (Sizes{1101, 360}));
  EXPECT_EQ(HelloSchedule::padded_sizes(360, 1698, 1200), (Sizes{566, 360}));
  EXPECT_EQ(HelloSchedule::padded_sizes(360, 900, 1200), (Sizes{360, 360}));
  EXPECT_EQ(HelloSchedule::padded_sizes(30, 1'000'000, 1200), (Sizes{1200, 1155}));
  EXPECT_EQ(HelloSchedule::padded_sizes(0, 1'000'000, 1200), (Sizes{1200, 1200}));
  EXPECT_EQ(HelloSchedule::padded_sizes(417, 1'000'000, 548), (Sizes{548, 417}));
  EXPECT_EQ(HelloSchedule::padded_sizes(600, 1'000'000, 548), (Sizes{548, 548}));
}

TEST(HelloSchedule, PairsPerTimeoutThatGrow) {
  const RttEstimator rtt(200 * kMs);
  HelloSchedule hello;
  hello.start(3, {1200, 900}, 0, rtt);
  EXPECT_EQ(hello.take(0), 1200U);
  EXPECT_FALSE(hello.take(19 * kMs));
  EXPECT_EQ(hello.due(), 20 * kMs);
  EXPECT_EQ(hello.take(20 * kMs), 900U);
  EXPECT_EQ(hello.take(40 * kMs), 900U);
  EXPECT_EQ(hello.due(), 200 * kMs);
  EXPECT_FALSE(hello.timed_out(199 * kMs, rtt));
  std::uint64_t at = 0;
  const std::uint64_t waits[] = {200, 200, 200, 200, 200, 200, 200, 300, 450, 675};
  for (const auto wait : waits) {
    at += wait * kMs;
    EXPECT_FALSE(hello.timed_out(at - 1, rtt));
    EXPECT_TRUE(hello.timed_out(at, rtt)) << wait;
    EXPECT_EQ(hello.take(at), 0U);
    EXPECT_EQ(hello.take(at + 20 * kMs), 0U);
    EXPECT_FALSE(hello.take(at + 100 * kMs));
  }
  hello.on_progress();
  hello.start(2, {0, 0}, at, rtt);
  EXPECT_TRUE(hello.timed_out(at + 200 * kMs, rtt));
}

TEST(HelloSchedule, HeldBackItWaits) {
  const RttEstimator rtt(200 * kMs);
  HelloSchedule hello;
  hello.start(3, {900, 900}, 0, rtt);
  hello.hold(5000 * kMs);
  EXPECT_FALSE(hello.take(4999 * kMs));
  EXPECT_EQ(hello.due(), 5000 * kMs);
  EXPECT_FALSE(hello.timed_out(5000 * kMs, rtt));  // nothing was lost
  EXPECT_EQ(hello.take(5000 * kMs), 0U);
  EXPECT_TRUE(hello.timed_out(5200 * kMs, rtt));
}

}  // namespace
}  // namespace pqcmav
