// SPDX-License-Identifier: Apache-2.0
// What acknowledgements make of the window of one end, and what goes when it is full (docs/protocol.md section 5,
// rules 6 and 9).
#include <gtest/gtest.h>

#include "transport_bench.hpp"

namespace pqcmav::test {
namespace {

constexpr std::uint32_t kFirst = kFirstGcsPacket;

std::size_t sent_until(Bench& gcs, std::uint64_t from_ms, std::uint64_t to_ms) {
  std::size_t count = 0;
  for (auto ms = from_ms; ms < to_ms; ++ms) count += gcs.at(ms).size();
  return count;
}

/// A long M2 after its first round: RTT 50 ms, fragments 0 to 10 are there, 11 to 29 are on their way, W is 20. 110 ms.
Bench gcs_in_second_round() {
  auto gcs = gcs_with_m1();
  gcs.end.answered_by(0);
  gcs.end.start(made_up(MessageType::server_hello, 200 * 1150), gcs.now);
  EXPECT_EQ(gcs.poll().size(), 10U);
  gcs.now += 50 * kMs;
  gcs.hear(Bench::ack(2, kFirst + 9, 10));
  EXPECT_EQ(sent_until(gcs, 50, 110), 20U);
  gcs.now = gcs.begin + 110 * kMs;
  gcs.hear(Bench::ack(2, kFirst + 9, 11));  // no round trip, but no time-out either
  EXPECT_EQ(gcs.poll().size(), 1U);
  return gcs;
}
/// The same after a round that took too long: W is 14, 12 to 30 are on their way. 180 ms.
Bench gcs_with_a_full_window() {
  auto gcs = gcs_in_second_round();
  gcs.now = gcs.begin + 180 * kMs;
  gcs.hear(Bench::ack(2, kFirst + 10, 12));
  return gcs;
}

TEST(TransportWindow, ALongRoundTripShrinksIt) {
  auto gcs = gcs_with_a_full_window();
  EXPECT_EQ(sent_until(gcs, 180, 290), 0U);
  EXPECT_EQ(gcs.end.counts().timeouts, 0U);
}

TEST(TransportWindow, LossShrinksIt) {
  auto gcs = gcs_in_second_round();
  gcs.now = gcs.begin + 138 * kMs;
  gcs.hear(Bench::ack(2, kFirst + 29, 11, Bytes{0xff, 0x01}));
  EXPECT_EQ(gcs.end.counts().lost, 10U);
  EXPECT_EQ(sent_until(gcs, 138, 200), 13U);  // and 30, which was on its way
}

TEST(TransportWindow, ATimeoutSendsTwoThoughItIsFull) {
  auto gcs = gcs_with_a_full_window();
  gcs.poll();
  gcs.now = gcs.end.deadline();
  auto sent = gcs.poll();
  gcs.now += 20 * kMs;
  for (auto& each : gcs.poll()) sent.push_back(std::move(each));
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].index(), 12);
  EXPECT_EQ(sent[1].index(), 13);
}

TEST(TransportWindow, WhatIsLostWaitsForRoomAndATimeoutSendsNoMoreThanTwoOfIt) {
  auto gcs = gcs_with_a_full_window();
  gcs.now = gcs.begin + 190 * kMs;
  gcs.hear(Bench::ack(2, kFirst + 16, 12));  // 12 to 16
  EXPECT_EQ(gcs.end.counts().lost, 5U);
  EXPECT_EQ(sent_until(gcs, 190, 230), 0U);
  gcs.now = gcs.end.deadline();
  std::size_t count = gcs.poll().size();
  EXPECT_EQ(gcs.end.counts().timeouts, 1U);
  for (int i = 0; i < 40; ++i) gcs.now += 1 * kMs, count += gcs.poll().size();
  EXPECT_EQ(count, 2U);
}

TEST(TransportWindow, ASmallerCutBeginsWithTheFirstWindow) {
  auto gcs = gcs_with_m1();
  gcs.end.answered_by(0);
  gcs.end.start(made_up(MessageType::server_hello, 5 * 1150 + 20), gcs.now);
  EXPECT_EQ(gcs.poll().size(), 8U);
  gcs.now += 50 * kMs;
  gcs.hear(Bench::ack(2, kFirst + 6, 0, Bytes{0x10}));  // only the short last fragment came
  std::size_t small = 0;
  while (small == 0) {
    for (const auto& each : gcs.poll()) small += each.frames.fragments[0].size == 498;
    if (small == 0) gcs.now = gcs.end.deadline();
  }
  EXPECT_EQ(gcs.end.counts().timeouts, 2U);
  for (int i = 0; i < 60; ++i) gcs.now += 1 * kMs, small += gcs.poll().size();
  EXPECT_EQ(small, 10U);
}

TEST(TransportWindow, WhereTheDataPlaneMakesRoomMoreGoesAtOnce) {
  Bench gcs(HandshakeSide::gcs, KnownLink{});
  gcs.end.expect({exactly(m1())});
  gcs.hear(Bench::whole(m1()));
  gcs.end.start(made_up(MessageType::server_hello, 20 * 1127), gcs.now);
  EXPECT_EQ(gcs.poll().size(), 2U);
  gcs.end.widen();
  EXPECT_EQ(gcs.poll().size(), 8U);
}

TEST(TransportWindow, WideMeansNoWaitAboveASecond) {
  Bench drone(HandshakeSide::drone, KnownLink{3'000 * kMs, 2, false});
  drone.end.expect({exactly(m2())});
  drone.end.start(m1(), drone.now);
  drone.poll();
  drone.end.widen();
  drone.hear(Bench::fragment(m2(), 1127, 0));
  EXPECT_EQ(drone.at(10).size(), 1U);
  EXPECT_EQ(drone.due_ms(), 1260U);
}

}  // namespace
}  // namespace pqcmav::test
