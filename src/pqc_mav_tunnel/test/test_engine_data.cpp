// SPDX-License-Identifier: Apache-2.0
// Plaintext in, plaintext out: contents, sizes, addresses, many drones.
#include <random>
#include <set>

#include "engine_fixture.hpp"

namespace pqcmav {
namespace {

using namespace test;

Bytes noise(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes out(size);
  for (auto& byte : out) byte = static_cast<std::uint8_t>(random());
  return out;
}

/// Sends each of `sizes` one way, a few at a time, and compares what arrives, in order (on OneProcessor).
void expect_unchanged(UdpPeer& from, std::uint16_t port, UdpPeer& to, const std::vector<std::size_t>& sizes,
                      std::uint64_t seed) {
  constexpr std::size_t kAtOnce = 16;
  for (std::size_t first = 0; first < sizes.size(); first += kAtOnce) {
    const auto last = std::min(first + kAtOnce, sizes.size());
    for (auto i = first; i < last; ++i) from.send(noise(sizes[i], seed + i), port);
    for (auto i = first; i < last; ++i) {
      const auto got = to.receive();
      ASSERT_TRUE(got) << "size " << sizes[i];
      ASSERT_EQ(*got, noise(sizes[i], seed + i)) << "size " << sizes[i];
    }
  }
}

struct Mode {
  const char* suite;
  bool gso;
};

class EngineCarries : public ::testing::TestWithParam<Mode> {};

TEST_P(EngineCarries, EverySizeBothWays) {
  const OneProcessor one;
  const FlatConfig more{{"gso", GetParam().gso}};
  Tunnel tunnel(more, with(more, {{"suite", GetParam().suite}}));
  ASSERT_TRUE(tunnel.connect());
  std::vector<std::size_t> sizes;
  for (std::size_t size = 0; size <= kDefaultMaxPayload; ++size) sizes.push_back(size);
  expect_unchanged(tunnel.autopilot, plain_port(*tunnel.drone, "uav1"), tunnel.ground, sizes, 1);
  expect_unchanged(tunnel.ground, plain_port(*tunnel.gcs, "uav1"), tunnel.autopilot, sizes, 100000);
  // Runs of one size, as GSO likes them, and runs that break it.
  std::vector<std::size_t> runs(200, 280);
  for (std::size_t i = 0; i < 100; ++i) runs.insert(runs.end(), {300, 300, 0, 299, 301, 300});
  expect_unchanged(tunnel.autopilot, plain_port(*tunnel.drone, "uav1"), tunnel.ground, runs, 200000);

  EXPECT_EQ(stat(*tunnel.drone, "plain_rx_packets"), sizes.size() + runs.size());
  EXPECT_EQ(stat(*tunnel.gcs, "delivered"), sizes.size() + runs.size());
  // Counted once the system call that sent them returned, which may be after they arrived.
  EXPECT_TRUE(eventually([&] { return stat(*tunnel.gcs, "plain_tx_packets") == sizes.size() + runs.size(); }))
      << stat(*tunnel.gcs, "plain_tx_packets");
  EXPECT_EQ(stat(*tunnel.drone, "delivered"), sizes.size());
  EXPECT_EQ(stat(*tunnel.gcs, "plain_rx_bytes"), kDefaultMaxPayload * (kDefaultMaxPayload + 1) / 2);
  expect_all_accounted_for(*tunnel.gcs);
  expect_all_accounted_for(*tunnel.drone);
}

INSTANTIATE_TEST_SUITE_P(Modes, EngineCarries,
                         ::testing::Values(Mode{"cs-mlkem512-aesgcm-mldsa44", true},
                                           Mode{"cs-mlkem512-aesgcm-mldsa44", false},
                                           Mode{"cs-mlkem512-chacha20poly1305-mldsa44", true},
                                           Mode{"cs-mlkem512-ascon128a-mldsa44", false}));

TEST(EngineData, LargeDatagramsWhereConfigured) {
  const OneProcessor one;
  for (const bool gso : {true, false}) {
    const FlatConfig more{{"max_payload", 65469}, {"gso", gso}};
    Tunnel tunnel(more, more);
    ASSERT_TRUE(tunnel.connect());
    expect_unchanged(tunnel.autopilot, plain_port(*tunnel.drone, "uav1"), tunnel.ground,
                     {1433, 2010, 2048, 9000, 32768, 65000, 65469, 65469, 65469}, 7);
    expect_unchanged(tunnel.ground, plain_port(*tunnel.gcs, "uav1"), tunnel.autopilot,
                     {65469, 1, 65469, 1500, 1500, 1499}, 70);
  }
}

TEST(EngineData, WhatIsTooBigIsRefusedCountedAndSaid) {
  Tunnel tunnel({{"max_payload", 200}}, {{"max_payload", 200}});
  ASSERT_TRUE(tunnel.connect());
  EventLog log(*tunnel.drone);
  for (int i = 0; i < 3; ++i) tunnel.send_up(std::string(201, 'x'));
  tunnel.send_up(std::string(65000, 'y'));
  tunnel.send_up(std::string(200, 'z'));
  EXPECT_EQ(tunnel.ground.receive_text(), std::string(200, 'z'));
  EXPECT_EQ(stat(*tunnel.drone, "plain_dropped_too_big"), 4u);
  EXPECT_EQ(stat(*tunnel.gcs, "delivered"), 1u);
  ASSERT_TRUE(log.wait_for<LogEvent>([](const auto& line) {
    return line.level == LogLevel::warning && line.text.find("max_payload (200 bytes)") != std::string::npos;
  }));
  log.gather();
  int lines = 0;
  for (const auto& event : log.all())
    if (const auto* line = std::get_if<LogEvent>(&event.what))
      lines += line->text.find("max_payload") != std::string::npos ? 1 : 0;
  EXPECT_EQ(lines, 1) << "one line, not one per packet";
  EXPECT_TRUE(tunnel.ground.drain().empty());
}

TEST(EngineData, ReceivesNothingLongerThanItsLimit) {
  for (const bool gso : {true, false}) {
    Tunnel tunnel({{"max_payload", 1432}, {"gso", gso}}, {{"max_payload", 9000}, {"gso", gso}});
    ASSERT_TRUE(tunnel.connect());
    tunnel.send_up(std::string(1433, 'a'));
    tunnel.send_up(std::string(3000, 'b'));
    tunnel.send_up(std::string(1432, 'c'));
    EXPECT_EQ(tunnel.ground.receive_text(), std::string(1432, 'c'));
    EXPECT_EQ(total(*tunnel.gcs, "drop_malformed"), 2u);
    expect_all_accounted_for(*tunnel.gcs);
  }
}

TEST(EngineData, NothingLeavesInClearWithoutASession) {
  const KeyFolders keys;
  UdpPeer watcher, autopilot;  // where the gcs would be
  const auto drone = start(drone_values(keys, "uav1", watcher.address().port()));
  for (int i = 0; i < 20; ++i) autopilot.send("position of the drone", plain_port(*drone, "uav1"));
  ASSERT_TRUE(eventually([&] { return stat(*drone, "plain_dropped_no_session") == 20; }));
  EXPECT_EQ(stat(*drone, "plain_rx_packets"), 20u);
  EXPECT_EQ(stat(*drone, "enc_tx_packets"), 0u);
  for (const auto& packet : watcher.drain()) {
    EXPECT_EQ(packet.at(0), 0x33) << "it asks for a handshake, and says no more";
    EXPECT_EQ(as_text(packet).find("position"), std::string::npos);
  }
}

TEST(EngineData, AnswersGoToWhoeverSpokeFirstUntilThatOneIsSilent) {
  Tunnel tunnel(FlatConfig{{"drone.uav1.plain_peer", ""}});
  ASSERT_TRUE(tunnel.connect());
  // Nobody on the ground has spoken yet: there is nobody to deliver to, and that is counted.
  tunnel.send_up("lost");
  ASSERT_TRUE(eventually([&] { return stat(*tunnel.gcs, "plain_dropped_no_peer") == 1; }));
  UdpPeer first, second;
  const auto port = plain_port(*tunnel.gcs, "uav1");
  for (int i = 0; i < 10; ++i) {
    first.send("hello", port);
    EXPECT_EQ(tunnel.autopilot.receive_text(), "hello");
    second.send("", port);  // one empty datagram of any program on the machine
    EXPECT_EQ(tunnel.autopilot.receive_text(), "");
    tunnel.send_up("telemetry");
    EXPECT_EQ(first.receive_text(), "telemetry");
  }
  EXPECT_TRUE(second.drain().empty());
  // The first falls silent: the second gets its place, and keeps it while it sends.
  EXPECT_TRUE(eventually([&] {
    second.send("hello", port);
    tunnel.send_up("telemetry");
    return second.receive(50ms).has_value();
  }));
  (void)first.drain();
  first.send("hello", port);
  tunnel.send_up("last");
  EXPECT_TRUE(eventually([&] { return second.receive_text() == "last"; }));
  EXPECT_TRUE(first.drain().empty());
}

TEST(EngineData, TheGroundSoftwareMayBeDeadForAWhile) {
  Tunnel tunnel;
  ASSERT_TRUE(tunnel.connect());
  // Its port refuses (ICMP) and then exists again: nothing gets stuck.
  auto dead = std::make_unique<UdpPeer>();
  const auto address = dead->address();
  Tunnel other(FlatConfig{{"drone.uav1.plain_peer", address.text()}});
  ASSERT_TRUE(other.connect());
  dead.reset();
  for (int i = 0; i < 50; ++i) other.send_up("into the void");
  ASSERT_TRUE(eventually([&] { return stat(*other.gcs, "delivered") == 50; }));
  const Fd alive = open_udp(address, {}, "a test");
  other.send_up("back");
  pollfd wait{alive.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 10000), 1);
}

class ManyDrones : public ::testing::Test {
 protected:
  static constexpr std::size_t kCount = 8;

  ManyDrones() {
    for (std::size_t i = 0; i < kCount; ++i) {
      names.push_back("uav" + std::to_string(i + 1));
      ground.emplace_back();
      autopilot.emplace_back();
    }
    keys = std::make_unique<KeyFolders>(names);
    auto config = patient(gcs_values(*keys, names));
    for (std::size_t i = 0; i < kCount; ++i)
      config[plain_port_name(names[i], "plain_peer")] = ground[i].address().text();
    gcs = start(config);
    const auto ports = gcs->ports();
    for (const auto& name : names) drones.push_back(start(patient(drone_values(*keys, name, ports.data))));
  }
  bool all_up() {
    return eventually(
        [&] {
          for (std::size_t i = 0; i < kCount; ++i)
            if (!up(*gcs, i) || !up(*drones[i])) return false;
          return true;
        },
        60s);
  }
  void send_up(std::size_t i, const std::string& text) { autopilot[i].send(text, plain_port(*drones[i], names[i])); }
  void send_down(std::size_t i, const std::string& text) { ground[i].send(text, plain_port(*gcs, names[i])); }

  Names names;
  std::unique_ptr<KeyFolders> keys;
  std::vector<UdpPeer> ground, autopilot;
  std::unique_ptr<Engine> gcs;
  std::vector<std::unique_ptr<Engine>> drones;
};

TEST_F(ManyDrones, HaveOwnPortsAndHearOnlyThemselves) {
  ASSERT_TRUE(all_up());
  std::set<std::uint16_t> ports;
  std::set<std::string> sessions;
  for (const auto& [name, port] : gcs->ports().plain) ports.insert(port);
  for (const auto& each : gcs->status()) sessions.insert(each.session_id);
  EXPECT_EQ(ports.size(), kCount);
  EXPECT_EQ(sessions.size(), kCount);
  for (int round = 0; round < 20; ++round) {
    const auto text = [&](std::size_t i, const char* way) { return names[i] + way + std::to_string(round); };
    for (std::size_t i = 0; i < kCount; ++i) send_up(i, text(i, " up "));
    for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(ground[i].receive_text(), text(i, " up "));
    for (std::size_t i = 0; i < kCount; ++i) send_down(i, text(i, " down "));
    for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(autopilot[i].receive_text(), text(i, " down "));
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_TRUE(ground[i].drain().empty());
    EXPECT_TRUE(autopilot[i].drain().empty());
    EXPECT_EQ(stat(*gcs, "delivered", i), 20u);
  }
  expect_all_accounted_for(*gcs);
}

TEST_F(ManyDrones, AFloodOrAnEndOfOneLeavesTheOthersAlone) {
  ASSERT_TRUE(all_up());
  drones[1]->stop();
  ASSERT_TRUE(eventually([&] { return state(*gcs, 1) == LinkState::down; }));
  // uav1 sends as much as it can, in portions that the sockets hold; every round trip of the others still works.
  const std::string bulk(1000, 'f');
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 400; ++i) send_up(0, bulk);
    for (std::size_t i = 2; i < kCount; ++i) {
      const auto text = names[i] + " " + std::to_string(round);
      send_up(i, text);
      ASSERT_EQ(ground[i].receive_text(), text);
      send_down(i, text);
      ASSERT_EQ(autopilot[i].receive_text(), text);
    }
    ground[0].drain();
  }
  for (std::size_t i = 2; i < kCount; ++i) EXPECT_EQ(state(*gcs, i), LinkState::up);
  EXPECT_EQ(stat(*gcs, "plain_rx_packets", 1), 0u);
  EXPECT_EQ(total(*gcs, "drop_auth_fail") + total(*gcs, "drop_unknown"), 0u);
}

}  // namespace
}  // namespace pqcmav
