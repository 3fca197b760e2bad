// SPDX-License-Identifier: Apache-2.0
#include "session/session.hpp"

#include "hex.hpp"
#include "session_fixture.hpp"

namespace pqcmav {
namespace {

using test::kTimers;
using test::open;
using test::receives;
using test::seal;

class SessionTest : public ::testing::Test {
 protected:
  /// Keys on both ends as a handshake installs them: the gcs first, then the drone.
  SessionId rekey(std::uint8_t epoch) {
    auto keys = source.make(epoch);
    const auto id = keys.drone.session_id;
    gcs.install(std::move(keys.gcs), now);
    drone.install(std::move(keys.drone), now);
    return id;
  }
  /// A first session that both ends have used.
  SessionId connect() {
    const auto id = rekey(0);
    EXPECT_FALSE(open(gcs, *seal(drone, 1, now), now).opened.drop);
    EXPECT_FALSE(open(drone, *seal(gcs, 2, now), now).opened.drop);
    return id;
  }

  test::KeySource source{7};
  Session drone{true, kTimers, 1024}, gcs{false, kTimers, 1024};
  std::uint64_t now = 1000 * kS;
};

TEST_F(SessionTest, StartsWithNothing) {
  for (auto* session : {&drone, &gcs}) {
    EXPECT_FALSE(session->can_send());
    EXPECT_FALSE(seal(*session, 1, now));
    EXPECT_FALSE(session->current());
    EXPECT_FALSE(session->pending());
    EXPECT_EQ(session->sealed_packets(), 0u);
    EXPECT_FALSE(session->tick(now));
  }
}

TEST_F(SessionTest, TheDroneSendsAtOnceAndTheGcsAfterTheFirstPacket) {
  const auto id = rekey(0);
  EXPECT_TRUE(drone.can_send());
  ASSERT_TRUE(drone.current());
  EXPECT_EQ(drone.current()->id, id);
  EXPECT_FALSE(gcs.can_send());
  EXPECT_FALSE(gcs.current());
  ASSERT_TRUE(gcs.pending());
  EXPECT_EQ(gcs.pending()->id, id);

  const auto first = open(gcs, *seal(drone, 42, now), now);
  EXPECT_FALSE(first.opened.drop);
  EXPECT_EQ(first.content, 42u);
  EXPECT_TRUE(first.opened.switched);
  EXPECT_TRUE(first.opened.current);
  EXPECT_TRUE(gcs.can_send());
  EXPECT_FALSE(gcs.pending());
  EXPECT_EQ(gcs.current()->id, id);
  EXPECT_FALSE(open(gcs, *seal(drone, 43, now), now).opened.switched);
  EXPECT_EQ(open(drone, *seal(gcs, 44, now), now).content, 44u);
}

TEST_F(SessionTest, ARekeyLosesNothingWhicheverPacketArrivesFirst) {
  const auto first = connect();
  // In flight in both directions while the keys change.
  const auto old_up = *seal(drone, 10, now);
  const auto old_down = *seal(gcs, 11, now);
  const auto second = rekey(1);
  const auto still_old_down = *seal(gcs, 12, now);  // the gcs has not heard the new key yet
  const auto new_up = *seal(drone, 13, now);
  EXPECT_EQ(load_be<std::uint64_t>(still_old_down.data() + 5), load_be<std::uint64_t>(first.data()));

  now += 10 * kMs;
  EXPECT_EQ(open(gcs, new_up, now).content, 13u);  // overtook the old one
  const auto late = open(gcs, old_up, now);
  EXPECT_EQ(late.content, 10u);
  EXPECT_FALSE(late.opened.current);
  EXPECT_EQ(open(drone, old_down, now).content, 11u);
  EXPECT_EQ(open(drone, *seal(gcs, 14, now), now).content, 14u);
  EXPECT_EQ(open(drone, still_old_down, now).content, 12u);
  EXPECT_EQ(gcs.current()->id, second);
  EXPECT_EQ(gcs.current()->epoch, 1);
}

TEST_F(SessionTest, EachEndKeepsTheOldReceiveKeyForTheGraceTimeAfterItHeardTheNewOne) {
  const auto first = connect();
  const auto old_up = *seal(drone, 10, now), old_down = *seal(gcs, 11, now);
  const auto second = rekey(1);

  // Nothing heard yet: the drone keeps the old key, since the gcs may not have switched.
  now += 10 * kS;
  drone.tick(now);
  EXPECT_TRUE(receives(drone, first));

  const auto switched_at = now;
  ASSERT_FALSE(open(gcs, *seal(drone, 1, now), now).opened.drop);
  now += 100 * kMs;
  const auto heard_at = now;
  ASSERT_FALSE(open(drone, *seal(gcs, 2, now), now).opened.drop);

  gcs.tick(switched_at + kTimers.grace - 1);
  drone.tick(heard_at + kTimers.grace - 1);
  EXPECT_TRUE(receives(gcs, first));
  EXPECT_TRUE(receives(drone, first));
  EXPECT_TRUE(gcs.tick(switched_at + kTimers.grace));
  EXPECT_TRUE(drone.tick(heard_at + kTimers.grace));
  EXPECT_EQ(test::receive_ids(gcs), std::vector{second});
  EXPECT_EQ(test::receive_ids(drone), std::vector{second});
  EXPECT_EQ(open(gcs, old_up, now).opened.drop, Drop::unknown);
  EXPECT_EQ(open(drone, old_down, now).opened.drop, Drop::unknown);
}

TEST_F(SessionTest, ADroneThatNeverHearsTheNewKeyWipesTheOldOneAfterTheUnusedTime) {
  const auto first = connect();
  rekey(1);
  drone.tick(now + kTimers.unused - 1);
  EXPECT_TRUE(receives(drone, first));
  drone.tick(now + kTimers.unused);
  EXPECT_FALSE(receives(drone, first));
}

TEST_F(SessionTest, AKeyThatNobodyUsesIsWipedAndTheRunningOneGoesOn) {
  const auto first = connect();
  auto keys = source.make(1);
  const auto second = keys.gcs.session_id;
  gcs.install(std::move(keys.gcs), now);  // the last message of the handshake is lost: the drone never installs
  for (std::uint64_t t = 0; t < kTimers.unused; t += kS) {
    ASSERT_FALSE(gcs.tick(now + t)) << t;
    ASSERT_EQ(open(gcs, *seal(drone, t, now + t), now + t).content, t);
  }
  EXPECT_TRUE(receives(gcs, second));
  EXPECT_TRUE(gcs.tick(now + kTimers.unused));
  EXPECT_FALSE(receives(gcs, second));
  EXPECT_FALSE(gcs.pending());
  EXPECT_EQ(gcs.current()->id, first);
  EXPECT_TRUE(gcs.can_send());
}

TEST_F(SessionTest, ASecondAttemptReplacesPendingKeys) {
  connect();
  auto lost = source.make(1);
  const auto lost_id = lost.gcs.session_id;
  gcs.install(std::move(lost.gcs), now);
  const auto second = rekey(1);
  EXPECT_FALSE(receives(gcs, lost_id));
  EXPECT_EQ(gcs.pending()->id, second);
  EXPECT_TRUE(open(gcs, *seal(drone, 5, now), now).opened.switched);
  EXPECT_EQ(gcs.current()->id, second);
}

TEST_F(SessionTest, ARekeyFromKeysThatNobodyHeardYetBringsTheirSignOfLife) {
  connect();
  const auto second = rekey(1);
  const auto in_flight = *seal(drone, 20, now);                  // late
  const auto hello = *seal(drone, 21, now, FrameType::control);  // the rekey's first frame, under the second key
  EXPECT_TRUE(open(gcs, hello, now).opened.switched);
  EXPECT_EQ(gcs.current()->id, second);
  const auto third = rekey(2);
  EXPECT_EQ(gcs.current()->id, second);
  EXPECT_EQ(gcs.pending()->id, third);
  EXPECT_EQ(open(gcs, in_flight, now).content, 20u);
  EXPECT_TRUE(open(gcs, *seal(drone, 22, now), now).opened.switched);
  EXPECT_EQ(gcs.current()->id, third);
}

TEST_F(SessionTest, RekeysFasterThanTheGraceTimeKeepTheNewestKeys) {
  auto id = connect();
  std::vector<SessionId> all{id};
  for (std::uint8_t epoch = 1; epoch <= 20; ++epoch) {
    now += 10 * kMs;
    id = rekey(epoch);
    all.push_back(id);
    ASSERT_EQ(open(gcs, *seal(drone, epoch, now), now).content, epoch);
    ASSERT_EQ(open(drone, *seal(gcs, epoch, now), now).content, epoch);
    for (auto* session : {&drone, &gcs}) {
      EXPECT_LE(test::receive_ids(*session).size(), Session::kSlots);
      EXPECT_TRUE(receives(*session, all[all.size() - 2])) << "the key before this one still has packets in flight";
    }
  }
  now += kTimers.grace;
  drone.tick(now);
  gcs.tick(now);
  EXPECT_EQ(test::receive_ids(drone), std::vector{id});
  EXPECT_EQ(test::receive_ids(gcs), std::vector{id});
}

TEST_F(SessionTest, AFirstHandshakeReplacesASessionOnlyWhenTheNewKeysAreUsed) {
  const auto first = connect();
  auto keys = source.make(0);
  const auto second = keys.gcs.session_id;
  gcs.install(std::move(keys.gcs), now);
  EXPECT_EQ(gcs.current()->id, first);
  EXPECT_EQ(open(drone, *seal(gcs, 3, now), now).content, 3u) << "still under the old key";
  Session restarted(true, kTimers, 1024);
  restarted.install(std::move(keys.drone), now);
  EXPECT_TRUE(open(gcs, *seal(restarted, 4, now), now).opened.switched);
  EXPECT_EQ(gcs.current()->id, second);
}

TEST_F(SessionTest, HearingOnlyOldKeysIsSilence) {
  // The gcs lost the keys that the drone uses (another attempt replaced them) and goes on sending with the old ones.
  connect();
  auto lost = source.make(1);
  drone.install(std::move(lost.drone), now);
  const auto installed = now;
  for (std::uint64_t i = 0; i < 60; ++i) {
    now += 100 * kMs;
    EXPECT_EQ(open(drone, *seal(gcs, i, now), now).content, i) << "delivered all the same";
  }
  EXPECT_EQ(drone.silence(now), now - installed);
  EXPECT_TRUE(drone.degraded(now));
}

TEST_F(SessionTest, WhatWaitsInAFullQueueIsNotSilence) {
  // 3 s of packets under the old keys wait before the radio, and the first under the new ones comes behind them.
  connect();
  auto keys = source.make(1);
  gcs.install(std::move(keys.gcs), now);
  std::vector<Bytes> waiting;
  for (std::uint64_t i = 0; i < 40; ++i) waiting.push_back(*seal(gcs, i, now));
  drone.install(std::move(keys.drone), now, 4 * kS);
  for (std::uint64_t i = 0; i < 30; ++i) {
    now += 100 * kMs;
    EXPECT_EQ(open(drone, waiting[i], now).content, i);
    EXPECT_EQ(drone.silence(now), 0u);
  }
  ASSERT_TRUE(open(gcs, *seal(drone, 1, now), now).opened.switched);
  EXPECT_EQ(open(drone, *seal(gcs, 50, now), now).content, 50u);
  const auto confirmed = now;
  now += 500 * kMs;
  EXPECT_EQ(open(drone, waiting[30], now).content, 30u);
  EXPECT_EQ(drone.silence(now), now - confirmed) << "nothing under the old keys counts any more";
}

TEST_F(SessionTest, SilenceDegradesAndIsOverWithTheNextPacket) {
  connect();
  EXPECT_EQ(gcs.silence(now), 0u);
  EXPECT_FALSE(gcs.degraded(now + kTimers.degraded - 1));
  EXPECT_TRUE(gcs.degraded(now + kTimers.degraded));
  now += 100 * kS;
  EXPECT_FALSE(gcs.tick(now));
  EXPECT_TRUE(gcs.can_send()) << "degraded is not down";
  ASSERT_FALSE(open(gcs, *seal(drone, 9, now), now).opened.drop);
  EXPECT_FALSE(gcs.degraded(now));
}

TEST_F(SessionTest, ForgeriesDoNotEndSilence) {
  connect();
  auto packet = *seal(drone, 9, now);
  const auto genuine = packet;
  packet.back() ^= 1;
  now += 10 * kS;
  EXPECT_EQ(open(gcs, packet, now).opened.drop, Drop::auth_fail);
  EXPECT_EQ(gcs.silence(now), 10 * kS);
  EXPECT_EQ(open(gcs, genuine, now).content, 9u) << "the forgery did not use up the sequence number";
  EXPECT_EQ(open(gcs, genuine, now + kS).opened.drop, Drop::replay);
  EXPECT_EQ(gcs.silence(now + kS), kS);
}

TEST_F(SessionTest, TheHardLimitWipesEverything) {
  const auto first = connect();
  auto last = *seal(drone, 1, now);
  for (auto* session : {&drone, &gcs}) {
    EXPECT_FALSE(session->tick(now + kTimers.limit - 1));
    EXPECT_TRUE(session->can_send());
    EXPECT_TRUE(session->tick(now + kTimers.limit));
    EXPECT_FALSE(session->can_send());
    EXPECT_FALSE(session->current());
    EXPECT_TRUE(test::receive_ids(*session).empty());
    EXPECT_FALSE(seal(*session, 1, now + kTimers.limit));
  }
  EXPECT_EQ(open(gcs, last, now + kTimers.limit).opened.drop, Drop::unknown);
  EXPECT_FALSE(receives(gcs, first));
}

TEST_F(SessionTest, HandshakesThatLeadNowhereDoNotProlongASilentSession) {
  // Handshakes get through and what the drone sends under their keys does not: new pending keys again and again.
  const auto first = connect();
  const auto last_heard = now;
  SessionId pending{};
  while (now < last_heard + kTimers.limit) {
    auto keys = source.make(0);
    pending = keys.gcs.session_id;
    gcs.install(std::move(keys.gcs), now);
    gcs.tick(now);
    EXPECT_EQ(gcs.current()->id, first);
    now += 9 * kS;
  }
  EXPECT_TRUE(gcs.tick(now));
  EXPECT_FALSE(gcs.current());
  EXPECT_FALSE(gcs.can_send());
  EXPECT_EQ(test::receive_ids(gcs), std::vector{pending}) << "the newest handshake may still come to life";
}

TEST_F(SessionTest, CloseStopsSendingAtOnceAndReceivingAfterTheGraceTime) {
  const auto first = connect();
  const auto in_flight = *seal(gcs, 30, now);
  drone.close(now);
  EXPECT_FALSE(drone.can_send());
  EXPECT_FALSE(drone.current());
  EXPECT_FALSE(seal(drone, 1, now));
  EXPECT_EQ(open(drone, in_flight, now + kMs).content, 30u);
  EXPECT_FALSE(drone.tick(now + kTimers.grace - 1));
  EXPECT_TRUE(drone.tick(now + kTimers.grace));
  EXPECT_FALSE(receives(drone, first));
}

TEST_F(SessionTest, CloseAlsoEndsOldKeysWithinTheGraceTime) {
  connect();
  rekey(1);  // not heard by the drone yet: the old key would live for the unused time
  drone.close(now);
  drone.tick(now + kTimers.grace);
  EXPECT_TRUE(test::receive_ids(drone).empty());
}

TEST_F(SessionTest, ALateCloseDoesNotTouchTheNextSession) {
  // A drone says CLOSE and starts again; the datagram is slower than the new handshake.
  connect();
  auto keys = source.make(0);
  const auto second = keys.gcs.session_id;
  gcs.install(std::move(keys.gcs), now);
  gcs.close(now);
  EXPECT_FALSE(gcs.can_send());
  ASSERT_TRUE(gcs.pending());
  Session restarted(true, kTimers, 1024);
  restarted.install(std::move(keys.drone), now);
  EXPECT_TRUE(open(gcs, *seal(restarted, 4, now), now).opened.switched);
  EXPECT_EQ(gcs.current()->id, second);
  EXPECT_TRUE(gcs.can_send());
}

TEST_F(SessionTest, WipeLeavesNothing) {
  connect();
  rekey(1);
  for (auto* session : {&drone, &gcs}) {
    session->wipe();
    EXPECT_FALSE(session->can_send());
    EXPECT_FALSE(session->current());
    EXPECT_FALSE(session->pending());
    EXPECT_TRUE(test::receive_ids(*session).empty());
    EXPECT_FALSE(session->tick(now + 1000 * kS));
  }
}

TEST_F(SessionTest, TheWrongEpochOfAKnownSessionIsUnknown) {
  connect();
  auto packet = *seal(drone, 1, now);
  packet[21] ^= 1;
  EXPECT_EQ(open(gcs, packet, now).opened.drop, Drop::unknown);
}

/// Who is always overtaken is heard only by what comes again.
TEST_F(SessionTest, WhatComesAgainUnderTheNewestKeyIsToldFromWhatOnlyHasItsNumber) {
  connect();
  const auto packet = *seal(drone, 1, now);
  const auto header = parse_header(packet).value();
  const auto repeat = [&](Bytes copy) { return gcs.is_repeat(header, copy, kHeaderSize); };
  EXPECT_FALSE(repeat(packet)) << "it did not come yet";
  EXPECT_FALSE(open(gcs, packet, now).opened.drop);
  EXPECT_TRUE(repeat(packet));
  for (std::size_t i = kHeaderSize; i < packet.size(); ++i) {
    auto forged = packet;
    forged[i] ^= 1;
    EXPECT_FALSE(repeat(forged)) << i;
  }
  EXPECT_EQ(open(gcs, packet, now).opened.drop, Drop::replay) << "it is delivered once";
  rekey(1);
  EXPECT_FALSE(open(gcs, *seal(drone, 2, now), now).opened.drop);
  EXPECT_FALSE(repeat(packet)) << "an old key says nothing about now";
}

TEST_F(SessionTest, TheEpochAfter255IsZero) {
  auto id = connect();
  for (int epoch = 1; epoch <= 255; ++epoch) {
    now += 10 * kMs;
    id = rekey(static_cast<std::uint8_t>(epoch));
    ASSERT_EQ(open(gcs, *seal(drone, 1, now), now).content, 1u) << epoch;
  }
  EXPECT_EQ(drone.current()->epoch, 255);
  id = rekey(0);
  ASSERT_TRUE(open(gcs, *seal(drone, 2, now), now).opened.switched);
  EXPECT_EQ(gcs.current()->epoch, 0);
  EXPECT_EQ(gcs.current()->id, id);
}

/// The chain secret that a rekey inside this session would be bound to, "" when there is none.
std::string chain_of(const Session& session) {
  return session.chain() == nullptr ? "" : test::hex(session.chain()->view());
}

TEST_F(SessionTest, TheChainSecretIsThatOfTheKeysInUse) {
  EXPECT_EQ(drone.chain(), nullptr);
  EXPECT_EQ(gcs.chain(), nullptr);
  std::string before;
  for (std::uint8_t epoch = 0; epoch < 4; ++epoch) {
    auto keys = source.make(epoch);
    const auto chain = test::hex(keys.gcs.chain.view());
    gcs.install(std::move(keys.gcs), now);
    EXPECT_EQ(chain_of(gcs), before) << "pending keys are not in use";
    drone.install(std::move(keys.drone), now);
    EXPECT_EQ(chain_of(drone), chain);
    ASSERT_FALSE(open(gcs, *seal(drone, 1, now), now).opened.drop);
    EXPECT_EQ(chain_of(gcs), chain);
    before = chain;
  }
}

TEST_F(SessionTest, NoChainSecretOutlivesItsSession) {
  connect();
  const auto running = chain_of(gcs);
  auto unused = source.make(1);
  gcs.install(std::move(unused.gcs), now);
  const auto until = now + kTimers.unused;
  for (; now < until; now += kS) ASSERT_FALSE(open(gcs, *seal(drone, 1, now), now).opened.drop);
  EXPECT_TRUE(gcs.tick(now));
  EXPECT_EQ(chain_of(gcs), running) << "keys that nobody used take theirs with them";
  gcs.close(now);
  drone.wipe();
  EXPECT_EQ(gcs.chain(), nullptr);
  EXPECT_EQ(drone.chain(), nullptr);
}

TEST_F(SessionTest, AtTheHardLimitTheChainSecretGoes) {
  connect();
  EXPECT_NE(drone.chain(), nullptr);
  EXPECT_TRUE(drone.tick(now + kTimers.limit));
  EXPECT_EQ(drone.chain(), nullptr);
}

TEST_F(SessionTest, SealedPacketsAreCountedPerKey) {
  connect();
  const auto before = drone.sealed_packets();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(seal(drone, 1, now));
  EXPECT_EQ(drone.sealed_packets(), before + 5);
  EXPECT_EQ(drone.last_sent_ns(), now);
  rekey(1);
  EXPECT_EQ(drone.sealed_packets(), 0u);
}

TEST_F(SessionTest, AKeyIsUsedAsOftenAsTheMoreTalkativeEndUsedIts) {
  connect();
  EXPECT_EQ(drone.key_use(), 1u);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(seal(gcs, 1, now));  // lost
  ASSERT_FALSE(open(drone, *seal(gcs, 2, now), now).opened.drop);
  EXPECT_EQ(drone.key_use(), 5u) << "with what was lost";
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(seal(drone, 1, now));
  EXPECT_EQ(drone.key_use(), 10u);
  rekey(1);
  EXPECT_EQ(drone.key_use(), 0u);
}

TEST_F(SessionTest, WithoutASessionTheGcsMaySendBeforeTheKeysAreConfirmedForHalfASecond) {
  const auto early = [&] {
    Bytes packet(kOverhead + 8);
    store_be(packet.data() + kHeaderSize, std::uint64_t{7});
    const auto sealed = gcs.seal_early(packet, now);
    return sealed ? std::optional(Bytes(sealed->begin(), sealed->end())) : std::nullopt;
  };
  EXPECT_FALSE(early()) << "there are no keys";
  rekey(0);
  EXPECT_FALSE(early()) << "M4 is not ahead far enough";
  now += 2 * kMs;
  const auto first = early();
  ASSERT_TRUE(first);
  EXPECT_EQ(open(drone, *first, now).content, 7u);
  EXPECT_FALSE(gcs.can_send());
  EXPECT_FALSE(gcs.current()) << "that there is a session only a packet says";
  now += 498 * kMs;
  EXPECT_FALSE(early());
  now -= kMs;
  ASSERT_TRUE(early());
  // Then it goes on under the same keys, and no sequence is used twice.
  EXPECT_FALSE(open(gcs, *seal(drone, 1, now), now).opened.drop);
  EXPECT_FALSE(early()) << "there is a session";
  EXPECT_EQ(open(drone, *seal(gcs, 2, now), now).content, 2u);
  rekey(1);
  now += 10 * kMs;
  EXPECT_FALSE(early()) << "a rekey waits for the drone's packet";
}

/// 2^36 in the engine (kFailedTagsMost), some here.
TEST(Session, EndsWhereForgeriesCouldBeginToSucceed) {
  test::KeySource source(1);
  auto pair = source.make(0);
  Session drone(true, kTimers, 64), gcs(false, kTimers, 64, {.failed_tags = 5});
  drone.install(std::move(pair.drone), 1);
  gcs.install(std::move(pair.gcs), 1);
  const auto first = *test::seal(drone, 1, 1);
  ASSERT_FALSE(test::open(gcs, first, 1).opened.drop);
  EXPECT_FALSE(gcs.seen()) << "only for compact headers is it told what was seen";
  const auto forged = [](Bytes packet) {
    packet.back() ^= 1;
    return packet;
  };
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(test::open(gcs, forged(*test::seal(drone, 2, 1)), 1).opened.drop, Drop::auth_fail);
  auto repeat = forged(first);  // what is tried as a repeat is tried, too
  EXPECT_FALSE(gcs.is_repeat(*parse_header(repeat), repeat, kHeaderSize));
  EXPECT_FALSE(gcs.tick(2));
  EXPECT_FALSE(test::open(gcs, *test::seal(drone, 3, 1), 2).opened.drop);
  EXPECT_EQ(test::open(gcs, forged(*test::seal(drone, 4, 1)), 2).opened.drop, Drop::auth_fail);
  EXPECT_EQ(test::open(gcs, *test::seal(drone, 5, 1), 2).opened.drop, Drop::auth_fail) << "nothing is tried any more";
  EXPECT_TRUE(gcs.tick(3));
  EXPECT_FALSE(gcs.can_send());
  EXPECT_EQ(gcs.ended(), KeyEnd::forgeries);
  EXPECT_EQ(kFailedTagsMost, std::uint64_t{1} << 36);
}

/// 2^29 in the engine (kKeyPacketsMost), some here. Either direction ends the session, at both ends.
TEST(Session, EndsWhereAKeyHasCarriedWhatItMay) {
  for (const bool down : {false, true}) {
    test::KeySource source(1);
    auto pair = source.make(0);
    Session drone(true, kTimers, 64, {.packets = 5}), gcs(false, kTimers, 64, {.packets = 5});
    drone.install(std::move(pair.drone), 1);
    gcs.install(std::move(pair.gcs), 1);
    ASSERT_FALSE(test::open(gcs, *test::seal(drone, 1, 1), 1).opened.drop);
    auto &from = down ? gcs : drone, &to = down ? drone : gcs;
    for (int i = down ? 0 : 1; i < 5; ++i) {
      EXPECT_FALSE(drone.tick(1) || gcs.tick(1));
      ASSERT_FALSE(test::open(to, *test::seal(from, 1, 1), 1).opened.drop);
    }
    EXPECT_FALSE(test::seal(from, 1, 1));
    for (auto* each : {&drone, &gcs}) {
      EXPECT_TRUE(each->tick(2));
      EXPECT_FALSE(each->can_send());
      EXPECT_EQ(each->ended(), KeyEnd::spent);
    }
  }
  EXPECT_EQ(kKeyPacketsMost, std::uint64_t{1} << 29);
}

/// A peer that counts no further than its own policy says is not heard beyond it.
TEST(Session, OpensNothingBeyondWhatAKeyMayCarry) {
  test::KeySource source(1);
  auto pair = source.make(0);
  Session drone(true, kTimers, 64), gcs(false, kTimers, 64, {.packets = 2});
  drone.install(std::move(pair.drone), 1);
  gcs.install(std::move(pair.gcs), 1);
  for (int i = 0; i < 2; ++i) ASSERT_FALSE(test::open(gcs, *test::seal(drone, 1, 1), 1).opened.drop);
  EXPECT_EQ(test::open(gcs, *test::seal(drone, 1, 1), 1).opened.drop, Drop::auth_fail);
}

/// A drone that was set back, or runs twice, seals another packet under a number that was used: the other end tells the
/// two apart from a copy, and from a forgery, and ends the session.
TEST(Session, EndsWhereTheOtherEndUsesANumberTwice) {
  test::KeySource source(1);
  auto pair = source.make(0);
  const auto copied = [&] {
    SessionKeys out;
    out.suite = pair.drone.suite;
    out.session_id = pair.drone.session_id;
    out.epoch = pair.drone.epoch;
    out.k_d2g = pair.drone.k_d2g.clone();
    out.k_g2d = pair.drone.k_g2d.clone();
    return out;
  };
  Session drone(true, kTimers, 64), copy(true, kTimers, 64), gcs(false, kTimers, 64);
  copy.install(copied(), 1);
  drone.install(std::move(pair.drone), 1);
  gcs.install(std::move(pair.gcs), 1);
  const auto first = *test::seal(drone, 1, 1);
  ASSERT_FALSE(test::open(gcs, first, 1).opened.drop);
  EXPECT_EQ(test::open(gcs, first, 1).opened.drop, Drop::replay);
  auto forged = first;
  forged.back() ^= 1;
  EXPECT_EQ(test::open(gcs, forged, 1).opened.drop, Drop::replay);
  EXPECT_FALSE(gcs.tick(2));
  EXPECT_EQ(test::open(gcs, *test::seal(copy, 2, 1), 2).opened.drop, Drop::replay);
  EXPECT_EQ(test::open(gcs, *test::seal(drone, 3, 1), 2).opened.drop, Drop::auth_fail) << "nothing is tried any more";
  EXPECT_TRUE(gcs.tick(3));
  EXPECT_FALSE(gcs.can_send());
  EXPECT_EQ(gcs.ended(), KeyEnd::used_twice);
}

}  // namespace
}  // namespace pqcmav
