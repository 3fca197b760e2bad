// SPDX-License-Identifier: Apache-2.0
// What one end makes of repeated, late, lying and mixed datagrams, and what counts as progress.
#include <gtest/gtest.h>

#include "transport_bench.hpp"

namespace pqcmav::test {
namespace {

using enum Transport::Took;

/// A gcs whose M2 is out, all of it, at 0 ms. Returns what it sent.
std::vector<Sent> send_m2(Bench& gcs) {
  auto hello = Bench::whole(m1());
  append_pad(hello, 1179);
  gcs.hear(hello);
  gcs.end.start(m2(), gcs.now);
  auto sent = gcs.poll();
  EXPECT_EQ(sent.size(), 5U);
  return sent;
}

TEST(TransportInput, TheDelayIsThatOfTheNewestPacket) {
  auto gcs = gcs_with_m1();
  gcs.now += 5 * kMs;
  gcs.hear(Bench::whole(m1()));
  gcs.now += 4 * kMs;
  gcs.end.start(m2(), gcs.now);
  const auto sent = gcs.poll();
  EXPECT_EQ(sent[0].frames.acks[0].delay_ms, 4);
  EXPECT_EQ(sent[0].frames.acks[0].echo, 1U);
}

TEST(TransportInput, AcksThatLieChangeNothing) {
  auto gcs = gcs_with_m1();
  const auto sent = send_m2(gcs);
  gcs.now += 50 * kMs;
  EXPECT_EQ(gcs.hear(Bench::ack(2, sent[4].packet + 1, 4)), repeated);
  EXPECT_EQ(gcs.hear(Bench::ack(2, kFirstGcsPacket - 1, 4)), repeated);
  EXPECT_EQ(gcs.hear(Bench::ack(4, sent[0].packet, 0, {}, 1000)), repeated);  // longer than it is out
  EXPECT_FALSE(gcs.end.srtt());
  EXPECT_EQ(gcs.hear(Bench::ack(4, sent[4].packet, 4)), taken);  // a round trip, no more
  EXPECT_EQ(gcs.end.last_progress(), gcs.begin);
  EXPECT_EQ(gcs.end.counts().lost, 0U);
  EXPECT_LT(gcs.end.deadline(), Transport::kNever);
}

TEST(TransportInput, TheRoundTripOfAFullDatagramIsTheLeastOne) {
  auto gcs = gcs_with_m1();
  const auto sent = send_m2(gcs);
  gcs.now += 50 * kMs;
  gcs.hear(Bench::ack(2, sent[0].packet, 1));
  EXPECT_EQ(gcs.end.full_round_trip(), 50 * kMs);
  gcs.now += 10 * kMs;
  gcs.hear(Bench::ack(2, sent[4].packet, 2));
  EXPECT_EQ(gcs.end.full_round_trip(), 50 * kMs);
  // Of a drone's short M1 only with the long datagram that answers it.
  auto drone = drone_that_said_hello(true);
  drone.poll();
  drone.at(20);
  drone.now += 30 * kMs;
  EXPECT_EQ(drone.hear(Bench::ack(1, 0, 1)), taken);
  EXPECT_FALSE(drone.end.full_round_trip());
  auto both = Bench::ack(1, 1, 1);
  append(both, Bench::fragment(m2(), 1150, 0));
  drone.hear(both);
  EXPECT_EQ(drone.end.full_round_trip(), 30 * kMs);
}

TEST(TransportInput, WhatSaysNothingNewIsNoProgress) {
  auto drone = drone_that_said_hello();
  drone.poll();
  drone.at(200);
  drone.at(400);
  EXPECT_EQ(drone.end.stalls(), 2U);
  drone.hear(Bench::ack(1, 0, 0));
  EXPECT_EQ(drone.end.stalls(), 2U);
  EXPECT_EQ(drone.end.last_progress(), drone.begin);
  drone.hear(Bench::ack(1, 0, 1));
  EXPECT_EQ(drone.end.stalls(), 0U);
  EXPECT_EQ(drone.end.last_progress(), drone.now);
  drone.hear(Bench::fragment(m2(), 1150, 0));
  const auto then = drone.now;
  drone.poll();
  for (int i = 0; i < 2; ++i) drone.now = drone.end.deadline(), drone.poll();
  EXPECT_EQ(drone.end.stalls(), 2U) << "acknowledgements in vain";
  EXPECT_EQ(drone.hear(Bench::fragment(m2(), 1150, 0)), repeated);
  EXPECT_EQ(drone.end.last_progress(), then);
}

TEST(TransportInput, StallsOfASenderEndWithWhatIsNew) {
  auto gcs = gcs_with_m1();
  const auto sent = send_m2(gcs);
  gcs.end.answered_by(0);
  gcs.poll();
  EXPECT_EQ(gcs.end.stalls(), 1U) << "M1 came twice";
  for (int i = 0; i < 3; ++i) gcs.now = gcs.end.deadline(), gcs.poll();
  EXPECT_EQ(gcs.end.stalls(), 3U);
  gcs.hear(Bench::ack(2, sent[4].packet, 1));
  EXPECT_EQ(gcs.end.stalls(), 0U);
  gcs.hear(Bench::whole(m1()));
  EXPECT_EQ(gcs.end.stalls(), 1U);
  gcs.hear(Bench::whole(m3()));
  EXPECT_EQ(gcs.end.stalls(), 0U);
  auto drone = drone_with_m3();
  const auto m3_out = drone.poll();
  drone.hear(Bench::ack(3, m3_out[0].packet, 1));
  for (int i = 0; i < 2; ++i) drone.now = drone.end.deadline(), drone.poll();
  EXPECT_EQ(drone.end.stalls(), 2U) << "M3 is there, M4 is not";
}

TEST(TransportInput, ARejectIsTakenOnceAndDisturbsNoM2) {
  auto drone = drone_that_said_hello();
  drone.poll();
  for (std::uint16_t i = 0; i < 3; ++i) drone.hear(Bench::fragment(m2(), 1150, i));
  const auto reject = made_up(MessageType::reject, 40);
  EXPECT_EQ(drone.hear(Bench::whole(reject), 0, 0x7fff0000), taken);
  EXPECT_EQ(drone.hear(Bench::whole(reject), 0, 0x7fff0001), repeated);
  EXPECT_EQ(drone.end.take_message(), reject);
  drone.hear(Bench::fragment(m2(), 1150, 3));
  EXPECT_EQ(drone.end.take_message(), m2());
}

TEST(TransportInput, AMessageKeepsItsTotalAndItsFragmentsGrowNoMore) {
  auto drone = drone_that_said_hello();
  drone.end.expect({{MessageType::server_hello, 1000, 20'000}});
  EXPECT_EQ(drone.hear(Bench::fragment(m2(), 498, 0)), taken);
  const auto longer = made_up(MessageType::server_hello, 20'000);
  EXPECT_EQ(drone.hear(Bench::fragment(longer, 498, 30)), malformed);
  EXPECT_EQ(drone.hear(Bench::fragment(m2(), 1150, 3)), repeated);
  for (std::uint16_t i = 1; i < 10; ++i) drone.hear(Bench::fragment(m2(), 498, i));
  EXPECT_EQ(drone.end.take_message(), m2());
}

TEST(TransportInput, WhatIsExpectedAgainIsTakenAgain) {
  auto drone = drone_that_said_hello();
  for (int i = 0; i < 2; ++i) {
    drone.end.expect({exactly(m2())});
    for (std::uint16_t index = 0; index < 4; ++index) EXPECT_EQ(drone.hear(Bench::fragment(m2(), 1150, index)), taken);
    EXPECT_EQ(drone.end.take_message(), m2());
    EXPECT_EQ(drone.hear(Bench::fragment(m2(), 1150, 0)), repeated);
  }
}

TEST(TransportInput, TheTypeInsideIsTheMessages) {
  auto drone = drone_that_said_hello();
  auto lying = m2();
  lying[4] = 3;
  Bytes frames;
  append_fragment_header(frames, {2, static_cast<std::uint32_t>(lying.size()), 1150, 0, {}});
  append(frames, ByteView(lying).first(1150));
  EXPECT_EQ(drone.hear(frames), taken);
  for (std::uint16_t i = 1; i < 3; ++i) drone.hear(Bench::fragment(m2(), 1150, i));
  EXPECT_EQ(drone.hear(Bench::fragment(m2(), 1150, 3)), malformed);
  EXPECT_FALSE(drone.end.take_message());
}

TEST(TransportInput, TheFirstFragmentOfM3EndsM2) {
  auto gcs = gcs_with_m1();
  const auto two = made_up(MessageType::client_finish, 2000);
  gcs.end.expect({exactly(two)});
  send_m2(gcs);
  gcs.now += 50 * kMs;
  gcs.hear(Bench::fragment(two, 1150, 0));
  for (std::uint64_t ms = 50; ms < 2000; ms += 10)
    for (const auto& each : gcs.at(ms)) EXPECT_EQ(each.frames.fragment_count, 0);
  EXPECT_EQ(gcs.end.counts().timeouts, 0U);
}

TEST(TransportInput, ACopyOfWhatIsAcknowledgedDoesNotGo) {
  auto drone = drone_that_said_hello();
  drone.poll();
  drone.hear(Bench::fragment(m2(), 1150, 0));
  ++drone.packet;  // a gap
  for (std::uint16_t i = 1; i < 4; ++i) drone.hear(Bench::fragment(m2(), 1150, i));
  EXPECT_EQ(drone.end.take_message(), m2());
  drone.end.start(made_up(MessageType::client_finish, 2000), drone.now);
  const auto sent = drone.poll();
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(drone.due_ms(), 20U);
  drone.now += 10 * kMs;
  drone.hear(Bench::ack(3, sent[0].packet, 1));
  EXPECT_EQ(drone.at(20).size(), 0U);
  const auto copy = drone.at(40);
  ASSERT_GE(copy.size(), 1U);
  EXPECT_EQ(copy[0].index(), 1);
}

TEST(TransportInput, APathThatTookALargeDatagramIsNotSmall) {
  auto gcs = gcs_with_m1();
  const auto sent = send_m2(gcs);
  gcs.now += 50 * kMs;
  gcs.hear(Bench::ack(2, sent[0].packet, 1));
  for (int i = 0; i < 8; ++i) {
    gcs.hear(Bench::whole(m1()));
    gcs.poll();
    gcs.now = gcs.end.deadline();
    for (const auto& each : gcs.poll()) EXPECT_EQ(each.frames.fragments[0].size, 1150);
  }
  EXPECT_GE(gcs.end.counts().timeouts, 3U);
}

TEST(TransportInput, ALateTimerDoesNotSlowThePace) {
  auto gcs = gcs_with_m1();
  gcs.end.start(made_up(MessageType::server_hello, 60 * 1150), gcs.now);
  const auto sent = gcs.poll();
  gcs.now += 100 * kMs;
  gcs.hear(Bench::ack(2, sent[2].packet, 3));  // 20 in 80 ms
  gcs.poll();
  EXPECT_EQ(gcs.due_ms(), 102U);  // the first one may have left 2 ms ago
  EXPECT_EQ(gcs.at(103).size(), 1U);
  EXPECT_EQ(gcs.due_ms(), 106U);
}

}  // namespace
}  // namespace pqcmav::test
