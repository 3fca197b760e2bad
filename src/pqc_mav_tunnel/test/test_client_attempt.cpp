// SPDX-License-Identifier: Apache-2.0
#include "control/client_attempt.hpp"

#include <gtest/gtest.h>

#include "handshake_fixture.hpp"
#include "nanoseconds.hpp"
#include "transport_bench.hpp"

namespace pqcmav::test {
namespace {

constexpr std::uint64_t kNow = 1'000 * kS;

SockAddr address(std::uint8_t last) { return resolve("192.0.2." + std::to_string(last), 14560, false, SOCK_DGRAM); }

/// An attempt that said M1 at kNow, and the ground station that it has to do with.
struct Talk {
  explicit Talk(std::vector<SockAddr> targets = {address(1)})
      : attempt(params(), std::move(targets), kNow),
        gcs({HandshakeSide::gcs, attempt.name(), false, kFirstGcsPacket, 1200, KnownLink{}}, attempt.keys().clone()) {
    attempt.begin(m1(), {exactly(m2()), {MessageType::reject, 1, 35}}, KnownLink{}, 0, kNow);
    gcs.expect({exactly(m1())});
  }
  static InitiatorParams params() { return drone_params(Scene{}); }
  /// All that it has to say now; how many datagrams that were.
  std::size_t poll(std::uint64_t now) {
    std::size_t count = 0;
    for (; const auto datagram = attempt.poll(now); ++count) (void)gcs.on_datagram(*datagram, 0, now);
    return count;
  }
  /// The ground station's answer, which M1 has come for.
  std::vector<Bytes> answer(std::uint64_t now) {
    EXPECT_EQ(gcs.take_message(), m1());
    gcs.expect({exactly(m3())});
    gcs.start(m2(), now);
    std::vector<Bytes> out;
    while (auto next = gcs.poll(now)) out.push_back(std::move(next->datagram));
    return out;
  }
  ClientAttempt attempt;
  Transport gcs;
};

TEST(ClientAttempt, TakesTheAnswerOnceAndReplies) {
  Talk talk;
  EXPECT_EQ(talk.poll(kNow), 1u);
  EXPECT_TRUE(talk.attempt.silent());
  auto answer = talk.answer(kNow);
  const auto first = answer.front();
  std::optional<ClientAttempt::Incoming> whole;
  // The gcs sends no more than M1 has paid for before it hears that its first datagrams came.
  for (auto now = kNow; !whole && now < kNow + 2 * kS; now += 10 * kMs) {
    for (const auto& each : answer) (void)talk.attempt.on_datagram(each, address(1), now);
    whole = talk.attempt.take_message();
    talk.poll(now);
    answer.clear();
    while (auto next = talk.gcs.poll(now)) answer.push_back(std::move(next->datagram));
  }
  EXPECT_EQ(talk.attempt.on_datagram(first, address(1), kNow), HandshakeDrop::repeated);
  EXPECT_FALSE(talk.attempt.silent());
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->message, m2());
  EXPECT_EQ(whole->from, address(1));
  EXPECT_FALSE(talk.attempt.take_message());
  talk.attempt.reply(m3(), {exactly(m4())}, kNow + 2 * kS);
  EXPECT_GT(talk.poll(kNow + 2 * kS), 0u);
  EXPECT_EQ(talk.gcs.take_message(), m3());
}

TEST(ClientAttempt, WhatIsNotOfItMovesNothing) {
  Talk talk, other;
  talk.poll(kNow);
  other.poll(kNow);
  const auto answer = talk.answer(kNow).front();
  EXPECT_EQ(talk.attempt.on_datagram(answer, address(2), kNow), HandshakeDrop::unknown);
  EXPECT_EQ(talk.attempt.on_datagram(other.answer(kNow).front(), address(1), kNow), HandshakeDrop::unknown);
  auto bent = answer;
  bent.back() ^= 1;
  EXPECT_EQ(talk.attempt.on_datagram(bent, address(1), kNow), HandshakeDrop::tag);
  EXPECT_EQ(talk.attempt.on_datagram(ByteView(answer).first(5), address(1), kNow), HandshakeDrop::malformed);
  Bytes retry(40, 0);
  retry[0] = kRetryType;
  EXPECT_EQ(talk.attempt.on_datagram(retry, address(1), kNow), HandshakeDrop::tag);
  EXPECT_FALSE(talk.attempt.on_session_part(answer, kNow));
  EXPECT_TRUE(talk.attempt.silent());
  EXPECT_FALSE(talk.attempt.take_message());
}

TEST(ClientAttempt, TriesItsAddressesInTurnsUntilOneAnswers) {
  Talk talk({address(1), address(2)});
  talk.poll(kNow);
  EXPECT_EQ(talk.attempt.target(), address(1));
  EXPECT_LE(talk.attempt.deadline(), kNow + kS);
  talk.poll(kNow + kS);
  EXPECT_EQ(talk.attempt.target(), address(2));
  // The first one's answer was only late.
  EXPECT_EQ(talk.attempt.on_datagram(talk.answer(kNow + kS).front(), address(1), kNow + kS), HandshakeDrop::taken);
  talk.poll(kNow + 3 * kS);
  EXPECT_EQ(talk.attempt.targets(), std::vector{address(1)});
  EXPECT_EQ(talk.attempt.target(), address(1));
}

TEST(ClientAttempt, IsOverWithoutProgress) {
  Talk talk;
  talk.poll(kNow);
  const auto limit = to_ns(kNoProgressLimit);
  EXPECT_FALSE(talk.attempt.over(kNow + limit - 1));
  EXPECT_TRUE(talk.attempt.over(kNow + limit));
  EXPECT_EQ(talk.attempt.ended_by(), HandshakeError::timeout);
}

TEST(ClientAttempt, WaitsForABusyGcsAndHasThatMuchMorePatience) {
  Talk talk;
  talk.poll(kNow);
  const auto wait = static_cast<std::uint64_t>(kBusyRetryMax.count());
  talk.attempt.ask_again(static_cast<std::uint16_t>(wait), kNow);
  EXPECT_EQ(talk.poll(kNow + wait * kMs - 1), 0u);
  EXPECT_EQ(talk.poll(kNow + wait * kMs), 1u);
  EXPECT_FALSE(talk.attempt.over(kNow + wait * kMs + to_ns(kNoProgressLimit) - 1));
  EXPECT_EQ(talk.attempt.ended_by(), HandshakeError::rejected);
}

TEST(ClientAttempt, InsideASessionItMayTakeLongIfItGetsOn) {
  ClientAttempt rekey(Talk::params(), {}, kNow), ratchet;
  for (auto* each : {&rekey, &ratchet}) {
    each->begin(m1(), {exactly(m2())}, KnownLink{}, 0, kNow);
    Transport gcs({HandshakeSide::gcs, each->name(), true, kFirstGcsPacket, 1200, {std::nullopt, 10, false}}, {});
    gcs.expect({exactly(m1())});
    (void)gcs.on_datagram(*each->poll(kNow), 0, kNow);
    ASSERT_EQ(gcs.take_message(), m1());
    gcs.start(m2(), kNow);
    std::vector<Bytes> parts;
    while (auto next = gcs.poll(kNow)) parts.push_back(std::move(next->datagram));
    auto now = kNow;
    for (const auto& part : parts) {
      now += to_ns(kNoProgressLimit) - 1;
      EXPECT_FALSE(each->over(now));
      EXPECT_TRUE(each->on_session_part(part, now));
    }
    ASSERT_TRUE(each->take_message());
    each->reply(m3(), {exactly(m4())}, now);
    EXPECT_FALSE(each->over(now + to_ns(kNoProgressLimit) - 1));
    EXPECT_GT(now, kNow + 45 * kS);
    EXPECT_TRUE(each->over(now + to_ns(kNoProgressLimit)));
  }
}

TEST(ClientAttempt, InsideASessionItTakesItsOwnPartsAlone) {
  ClientAttempt attempt, other;
  for (auto* each : {&attempt, &other}) each->begin(m1(), {exactly(m2())}, KnownLink{}, 0, kNow);
  EXPECT_TRUE(attempt.in_session());
  const auto part = other.poll(kNow);
  ASSERT_TRUE(part);
  EXPECT_FALSE(attempt.on_session_part(*part, kNow));
  EXPECT_FALSE(attempt.on_session_part(ByteView(*part).first(kAttemptSize - 1), kNow));
  EXPECT_TRUE(attempt.silent());
}

}  // namespace
}  // namespace pqcmav::test
