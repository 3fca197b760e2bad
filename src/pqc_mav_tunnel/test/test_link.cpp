// SPDX-License-Identifier: Apache-2.0
#include "net/link.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "session_fixture.hpp"

namespace pqcmav {
namespace {

/// Asks with the tracker's own numbers and answers as a peer whose clock is `offset` ahead, after `forward` + `held` +
/// `backward` ns.
void round_trip(ProbeTracker& probes, std::uint64_t t1, std::int64_t offset, std::uint64_t forward, std::uint64_t held,
                std::uint64_t backward) {
  const auto probe = probes.ask(t1);
  const auto t2 = t1 + forward + static_cast<std::uint64_t>(offset), t3 = t2 + held;
  probes.on_reply(ProbeReply{probe.id, t1, t2, t3}, t1 + forward + held + backward);
}

TEST(ProbeTracker, KnowsNothingAtFirst) {
  const ProbeTracker probes;
  EXPECT_FALSE(probes.rtt_ns());
  EXPECT_FALSE(probes.rtt_min_ns());
  EXPECT_FALSE(probes.offset_ns());
}

TEST(ProbeTracker, RoundTripWithoutTheTimeThePeerHeldIt) {
  ProbeTracker probes;
  round_trip(probes, 5 * kS, 0, 10 * kMs, 3 * kMs, 10 * kMs);
  EXPECT_EQ(probes.rtt_ns(), 20 * kMs);
  EXPECT_EQ(probes.offset_ns(), 0);
}

TEST(ProbeTracker, OffsetsOfClocksFarApartInBothDirections) {
  for (const std::int64_t offset :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{123'456'789}, std::int64_t{-987'654'321},
        std::int64_t{3'600'000'000'000'000}, std::int64_t{-4'000'000'000}}) {
    ProbeTracker probes;
    round_trip(probes, 5 * kS, offset, 7 * kMs, 1 * kMs, 7 * kMs);
    ASSERT_TRUE(probes.offset_ns());
    EXPECT_NEAR(static_cast<double>(*probes.offset_ns()), static_cast<double>(offset), 1.0);
    EXPECT_EQ(probes.rtt_ns(), 14 * kMs);
  }
}

TEST(ProbeTracker, TheLeastOutlivesTheLastEight) {
  ProbeTracker probes;
  EXPECT_FALSE(probes.least_ns());
  round_trip(probes, 1 * kS, 0, 5 * kMs, 0, 5 * kMs);
  for (std::uint64_t i = 0; i < 20; ++i) round_trip(probes, (2 + i) * kS, 0, 50 * kMs, 0, 50 * kMs);
  EXPECT_EQ(probes.rtt_min_ns(), 100 * kMs);
  EXPECT_EQ(probes.least_ns(), 10 * kMs);
  probes.forget_least();
  EXPECT_FALSE(probes.least_ns());
}

TEST(ProbeTracker, TheOffsetIsThatOfTheQuickestOfTheLastEight) {
  ProbeTracker probes;
  round_trip(probes, 1 * kS, 100, 1 * kMs, 0, 1 * kMs);  // the best
  for (std::uint64_t i = 0; i < 7; ++i)
    round_trip(probes, (2 + i) * kS, 100, 50 * kMs, 0, 10 * kMs);  // lopsided: 20 ms wrong
  EXPECT_EQ(probes.rtt_min_ns(), 2 * kMs);
  EXPECT_EQ(probes.offset_ns(), 100);
  EXPECT_EQ(probes.rtt_ns(), 60 * kMs) << "the last one";
  round_trip(probes, 20 * kS, 100, 50 * kMs, 0, 10 * kMs);  // now the best has left the window
  EXPECT_EQ(probes.rtt_min_ns(), 60 * kMs);
  EXPECT_EQ(probes.offset_ns(), static_cast<std::int64_t>(100 + 20 * kMs));
}

TEST(ProbeTracker, OnlyOpenProbesAreAnsweredAndOnce) {
  ProbeTracker probes;
  const auto id = probes.ask(10 * kS).id;
  const ProbeReply good{id, 10 * kS, 11 * kS, 11 * kS};
  probes.on_reply(ProbeReply{id + 1, 10 * kS, 11 * kS, 11 * kS}, 10 * kS + kMs);
  probes.on_reply(ProbeReply{id, 10 * kS + 1, 11 * kS, 11 * kS}, 10 * kS + kMs);
  probes.on_reply(ProbeReply{0, 0, 0, 0}, 10 * kS + kMs);
  EXPECT_FALSE(probes.rtt_ns());
  probes.on_reply(good, 10 * kS + kMs);
  EXPECT_EQ(probes.rtt_ns(), kMs);
  probes.on_reply(good, 10 * kS + 9 * kMs);
  EXPECT_EQ(probes.rtt_ns(), kMs) << "a second answer to one probe";
}

TEST(ProbeTracker, AnswersBehindALongQueueCount) {
  ProbeTracker probes;
  const auto first = probes.ask(10 * kS).id;
  for (std::uint64_t i = 1; i < 8; ++i) (void)probes.ask((10 + i) * kS);
  probes.on_reply(ProbeReply{first, 10 * kS, 14 * kS, 14 * kS}, 18 * kS);
  EXPECT_EQ(probes.rtt_ns(), 8 * kS);
  (void)probes.ask(18 * kS);
  const auto ninth = probes.ask(19 * kS).id;
  probes.on_reply(ProbeReply{ninth - 8, 11 * kS, 11 * kS, 11 * kS}, 19 * kS);
  EXPECT_EQ(probes.rtt_ns(), 8 * kS) << "eight newer ones have gone out";
}

TEST(ProbeTracker, ImpossibleTimesAreIgnored) {
  struct Case {
    std::uint64_t t2, t3, t4;
  };
  for (const auto& [t2, t3, t4] : {Case{20, 10, 11 * kS}, Case{10, 10 + 2 * kS, 11 * kS}, Case{10, 10, 9 * kS},
                                   Case{0, ~std::uint64_t{0}, 11 * kS}}) {
    ProbeTracker probes;
    const auto id = probes.ask(10 * kS).id;
    probes.on_reply(ProbeReply{id, 10 * kS, t2, t3}, t4);
    EXPECT_FALSE(probes.rtt_ns()) << t2 << ' ' << t3 << ' ' << t4;
  }
}

TEST(ProbeTracker, NoAnswerOfAPeerOverflows) {
  ProbeTracker probes;
  std::mt19937_64 random(2);
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const auto any = [&] { return random() >> (random() % 64); };
    const auto probe = probes.ask(any());
    probes.on_reply(ProbeReply{probe.id, probe.t1, any(), any()}, probe.t1 + any());
    (void)probes.rtt_min_ns();
    (void)probes.offset_ns();
  }
}

TEST(Link, ARekeyKnowsOnlyThePathOfTheHandshakeBefore) {
  Link link("uav1", false, test::kTimers, 1024);
  link.peer = resolve("127.0.0.1", 7, false, SOCK_DGRAM);
  round_trip(link.probes, 1 * kS, 0, 50 * kMs, 0, 50 * kMs);
  link.note_round_trip(std::nullopt, {});
  EXPECT_FALSE(link.known().round_trip);
  link.note_round_trip(103 * kMs, {});
  EXPECT_EQ(link.known().round_trip, 103 * kMs);
  EXPECT_EQ(link.known().window, 10U);
  link.local.loss_ppm = 200'000;
  EXPECT_TRUE(link.known().lossy);
  link.peer = resolve("127.0.0.1", 8, false, SOCK_DGRAM);
  EXPECT_FALSE(link.known().round_trip) << "the drone has moved";
  link.note_round_trip(104 * kMs, link.peer);
  EXPECT_EQ(link.known().round_trip, 104 * kMs);
}

TEST(Link, RoomIsMadeBehindALongQueueOnly) {
  Link link("uav1", false, test::kTimers, 1024);
  link.remote.emplace();
  link.remote->packets_per_s_milli = 60'000;
  round_trip(link.probes, 1 * kS, 0, 50 * kMs, 0, 50 * kMs);
  EXPECT_FALSE(link.make_room(9, 2 * kS));
  round_trip(link.probes, 2 * kS, 0, 350 * kMs, 0, 350 * kMs);
  EXPECT_FALSE(link.make_room(2, 3 * kS));
  EXPECT_TRUE(link.make_room(3, 3 * kS));
  link.yield.over();
  EXPECT_FALSE(link.yield.active());
}

TEST(Link, ThePictureShowsWhatTheDataThreadHolds) {
  Link link("uav1", true, test::kTimers, 1024);
  const auto now = 100 * kS;
  link.publish(now);
  EXPECT_FALSE(link.picture().current);
  EXPECT_FALSE(link.picture().can_send);

  test::KeySource source(3);
  auto keys = source.make(4);
  const auto id = keys.drone.session_id;
  link.session.install(std::move(keys.drone), now);
  EXPECT_FALSE(link.picture().current) << "not before it is published";
  link.peer = resolve("127.0.0.1", 7, false, SOCK_DGRAM);
  link.closed_by_peer = true;
  link.publish(now + 4 * kS);
  const auto picture = link.picture();
  ASSERT_TRUE(picture.current);
  EXPECT_EQ(picture.current->id, id);
  EXPECT_EQ(picture.current->epoch, 4);
  EXPECT_TRUE(picture.can_send);
  EXPECT_TRUE(picture.degraded);
  EXPECT_TRUE(picture.closed_by_peer);
  EXPECT_EQ(picture.heard_silence_ns, 4 * kS);
  EXPECT_EQ(picture.peer.text(), "127.0.0.1:7");
}

TEST(Link, AGrantIsDueEachHourAndAtAnotherAddress) {
  Link link("uav1", true, test::kTimers, 1024);
  const auto begin = 100 * kS, hour = 3600 * kS;
  link.peer = resolve("127.0.0.1", 7, false, SOCK_DGRAM);
  link.granted_ns = begin;
  link.granted_for = link.peer.ip16();
  EXPECT_FALSE(link.grant_due(begin + hour)) << "there is no session to say it in";
  test::KeySource source(3);
  auto keys = source.make(0);
  link.session.install(std::move(keys.drone), begin);
  EXPECT_FALSE(link.grant_due(begin + hour - 1));
  EXPECT_TRUE(link.grant_due(begin + hour));
  link.peer = resolve("127.0.0.1", 8, false, SOCK_DGRAM);
  EXPECT_FALSE(link.grant_due(begin + 1)) << "another port of the same address";
  link.peer = resolve("127.0.0.2", 7, false, SOCK_DGRAM);
  EXPECT_TRUE(link.grant_due(begin + 1));
  link.granted_ns = 0;
  EXPECT_FALSE(link.grant_due(begin + hour)) << "the first one comes with the session";
}

TEST(Link, PicturesAreConsistentWhileTheyChange) {
  Link link("uav1", true, test::kTimers, 1024);
  test::KeySource source(3);
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      const auto picture = link.picture();
      if (picture.current) {
        EXPECT_TRUE(picture.can_send);
        EXPECT_EQ(picture.rtt_ns.has_value(), picture.current->epoch > 0);
      }
    }
  });
  for (int epoch = 0; epoch < 200; ++epoch) {
    auto keys = source.make(static_cast<std::uint8_t>(epoch));
    link.session.install(std::move(keys.drone), kS);
    if (epoch > 0) round_trip(link.probes, kS, 0, kMs, 0, kMs);
    link.publish(kS);
  }
  done = true;
  reader.join();
}

TEST(Counters, SampleEvery32ndCall) {
  SampledTime time;
  EXPECT_EQ(time.average_ns(), 0.0);
  const auto slow = [&time](int call) {
    return time.measure([call] {
      if (call % 32 == 0) std::this_thread::sleep_for(milliseconds(1));
      return call;
    });
  };
  for (int i = 0; i < 320; ++i) EXPECT_EQ(slow(i), i);
  EXPECT_GE(time.average_ns(), 1e6) << "calls that were not slow were measured";
}

}  // namespace
}  // namespace pqcmav
