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
  EXPECT_TRUE(gcs.end.has_answered(0));
  EXPECT_EQ(gcs.poll().size(), 0U);
  return gcs;
}
TEST(TransportPaths, OnlyTheFirstGetsM2UntilSomebodyAnswers) {
  auto gcs = gcs_with_m1();
  gcs.hear(padded_hello(), Transport::kElsewhere);
  gcs.end.start(m2(), gcs.now);
  const auto sent = gcs.poll();
  ASSERT_EQ(sent.size(), 3U) << "and what came from elsewhere pays for nothing";
  for (const auto& each : sent) EXPECT_EQ(each.path, 0);
}

TEST(TransportPaths, WhoAnswersGetsAllOfItFromTheBeginning) {
  auto gcs = gcs_with_m1();
  gcs.end.start(m2(), gcs.now);
  ASSERT_EQ(gcs.poll().size(), 3U);
  ASSERT_EQ(gcs.end.join(1), 1);
  const auto sent = gcs.poll();
  ASSERT_EQ(sent.size(), 5U);
  std::set<int> indices;
  for (const auto& each : sent) {
    EXPECT_EQ(each.path, 1);
    indices.insert(each.index());
  }
  EXPECT_EQ(indices.size(), 5U);
}

TEST(TransportPaths, TwoWhoAnsweredBothGetEverythingWithNumbersOfTheirOwn) {
  auto gcs = gcs_with_m1();
  gcs.end.answered_by(0);
  ASSERT_EQ(gcs.end.join(1), 1);
  gcs.end.start(m2(), gcs.now);
  std::set<std::pair<int, int>> got;
  std::set<std::uint32_t> numbers;
  for (const auto& each : gcs.poll()) {
    got.emplace(each.path, each.index());
    numbers.insert(each.packet);
  }
  EXPECT_EQ(got.size(), 10U);
  EXPECT_EQ(numbers.size(), 10U);
  // What one of them withholds is not missing where the other passes it.
  gcs.now += 50 * kMs;
  gcs.hear(Bench::ack(2, *numbers.rbegin(), 4));
  EXPECT_EQ(gcs.poll().size(), 0U);
  EXPECT_EQ(gcs.end.counts().lost, 0U);
}

TEST(TransportPaths, AnAcknowledgementGoesToAllWhoAnswered) {
  auto gcs = gcs_whose_m2_came();
  ASSERT_EQ(gcs.end.join(1), 1);
  gcs.poll();
  const auto two = made_up(MessageType::client_finish, 2000);
  gcs.end.expect({exactly(two)});
  gcs.hear(Bench::fragment(two, 1150, 0));
  gcs.now += 11 * kMs;
  const auto sent = gcs.poll();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].path + sent[1].path, 1);
}

TEST(TransportPaths, AProofSpeaksForOneWindow) {
  Bench gcs(HandshakeSide::gcs);
  gcs.end.expect({exactly(m1())});
  gcs.hear(Bench::whole(m1()));
  gcs.end.lift();
  gcs.end.start(made_up(MessageType::server_hello, 60 * 1150), gcs.now);
  std::size_t bytes = 0;
  for (std::uint64_t ms = 0; ms < 9000; ms += 100)
    for (const auto& each : gcs.at(ms)) bytes += each.size + 28;
  EXPECT_GT(bytes, 9 * 1228U);
  EXPECT_LE(bytes, 10 * 1228U + 3 * 400U);
}

TEST(TransportPaths, M4GoesToAllWhoAnsweredAndWhereM3WasCompletedFrom) {
  auto gcs = gcs_whose_m2_came();
  const auto two = made_up(MessageType::client_finish, 2000);
  gcs.end.expect({exactly(two)});
  gcs.hear(Bench::fragment(two, 1150, 0), 0, 50);
  gcs.hear(Bench::fragment(two, 1150, 1), 1, 49);
  EXPECT_EQ(gcs.end.take_message(), two);
  gcs.end.start(m4(), gcs.now);
  const auto sent = gcs.poll();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_EQ(sent[0].path, 0);
  EXPECT_EQ(sent[1].path, 1);
}

TEST(TransportPaths, ALingeringGcsAnswersM3OnlyAndOnceIn10Ms) {
  auto gcs = gcs_whose_m2_came();
  gcs.hear(Bench::whole(m3()));
  EXPECT_EQ(gcs.end.take_message(), m3());
  gcs.end.start(m4(), gcs.now);
  gcs.end.linger(m4());
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

TEST(TransportPaths, AnAnswerSetsFreeWhatWasForbidden) {
  auto gcs = gcs_with_m1();
  gcs.end.start(m2(), gcs.now);
  EXPECT_EQ(gcs.poll().size(), 3U);
  EXPECT_EQ(gcs.at(5000).size(), 0U);
  gcs.end.answered_by(0);
  EXPECT_EQ(gcs.poll().size(), 2U);
  EXPECT_EQ(gcs.end.counts().timeouts, 0U);
  EXPECT_EQ(gcs.due_ms(), 5600U);
}

}  // namespace
}  // namespace pqcmav::test
