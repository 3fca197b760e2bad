// SPDX-License-Identifier: Apache-2.0
// One end of a handshake inside a session, against a peer that the test plays by hand.
#include <gtest/gtest.h>

#include "transport_bench.hpp"

namespace pqcmav::test {
namespace {

KnownLink known(bool lossy, std::uint32_t window = 10, std::optional<std::uint64_t> round_trip = std::nullopt) {
  return {round_trip, window, lossy};
}
Bench drone_in_session(const KnownLink& link) {
  Bench drone(HandshakeSide::drone, link);
  drone.end.expect({exactly(m2()), {MessageType::reject, 1, 35}});
  drone.end.start(m1(), drone.now);
  return drone;
}
Bench gcs_in_session(const KnownLink& link, const Bytes& answer) {
  Bench gcs(HandshakeSide::gcs, link);
  gcs.end.expect({exactly(m1())});
  EXPECT_EQ(gcs.hear(Bench::whole(m1())), Transport::Took::taken);
  EXPECT_EQ(gcs.end.take_message(), m1());
  gcs.end.start(answer, gcs.now);
  return gcs;
}

TEST(TransportSession, ParityAndASecondM1WhereLossIsKnown) {
  for (const bool lossy : {false, true}) {
    EXPECT_EQ(gcs_in_session(known(lossy), m2()).poll().size(), lossy ? 6U : 5U);
    auto drone = drone_in_session(known(lossy));
    EXPECT_EQ(drone.poll().size(), 1U);
    EXPECT_EQ(drone.at(20).size(), lossy ? 1U : 0U);
    EXPECT_EQ(drone.at(199).size(), 0U);
    EXPECT_EQ(drone.at(200).size(), 1U);
  }
}

TEST(TransportSession, AKnownRoundTripMakesALossyLinksTimeoutOnlyShorter) {
  const auto first_timeout = [](bool lossy, std::uint64_t round_trip) {
    auto drone = drone_in_session(known(lossy, 10, round_trip * kMs));
    drone.poll();
    drone.at(20);
    return drone.due_ms();
  };
  EXPECT_EQ(first_timeout(false, 600), 600U + 150 + 10);
  EXPECT_EQ(first_timeout(true, 600), 200U);
  EXPECT_EQ(first_timeout(true, 100), 100U + 25 + 10);
}

TEST(TransportSession, AnotherAttemptAndACookieAreMalformed) {
  Bench gcs(HandshakeSide::gcs, KnownLink{});
  gcs.end.expect({exactly(m1())});
  auto frames = Bench::whole(m1());
  Bytes other(kAttempt.begin(), kAttempt.end());
  other[7] ^= 1;
  append_be(other, std::uint32_t{0});
  append(other, frames);
  EXPECT_EQ(gcs.end.on_datagram(other, 0, gcs.now), Transport::Took::malformed);
  append_cookie(frames, {});
  EXPECT_EQ(gcs.hear(frames), Transport::Took::malformed);
  EXPECT_EQ(gcs.hear(Bench::whole(m1())), Transport::Took::taken);
}

TEST(TransportSession, TheFirstFragmentOfM2IsNotAwaited) {
  auto drone = drone_in_session(known(false));
  drone.poll();
  drone.hear(Bench::fragment(m2(), 1127, 0));
  EXPECT_EQ(drone.poll().size(), 0U);
  EXPECT_EQ(drone.at(9).size(), 0U);
  EXPECT_EQ(drone.at(10).size(), 1U);
}

TEST(TransportSession, TheWindowDoesNotDouble) {
  auto gcs = gcs_in_session(known(false, 8), made_up(MessageType::server_hello, 60 * 1127));
  const auto sent = gcs.poll();
  ASSERT_EQ(sent.size(), 8U);
  gcs.now += 100 * kMs;
  gcs.hear(Bench::ack(2, sent[7].packet, 8));
  std::size_t more = 0;
  for (std::uint64_t ms = 100; ms < 230; ++ms) more += gcs.at(ms).size();
  EXPECT_EQ(more, 9U);
}

TEST(TransportSession, AnAckOfM1GoesWithM2WhereBothFit) {
  for (const std::size_t size : {1127, 1128}) {
    const auto sent = gcs_in_session(known(false), made_up(MessageType::server_hello, size)).poll();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].frames.ack_count, size == 1127 ? 1 : 0);
  }
  for (const std::size_t size : {1159, 1160}) {
    auto gcs = gcs_with_m1();
    gcs.end.start(made_up(MessageType::server_hello, size), gcs.now);
    const auto sent = gcs.poll();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].frames.ack_count, size == 1159 ? 1 : 0);
    EXPECT_EQ(sent[0].size, size == 1159 ? 1200U : 1190U);
  }
}

}  // namespace
}  // namespace pqcmav::test
