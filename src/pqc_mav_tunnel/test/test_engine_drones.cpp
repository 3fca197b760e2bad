// SPDX-License-Identifier: Apache-2.0
// Drones and their plaintext added, changed and removed while a gcs serves the others: a drone that stays loses no
// packet, one that goes leaves nothing behind, and what cannot be done changes nothing.
#include <algorithm>

#include "traffic.hpp"

namespace pqcmav {
namespace {

using namespace test;

class EngineDrones : public ::testing::Test {
 protected:
  EngineDrones() : tunnel(std::make_unique<KeyFolders>(Names{"uav1", "uav2", "uav3"}), {}, {}) {}
  void SetUp() override { ASSERT_TRUE(tunnel.connect()); }
  [[nodiscard]] std::unique_ptr<Engine> start_drone(const std::string& id) {
    return start(drone_values(*tunnel.keys, id, tunnel.gcs->ports().data));
  }
  [[nodiscard]] Names drones() const {
    Names out;
    for (const auto& [id, port] : tunnel.gcs->ports().plain) out.push_back(id);
    return out;
  }
  /// Nothing has changed, and the session lives.
  void expect_as_before(const EnginePorts& ports) {
    EXPECT_EQ(tunnel.gcs->ports().plain, ports.plain);
    EXPECT_EQ(std::get<Names>(tunnel.gcs->config().effective.at("drones")), drones());
    expect_round_trip(tunnel, "still there");
  }
  template <typename Change>
  void expect_refused(Errc code, const std::string& words, Change change) {
    const auto before = tunnel.gcs->ports();
    try {
      change();
      ADD_FAILURE() << "not refused";
    } catch (const TunnelError& error) {
      EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
    expect_as_before(before);
  }
  /// May a socket be bound there?
  [[nodiscard]] static bool is_free(std::uint16_t port) {
    try {
      (void)open_udp(resolve("127.0.0.1", port, true, SOCK_DGRAM), {}, "a test");
      return true;
    } catch (const TunnelError&) {
      return false;
    }
  }
  Tunnel tunnel;
};

FlatConfig plain_peer(const UdpPeer& application) { return {{"plain_peer", application.address().text()}}; }

TEST_F(EngineDrones, ComeAndGoWhileTheOthersPacketsFlow) {
  const auto session = status(*tunnel.gcs).session_id;
  Traffic traffic(tunnel);
  UdpPeer ground, autopilot;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(tunnel.gcs->add_drone("uav2", plain_peer(ground)).added, Names{"uav2"});
    const auto drone = start_drone("uav2");
    ASSERT_TRUE(eventually([&] { return up(*drone) && up(*tunnel.gcs, 1); }));
    autopilot.send("hello " + std::to_string(i), plain_port(*drone, "uav2"));
    EXPECT_EQ(ground.receive_text(), "hello " + std::to_string(i));
    const auto port = plain_port(*tunnel.gcs, "uav2");
    EXPECT_FALSE(is_free(port));
    EXPECT_EQ(tunnel.gcs->remove_drone("uav2").removed, Names{"uav2"});
    EXPECT_TRUE(is_free(port));
    EXPECT_EQ(drones(), Names{"uav1"});
    // It hears so, and does not come in again.
    EXPECT_TRUE(eventually([&] { return !up(*drone) && status(*drone).session_id.empty(); }));
    const auto refused = total(*tunnel.gcs, "hs_tag");
    EXPECT_TRUE(eventually([&] { return total(*tunnel.gcs, "hs_tag") > refused; }));
    EXPECT_FALSE(up(*drone));
  }
  traffic.stop();
  traffic.expect_lossless();
  EXPECT_EQ(status(*tunnel.gcs).session_id, session);
  EXPECT_EQ(status(*tunnel.gcs).handshakes_ok, 1u);
}

TEST_F(EngineDrones, TheFirstOneMayGoToo) {
  UdpPeer ground, autopilot;
  (void)tunnel.gcs->add_drone("uav2", plain_peer(ground));
  const auto drone = start_drone("uav2");
  ASSERT_TRUE(eventually([&] { return up(*drone); }));
  (void)tunnel.gcs->remove_drone("uav1");
  EXPECT_EQ(drones(), Names{"uav2"});
  EXPECT_TRUE(eventually([&] { return !up(*tunnel.drone); }));
  autopilot.send("on", plain_port(*drone, "uav2"));
  EXPECT_EQ(ground.receive_text(), "on");
  // Its place is taken by another one, which is not mistaken for it.
  (void)tunnel.gcs->add_drone("uav3");
  EXPECT_EQ(status(*tunnel.gcs, 0).drone_id, "uav3");
  EXPECT_EQ(status(*tunnel.gcs, 0).session_id, "");
  EXPECT_EQ(status(*tunnel.gcs, 0).handshakes_ok, 0u);
  EXPECT_EQ(stat(*tunnel.gcs, "enc_rx_packets", 0), 0u);
  EXPECT_FALSE(tunnel.gcs->request_rekey("uav1", "", "", 1s).ok);
  EXPECT_TRUE(tunnel.gcs->request_rekey("uav2", "", "", 20s).ok);
}

TEST_F(EngineDrones, WhatCannotBeAddedChangesNothing) {
  auto& gcs = *tunnel.gcs;
  expect_refused(Errc::config_invalid, "already", [&] { (void)gcs.add_drone("uav1"); });
  expect_refused(Errc::key_missing, "stranger", [&] { (void)gcs.add_drone("stranger"); });
  expect_refused(Errc::config_invalid, "drones", [&] { (void)gcs.add_drone("No id!"); });
  expect_refused(Errc::config_unknown_key, "plain_pier", [&] { (void)gcs.add_drone("uav2", {{"plain_pier", "x"}}); });
  const auto taken = "127.0.0.1:" + std::to_string(plain_port(gcs, "uav1"));
  for (const bool dry_run : {true, false})
    expect_refused(Errc::port_in_use, "in use", [&] { (void)gcs.add_drone("uav2", {{"plain_bind", taken}}, dry_run); });
  expect_refused(Errc::config_invalid, "no drone", [&] { (void)gcs.remove_drone("uav2"); });
  expect_refused(Errc::config_invalid, "only drone", [&] { (void)gcs.remove_drone("uav1"); });
  // And after all of that one that can.
  EXPECT_EQ(gcs.add_drone("uav2", {}, true).added, Names{"uav2"});
  EXPECT_EQ(drones(), Names{"uav1"}) << "a dry run adds nobody";
  EXPECT_EQ(gcs.add_drone("uav2").added, Names{"uav2"});
  try {
    (void)tunnel.drone->add_drone("uav2");
    ADD_FAILURE() << "a drone's engine took a drone";
  } catch (const TunnelError& error) {
    EXPECT_NE(std::string(error.what()).find("gcs"), std::string::npos) << error.what();
  }
}

TEST_F(EngineDrones, NothingIsAddedUnderWeakerRulesThanTheConfigurations) {
  auto& gcs = *tunnel.gcs;
  const std::string weak = "cs-mlkem512-aesgcm-mldsa44";
  const auto only = [&](const std::string& suite) { return FlatConfig{{"allowed_suites", Names{suite}}}; };
  EXPECT_EQ(gcs.add_drone("uav2", only(weak)).added, Names{"uav2"}) << "this gcs takes all suites";
  (void)gcs.remove_drone("uav2");
  (void)gcs.reconfigure(EngineConfig::from_flat(with(gcs_values(*tunnel.keys, {"uav1", "uav2"}),
                                                     {{"drone.uav1.plain_peer", tunnel.ground.address().text()},
                                                      {"drone.uav2.allowed_suites", Names{std::string(kDefaultSuite)}},
                                                      {"drone.uav2.require_signature", true}})));
  (void)gcs.remove_drone("uav2");
  expect_refused(Errc::config_invalid, "never laxer", [&] { (void)gcs.add_drone("uav2", only(weak)); });
  expect_refused(Errc::config_invalid, "unsigned",
                 [&] { (void)gcs.add_drone("uav2", {{"require_signature", false}}); });
  EXPECT_EQ(drones(), Names{"uav1"});
  (void)gcs.add_drone("uav2");
  const auto rules = gcs.config().drones.back();
  EXPECT_EQ(rules.require_signature, std::optional(true)) << "as the configuration has it, though it was removed";
  ASSERT_EQ(rules.allowed_suites.size(), 1u);
  EXPECT_EQ(rules.allowed_suites.front()->id, kDefaultSuite);
}

TEST_F(EngineDrones, AllOfAConfigurationCountsOrNothing) {
  const auto ports = tunnel.gcs->ports();
  auto values = with(gcs_values(*tunnel.keys, {"uav2", "uav3"}), {{"drone.uav2.plain_bind", "127.0.0.1:0"}});
  // uav3 asks for the port of the data socket's neighbour that is taken: uav1 stays, uav2 does not come.
  UdpPeer other;
  values["drone.uav3.plain_bind"] = other.address().text();
  EXPECT_THROW((void)tunnel.gcs->reconfigure(EngineConfig::from_flat(values)), TunnelError);
  expect_as_before(ports);
  values.erase("drone.uav3.plain_bind");
  values["gso"] = false;
  const auto changes = tunnel.gcs->reconfigure(EngineConfig::from_flat(values));
  EXPECT_EQ(changes.added, (Names{"uav2", "uav3"}));
  EXPECT_EQ(changes.removed, Names{"uav1"});
  EXPECT_NE(std::ranges::find(changes.restart, "gso"), changes.restart.end());
  EXPECT_TRUE(std::get<bool>(tunnel.gcs->config().effective.at("gso"))) << "until the restart";
  EXPECT_TRUE(tunnel.gcs->reconfigure(EngineConfig::from_flat(values)).empty()) << "a second time there is nothing";
}

TEST_F(EngineDrones, PlaintextChangesWithoutANewSession) {
  const auto session = status(*tunnel.gcs).session_id;
  auto values = with(gcs_values(*tunnel.keys), {{"drone.uav1.plain_peer", tunnel.ground.address().text()}});
  const auto give = [&](const FlatConfig& more) {
    return tunnel.gcs->reconfigure(EngineConfig::from_flat(with(values, more)));
  };
  tunnel.autopilot.send("1", plain_port(*tunnel.drone, "uav1"));
  ASSERT_EQ(tunnel.ground.receive_text(), "1");
  UdpPeer elsewhere;
  EXPECT_EQ(give({{"drone.uav1.plain_peer", elsewhere.address().text()}}).changed, Names{"uav1"});
  tunnel.autopilot.send("2", plain_port(*tunnel.drone, "uav1"));
  EXPECT_EQ(elsewhere.receive_text(), "2");
  // Several applications instead, one of them at a port of its own.
  values.erase("drone.uav1.plain_peer");
  std::uint16_t port = 0;
  {
    const UdpPeer free;
    port = free.address().port();
  }
  const auto listen = "udp-listen:127.0.0.1:" + std::to_string(port);
  const auto to = "udp:" + elsewhere.address().text();
  (void)give({{"drone.uav1.plain_endpoints", Names{to, listen}}});
  tunnel.autopilot.send("3", plain_port(*tunnel.drone, "uav1"));
  EXPECT_EQ(elsewhere.receive_text(), "3");
  EXPECT_FALSE(is_free(port));
  // One more beside the port that stays; then one that cannot be, after which all is as before.
  UdpPeer third;
  (void)give({{"drone.uav1.plain_endpoints", Names{to, listen, "udp:" + third.address().text()}}});
  tunnel.autopilot.send("4", plain_port(*tunnel.drone, "uav1"));
  EXPECT_EQ(third.receive_text(), "4");
  EXPECT_THROW((void)give({{"drone.uav1.plain_endpoints", Names{to, listen, "udp-listen:" + third.address().text()}}}),
               TunnelError);
  tunnel.autopilot.send("5", plain_port(*tunnel.drone, "uav1"));
  EXPECT_EQ(third.receive_text(), "5");
  // And one UDP socket again.
  (void)give({{"drone.uav1.plain_peer", tunnel.ground.address().text()}});
  EXPECT_TRUE(is_free(port));
  tunnel.autopilot.send("6", plain_port(*tunnel.drone, "uav1"));
  EXPECT_EQ(tunnel.ground.receive_text(), "6");
  EXPECT_EQ(status(*tunnel.gcs).session_id, session);
}

TEST_F(EngineDrones, ADronesOwnPlaintextChangesToo) {
  const auto session = status(*tunnel.drone).session_id;
  auto values = drone_values(*tunnel.keys, "uav1", tunnel.gcs->ports().data);
  values.erase("plain_bind");
  UdpPeer autopilot;
  values["plain_endpoints"] = Names{"udp:" + autopilot.address().text()};
  EXPECT_EQ(tunnel.drone->reconfigure(EngineConfig::from_flat(values)).changed, Names{"uav1"});
  tunnel.send_down("down");
  EXPECT_EQ(autopilot.receive_text(), "down");
  EXPECT_EQ(status(*tunnel.drone).session_id, session);
}

TEST_F(EngineDrones, TheHostsFileIsReadAgain) {
  auto values = tunnel.gcs->config().given;
  tunnel.gcs->set_config_source([&] { return EngineConfig::from_flat(values); });
  EXPECT_TRUE(tunnel.gcs->reload().drones.empty());
  values["drones"] = Names{"uav1", "uav3"};
  EXPECT_EQ(tunnel.gcs->reload().drones.added, Names{"uav3"});
  EXPECT_EQ(drones(), (Names{"uav1", "uav3"}));
}

TEST_F(EngineDrones, WhoWasAddedAtRunTimeStaysUntilTheFileHasNamedIt) {
  auto values = tunnel.gcs->config().given;
  tunnel.gcs->set_config_source([&] { return EngineConfig::from_flat(values); }, {}, {"/etc/gcs.yaml"});
  EXPECT_EQ(tunnel.gcs->config_files(), Names{"/etc/gcs.yaml"});
  UdpPeer ground;
  (void)tunnel.gcs->add_drone("uav2", plain_peer(ground));
  const auto drone = start_drone("uav2");
  ASSERT_TRUE(eventually([&] { return up(*tunnel.gcs, 1); }));
  const auto session = status(*tunnel.gcs, 1).session_id;
  const auto port = plain_port(*tunnel.gcs, "uav2");
  values["drones"] = Names{"uav1", "uav3"};
  for (const bool dry_run : {true, true, false, false}) {
    const auto changes = tunnel.gcs->reload(dry_run).drones;
    EXPECT_EQ(changes.kept, Names{"uav2"});
    EXPECT_TRUE(changes.removed.empty());
    EXPECT_TRUE(changes.changed.empty()) << "its plaintext, too, is as it was";
  }
  EXPECT_EQ(drones(), (Names{"uav1", "uav2", "uav3"}));
  EXPECT_EQ(status(*tunnel.gcs, 1).session_id, session);
  EXPECT_EQ(plain_port(*tunnel.gcs, "uav2"), port);
  // Once the file names it, the file decides; a dry run is enough of a look.
  const auto without = values;
  values["drones"] = Names{"uav1", "uav2", "uav3"};
  values["drone.uav2.plain_peer"] = ground.address().text();
  EXPECT_TRUE(tunnel.gcs->reload(true).drones.kept.empty());
  values = without;
  EXPECT_EQ(tunnel.gcs->reload(true).drones.removed, Names{"uav2"});
  EXPECT_EQ(status(*tunnel.gcs, 1).session_id, session) << "a dry run ends nothing";
  EXPECT_EQ(tunnel.gcs->reload().drones.removed, Names{"uav2"});
  // Added anew it is again one that no file has named.
  (void)tunnel.gcs->add_drone("uav2");
  EXPECT_EQ(tunnel.gcs->reload().drones.kept, Names{"uav2"});
}

TEST_F(EngineDrones, ADryRunFindsWhatAReloadWouldRefuseAndChangesNothing) {
  auto values = tunnel.gcs->config().given;
  tunnel.gcs->set_config_source([&] { return EngineConfig::from_flat(values); });
  values["drones"] = Names{"uav1", "stranger"};
  expect_refused(Errc::key_missing, "stranger", [&] { (void)tunnel.gcs->reload(true); });
  (void)tunnel.gcs->add_drone("uav3");  // so that one has a key when another's is gone
  values["drones"] = Names{"uav1", "uav2"};
  values["drone.uav1.plain_peer"] = "127.0.0.1:9";
  values["gso"] = false;
  const auto ports = tunnel.gcs->ports();
  std::filesystem::remove(tunnel.keys->root() / "gcs" / "psk" / "uav1.key");
  const auto changes = tunnel.gcs->reload(true);
  EXPECT_EQ(changes.drones.added, Names{"uav2"});
  EXPECT_EQ(changes.drones.changed, Names{"uav1"});
  EXPECT_EQ(changes.drones.restart, Names{"gso"});
  EXPECT_EQ(changes.drones.kept, Names{"uav3"});
  EXPECT_EQ(changes.keys.removed, Names{"uav1"});
  expect_as_before(ports);
}

TEST_F(EngineDrones, AKeyThatIsNotGoodChangesNoDroneEither) {
  auto values = tunnel.gcs->config().given;
  int taken = 0;
  tunnel.gcs->set_config_source([&] { return EngineConfig::from_flat(values); }, [&] { ++taken; });
  values["drones"] = Names{"uav1", "uav2"};
  const auto key = tunnel.keys->root() / "gcs" / "psk" / "uav1.key";
  write_text(key, "nonsense\n");
  for (const bool dry_run : {true, false})
    expect_refused(Errc::key_format, "uav1.key", [&] { (void)tunnel.gcs->reload(dry_run); });
  EXPECT_EQ(taken, 0);
  // Of a drone that goes no key is needed, not even if all that were there go.
  std::filesystem::remove(key);
  values["drones"] = Names{"uav3"};
  values.erase("drone.uav1.plain_peer");
  for (const bool dry_run : {true, false}) {
    const auto changes = tunnel.gcs->reload(dry_run);
    EXPECT_EQ(changes.drones.removed, Names{"uav1"});
    EXPECT_EQ(changes.drones.added, Names{"uav3"});
    EXPECT_TRUE(changes.keys.removed.empty());
  }
  EXPECT_EQ(drones(), Names{"uav3"});
}

TEST_F(EngineDrones, ADryRunFindsATakenPortAndLetsGoOfThoseThatItTried) {
  auto values = tunnel.gcs->config().given;
  tunnel.gcs->set_config_source([&] { return EngineConfig::from_flat(values); });
  const auto port = [&](const UdpPeer& peer) { return "127.0.0.1:" + std::to_string(peer.address().port()); };
  auto other = std::make_unique<UdpPeer>();
  const auto taken = port(*other);
  const auto ports = tunnel.gcs->ports();
  const auto refused = [&](const std::string& key, const ConfigValue& value) {
    const auto before = values;
    values[key] = value;
    expect_refused(Errc::port_in_use, "in use", [&] { (void)tunnel.gcs->reload(true); });
    values = before;
  };
  refused("drone.uav1.plain_bind", taken);
  values["drones"] = Names{"uav1", "uav2"};
  refused("drone.uav2.plain_bind", taken);
  refused("drone.uav2.plain", "udp-listen:" + taken);
  expect_as_before(ports);
  values["drone.uav2.plain_bind"] = taken;
  other.reset();
  for (const bool dry_run : {true, true, false}) EXPECT_EQ(tunnel.gcs->reload(dry_run).drones.added, Names{"uav2"});
  // Its own port is no other's, and a plaintext of another kind may take it over.
  values["drone.uav2.plain_peer"] = "127.0.0.1:9";
  for (const bool dry_run : {true, false}) EXPECT_EQ(tunnel.gcs->reload(dry_run).drones.changed, Names{"uav2"});
  values.erase("drone.uav2.plain_bind");
  values.erase("drone.uav2.plain_peer");
  values["drone.uav2.plain"] = "udp-listen:" + taken;
  for (const bool dry_run : {true, false}) EXPECT_EQ(tunnel.gcs->reload(dry_run).drones.changed, Names{"uav2"});
}

TEST_F(EngineDrones, AReloadSaysWhoStillHasAPort) {
  auto values = tunnel.gcs->config().given;
  tunnel.gcs->set_config_source([&] { return EngineConfig::from_flat(values); });
  const auto bind = "127.0.0.1:" + std::to_string(plain_port(*tunnel.gcs, "uav1"));
  values["drone.uav1.plain_bind"] = bind;
  (void)tunnel.gcs->reload();
  const auto kept = values;
  values["drone.uav2.plain_bind"] = bind;
  values["drones"] = Names{"uav2"};
  values.erase("drone.uav1.plain_bind");
  values.erase("drone.uav1.plain_peer");
  for (const bool dry_run : {true, false})
    expect_refused(Errc::port_in_use, "'uav1' still has", [&] { (void)tunnel.gcs->reload(dry_run); });
  values = kept;
  values["drone.uav1.plain_bind"] = "127.0.0.1:0";
  (void)tunnel.gcs->reload();
  values["drones"] = Names{"uav1", "uav2"};
  values["drone.uav2.plain_bind"] = bind;
  EXPECT_EQ(tunnel.gcs->reload().drones.added, Names{"uav2"});
}

TEST_F(EngineDrones, WhoIsKeptIsNeverLaxerThanAFileThatBecameStricter) {
  auto values = tunnel.gcs->config().given;
  tunnel.gcs->set_config_source([&] { return EngineConfig::from_flat(values); });
  const std::string weak = "cs-mlkem512-aesgcm-mldsa44";
  (void)tunnel.gcs->add_drone("uav2", {{"allowed_suites", Names{weak}}});
  (void)tunnel.gcs->add_drone("uav3");
  EXPECT_EQ(tunnel.gcs->reload().drones.kept, (Names{"uav2", "uav3"}));
  values["allowed_suites"] = Names{std::string(kDefaultSuite)};
  for (const bool dry_run : {true, false})
    expect_refused(Errc::config_invalid, "remove the drone", [&] { (void)tunnel.gcs->reload(dry_run); });
  (void)tunnel.gcs->remove_drone("uav2");
  EXPECT_EQ(tunnel.gcs->reload().drones.kept, Names{"uav3"});
}

TEST_F(EngineDrones, ASigningRuleThatWasNotGivenStaysUnsaid) {
  // A key pair of a drone makes its signature a must, unless the owner said otherwise: adding another drone says nothing.
  (void)tunnel.gcs->add_drone("uav2");
  EXPECT_FALSE(tunnel.gcs->config().given.contains("drone.uav1.require_signature"));
  EXPECT_FALSE(tunnel.gcs->config().drones.front().require_signature);
}

TEST_F(EngineDrones, ReadersMayLookOnMeanwhile) {
  std::atomic<bool> over{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      while (!over) {
        for (const auto& each : tunnel.gcs->status()) EXPECT_FALSE(each.drone_id.empty());
        (void)tunnel.gcs->stats();
        (void)tunnel.gcs->links();
        (void)tunnel.gcs->ports();
        (void)tunnel.gcs->config();
      }
    });
  const auto drone = start_drone("uav2");
  for (int i = 0; i < 10; ++i) {
    const bool hub = i % 2 == 0;
    (void)tunnel.gcs->add_drone("uav2", hub ? FlatConfig{{"plain", "udp-listen:127.0.0.1:0"}} : FlatConfig{});
    EXPECT_TRUE(eventually([&] { return up(*tunnel.gcs, 1); }));
    (void)tunnel.gcs->remove_drone("uav2");
  }
  over = true;
  for (auto& each : readers) each.join();
  expect_round_trip(tunnel, "one left");
}

TEST_F(EngineDrones, AStoppedEngineHasClosedItsEndpoints) {
  (void)tunnel.gcs->add_drone("uav2", {{"plain_endpoints", Names{"udp-listen:127.0.0.1:0", "tcp-listen:127.0.0.1:0"}}});
  Names names;
  const auto stats = tunnel.gcs->stats();
  for (const auto& each : stats.at(1).endpoints) names.push_back(each.name);
  ASSERT_EQ(names.size(), 2u);
  const auto port = [&](std::size_t i) {
    return static_cast<std::uint16_t>(std::stoi(names[i].substr(names[i].rfind(':') + 1)));
  };
  EXPECT_FALSE(is_free(port(0)));
  tunnel.gcs->stop();
  EXPECT_TRUE(is_free(port(0)));
  const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto to = resolve("127.0.0.1", port(1), false, SOCK_STREAM);
  EXPECT_NE(::connect(client.get(), to.get(), to.size), 0) << "nobody listens any more";
  EXPECT_EQ(tunnel.gcs->stats().at(1).endpoints.size(), 2u) << "what was counted can still be read";
  EXPECT_THROW((void)tunnel.gcs->add_drone("uav3"), TunnelError);
}

}  // namespace
}  // namespace pqcmav
