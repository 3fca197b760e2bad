// SPDX-License-Identifier: Apache-2.0
// The addresses of one attempt at a gcs (docs/protocol.md section 5, rule 3), the drone played by hand.
#include <gtest/gtest.h>

#include <set>

#include "transport_bench.hpp"

namespace pqcmav::test {
namespace {

Bytes padded_hello() {
  auto hello = Bench::whole(m1());
  append_pad(hello, 1179);
  return hello;
}
/// All of M2 is out and acknowledged over path 0.
Bench gcs_whose_m2_came() {
  auto gcs = gcs_with_m1();
  gcs.hear(padded_hello());
  gcs.end.start(m2(), gcs.now);
  const auto sent = gcs.poll();
  EXPECT_EQ(sent.size(), 5U);
  gcs.now += 50 * kMs;
  gcs.hear(Bench::ack(2, sent[4].packet, 4));
  EXPECT_EQ(gcs.end.validated(), 0);
  EXPECT_EQ(gcs.poll().size(), 0U);
  return gcs;
}
std::optional<std::uint32_t> ack_to(const std::vector<Sent>& sent, PathIndex path) {
  std::optional<std::uint32_t> out;
  for (const auto& each : sent)
    if (each.path == path && each.frames.fragment_count == 0) out = each.packet;
  return out;
}

TEST(TransportPaths, BeforeOneIsValidatedASecondAddressGetsNoAckAtOnce) {
  auto gcs = gcs_with_m1();
  gcs.hear(padded_hello(), 1);
  EXPECT_EQ(gcs.poll().size(), 0U);
}

TEST(TransportPaths, WhatOtherPathsGotDoesNotCountAndGetsNoMore) {
  auto gcs = gcs_with_m1();
  gcs.hear(padded_hello(), 1, 0);
  gcs.end.start(m2(), gcs.now);
  const auto sent = gcs.poll();  // 0 0 1 1 2 2, to paths 0 and 1 in turn
  ASSERT_EQ(sent.size(), 6U);
  gcs.now += 50 * kMs;
  gcs.hear(Bench::ack(2, sent[4].packet, 1));
  EXPECT_EQ(gcs.end.validated(), 0);
  EXPECT_EQ(gcs.end.counts().lost, 2U);
  EXPECT_TRUE(gcs.end.lossy());
  std::size_t count = 0;
  for (std::uint64_t ms = 50; ms < 150; ++ms) {
    for (const auto& each : gcs.at(ms)) {
      EXPECT_EQ(each.path, 0);
      ++count;
    }
  }
  EXPECT_GE(count, 4U);  // 1 and 2 again, 3 and parity
}

TEST(TransportPaths, ARoamerGetsOneAckAndCopiesAndMayComeBack) {
  auto gcs = gcs_with_m1();
  gcs.end.start(made_up(MessageType::server_hello, 60 * 1150), gcs.now);
  auto sent = gcs.poll();
  gcs.now += 100 * kMs;
  gcs.hear(Bench::ack(2, sent[2].packet, 3));
  std::set<int> indices{0, 1, 2};
  std::size_t copies = 0, acks = 0;
  std::optional<std::uint32_t> number;
  const auto note = [&] {
    for (const auto& each : gcs.poll()) {
      if (each.frames.fragment_count > 0) indices.insert(each.index());
      if (each.path != 1) continue;
      (each.frames.fragment_count > 0 ? copies : acks) += 1;
      if (each.frames.fragment_count == 0) number = each.packet;
    }
  };
  note();
  const auto before = static_cast<std::uint16_t>(indices.size());
  gcs.hear(padded_hello(), 1);
  note();
  EXPECT_EQ(acks, 1U);
  gcs.hear(padded_hello(), 1);
  for (int i = 0; i < 20; ++i) gcs.now += 1 * kMs, note();
  EXPECT_EQ(acks, 1U);
  EXPECT_GE(copies, 1U);
  EXPECT_EQ(gcs.end.validated(), 0);
  gcs.hear(Bench::ack(2, number.value(), before), 1);
  EXPECT_EQ(gcs.end.validated(), 1);
  // What is on its way goes to nobody again.
  sent = gcs.poll();
  gcs.now += 5 * kMs;
  for (auto& each : gcs.poll()) sent.push_back(std::move(each));
  ASSERT_FALSE(sent.empty());
  for (const auto& each : sent) {
    EXPECT_EQ(each.path, 1);
    EXPECT_FALSE(indices.contains(each.index())) << each.index();
  }
  // The drone is at its first address again: it takes over in the same way.
  gcs.hear(padded_hello(), 0);
  const auto back = ack_to(gcs.poll(), 0);
  ASSERT_TRUE(back);
  EXPECT_EQ(gcs.end.validated(), 1);
  gcs.hear(Bench::ack(2, *back, before), 0);
  EXPECT_EQ(gcs.end.validated(), 0);
}

TEST(TransportPaths, M3DoesNotTakeBackARoamersPath) {
  auto gcs = gcs_whose_m2_came();
  gcs.hear(Bench::ack(2, kFirstGcsPacket, 4), 1);
  const auto number = ack_to(gcs.poll(), 1);
  ASSERT_TRUE(number);
  gcs.hear(Bench::ack(2, *number, 4), 1);
  ASSERT_EQ(gcs.end.validated(), 1);
  EXPECT_EQ(gcs.hear(Bench::whole(m3()), 1), Transport::Took::taken);
  EXPECT_EQ(gcs.end.validated(), 1);
}

TEST(TransportPaths, M4GoesToWhereM3WasCompletedFrom) {
  auto gcs = gcs_whose_m2_came();
  const auto two = made_up(MessageType::client_finish, 2000);
  gcs.end.expect({exactly(two)});
  gcs.hear(Bench::fragment(two, 1150, 0), 0, 50);
  gcs.hear(Bench::fragment(two, 1150, 1), 1, 49);
  EXPECT_EQ(gcs.end.take_message(), two);
  gcs.end.start(m4(), gcs.now);
  const auto sent = gcs.poll();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].path, 1);
}

TEST(TransportPaths, ALingeringGcsAnswersM3OnlyAndOnceIn10Ms) {
  auto gcs = gcs_whose_m2_came();
  gcs.hear(Bench::whole(m3()));
  EXPECT_EQ(gcs.end.take_message(), m3());
  gcs.end.start(m4(), gcs.now);
  gcs.end.linger(m4(), gcs.now);
  EXPECT_EQ(gcs.poll().size(), 1U);
  EXPECT_EQ(gcs.hear(padded_hello()), Transport::Took::repeated);
  EXPECT_EQ(gcs.poll().size(), 0U);
  for (const std::size_t answers : {1, 0}) {
    gcs.hear(Bench::whole(m3()), 1);
    const auto sent = gcs.poll();
    ASSERT_EQ(sent.size(), answers);
    for (const auto& each : sent) EXPECT_EQ(each.message(), 4);
  }
  gcs.hear(Bench::whole(m3()), 0);
  EXPECT_EQ(gcs.poll().size(), 1U) << "each address has its own answer";
  gcs.now += 10 * kMs;
  gcs.hear(Bench::whole(m3()), 1);
  EXPECT_EQ(gcs.poll().size(), 1U);
}

TEST(TransportPaths, AProofSetsFreeWhatWasForbidden) {
  auto gcs = gcs_with_m1();
  gcs.end.start(m2(), gcs.now);
  EXPECT_EQ(gcs.poll().size(), 3U);
  EXPECT_EQ(gcs.at(5000).size(), 0U);
  gcs.end.validate(0);
  EXPECT_EQ(gcs.poll().size(), 2U);
  EXPECT_EQ(gcs.end.counts().timeouts, 0U);
  EXPECT_EQ(gcs.due_ms(), 5600U);
}

TEST(TransportPaths, AProofThatLeavesNothingToSendStartsTheTimeoutAnew) {
  auto gcs = gcs_with_m1();
  gcs.hear(padded_hello());
  gcs.hear(Bench::whole(m1()), 1);
  gcs.end.start(m2(), gcs.now);
  EXPECT_EQ(gcs.poll().size(), 5U);  // all of it to path 0; path 1 paid for no datagram of that size
  EXPECT_EQ(gcs.at(5000).size(), 0U);
  gcs.end.validate(0);
  EXPECT_EQ(gcs.poll().size(), 0U);
  EXPECT_EQ(gcs.end.counts().timeouts, 0U);
  EXPECT_EQ(gcs.due_ms(), 5600U);
}

}  // namespace
}  // namespace pqcmav::test
