// SPDX-License-Identifier: Apache-2.0
// One end of the transport against a peer that the test plays by hand.
#include "handshake/transport.hpp"

#include <gtest/gtest.h>

#include "handshake/outgoing_message.hpp"
#include "transport_bench.hpp"

namespace pqcmav::test {
namespace {

TEST(Transport, HelloGoesThreeTimesThenInPairs) {
  auto drone = drone_that_said_hello();
  auto sent = drone.poll();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].packet, 0U);
  EXPECT_EQ(sent[0].size, 1200U);
  EXPECT_EQ(*whole_message_of(sent[0].frames, 1)->begin(), m1()[0]);
  EXPECT_EQ(drone.at(19).size(), 0U);
  EXPECT_EQ(drone.at(20).size(), 1U);
  EXPECT_EQ(drone.at(40).size(), 1U);
  EXPECT_FALSE(drone.end.lossy());
  EXPECT_EQ(drone.at(199).size(), 0U);
  sent = drone.at(200);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].size, 360U);
  EXPECT_EQ(drone.at(220).size(), 1U);
  EXPECT_EQ(drone.due_ms(), 400U);
  EXPECT_TRUE(drone.end.lossy());
  EXPECT_EQ(drone.end.counts().timeouts, 1U);
}

TEST(Transport, ProvenOrWithACookieTwoUnpadded) {
  auto drone = drone_that_said_hello(true);
  EXPECT_EQ(drone.poll()[0].size, 360U);
  EXPECT_EQ(drone.at(20)[0].size, 360U);
  EXPECT_EQ(drone.at(40).size(), 0U);
  Cookie cookie;
  cookie.fill(3);
  drone.end.set_cookie(cookie, drone.now);
  const auto sent = drone.poll();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].size, 393U);
  EXPECT_EQ(sent[0].frames.cookie, cookie);
  EXPECT_EQ(drone.at(60).size(), 1U);
  EXPECT_EQ(drone.due_ms(), 240U);
  EXPECT_EQ(drone.at(240)[0].frames.cookie, cookie);
}

TEST(Transport, WhereM2ArrivesARetryIsAnsweredOnceAndNotTooOften) {
  auto drone = drone_that_said_hello();
  drone.poll();
  drone.hear(Bench::fragment(m2(), 1150, 1));
  drone.poll();
  const auto retry = [&](std::uint8_t value) {
    Cookie cookie;
    cookie.fill(value);
    drone.end.set_cookie(cookie, drone.now);
    const auto sent = drone.poll();
    for (const auto& each : sent) EXPECT_EQ(each.frames.cookie, cookie);
    return sent.size();
  };
  EXPECT_EQ(retry(1), 1U);
  EXPECT_EQ(retry(2), 0U);
  drone.now += 5 * kMs;
  EXPECT_EQ(retry(1), 0U) << "that is known";
  EXPECT_EQ(retry(2), 1U);
  for (std::uint16_t i : {0, 2, 3}) drone.hear(Bench::fragment(m2(), 1150, i));
  drone.now += 200 * kMs;
  drone.poll();
  EXPECT_EQ(retry(3), 0U) << "all of M2 is here";
}

TEST(Transport, HelloEndsWhenM2BeginsToArrive) {
  auto drone = drone_that_said_hello();
  drone.poll();
  EXPECT_FALSE(drone.end.arriving());
  EXPECT_EQ(drone.hear(Bench::fragment(m2(), 1150, 1)), Transport::Took::taken);
  EXPECT_TRUE(drone.end.arriving());
  const auto acks = drone.poll();
  ASSERT_EQ(acks.size(), 1U);
  ASSERT_EQ(acks[0].frames.ack_count, 1);
  EXPECT_EQ(acks[0].frames.acks[0].message, 2);
  EXPECT_EQ(acks[0].frames.acks[0].base, 0);
  EXPECT_EQ(acks[0].frames.acks[0].delay_ms, 0);
  EXPECT_TRUE(acks[0].frames.acks[0].has(1));
  EXPECT_EQ(drone.due_ms(), 250U);
}

TEST(Transport, RejectNeitherEndsTheHelloNorMovesTheEcho) {
  auto drone = drone_that_said_hello();
  drone.poll();
  const auto reject = made_up(MessageType::reject, 40);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(drone.hear(Bench::whole(reject), 0, 0x7fff0000 + i), Transport::Took::taken);
    EXPECT_EQ(drone.end.take_message(), reject);
  }
  EXPECT_FALSE(drone.end.arriving());
  EXPECT_EQ(drone.at(20).size(), 1U);
  drone.end.hold_hello(drone.begin + 3000 * kMs);
  EXPECT_EQ(drone.at(2999).size(), 0U);
  EXPECT_EQ(drone.at(3000).size(), 1U);
  drone.hear(Bench::fragment(m2(), 1150, 0), 0, 77);
  EXPECT_EQ(drone.at(3010)[0].frames.acks[0].echo, 77U);
}

TEST(Transport, M2GoesAtOnceWithParityAndTheAckOfM1) {
  auto gcs = gcs_with_m1();
  gcs.now += 7 * kMs;
  gcs.end.start(m2(), gcs.now);
  const auto sent = gcs.poll();
  // Paid for: 3 x 1,228; three datagrams and no more.
  ASSERT_EQ(sent.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sent[static_cast<std::size_t>(i)].index(), i);
    EXPECT_EQ(sent[static_cast<std::size_t>(i)].packet, kFirstGcsPacket + static_cast<std::uint32_t>(i));
    EXPECT_EQ(sent[static_cast<std::size_t>(i)].size, 1191U);
    const auto& ack = sent[static_cast<std::size_t>(i)].frames.acks[0];
    EXPECT_EQ(ack.message, 1);
    EXPECT_EQ(ack.base, 1);
    EXPECT_EQ(ack.delay_ms, 7);
    EXPECT_EQ(ack.echo, 0U);
  }
  // Forbidden: its time-out rests.
  EXPECT_EQ(gcs.end.deadline(), Transport::kNever);
  EXPECT_EQ(gcs.at(5000).size(), 0U);
  EXPECT_EQ(gcs.end.counts().timeouts, 0U);
  // Each further datagram pays for more.
  auto again = Bench::whole(m1());
  append_pad(again, 1179);
  EXPECT_EQ(gcs.hear(again), Transport::Took::repeated);
  const auto rest = gcs.poll();
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].index(), 3);
  EXPECT_EQ(rest[1].index(), 4);
  EXPECT_EQ(gcs.due_ms(), 5600U);
  EXPECT_FALSE(gcs.end.answered());
}

TEST(Transport, AnEchoOfWhatWasSentIsAnAnswerWhereverItComesFrom) {
  auto gcs = gcs_with_m1();
  gcs.end.start(m2(), gcs.now);
  const auto sent = gcs.poll();
  ASSERT_EQ(sent.size(), 3U);
  // Numbers that were never sent.
  gcs.hear(Bench::ack(2, kFirstGcsPacket + 3, 1));
  gcs.hear(Bench::ack(2, kFirstGcsPacket - 1, 1));
  EXPECT_FALSE(gcs.end.answered());
  gcs.now += 50 * kMs;
  EXPECT_EQ(gcs.hear(Bench::ack(2, sent[1].packet, 1), Transport::kElsewhere), Transport::Took::taken);
  EXPECT_TRUE(gcs.end.has_answered(0));
  EXPECT_EQ(gcs.end.srtt(), 50 * kMs);
}

TEST(Transport, M3AnswersForWhereM2Went) {
  auto gcs = gcs_with_m1();
  gcs.end.start(m2(), gcs.now);
  gcs.poll();
  EXPECT_EQ(gcs.hear(Bench::whole(m3()), Transport::kElsewhere), Transport::Took::taken);
  EXPECT_TRUE(gcs.end.has_answered(0));
  EXPECT_EQ(gcs.end.take_message(), m3());
  gcs.end.start(m4(), gcs.now);
  const auto sent = gcs.poll();
  ASSERT_EQ(sent.size(), 2U) << "where M2 went, and where M3 came from";
  EXPECT_EQ(sent[0].path, 0);
  EXPECT_EQ(sent[1].path, Transport::kElsewhere);
  EXPECT_EQ(sent[1].message(), 4);
}

TEST(Transport, ADroneBeginsAtNought) {
  for (const std::uint32_t first : {0U, 1U}) {
    Bench gcs(HandshakeSide::gcs);
    gcs.end.expect({exactly(m1())});
    gcs.hear(Bench::whole(m1()), 0, first);
    EXPECT_EQ(gcs.end.lossy(), first == 1);
  }
}

TEST(Transport, M4GoesTwiceWhereLossWasSeen) {
  auto gcs = gcs_with_m1();
  gcs.end.start(m2(), gcs.now);
  gcs.poll();
  ++gcs.packet;  // a gap
  gcs.hear(Bench::whole(m3()));
  EXPECT_TRUE(gcs.end.lossy());
  gcs.end.take_message();
  gcs.end.start(m4(), gcs.now);
  EXPECT_EQ(gcs.poll().size(), 1U);
  gcs.end.linger(m4());
  EXPECT_EQ(gcs.at(19).size(), 0U);
  EXPECT_EQ(gcs.at(20).size(), 1U);
  EXPECT_EQ(gcs.end.deadline(), Transport::kNever);
}

TEST(Transport, M3IsRepeatedUntilM4Comes) {
  auto drone = drone_with_m3();
  auto sent = drone.poll();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].size, 1199U);
  EXPECT_EQ(drone.at(299).size(), 0U);
  EXPECT_FALSE(drone.end.lossy());
  EXPECT_EQ(drone.at(300).size(), 1U);
  EXPECT_TRUE(drone.end.lossy());
  // A slow gcs has it; that does not mean that its answer will come.
  drone.now = drone.begin + 400 * kMs;
  EXPECT_EQ(drone.hear(Bench::ack(3, sent[0].packet, 1, {}, 200)), Transport::Took::taken);
  EXPECT_EQ(drone.end.srtt(), 100 * kMs);
  EXPECT_EQ(drone.poll().size(), 0U);
  EXPECT_EQ(drone.due_ms(), 400U + 135);
  EXPECT_EQ(drone.at(535).size(), 1U);
  EXPECT_EQ(drone.hear(Bench::whole(m4())), Transport::Took::taken);
  EXPECT_EQ(drone.end.take_message(), m4());
  EXPECT_EQ(drone.at(5000).size(), 0U);
  EXPECT_EQ(drone.end.deadline(), Transport::kNever);
}

TEST(Transport, M3GoesTwiceWhereLossWasSeen) {
  auto drone = drone_with_m3(true);
  EXPECT_EQ(drone.poll().size(), 1U);
  EXPECT_EQ(drone.at(119).size(), 0U);
  EXPECT_EQ(drone.at(120).size(), 1U);
}

TEST(Transport, M3OfTwoFragmentsGoesTwiceToo) {
  for (const std::size_t size : {2000, 2400}) {
    auto drone = drone_that_said_hello();
    drone.hear(Bench::fragment(m2(), 1150, 0));
    ++drone.packet;
    for (std::uint16_t i = 1; i < 4; ++i) drone.hear(Bench::fragment(m2(), 1150, i));
    drone.end.take_message();
    drone.poll();
    drone.end.start(made_up(MessageType::client_finish, size), drone.now);
    const auto first = drone.poll();
    EXPECT_EQ(first.size(), size == 2000 ? 3U : 4U);
    EXPECT_EQ(drone.at(20).size(), size == 2000 ? 1U : 0U);
    EXPECT_EQ(drone.at(40).size(), size == 2000 ? 1U : 0U);
  }
}

TEST(Transport, TwoTimeoutsAndM3IsCutSmall) {
  auto drone = drone_with_m3();
  drone.poll();
  drone.at(300);
  EXPECT_EQ(drone.at(500)[0].size, 1199U);  // nothing was heard: the link may be down
  drone.hear(Bench::fragment(m2(), 1150, 3));
  const auto sent = drone.at(700);
  ASSERT_EQ(sent.size(), 4U);  // three and parity
  for (const auto& each : sent) {
    EXPECT_EQ(each.frames.fragments[0].size, 498);
    EXPECT_LE(each.size, 548U);
  }
  EXPECT_EQ(drone.hear(Bench::ack(3, sent[0].packet - 1, 3)), Transport::Took::taken);  // a round trip, no more
  EXPECT_EQ(drone.hear(Bench::ack(3, sent[0].packet - 1, 3)), Transport::Took::repeated);
  drone.hear(Bench::ack(3, sent[3].packet, 1, Bytes{1}));
  const auto lost = drone.poll();
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].index(), 1);
}

TEST(Transport, CompleteMessageIsAcknowledgedWhileItsAnswerTakesTime) {
  auto gcs = gcs_with_m1();
  EXPECT_EQ(gcs.at(9).size(), 0U);
  const auto sent = gcs.at(10);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].frames.acks[0].message, 1);
  EXPECT_EQ(sent[0].frames.acks[0].base, 1);
  EXPECT_EQ(gcs.end.last_progress(), gcs.now);
  EXPECT_EQ(gcs.due_ms(), 1010U);
  EXPECT_EQ(gcs.at(1010).size(), 1U);
  gcs.end.start(m2(), gcs.now);
  gcs.poll();
  EXPECT_EQ(gcs.at(2500).size(), 0U);
}

TEST(Transport, EveryEighthFragmentIsAcknowledgedAtOnce) {
  Bench drone(HandshakeSide::drone);
  const auto large = made_up(MessageType::server_hello, 30 * 1150);
  drone.end.expect({exactly(large)});
  for (std::uint16_t i = 0; i < 7; ++i) drone.hear(Bench::fragment(large, 1150, i));
  EXPECT_EQ(drone.poll().size(), 0U);
  drone.hear(Bench::fragment(large, 1150, 7));
  const auto sent = drone.poll();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].frames.acks[0].base, 8);
}

TEST(Transport, SmallerFragmentsStartAMessageOverLargerOnesAreDropped) {
  auto drone = drone_that_said_hello();
  drone.poll();
  for (std::uint16_t i = 0; i < 3; ++i) drone.hear(Bench::fragment(m2(), 1150, i));
  for (std::uint16_t i = 0; i < 9; ++i) EXPECT_EQ(drone.hear(Bench::fragment(m2(), 498, i)), Transport::Took::taken);
  EXPECT_EQ(drone.hear(Bench::fragment(m2(), 1150, 3)), Transport::Took::repeated);
  EXPECT_FALSE(drone.end.take_message());
  drone.hear(Bench::fragment(m2(), 498, 9));
  EXPECT_EQ(drone.end.take_message(), m2());
}

TEST(Transport, MalformedIsWhatBreaksTheRules) {
  using enum Transport::Took;
  auto drone = drone_that_said_hello();
  const auto longer = made_up(MessageType::server_hello, 4579), shorter = made_up(MessageType::server_hello, 4577);
  EXPECT_EQ(drone.hear(Bench::fragment(longer, 1150, 0)), malformed);
  EXPECT_EQ(drone.hear(Bench::fragment(shorter, 1150, 0)), malformed);
  EXPECT_EQ(drone.hear(Bench::whole(m4())), malformed);  // not yet
  EXPECT_EQ(drone.hear(Bench::whole(m1())), malformed);  // its own
  EXPECT_EQ(drone.hear({9}), malformed);
  EXPECT_FALSE(drone.end.arriving());
  EXPECT_EQ(drone.end.on_datagram({}, 0, drone.now), malformed);
  Bytes own;
  append_handshake_header(own, {HandshakeSide::drone, kAttempt, 0});
  own.resize(21);
  EXPECT_EQ(drone.end.on_datagram(own, 0, drone.now), malformed);
  own[0] = 0x43;
  EXPECT_EQ(drone.end.on_datagram(own, 0, drone.now), malformed);  // without a frame
  own.push_back(0);
  EXPECT_EQ(drone.end.on_datagram(own, 0, drone.now), repeated);  // PAD: says nothing
  EXPECT_EQ(drone.end.on_datagram(own, Transport::kElsewhere + 1, drone.now), malformed);
  own[1] ^= 1;
  EXPECT_EQ(drone.end.on_datagram(own, 0, drone.now), malformed);
  auto lying = m2();
  lying[3] ^= 1;  // the length inside
  for (std::uint16_t i = 0; i < 3; ++i) EXPECT_EQ(drone.hear(Bench::fragment(lying, 1150, i)), taken);
  EXPECT_EQ(drone.hear(Bench::fragment(lying, 1150, 3)), malformed);
  EXPECT_FALSE(drone.end.take_message());
}

TEST(Transport, CountsWhatHappened) {
  auto drone = drone_that_said_hello();
  drone.poll();
  const Bytes parity_group = [&] {
    OutgoingMessage out(m2(), {}, 0);
    Bytes frame;
    out.append_to(frame, 4);
    return frame;
  }();
  drone.hear(Bench::fragment(m2(), 1150, 0));
  drone.hear(Bench::fragment(m2(), 1150, 0));
  drone.hear(Bench::fragment(m2(), 1150, 1));
  drone.hear(Bench::fragment(m2(), 1150, 3));
  drone.hear(parity_group);
  EXPECT_EQ(drone.end.take_message(), m2());
  const auto& counts = drone.end.counts();
  EXPECT_EQ(counts.sent, 1U);
  EXPECT_EQ(counts.sent_bytes, 1200U);
  EXPECT_EQ(counts.received, 5U);
  EXPECT_EQ(counts.received_bytes, 3 * 1180U + 1158 + 1180);
  EXPECT_EQ(counts.repeated_fragments, 1U);
  EXPECT_EQ(counts.rebuilt, 1U);
}

}  // namespace
}  // namespace pqcmav::test
