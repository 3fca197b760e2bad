// SPDX-License-Identifier: Apache-2.0
// Silence, loss, restarts, goodbyes, changing addresses: what heals automatically and how fast it is noticed. Timers
// are shortened by configuration.
#include <set>

#include "handshake/restart_key.hpp"
#include "keys/restart_key_file.hpp"
#include "net/handshake_port.hpp"
#include "raw_drone.hpp"
#include "relay.hpp"

namespace pqcmav {
namespace {

using namespace test;

class EngineLiveness : public ::testing::Test {
 protected:
  explicit EngineLiveness(FlatConfig drone_more = {}) : tunnel({}, std::move(drone_more)) {}
  void connect() {
    ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  }
  [[nodiscard]] std::string session() const { return status(*tunnel.drone).session_id; }

  RelayedTunnel tunnel;
};

/// Where nothing but the test may end a session: a machine that stood still for half a second would otherwise look like
/// a gcs that fell silent.
class EngineCalm : public EngineLiveness {
 protected:
  EngineCalm() : EngineLiveness({{"reconnect_after_s", 60.0}}) {}
};

TEST_F(EngineCalm, AnIdleLinkStaysUpByKeepalives) {
  connect();
  const auto id = session();
  const auto before = total(*tunnel.gcs, "control"), before_drone = total(*tunnel.drone, "control");
  // Far longer than the limit of degradation would allow without them.
  EXPECT_TRUE(eventually([&] {
    return total(*tunnel.gcs, "control") > before + 10 && total(*tunnel.drone, "control") > before_drone + 10;
  }));
  EXPECT_TRUE(eventually([&] { return tunnel.both_up(); }));
  EXPECT_EQ(session(), id);
  EXPECT_EQ(tunnel.relay->attempts(), 1u);
}

TEST_F(EngineLiveness, ASilentDroneDegradesTheGcsAndRecovers) {
  connect();
  EventLog log(*tunnel.gcs);
  tunnel.relay->pass(false, true);
  ASSERT_TRUE(log.wait_for<StateEvent>(
      [](const auto& event) { return event.before == LinkState::up && event.after == LinkState::degraded; }));
  EXPECT_GE(status(*tunnel.gcs).silence_s, 0.3);
  tunnel.relay->pass(true, true);
  ASSERT_TRUE(log.wait_for<StateEvent>(
      [](const auto& event) { return event.before == LinkState::degraded && event.after == LinkState::up; }));
  tunnel.expect_round_trip("alive");
}

TEST_F(EngineLiveness, ASilentGcsMakesTheDroneStartAfresh) {
  connect();
  const auto id = session();
  EventLog log(*tunnel.drone);
  tunnel.relay->pass(false, false);
  ASSERT_TRUE(log.wait_for<StateEvent>([](const auto& event) { return event.after == LinkState::degraded; }));
  // Handshakes go through, packets do not.
  ASSERT_TRUE(eventually([&] { return status(*tunnel.drone).handshakes_ok >= 2; }));
  tunnel.relay->pass(true, true);
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  EXPECT_NE(session(), id);
  tunnel.expect_round_trip("again");
}

TEST_F(EngineLiveness, ACompleteBlackoutHeals) {
  connect();
  tunnel.relay->pass(false, false);
  tunnel.relay->pass_handshakes(false);
  ASSERT_TRUE(eventually([&] { return !status(*tunnel.drone).last_error.empty(); }));
  EXPECT_EQ(state(*tunnel.gcs), LinkState::degraded);
  tunnel.relay->pass_handshakes(true);
  tunnel.relay->pass(true, true);
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  EXPECT_EQ(status(*tunnel.drone).last_error, "");
  tunnel.expect_round_trip("again");
}

TEST_F(EngineLiveness, ALinkThatIsCutDoesNotChooseTheSuite) {
  connect();
  const std::string chosen = "cs-mlkem512-chacha20poly1305-mldsa44";
  ASSERT_TRUE(tunnel.drone->request_rekey("uav1", chosen, "test", 20s).ok);
  tunnel.relay->pass(false, false);
  tunnel.relay->pass_handshakes(false);
  const auto before = status(*tunnel.drone).handshakes_failed;
  ASSERT_TRUE(eventually([&] { return status(*tunnel.drone).handshakes_failed > before; }, 40s));
  EXPECT_TRUE(status(*tunnel.drone).blacklisted_suites.empty());
  tunnel.relay->pass_handshakes(true);
  tunnel.relay->pass(true, true);
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  EXPECT_EQ(status(*tunnel.drone).suite, chosen);
  tunnel.expect_round_trip("still chosen");
}

TEST(EngineSilence, AGcsThatNeverAnswersIsNotTheSuitesFault) {
  Tunnel tunnel({}, {{"keepalive_s", 0.1}, {"degraded_after_s", 0.3}, {"reconnect_after_s", 0.6}});
  ASSERT_TRUE(tunnel.connect());
  const std::string chosen = "cs-mlkem512-chacha20poly1305-mldsa44";
  ASSERT_TRUE(tunnel.drone->request_rekey("uav1", chosen, "test", 20s).ok);
  const auto ports = tunnel.gcs->ports();
  tunnel.gcs.reset();
  EventLog log(*tunnel.drone);
  ASSERT_TRUE(
      log.wait_for<HandshakeEvent>([](const auto& event) { return event.error == HandshakeError::timeout; }, 40s));
  EXPECT_TRUE(status(*tunnel.drone).blacklisted_suites.empty());
  const FlatConfig same = {{"data_port", ports.data}, {"drone.uav1.plain_peer", tunnel.ground.address().text()}};
  tunnel.gcs = start(with(gcs_values(*tunnel.keys), same));
  ASSERT_TRUE(tunnel.connect());
  EXPECT_EQ(status(*tunnel.drone).suite, chosen);
}

TEST_F(EngineLiveness, AGcsThatStopsSaysSoAndARestartedOneIsFoundAgain) {
  connect();
  EventLog log(*tunnel.drone);
  tunnel.gcs->stop();
  ASSERT_TRUE(log.wait_for<StateEvent>([](const auto& event) {
    return event.before == LinkState::up && event.after != LinkState::degraded;
  })) << "CLOSE is heard at once";
  ASSERT_TRUE(eventually([&] { return state(*tunnel.drone) == LinkState::handshaking; }));
  tunnel.gcs.reset();
  tunnel.start_gcs_again();
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.expect_round_trip("after the restart");
}

TEST(EngineRestart, AGcsThatDiedWithoutAWordIsFoundAgain) {
  const TempFolder state;
  RelayedTunnel tunnel({}, {{"state_dir", state.path()}});
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  // The token by which the drone knows a restarted gcs came in one packet with what is in this file.
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(state / "uav1.gcs.key"); }));
  tunnel.lose_gcs();
  tunnel.start_gcs_again();
  tunnel.relay->pass(true, true);
  ASSERT_TRUE(eventually([&] {
    tunnel.send_up("telemetry goes on");
    return tunnel.both_up();
  }));
  EXPECT_GT(total(*tunnel.gcs, "drop_unknown"), 0u) << "what the drone sent under the old session";
  EXPECT_EQ(total(*tunnel.drone, "hs_unknown"), 0u) << "what that draws is no stranger's";
  tunnel.send_up("after the crash");
  auto heard = tunnel.ground.receive_text();
  while (heard == "telemetry goes on") heard = tunnel.ground.receive_text();
  EXPECT_EQ(heard, "after the crash");
}

TEST_F(EngineCalm, WhatAnswersAnAttemptThatEndedIsNoStrangers) {
  connect();
  const auto answers = tunnel.relay->answers();
  ASSERT_FALSE(answers.empty());
  const auto before = total(*tunnel.drone, "hs_repeated");
  for (const auto& each : answers) tunnel.relay->send_down(each);
  EXPECT_TRUE(eventually([&] { return total(*tunnel.drone, "hs_repeated") >= before + answers.size(); }));
  EXPECT_EQ(total(*tunnel.drone, "hs_unknown"), 0u);
  auto forged = answers.front();
  forged.back() ^= 1;
  tunnel.relay->send_down(forged);
  EXPECT_TRUE(eventually([&] { return total(*tunnel.drone, "hs_unknown") == 1; })) << "its name alone proves nothing";
}

TEST_F(EngineLiveness, ADroneThatStopsSaysSoAndMayComeBack) {
  connect();
  tunnel.drone->stop();
  ASSERT_TRUE(eventually([&] { return state(*tunnel.gcs) == LinkState::down; }));
  // Nothing to the drone from now on: refused, not queued, not in clear.
  const auto before = stat(*tunnel.gcs, "plain_dropped_no_session");
  tunnel.send_down("too late");
  ASSERT_TRUE(eventually([&] { return stat(*tunnel.gcs, "plain_dropped_no_session") == before + 1; }));
  tunnel.start_drone();
  connect();
  tunnel.expect_round_trip("after the restart");
  EXPECT_TRUE(tunnel.autopilot.drain().empty());
}

TEST_F(EngineLiveness, ADroneThatDiedWithoutAWordMayComeBack) {
  connect();
  const auto id = session();
  tunnel.relay->pass(false, true);  // the goodbye does not arrive
  tunnel.drone.reset();
  tunnel.relay->pass(true, true);
  tunnel.start_drone();
  connect();
  EXPECT_NE(session(), id);
  tunnel.expect_round_trip("after the crash");
}

TEST_F(EngineCalm, AGoodbyeThatWasHeldBackDoesNotEndTheNextSession) {
  connect();
  tunnel.relay->record(true);
  tunnel.relay->pass(false, true);
  tunnel.drone->stop();
  std::vector<Bytes> held;
  ASSERT_TRUE(eventually([&] {
    for (auto& packet : tunnel.relay->take(Relay::Way::up)) held.push_back(packet);
    return !held.empty() && held.back().size() == kOverhead + 4;  // CLOSE is one TLV of four bytes
  }));
  tunnel.relay->pass(true, true);
  tunnel.start_drone();
  connect();
  const auto id = session();
  const auto before = total(*tunnel.gcs, "enc_rx_datagrams");
  tunnel.relay->send_up(held.back());
  ASSERT_TRUE(eventually([&] { return total(*tunnel.gcs, "enc_rx_datagrams") > before; }));
  tunnel.expect_round_trip("still here");
  EXPECT_EQ(status(*tunnel.gcs).session_id, id);
}

/// Who has it says that the gcs was restarted, as often as he likes.
TEST_F(EngineCalm, AStolenRestartKeyIsGoodForOneHandshakeASession) {
  connect();
  tunnel.expect_round_trip("before");
  SessionId id{};
  tunnel.relay->record(true);
  ASSERT_TRUE(eventually([&] {
    for (const auto& packet : tunnel.relay->take(Relay::Way::up))
      if (const auto header = parse_header(packet)) id = header->session_id;
    return id != SessionId{};
  }));
  const RestartKey stolen(load_or_make_restart_key(tunnel.keys.gcs()));
  const auto said = [&](bool good) {
    Bytes out{kRestartType};
    auto token = stolen.token(id);
    token[0] ^= good ? 0 : 1;
    out.insert(out.end(), id.begin(), id.end());
    out.insert(out.end(), token.begin(), token.end());
    return out;
  };
  for (int i = 0; i < 20; ++i) tunnel.relay->send_down(said(false));
  ASSERT_TRUE(eventually([&] { return total(*tunnel.drone, "hs_tag") == 20; }));
  EXPECT_EQ(tunnel.relay->attempts(), 1u) << "without the key he says nothing";
  for (int i = 0; i < 50; ++i) {
    tunnel.relay->send_down(said(true));
    tunnel.expect_round_trip("meanwhile " + std::to_string(i));
  }
  ASSERT_TRUE(eventually([&] { return tunnel.relay->attempts() >= 2 && tunnel.both_up(); }));
  EXPECT_EQ(tunnel.relay->attempts(), 2u);
}

TEST_F(EngineCalm, TheGcsFollowsTheDronesAddress) {
  connect();
  std::set<std::string> seen{status(*tunnel.gcs).peer};
  for (const auto* host : {"127.0.0.1", "127.0.0.2", "127.0.0.3"}) {
    tunnel.relay->move(host);
    tunnel.expect_round_trip(std::string("from ") + host);
    ASSERT_TRUE(eventually([&] { return status(*tunnel.gcs).peer == tunnel.relay->outside().text(); }));
    seen.insert(status(*tunnel.gcs).peer);
  }
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(stat(*tunnel.gcs, "roams"), 3u);
  EXPECT_EQ(tunnel.relay->attempts(), 1u) << "roaming needs no handshake";
}

TEST_F(EngineLiveness, LinkReportsAndProbesArrive) {
  connect();
  const auto complete = [](const Engine& engine) {
    const auto link = engine.links().at(0);
    return link.peer && link.rtt_ms && link.clock_offset_ms && link.peer->packets_per_s_milli > 0;
  };
  ASSERT_TRUE(eventually([&] {
    tunnel.send_up("x");
    return complete(*tunnel.gcs) && complete(*tunnel.drone);
  }));
  const auto link = tunnel.gcs->links().at(0);
  EXPECT_GT(*link.rtt_ms, 0.0);
  EXPECT_LE(*link.rtt_min_ms, *link.rtt_ms);
  EXPECT_LE(std::abs(*link.clock_offset_ms), *link.rtt_ms) << "both ends have the same clock here";
  EXPECT_LT(link.peer_age_s, 20.0);
}

TEST(EngineLimit, KeysAreWipedAndPlaintextRefused) {
  RelayedTunnel tunnel({{"session_limit_s", 1.5}}, {{"session_limit_s", 1.5}});
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.relay->pass_handshakes(false);
  tunnel.relay->record(true);
  tunnel.relay->pass(false, false);
  for (const auto* engine : {tunnel.gcs.get(), tunnel.drone.get()}) {
    ASSERT_TRUE(
        eventually([&] { return state(*engine) == LinkState::down || state(*engine) == LinkState::handshaking; }));
    EXPECT_EQ(status(*engine).session_id, "");
  }
  tunnel.relay->take(Relay::Way::up);
  tunnel.relay->take(Relay::Way::down);
  const auto up_before = stat(*tunnel.drone, "plain_dropped_no_session"),
             down_before = stat(*tunnel.gcs, "plain_dropped_no_session");
  for (int i = 0; i < 10; ++i) {
    tunnel.send_up("nobody may read this");
    tunnel.send_down("nor this");
  }
  ASSERT_TRUE(eventually([&] {
    return stat(*tunnel.drone, "plain_dropped_no_session") == up_before + 10 &&
           stat(*tunnel.gcs, "plain_dropped_no_session") == down_before + 10;
  }));
  EXPECT_TRUE(tunnel.relay->take(Relay::Way::up).empty()) << "not in clear, not under wiped keys, nothing";
  EXPECT_TRUE(tunnel.relay->take(Relay::Way::down).empty());

  tunnel.relay->pass_handshakes(true);
  tunnel.relay->pass(true, true);
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.expect_round_trip("healed");
  EXPECT_TRUE(tunnel.autopilot.drain().empty()) << "what was refused is gone, not queued";
}

TEST(EngineLimit, HandshakesAloneDoNotKeepASilentSessionAlive) {
  // A drone whose datagrams never arrive shakes hands again and again; the gcs stops using the old keys all the same.
  const KeyFolders keys;
  UdpPeer ground;
  const auto gcs = start(quick(with(gcs_values(keys), {{"session_limit_s", 1.0},
                                                       {"drone.uav1.plain_peer", ground.address().text()},
                                                       {"handshakes_per_drone_s", 1000.0}})));
  RawDrone first(keys, *gcs, "uav1");
  ASSERT_TRUE(first.connected());
  first.send(first.seal("only packet"));
  ASSERT_EQ(ground.receive_text(), "only packet");
  const auto id = status(*gcs).session_id;
  ASSERT_TRUE(eventually([&] {
    const RawDrone again(keys, *gcs, "uav1");
    EXPECT_TRUE(again.connected()) << again.outcome.reason;
    return status(*gcs).session_id.empty();
  }));
  EXPECT_EQ(state(*gcs), LinkState::handshaking) << "the newest keys wait for their first packet";
  const auto before = total(*gcs, "drop_unknown");
  first.send(first.seal("after the limit"));
  ASSERT_TRUE(eventually([&] { return total(*gcs, "drop_unknown") == before + 1; }));
  EXPECT_TRUE(ground.drain().empty());
  EXPECT_FALSE(id.empty());
}

TEST(EngineTwins, TwoDronesWithOneIdentityDoNotBreakTheGcs) {
  // The same key folder on two machines: the one that shook hands last is the drone.
  RelayedTunnel tunnel;
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  RawDrone twin(tunnel.keys, *tunnel.gcs, "uav1");
  ASSERT_TRUE(twin.connected());
  twin.send(twin.seal("twin"));
  EXPECT_EQ(tunnel.ground.receive_text(), "twin");
  // The first one notices that nobody answers it, and takes over again.
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.expect_round_trip("original");
}

}  // namespace
}  // namespace pqcmav
