// SPDX-License-Identifier: Apache-2.0
// One drone of the laboratory's fleet against a real gcs over loopback: to the gcs it is a drone as any other.
#include "fleet_drone.hpp"

#include <gtest/gtest.h>

#include "engine_fixture.hpp"
#include "keys/gcs_psk.hpp"
#include "keys/key_folders.hpp"
#include "mavlink_messages.hpp"

namespace pqcmav::fleet {
namespace {

using namespace pqcmav::test;
using What = DroneEvent::What;

/// A drone with its socket and its clock.
class Flight : private DroneWorld {
 public:
  explicit Flight(const KeyFolders& keys, std::uint16_t port, const FlatConfig& more = {},
                  std::vector<const Suite*> suites = {}) {
    rules_.suites = std::move(suites);
    rules_.config = EngineConfig::from_flat(with(quick(drone_values(keys, "uav1", port)), more));
    rules_.gcs = resolve("127.0.0.1", port, false, SOCK_DGRAM);
    const DroneKeys own(keys.drone("uav1"));
    rules_.gcs_public_key = own.gcs_public(*rules_.config.suite->sig);
    DroneIdentity who{0, "uav1", psk_of_gcs(own.psk(), kDefaultGcsId), std::nullopt};
    drone.emplace(rules_, tally, static_cast<DroneWorld&>(*this), std::move(who), 1, now_ns());
  }
  /// Goes on until it is so; false when that takes too long.
  template <typename Condition>
  bool until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + patience();
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      if (auto datagram = socket_.receive(1ms); datagram && !cut)
        drone->on_datagram(*datagram, socket_.source(), now_ns());
      const auto now = now_ns();
      if (now < drone->deadline()) continue;
      drone->run(now);
      ++runs;
      EXPECT_GT(drone->deadline(), now);
    }
    return true;
  }
  [[nodiscard]] bool connect() {
    return until([this] { return drone->connected(); });
  }
  /// What has come and was not read is lost.
  void lose() { (void)socket_.drain(); }
  [[nodiscard]] std::size_t count(What what) const {
    return static_cast<std::size_t>(std::ranges::count(events, what, [](const auto& each) { return each.what; }));
  }
  [[nodiscard]] std::string why(What what) const {
    for (const auto& each : events)
      if (each.what == what) return std::string(each.why);
    return "(not at all)";
  }

  DroneTally tally;
  std::optional<FleetDrone> drone;
  std::vector<DroneEvent> events;
  bool cut = false;
  int runs = 0;

 private:
  void send(std::size_t, ByteView datagram) override {
    if (!cut) socket_.send(datagram, rules_.gcs);
  }
  void happened(std::size_t, const DroneEvent& event, std::uint64_t) override { events.push_back(event); }

  DroneRules rules_;
  UdpPeer socket_;
};

struct GcsAndGround {
  explicit GcsAndGround(const FlatConfig& more = {})
      : values(with(quick(gcs_values(keys)), with({{"drone.uav1.plain_peer", ground.address().text()}}, more))),
        gcs(start(values)) {
    values["data_port"] = std::int64_t{port()};
  }
  [[nodiscard]] std::uint16_t port() const { return gcs->ports().data; }
  KeyFolders keys;
  UdpPeer ground;
  FlatConfig values;
  std::unique_ptr<Engine> gcs;
};

TEST(FleetDrone, ConnectsAndItsMessagesArriveBothWays) {
  GcsAndGround there;
  Flight flight(there.keys, there.port());
  flight.drone->say(as_bytes("too early"), now_ns());
  EXPECT_EQ(flight.tally.messages_unsent, 1u);
  ASSERT_TRUE(flight.connect());
  ASSERT_TRUE(flight.until([&] { return up(*there.gcs); }));
  flight.drone->say(as_bytes("up"), now_ns());
  EXPECT_EQ(there.ground.receive_text(), "up");
  there.ground.send("down", plain_port(*there.gcs, "uav1"));
  EXPECT_TRUE(flight.until([&] { return flight.tally.messages_received == 1; }));
  EXPECT_EQ(flight.tally.messages_sent, 1u);
  EXPECT_EQ(flight.tally.first.done, 1u);
  EXPECT_EQ(flight.count(What::connected), 1u);
  expect_all_accounted_for(*there.gcs);
}

TEST(FleetDrone, StaysConnectedWithoutATelemetryPacketAndRestsInBetween) {
  GcsAndGround there;
  Flight flight(there.keys, there.port(),
                {{"keepalive_s", 0.5}, {"degraded_after_s", 1.5}, {"reconnect_after_s", 2.0}});
  ASSERT_TRUE(flight.connect());
  const auto from = now_ns();
  flight.runs = 0;
  EXPECT_TRUE(flight.until([&] { return now_ns() > from + 2'000'000'000; }));
  EXPECT_TRUE(flight.drone->connected());
  EXPECT_EQ(flight.count(What::lost), 0u);
  EXPECT_LT(flight.runs, 15);  // a report and a probe a second, and what the handshake left
  EXPECT_TRUE(flight.until([&] { return status(*there.gcs).state == LinkState::up; })) << "late, on a busy machine";
}

TEST(FleetDrone, RekeysInsideTheSessionWhenTheIntervalIsOver) {
  GcsAndGround there;
  Flight flight(there.keys, there.port(), {{"rekey_interval_s", 1.0}});
  ASSERT_TRUE(flight.connect());
  EXPECT_TRUE(flight.until([&] { return flight.tally.rekeys.done == 2; }));
  EXPECT_EQ(flight.drone->session().current()->epoch, 2);
  EXPECT_TRUE(eventually([&] { return status(*there.gcs).epoch == 2; }));
  EXPECT_EQ(flight.tally.first.done, 1u);
  EXPECT_EQ(flight.count(What::lost), 0u);
  EXPECT_EQ(flight.tally.skipped, flight.tally.late);
}

TEST(FleetDrone, DrawsASuiteForEachHandshakeAndKnowsAnswersToOthers) {
  GcsAndGround there;
  Flight flight(
      there.keys, there.port(), {{"rekey_interval_s", 0.5}},
      {&require_suite("cs-mlkem512-ascon128a-mldsa44"), &require_suite("cs-mlkem512-chacha20poly1305-mldsa44")});
  ASSERT_TRUE(flight.connect());
  std::set<const Suite*> seen;
  EXPECT_TRUE(flight.until([&] { return seen.insert(flight.drone->session().current()->suite), seen.size() == 2; }));
  ByteArray<kHeartbeatSize> room;
  for (const std::uint32_t drone : {0u, 1u, 0u})
    there.ground.send(write_answer(room, 1, drone), plain_port(*there.gcs, "uav1"));
  EXPECT_TRUE(flight.until([&] { return flight.tally.messages_received == 3; }));
  EXPECT_EQ(flight.tally.messages_mixed_up, 1u);
  EXPECT_TRUE(flight.tally.rekeys.failed.empty());
}

TEST(FleetDrone, RatchetsASuiteWithLargeMessages) {
  constexpr const char* kLarge = "cs-classicmceliece348864-aesgcm-mldsa44";
  if (!has_suite(kLarge)) GTEST_SKIP();
  GcsAndGround there;
  Flight flight(there.keys, there.port(), {{"rekey_interval_s", 1.0}, {"suite", kLarge}});
  ASSERT_TRUE(flight.connect());
  EXPECT_TRUE(flight.until([&] { return flight.tally.rekeys.done == 1; }));
  EXPECT_EQ(flight.drone->session().current()->ratchets, 1);
}

TEST(FleetDrone, ComesBackToAGcsThatWasRestarted) {
  GcsAndGround there;
  Flight flight(there.keys, there.port());
  ASSERT_TRUE(flight.connect());
  ASSERT_TRUE(flight.until([&] { return up(*there.gcs); }));
  there.gcs.reset();
  flight.lose();  // a killed gcs says no goodbye
  there.gcs = start(there.values);
  ASSERT_TRUE(flight.until([&] { return flight.count(What::connected) == 2; }));
  EXPECT_EQ(flight.count(What::lost), 1u);
  EXPECT_NE(flight.why(What::lost), "closed");
  EXPECT_TRUE(flight.until([&] { return up(*there.gcs); }));
}

TEST(FleetDrone, ComesBackAfterAGoodbye) {
  GcsAndGround there;
  Flight flight(there.keys, there.port());
  ASSERT_TRUE(flight.connect());
  ASSERT_TRUE(flight.until([&] { return up(*there.gcs); }));
  there.gcs->stop();
  ASSERT_TRUE(flight.until([&] { return flight.count(What::lost) == 1; }));
  EXPECT_EQ(flight.why(What::lost), "closed");
  EXPECT_FALSE(flight.drone->connected());
  there.gcs = start(there.values);
  EXPECT_TRUE(flight.until([&] { return flight.count(What::connected) == 2; }));
}

TEST(FleetDrone, NoticesSilenceAndIsBackWhenTheLinkIs) {
  GcsAndGround there;
  Flight flight(there.keys, there.port());
  ASSERT_TRUE(flight.connect());
  ASSERT_TRUE(flight.until([&] { return up(*there.gcs); }));
  flight.cut = true;
  const auto from = now_ns();
  ASSERT_TRUE(flight.until([&] { return flight.count(What::lost) == 1; }));
  EXPECT_EQ(flight.why(What::lost), "silence");
  EXPECT_GE(now_ns() - from, 400'000'000u);  // reconnect_after_s 0.6, and what was heard just before
  flight.cut = false;
  EXPECT_TRUE(flight.until([&] { return flight.drone->connected(); }));
}

TEST(FleetDrone, AsksAgainAfterARefusal) {
  GcsAndGround there({{"allowed_suites", Names{"cs-mlkem768-aesgcm-mldsa65"}}});
  Flight flight(there.keys, there.port());
  ASSERT_TRUE(flight.until([&] { return flight.count(What::failed) == 2; }));
  EXPECT_EQ(flight.tally.first.failed.size(), 1u);
  EXPECT_EQ(flight.why(What::failed), to_string(Reject::suite_not_allowed));
  EXPECT_FALSE(flight.drone->connected());
}

TEST(FleetDrone, StrangersDatagramsChangeNothing) {
  GcsAndGround there;
  Flight flight(there.keys, there.port());
  ASSERT_TRUE(flight.connect());
  Bytes nothing, noise(100, 0x7f), restart(25, 0), unknown(60, 0);
  restart[0] = 0x63;
  unknown[0] = 0x03;
  for (auto* each : {&nothing, &noise, &restart, &unknown}) flight.drone->on_datagram(*each, SockAddr{}, now_ns());
  EXPECT_TRUE(flight.drone->connected());
  EXPECT_EQ(flight.tally.drops[static_cast<std::size_t>(Drop::malformed)], 2u);
  EXPECT_EQ(flight.tally.drops[static_cast<std::size_t>(Drop::unknown)], 1u);
  EXPECT_GE(flight.tally.handshakes[static_cast<std::size_t>(HandshakeDrop::unknown)], 1u);
}

}  // namespace
}  // namespace pqcmav::fleet
