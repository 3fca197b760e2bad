// SPDX-License-Identifier: Apache-2.0
// Ratchets of running engines: under traffic, from both sides, barred, by themselves, and asked for by a drone that does
// what it should not.
#include <cstdlib>

#include "control/features.hpp"
#include "handshake/ratchet.hpp"
#include "handshake/ratchet_messages.hpp"
#include "raw_drone.hpp"
#include "relay.hpp"
#include "traffic.hpp"

namespace pqcmav {
namespace {

using namespace test;

RekeyOutcome ratchet(Engine& engine, const std::string& suite = "") {
  return engine.request_rekey("uav1", suite, "test", patience(), "ratchet");
}
RekeyOutcome rekey(Engine& engine) { return engine.request_rekey("uav1", "", "test", patience()); }

TEST(EngineRatchet, ChangesKeysUnderTrafficWithoutLoss) {
  for (const bool compact : {false, true}) {
    const FlatConfig more{{"compact", compact}};
    Tunnel tunnel(with(more, {{"handshakes_per_drone_s", 1000.0}}), more);
    ASSERT_TRUE(tunnel.connect());
    Traffic traffic(tunnel);
    std::set<std::string> sessions{status(*tunnel.drone).session_id};
    for (unsigned i = 1; i <= 24; ++i) {
      const bool full = i % 8 == 0;
      const auto outcome = full ? rekey(*tunnel.drone) : ratchet(i % 2 == 0 ? *tunnel.drone : *tunnel.gcs);
      ASSERT_TRUE(outcome.ok) << i << ": " << outcome.message;
      EXPECT_EQ(outcome.epoch, i);
      for (const auto* engine : {tunnel.gcs.get(), tunnel.drone.get()})
        ASSERT_TRUE(eventually([&] { return status(*engine).epoch == i && status(*engine).ratchets == i % 8; })) << i;
      EXPECT_TRUE(sessions.insert(status(*tunnel.drone).session_id).second);
    }
    traffic.stop();
    traffic.expect_lossless();
    EXPECT_EQ(status(*tunnel.drone).suite, kLight);
    EXPECT_EQ(status(*tunnel.drone).compact, compact);
    EXPECT_EQ(status(*tunnel.drone).rekeys_ok, 24u);
    EXPECT_EQ(total(*tunnel.gcs, "hs_ratchets"), 21u);
    for (const auto* engine : {tunnel.gcs.get(), tunnel.drone.get()}) {
      expect_all_accounted_for(*engine);
      for (const auto* drop :
           {"drop_malformed", "drop_unknown", "drop_seq_old", "drop_replay", "drop_auth_fail", "drop_decrypt_fail"})
        EXPECT_EQ(total(*engine, drop), 0u) << drop;
    }
  }
}

TEST(EngineRatchet, InPureModeWithLargeKeysAndASignature) {
  if (!has_suite("cs-classicmceliece348864-ascon128a-mldsa44")) GTEST_SKIP() << "no library here has such large keys";
  Tunnel tunnel(std::make_unique<KeyFolders>(Names{"uav1"}, Names{"mldsa44"}, true), {},
                {{"hybrid", false}, {"suite", "cs-classicmceliece348864-ascon128a-mldsa44"}});
  ASSERT_TRUE(tunnel.connect());
  EventLog log(*tunnel.gcs);
  const auto outcome = ratchet(*tunnel.gcs);
  ASSERT_TRUE(outcome.ok) << outcome.message;
  EXPECT_NE(outcome.message.find("Ratcheted"), std::string::npos) << outcome.message;
  const auto report =
      log.wait_for<HandshakeEvent>([](const auto& each) { return each.kind == HandshakeKind::ratchet; });
  ASSERT_TRUE(report);
  EXPECT_EQ(report->times.public_key, 800u);
  EXPECT_EQ(report->times.ciphertext, 768u);
  EXPECT_LT(report->times.bytes_sent + report->times.bytes_received, 2'000u);
  ASSERT_TRUE(eventually([&] { return status(*tunnel.gcs).ratchets == 1; }));
  EXPECT_TRUE(status(*tunnel.gcs).drone_signed);
  for (const auto* engine : {tunnel.gcs.get(), tunnel.drone.get()}) {
    EXPECT_GT(status(*engine).ratchet_for_s, 3500.0);
    EXPECT_LT(status(*engine).ratchet_for_s, 3600.0);
  }
  EXPECT_FALSE(status(*tunnel.gcs).hybrid);
  expect_round_trip(tunnel, "after it");
}

TEST(EngineRatchet, TheNinthInARowIsRefusedAndAFullRekeyCountsAnew) {
  Tunnel tunnel;
  ASSERT_TRUE(tunnel.connect());
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(ratchet(*tunnel.drone).ok);
  for (auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) {
    const auto ninth = ratchet(*engine);
    EXPECT_FALSE(ninth.ok);
    EXPECT_NE(ninth.message.find("full rekey"), std::string::npos) << ninth.message;
  }
  EXPECT_EQ(status(*tunnel.drone).epoch, 8);
  EXPECT_TRUE(status(*tunnel.drone).blacklisted_suites.empty());
  ASSERT_TRUE(rekey(*tunnel.drone).ok);
  EXPECT_EQ(status(*tunnel.drone).ratchets, 0);
  EXPECT_TRUE(ratchet(*tunnel.drone).ok);
}

TEST(EngineRatchet, WhereOneEndHasItOffOrASuiteIsNamedItIsRefused) {
  for (const bool at_drone : {false, true}) {
    Tunnel tunnel({{"ratchet", at_drone}}, {{"ratchet", !at_drone}});
    ASSERT_TRUE(tunnel.connect());
    for (auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) {
      const auto outcome = ratchet(*engine);
      EXPECT_FALSE(outcome.ok);
      EXPECT_NE(outcome.message.find("'ratchet' is off"), std::string::npos) << outcome.message;
    }
    EXPECT_TRUE(rekey(*tunnel.drone).ok);
  }
  Tunnel tunnel;
  ASSERT_TRUE(tunnel.connect());
  EXPECT_TRUE(ratchet(*tunnel.drone, kLight).ok) << "the suite that it has";
  for (auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) {
    const auto outcome = ratchet(*engine, "cs-mlkem768-aesgcm-mldsa65");
    EXPECT_FALSE(outcome.ok);
    EXPECT_NE(outcome.message.find("keeps the suite"), std::string::npos) << outcome.message;
  }
  const auto plain = tunnel.drone->request_rekey("uav1", "", "", 1s, "ratchet_plain");
  EXPECT_FALSE(plain.ok) << "only the drone decides that there is nothing better";
  EXPECT_NE(plain.message.find("'ratchet_plain'"), std::string::npos) << plain.message;
}

/// A large suite ratchets by itself, and every eighth time it is a full one; a small one does not.
TEST(EngineRatchet, OnAnIntervalWhereAFullHandshakeIsLong) {
  if (!has_suite("cs-classicmceliece348864-aesgcm-mldsa44")) GTEST_SKIP() << "no library here has such large keys";
  Tunnel tunnel({{"handshakes_per_drone_s", 1000.0}},
                {{"suite", "cs-classicmceliece348864-aesgcm-mldsa44"}, {"rekey_interval_s", 0.15}});
  EventLog log(*tunnel.drone);
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(eventually([&] { return status(*tunnel.drone).rekeys_ok >= 9; }));
  log.gather();
  std::string kinds;
  for (const auto& event : log.all())
    if (const auto* each = std::get_if<HandshakeEvent>(&event.what); each != nullptr && each->ok)
      kinds += std::string(to_string(each->kind)) + " ";
  std::string expected = "first ";
  for (int i = 0; i < 7; ++i) expected += "ratchet ";
  EXPECT_EQ(kinds.substr(0, expected.size() + 6), expected + "rekey ");
  expect_round_trip(tunnel, "all the while");
}

/// What is too long for the link does not keep the same keys in use: ever shorter messages are tried.
TEST(EngineRatchet, WhereAFullRekeyDoesNotGetThroughARatchetDoes) {
  if (std::getenv("PQCMAV_SLOW") == nullptr)
    GTEST_SKIP() << "Waits 10 s for each of two that fail; PQCMAV_SLOW=1 runs it.";
  RelayedTunnel tunnel({{"degraded_after_s", 60.0}, {"handshakes_per_drone_s", 1000.0}},
                       {{"rekey_interval_s", 0.5}, {"reconnect_after_s", 100.0}, {"degraded_after_s", 60.0}});
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.relay->hold_answers(true);  // longer than 300 bytes
  EventLog log(*tunnel.drone);
  const auto plain = log.wait_for<HandshakeEvent>(
      [](const auto& each) { return each.ok && each.kind == HandshakeKind::ratchet_plain; }, 60s);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->times.public_key, 0u);
  tunnel.expect_round_trip("flies on");
  EXPECT_GE(status(*tunnel.drone).ratchets, 1);
}

TEST(EngineRatchet, ComesThroughALinkThatLosesPackets) {
  const FlatConfig patient{{"degraded_after_s", 60.0}};
  RelayedTunnel tunnel(with(patient, {{"handshakes_per_drone_s", 1000.0}}),
                       with(patient, {{"reconnect_after_s", 100.0}}));
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.relay->lose(25);
  for (int i = 1; i <= 8; ++i) {
    const auto outcome = ratchet(i % 2 == 0 ? *tunnel.drone : *tunnel.gcs);
    ASSERT_TRUE(outcome.ok) << i << ": " << outcome.message;
    ASSERT_TRUE(eventually([&] { return tunnel.both_up() && status(*tunnel.gcs).ratchets == i; })) << i;
  }
  tunnel.relay->lose(0);
  tunnel.expect_round_trip("the same keys at both ends");
}

TEST(EngineRatchet, DoesNotMakeOldKeysYoung) {
  const FlatConfig limit{{"key_limit_s", 1.5}};
  Tunnel tunnel(with(limit, {{"handshakes_per_drone_s", 1000.0}}), with(limit, {{"rekey_interval_s", 0.0}}));
  ASSERT_TRUE(tunnel.connect());
  EXPECT_TRUE(ratchet(*tunnel.drone).ok);
  ASSERT_TRUE(eventually([&] { return status(*tunnel.gcs).key_old; })) << "a ratchet renews no age";
}

// --- A drone that does what it should not ---------------------------------------------------------------------------

class HostileRatchet : public ::testing::Test {
 protected:
  void begin(const FlatConfig& more = {}) {
    gcs = start(with(with(quick(gcs_values(keys)),
                          {{"drone.uav1.plain_peer", ground.address().text()}, {"handshakes_per_drone_s", 1000.0}}),
                     more));
    auto params = initiator_params(keys, "uav1");
    params.features = features::kRatchet;
    drone = std::make_unique<RawDrone>(std::move(params), *gcs);
    ASSERT_TRUE(drone->connected()) << drone->outcome.reason;
    speak("hello");
  }
  void speak(const std::string& text) {
    drone->send(drone->seal(text));
    ASSERT_EQ(ground.receive_text(), text);
  }
  RatchetParams params(bool fresh = true) {
    RatchetParams out;
    out.session = drone->running();
    out.session.ratchets = 0;  // as if it had never counted
    out.psk = psk_of_gcs(DroneKeys(keys.drone("uav1")).psk(), kDefaultGcsId);
    out.fresh = fresh;
    return out;
  }
  std::optional<Bytes> ask(const Bytes& r1, std::uint8_t flags = 3, milliseconds limit = 5s) {
    return drone->ask(r1, ratchet_answer_limits(flags, *find_kem("mlkem512")), limit);
  }
  [[nodiscard]] static bool rejected(const std::optional<Bytes>& answer) {
    if (!answer || (*answer)[4] != static_cast<std::uint8_t>(MessageType::reject)) return false;
    return parse_reject(ByteView(*answer).subspan(kFrameHeaderSize))->code == Reject::epoch;
  }
  void ratchet(bool fresh = true) {
    RatchetInitiator initiator(params(fresh));
    const auto r1 = initiator.start(now_ns());
    const auto r2 = ask(r1, fresh ? 3 : 0);
    ASSERT_TRUE(r2);
    ASSERT_EQ(initiator.on_data(*r2, now_ns()).status, HandshakeStatus::done) << to_string(initiator.error());
    drone->adopt(initiator.take_keys());
  }
  static Bytes hello(std::uint8_t flags, std::size_t x25519, std::size_t kem) {
    const Bytes share(x25519, 9), key(kem, 0);
    return encode_ratchet_hello({flags, 0, {}, share, key});
  }

  const KeyFolders keys;
  UdpPeer ground;
  std::unique_ptr<Engine> gcs;
  std::unique_ptr<RawDrone> drone;
};

TEST_F(HostileRatchet, AnHonestOneWorksWithFreshSharesAndWithout) {
  ASSERT_NO_FATAL_FAILURE(begin());
  for (const bool fresh : {true, false, true}) {
    ASSERT_NO_FATAL_FAILURE(ratchet(fresh));
    ASSERT_NO_FATAL_FAILURE(speak(fresh ? "fresh" : "plain"));
  }
  EXPECT_EQ(status(*gcs).ratchets, 3);
  EXPECT_EQ(status(*gcs).epoch, 3);
}

TEST_F(HostileRatchet, WrongFlagsAndAnotherSuitesKeyAreRejectedAndTheSessionGoesOn) {
  ASSERT_NO_FATAL_FAILURE(begin());
  EXPECT_TRUE(rejected(ask(hello(1, 32, 0))));
  EXPECT_TRUE(rejected(ask(hello(2, 0, 800))));
  EXPECT_TRUE(rejected(ask(hello(3, 32, 1184)))) << "of another level";
  EXPECT_FALSE(ask(hello(7, 32, 800), 3, 500ms)) << "unknown flags are malformed, and nobody answers";
  ASSERT_NO_FATAL_FAILURE(speak("as before"));
  EXPECT_EQ(status(*gcs).ratchets, 0);
  EXPECT_EQ(total(*gcs, "hs_ratchets"), 0u);
  ASSERT_NO_FATAL_FAILURE(ratchet());
  ASSERT_NO_FATAL_FAILURE(speak("and a good one works"));
}

TEST_F(HostileRatchet, TheNinthInARowIsRejectedByAGcsThatCountsItself) {
  ASSERT_NO_FATAL_FAILURE(begin());
  for (int i = 0; i < 8; ++i) {
    ASSERT_NO_FATAL_FAILURE(ratchet(false));
    ASSERT_NO_FATAL_FAILURE(speak(std::to_string(i)));
  }
  RatchetInitiator ninth(params());
  EXPECT_TRUE(rejected(ask(ninth.start(now_ns()))));
  ASSERT_NO_FATAL_FAILURE(speak("under the eighth"));
}

TEST_F(HostileRatchet, BeyondTheKeyLimitItIsRejectedHoweverManyCameBefore) {
  ASSERT_NO_FATAL_FAILURE(begin({{"key_limit_s", 1.0}, {"session_limit_s", 180.0}}));
  ASSERT_NO_FATAL_FAILURE(ratchet());
  ASSERT_NO_FATAL_FAILURE(speak("young"));
  ASSERT_TRUE(eventually([&] { return status(*gcs).key_old; }));
  RatchetInitiator late(params());
  EXPECT_TRUE(rejected(ask(late.start(now_ns()))));
}

/// The same R1 again gives other keys, or none: nothing of it is remembered, and the session it was for is over.
TEST_F(HostileRatchet, AReplayedR1GivesOtherKeysOrNone) {
  ASSERT_NO_FATAL_FAILURE(begin());
  RatchetInitiator first(params());
  const auto r1 = first.start(now_ns());
  const auto one = ask(r1), two = ask(r1);
  ASSERT_TRUE(one && two);
  EXPECT_NE(*one, *two) << "another session id and nonce each time";
  ASSERT_EQ(first.on_data(*two, now_ns()).status, HandshakeStatus::done);
  drone->adopt(first.take_keys());
  ASSERT_NO_FATAL_FAILURE(speak("the newer of the two is what counts"));
  const auto three = ask(r1);  // in the session that it made
  ASSERT_TRUE(three);
  RatchetInitiator second(params());
  (void)second.start(now_ns());
  EXPECT_EQ(second.on_data(*three, now_ns()).status, HandshakeStatus::failed) << "it answers another R1";
  ASSERT_NO_FATAL_FAILURE(speak("still there"));
}

/// Keys that nobody confirms by using them never become the session's.
TEST_F(HostileRatchet, WhatIsNotFinishedChangesNothing) {
  ASSERT_NO_FATAL_FAILURE(begin());
  const auto session = status(*gcs).session_id;
  for (int i = 0; i < 12; ++i) {  // more than may follow each other
    RatchetInitiator dropped(params(i % 2 == 0));
    ASSERT_TRUE(ask(dropped.start(now_ns()), i % 2 == 0 ? 3 : 0));
    ASSERT_NO_FATAL_FAILURE(speak("old keys " + std::to_string(i)));
  }
  EXPECT_EQ(status(*gcs).session_id, session);
  EXPECT_EQ(status(*gcs).ratchets, 0);
}

/// The newer attempt in a session wins, whichever of the two kinds it is.
TEST_F(HostileRatchet, RacingAFullRekeyTheNewerOneCounts) {
  ASSERT_NO_FATAL_FAILURE(begin());
  RatchetInitiator older(params());
  const auto r2 = ask(older.start(now_ns()));
  ASSERT_TRUE(r2);
  RawDrone full(keys, *gcs, "uav1", *drone);
  ASSERT_TRUE(full.connected()) << full.outcome.reason;
  ASSERT_EQ(older.on_data(*r2, now_ns()).status, HandshakeStatus::done);
  // The full one's M3 replaced the keys that the ratchet had left pending.
  auto stale = older.take_keys();
  SendKey key(*stale.suite, stale.session_id, stale.epoch, stale.k_d2g.view());
  Bytes packet(kOverhead + 5);
  ASSERT_TRUE(key.seal(FrameType::data, packet));
  drone->send(packet);
  full.send(full.seal("full"));
  ASSERT_EQ(ground.receive_text(), "full");
  EXPECT_EQ(total(*gcs, "drop_unknown"), 1u);
  EXPECT_EQ(status(*gcs).ratchets, 0);
  EXPECT_EQ(status(*gcs).epoch, 1);
}

TEST_F(HostileRatchet, AFullRekeyThatWaitsForM3IsReplacedByARatchet) {
  ASSERT_NO_FATAL_FAILURE(begin());
  auto m1 = initiator_params(keys, "uav1");
  m1.prev_session = drone->session_id;
  m1.epoch = 1;
  m1.chain_prev = SecretBytes(drone->chain.view());
  HandshakeInitiator waiting(std::move(m1));
  const auto hello = waiting.start(now_ns());
  ASSERT_TRUE(drone->ask(hello, waiting.expecting()));
  ASSERT_NO_FATAL_FAILURE(ratchet());
  ASSERT_NO_FATAL_FAILURE(speak("ratcheted"));
  EXPECT_EQ(status(*gcs).ratchets, 1);
  EXPECT_EQ(total(*gcs, "hs_completed"), 2u);
}

TEST_F(HostileRatchet, WithoutTheFeatureItIsRejected) {
  ASSERT_NO_FATAL_FAILURE(begin({{"ratchet", false}}));
  auto asked = params();
  asked.session.features = features::kRatchet;
  RatchetInitiator initiator(std::move(asked));
  EXPECT_TRUE(rejected(ask(initiator.start(now_ns()))));
  ASSERT_NO_FATAL_FAILURE(speak("goes on"));
}

}  // namespace
}  // namespace pqcmav
