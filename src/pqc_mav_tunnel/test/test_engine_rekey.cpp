// SPDX-License-Identifier: Apache-2.0
// Rekeys of running engines: under traffic, from both sides, refused, repeated, forced.
#include <atomic>
#include <cmath>
#include <filesystem>
#include <set>

#include "raw_drone.hpp"
#include "relay.hpp"
#include "traffic.hpp"

namespace pqcmav {
namespace {

using namespace test;

std::unique_ptr<KeyFolders> many_keys() {
  Names sigs;
  for (const auto* token : {"mldsa44", "mldsa65", "falcon512", "mldsa87"})
    if (!resolve(*find_sig(token)).empty()) sigs.emplace_back(token);
  return std::make_unique<KeyFolders>(Names{"uav1"}, sigs, true);
}

TEST(EngineRekey, ChangesSuitesUnderTrafficWithoutLoss) {
  Tunnel tunnel(many_keys(), {}, {});
  ASSERT_TRUE(tunnel.connect());
  Traffic traffic(tunnel);
  unsigned epoch = 0;
  for (const auto* suite : {"cs-mlkem768-chacha20poly1305-mldsa65", "ML-1024-AS-MD-87", "cs-hqc128-aesgcm-falcon512",
                            "cs-classicmceliece348864-ascon128a-mldsa44", "", kLight, kLight}) {
    if (*suite != 0 && !has_suite(suite)) continue;
    const auto outcome = tunnel.drone->request_rekey("uav1", suite, "test", 60s);
    ASSERT_TRUE(outcome.ok) << suite << ": " << outcome.message;
    EXPECT_EQ(outcome.epoch, ++epoch);
    EXPECT_GT(outcome.duration_ms, 0.0);
    if (*suite != 0) {
      EXPECT_EQ(outcome.suite, require_suite(suite).id);
    }
    ASSERT_TRUE(eventually([&] { return status(*tunnel.gcs).epoch == epoch && status(*tunnel.drone).epoch == epoch; }));
    EXPECT_EQ(status(*tunnel.gcs).suite, outcome.suite);
    EXPECT_EQ(status(*tunnel.drone).suite, outcome.suite);
    EXPECT_EQ(status(*tunnel.gcs).session_id, status(*tunnel.drone).session_id);
  }
  traffic.stop();
  traffic.expect_lossless();
  EXPECT_GE(epoch, 5u);
  EXPECT_EQ(status(*tunnel.drone).rekeys_ok, epoch);
  EXPECT_EQ(status(*tunnel.gcs).rekeys_ok, epoch);
  EXPECT_EQ(status(*tunnel.drone).handshakes_ok, 1u);
  EXPECT_EQ(total(*tunnel.gcs, "hs_completed"), epoch + 1);
  for (const auto* engine : {tunnel.gcs.get(), tunnel.drone.get()}) {
    expect_all_accounted_for(*engine);
    for (const auto* drop :
         {"drop_malformed", "drop_unknown", "drop_seq_old", "drop_replay", "drop_auth_fail", "drop_decrypt_fail"})
      EXPECT_EQ(total(*engine, drop), 0u) << drop;
  }
}

TEST(EngineRekey, FollowsUponRekeyFasterThanTheGraceTimeWithoutLoss) {
  Tunnel tunnel({{"handshakes_per_drone_s", 10000.0}}, {});
  ASSERT_TRUE(tunnel.connect());
  Traffic traffic(tunnel);
  for (int i = 0; i < 30; ++i) {
    const auto outcome = tunnel.drone->request_rekey("uav1", "", "", patience());
    ASSERT_TRUE(outcome.ok) << outcome.message;
  }
  traffic.stop();
  traffic.expect_lossless();
}

TEST(EngineRekey, EpochsEndAt255AndAFreshSessionFollows) {
  Tunnel tunnel({{"handshakes_per_drone_s", 10000.0}}, {});
  ASSERT_TRUE(tunnel.connect());
  std::set<std::string> sessions;
  for (int i = 1; i <= 257; ++i) {
    const auto outcome = tunnel.drone->request_rekey("uav1", "", "", patience());
    ASSERT_TRUE(outcome.ok) << i << ": " << outcome.message;
    ASSERT_EQ(outcome.epoch, i % 256);
    ASSERT_TRUE(sessions.insert(status(*tunnel.drone).session_id).second);
  }
  ASSERT_TRUE(eventually([&] { return status(*tunnel.gcs).epoch == 1 && up(*tunnel.gcs); }));
  expect_round_trip(tunnel, "epoch 1 again");
}

TEST(EngineRekey, FromTheGcs) {
  Tunnel tunnel(many_keys(), {}, {});
  ASSERT_TRUE(tunnel.connect());
  Traffic traffic(tunnel);
  const auto same = tunnel.gcs->request_rekey("uav1", "", "on schedule", patience());
  EXPECT_TRUE(same.ok) << same.message;
  EXPECT_EQ(same.epoch, 1);
  EXPECT_EQ(same.suite, kLight);
  EXPECT_NE(same.message.find("on schedule"), std::string::npos) << same.message;
  const auto other = tunnel.gcs->request_rekey("uav1", "ML-1024-AG-MD-87", "", patience());
  EXPECT_TRUE(other.ok) << other.message;
  EXPECT_EQ(other.suite, "cs-mlkem1024-aesgcm-mldsa87");
  EXPECT_EQ(status(*tunnel.drone).suite, "cs-mlkem1024-aesgcm-mldsa87");
  traffic.stop();
  traffic.expect_lossless();
}

TEST(EngineRekey, WhatAnOperatorAskedForIsPinned) {
  constexpr const char *kFirst = kLight, *kSecond = "cs-mlkem1024-aesgcm-mldsa87";
  Tunnel tunnel(many_keys(), {}, {});
  ASSERT_TRUE(tunnel.connect());
  const auto pinned = [&] { return std::pair(status(*tunnel.drone).pinned_suite, status(*tunnel.drone).pin_for_s); };
  const auto ask = [&](Engine& engine, const std::string& suite, double pin_for_s) {
    return engine.request_rekey("uav1", suite, "pin", 30s, "", pin_for_s);
  };
  EXPECT_EQ(pinned(), std::pair(std::string{}, 0.0));
  EXPECT_EQ(ask(*tunnel.drone, kSecond, 600).pin_for_s, 600);
  EXPECT_EQ(pinned().first, kSecond);
  EXPECT_GT(pinned().second, 590);
  EXPECT_LE(pinned().second, 600);
  EXPECT_TRUE(ask(*tunnel.drone, "", 0).ok);
  EXPECT_EQ(pinned().first, kSecond) << "fresh keys are no other word";
  EXPECT_FALSE(ask(*tunnel.drone, "ML-768-AG-MD-66", 60).ok);
  EXPECT_GT(pinned().second, 500) << "nor is what was refused";
  // From the ground, where the answer says so, too; without a pin the suite is free again.
  const auto answer = ask(*tunnel.gcs, kFirst, 3600);
  EXPECT_TRUE(answer.ok) << answer.message;
  EXPECT_EQ(answer.pin_for_s, 3600);
  EXPECT_EQ(pinned().first, kFirst);
  EXPECT_GT(pinned().second, 3000);
  EXPECT_EQ(ask(*tunnel.gcs, kFirst, 0).pin_for_s, 0);
  EXPECT_EQ(pinned(), std::pair(std::string{}, 0.0));
  EXPECT_TRUE(ask(*tunnel.gcs, kFirst, 1).ok);
  EXPECT_TRUE(eventually([&] { return pinned().first.empty(); })) << "it ends by itself";
  for (const double wrong : {-1.0, 604'801.0, std::nan("")}) {
    EXPECT_FALSE(ask(*tunnel.drone, kSecond, wrong).ok) << wrong;
    EXPECT_FALSE(ask(*tunnel.gcs, kSecond, wrong).ok) << wrong;
  }
}

TEST(EngineRekey, ARequestThatWasLostIsRepeatedAndDoneOnce) {
  RelayedTunnel tunnel({{"degraded_after_s", 30.0}}, {{"degraded_after_s", 30.0}, {"reconnect_after_s", 60.0}});
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.relay->pass(true, false);
  tunnel.relay->record(true);
  RekeyOutcome outcome;
  std::thread asking([&] { outcome = tunnel.gcs->request_rekey("uav1", "", "", patience()); });
  const auto is_request = [](const Bytes& packet) {
    return packet.size() == kOverhead + 3 + 6;
  };  // an id and two empty texts
  ASSERT_TRUE(eventually([&] {
    for (const auto& packet : tunnel.relay->take(Relay::Way::down))
      if (is_request(packet)) return true;
    return false;
  }));
  tunnel.relay->pass(true, true);
  asking.join();
  EXPECT_TRUE(outcome.ok) << outcome.message;
  EXPECT_EQ(outcome.epoch, 1);
  EXPECT_EQ(status(*tunnel.drone).rekeys_ok, 1u);
}

TEST(EngineRekey, RefusalsLeaveTheSessionAlone) {
  Tunnel tunnel({{"drone.uav1.allowed_suites", Names{kLight, "cs-mlkem768-aesgcm-mldsa65"}}}, {});
  ASSERT_TRUE(tunnel.connect());
  const auto session = status(*tunnel.drone).session_id;
  struct Case {
    const char* suite;
    std::vector<const char*> says;
  };
  // Unknown, forbidden by the gcs, without a key on the drone.
  for (const auto& [suite, says] :
       {Case{"cs-mlkem512-aesgcm-mldsa45", {"refused", "cs-mlkem512-aesgcm-mldsa44"}},
        Case{"cs-mlkem512-chacha20poly1305-mldsa44", {"running session continues", "does not allow"}},
        Case{"cs-mlkem1024-aesgcm-mldsa87", {"mldsa87"}}}) {
    for (auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) {
      const auto outcome = engine->request_rekey("uav1", suite, "", patience());
      EXPECT_FALSE(outcome.ok) << suite;
      for (const auto* words : says) EXPECT_NE(outcome.message.find(words), std::string::npos) << outcome.message;
    }
  }
  for (auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) {
    const auto outcome = engine->request_rekey("uav9", "", "", 1s);
    EXPECT_FALSE(outcome.ok);
    EXPECT_EQ(outcome.message, "There is no drone 'uav9' here.");
  }
  EXPECT_EQ(status(*tunnel.drone).session_id, session);
  EXPECT_EQ(status(*tunnel.gcs).session_id, session);
  EXPECT_EQ(state(*tunnel.gcs), LinkState::up);
  expect_round_trip(tunnel, "as before");
  EXPECT_TRUE(tunnel.drone->request_rekey("uav1", "cs-mlkem768-aesgcm-mldsa65", "", patience()).ok)
      << "and the next good one works";
}

TEST(EngineRekey, OneAtATime) {
  if (!has_suite("cs-classicmceliece348864-aesgcm-mldsa44"))
    GTEST_SKIP() << "no library here has a suite that takes as long";
  Tunnel tunnel(many_keys(), {}, {});
  ASSERT_TRUE(tunnel.connect());
  for (auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) {
    std::vector<std::thread> threads;
    std::atomic<int> done{0}, busy{0}, other{0};
    for (int i = 0; i < 6; ++i)
      threads.emplace_back([&] {
        const auto outcome = engine->request_rekey("uav1", "cs-classicmceliece348864-aesgcm-mldsa44", "", patience());
        ++(outcome.ok ? done : outcome.message.find("Busy") != std::string::npos ? busy : other);
      });
    for (auto& thread : threads) thread.join();
    EXPECT_GE(done, 1);
    EXPECT_EQ(done + busy, 6);
    EXPECT_EQ(other, 0);
  }
  expect_round_trip(tunnel, "still one session");
}

TEST(EngineRekey, WithoutASession) {
  const KeyFolders keys;
  UdpPeer nobody;
  const auto drone = start(drone_values(keys, "uav1", nobody.address().port()));
  const auto gcs = start(gcs_values(keys));
  for (const auto* engine : {drone.get(), gcs.get()}) {
    auto outcome = const_cast<Engine*>(engine)->request_rekey("uav1", "", "", 5s);
    EXPECT_FALSE(outcome.ok);
    EXPECT_NE(outcome.message.find("no session"), std::string::npos) << outcome.message;
  }
}

TEST(EngineRekey, AfterTheEndIsRefused) {
  Tunnel tunnel;
  ASSERT_TRUE(tunnel.connect());
  tunnel.drone->stop();
  tunnel.gcs->stop();
  for (auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) {
    const auto outcome = engine->request_rekey("uav1", "", "", 5s);
    EXPECT_FALSE(outcome.ok);
    EXPECT_NE(outcome.message.find("shutting down"), std::string::npos) << outcome.message;
  }
}

TEST(EngineRekey, AGcsThatForgotTheSessionGetsAFreshOneAtOnce) {
  const TempFolder state;
  RelayedTunnel tunnel({}, {{"degraded_after_s", 30.0}, {"reconnect_after_s", 60.0}, {"state_dir", state.path()}});
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  // The token by which the drone knows a restarted gcs came in one packet with what is in this file.
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(state / "uav1.gcs.key"); }));
  tunnel.lose_gcs();
  tunnel.start_gcs_again();
  tunnel.relay->pass(true, true);
  // Silence alone would take a minute here. The gcs says that it does not know the session, and can prove who it is.
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  EXPECT_EQ(status(*tunnel.drone).epoch, 0);
  tunnel.expect_round_trip("fresh");
}

TEST(EngineRekey, OnAnInterval) {
  Tunnel tunnel({{"handshakes_per_drone_s", 1000.0}}, {{"rekey_interval_s", 0.2}});
  ASSERT_TRUE(tunnel.connect());
  Traffic traffic(tunnel);
  ASSERT_TRUE(eventually([&] { return status(*tunnel.drone).rekeys_ok >= 3; }));
  traffic.stop();
  traffic.expect_lossless();
}

/// F9: an attacker who blocks handshakes does not keep the same keys in use unseen.
TEST(EngineRekey, KeysThatCannotBeRenewedAreSaidToBeOld) {
  for (const std::string action : {"warn", "stop"}) {
    const FlatConfig limit{{"key_limit_s", 1.0}, {"key_limit_action", action}, {"degraded_after_s", 60.0}};
    RelayedTunnel tunnel(limit, with(limit, {{"rekey_interval_s", 0.5}, {"reconnect_after_s", 100.0}}));
    ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
    tunnel.relay->hold_answers(true);
    ASSERT_TRUE(eventually([&] { return status(*tunnel.gcs).key_old && status(*tunnel.drone).key_old; }));
    EXPECT_NE(status(*tunnel.gcs).last_error, "");
    if (action == "warn") {
      tunnel.expect_round_trip("flies on");
    } else {
      const auto refused = stat(*tunnel.drone, "plain_dropped_no_session");
      tunnel.send_up("not any more");
      ASSERT_TRUE(eventually([&] { return stat(*tunnel.drone, "plain_dropped_no_session") == refused + 1; }));
      EXPECT_TRUE(tunnel.ground.drain().empty());
    }
    tunnel.relay->hold_answers(false);
    ASSERT_TRUE(eventually([&] { return !status(*tunnel.gcs).key_old && !status(*tunnel.drone).key_old; }));
    // The next limit is a second away: a rekey every half of it keeps the keys young.
    EXPECT_TRUE(eventually([&] {
      tunnel.send_up("renewed");
      return tunnel.ground.receive_text(100ms) == "renewed";
    }));
  }
}

TEST(EngineRekey, AfterSoManyPackets) {
  Tunnel tunnel({}, {{"rekey_packets", 1000}});
  ASSERT_TRUE(tunnel.connect());
  for (int i = 0; i < 950; ++i) {
    tunnel.send_up("x");
    ASSERT_EQ(tunnel.ground.receive_text(), "x");
  }
  EXPECT_EQ(status(*tunnel.drone).epoch, 0);
  ASSERT_TRUE(eventually([&] {
    tunnel.send_up("y");
    return tunnel.ground.receive_text() == "y" && status(*tunnel.drone).epoch == 1;
  }));
}

/// Each direction has a key of its own, and the drone alone can renew them.
TEST(EngineRekey, AfterSoManyPacketsFromTheGround) {
  Tunnel tunnel({}, {{"rekey_packets", 1000}});
  ASSERT_TRUE(tunnel.connect());
  expect_round_trip(tunnel, "start");
  for (int i = 0; i < 950; ++i) {
    tunnel.send_down("x");
    ASSERT_EQ(tunnel.autopilot.receive_text(), "x");
  }
  EXPECT_EQ(status(*tunnel.drone).epoch, 0);
  ASSERT_TRUE(eventually([&] {
    tunnel.send_down("y");
    return tunnel.autopilot.receive_text() == "y" && status(*tunnel.drone).epoch == 1;
  }));
}

TEST(EngineRekey, ADroneFallsBackToItsConfiguredSuiteWhenTheChosenOneStopsWorking) {
  auto keys = many_keys();
  const auto other = std::string("cs-mlkem1024-aesgcm-mldsa87");
  RelayedTunnel tunnel;
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  ASSERT_TRUE(tunnel.drone->request_rekey("uav1", "cs-mlkem768-aesgcm-mldsa65", "", patience()).ok);
  // The gcs comes back with another policy.
  tunnel.relay->pass(true, false);
  tunnel.gcs_extra = with(tunnel.gcs_extra, {{"allowed_suites", Names{kLight}}});
  tunnel.gcs.reset();
  tunnel.start_gcs_again();
  tunnel.relay->pass(true, true);
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  EXPECT_EQ(status(*tunnel.drone).suite, kLight);
}

/// A rekey whose last message is lost: the gcs installed keys that the drone never got.
TEST(EngineRekey, AHalfFinishedOneIsForgotten) {
  const KeyFolders keys;
  UdpPeer ground;
  const auto gcs = start(quick(with(gcs_values(keys), {{"drone.uav1.plain_peer", ground.address().text()}})));
  RawDrone first(keys, *gcs, "uav1");
  ASSERT_TRUE(first.connected());
  first.send(first.seal("one"));
  ASSERT_EQ(ground.receive_text(), "one");
  const RawDrone lost(keys, *gcs, "uav1", first);
  ASSERT_TRUE(lost.connected());
  first.send(first.seal("two"));
  EXPECT_EQ(ground.receive_text(), "two") << "the running session does not notice";
  EXPECT_EQ(status(*gcs).epoch, 0);
  RawDrone second(keys, *gcs, "uav1", first);
  ASSERT_TRUE(second.connected()) << second.outcome.reason;
  second.send(second.seal("three"));
  EXPECT_EQ(ground.receive_text(), "three");
  EXPECT_EQ(status(*gcs).epoch, 1);
}

TEST(EngineRekey, WrongEpochsAndSessionsAreRejected) {
  const KeyFolders keys;
  const auto gcs = start(gcs_values(keys));
  RawDrone first(keys, *gcs, "uav1");
  ASSERT_TRUE(first.connected());
  first.send(first.seal("one"));
  SessionId unknown = first.session_id;
  unknown[7] ^= 1;
  for (const std::uint8_t epoch : {0, 2}) {
    const RawDrone attempt(keys, *gcs, "uav1", first, epoch);
    EXPECT_EQ(attempt.outcome.error, HandshakeError::rejected) << attempt.outcome.reason;
    EXPECT_EQ(attempt.outcome.reject_code, static_cast<std::uint8_t>(Reject::epoch));
  }
  const RawDrone elsewhere(keys, *gcs, "uav1", first, 1, unknown, 1s);
  EXPECT_EQ(elsewhere.outcome.error, HandshakeError::timeout) << "a session is rekeyed by its own frames alone";
  EXPECT_EQ(total(*gcs, "keygens"), 1u) << "refused before any key generation";
}

}  // namespace
}  // namespace pqcmav
