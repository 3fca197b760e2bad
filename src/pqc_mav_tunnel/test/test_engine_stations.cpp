// SPDX-License-Identifier: Apache-2.0
// One drone and two ground stations, each an engine with keys of its own, on loopback.
#include <gtest/gtest.h>

#include "raw_drone.hpp"

namespace pqcmav::test {
namespace {

const Names kStations = {"north", "south"};

class TwoStations {
 public:
  explicit TwoStations(FlatConfig drone_more = {}) : drone_more_(std::move(drone_more)) {
    init_keys(root_.path(), {"uav1"}, {"mldsa44"}, false, "gcs", kStations);
    for (std::size_t i = 0; i < 2; ++i) start_station(i);
    drone = start(drone_config());
  }

  [[nodiscard]] FlatConfig drone_config() const {
    Names peers;
    for (std::size_t i = 0; i < 2; ++i) peers.push_back(kStations[i] + "@127.0.0.1:" + std::to_string(ports_[i]));
    const FlatConfig base = {{"role", "drone"},     {"keys", root_ / "drones/uav1"}, {"drone_id", "uav1"},
                             {"peer", peers},       {"local_data_port", 0},          {"suite", kLight},
                             {"bind", "127.0.0.1"}, {"plain_bind", "127.0.0.1:0"},   {"keepalive_s", 0.1},
                             {"grace_s", 0.2},      {"failover_after_s", 0.6}};
    return with(base, drone_more_);
  }
  void start_station(std::size_t i) {
    stations[i] = start({{"role", "gcs"},
                         {"keys", root_ / ("stations/" + kStations[i])},
                         {"gcs_id", kStations[i]},
                         {"drones", Names{"uav1"}},
                         {"bind", "127.0.0.1"},
                         {"data_port", static_cast<std::int64_t>(ports_[i])},
                         {"keepalive_s", 0.1},
                         {"key_pool_depth", 0},
                         {"drone.uav1.plain_peer", grounds[i].address().text()}});
    ports_[i] = stations[i]->ports().data;
  }
  [[nodiscard]] std::string active() const { return status(*drone).station; }
  [[nodiscard]] std::string standby() const {
    for (const auto& each : status(*drone).stations)
      if (each.role == "standby") return each.gcs_id;
    return {};
  }
  [[nodiscard]] bool uses(const std::string& gcs_id) const {
    return eventually([&] { return active() == gcs_id && up(*drone); });
  }
  [[nodiscard]] std::string role(std::size_t i) const { return stations[i] ? status(*stations[i]).role : ""; }
  /// What arrives at the autopilot when the ground software of this station says something.
  [[nodiscard]] std::string command(std::size_t i, std::string_view text, milliseconds limit = 5s) {
    grounds[i].send(text, plain_port(*stations[i], "uav1"));
    return autopilot.receive_text(limit);
  }
  /// Who captured this station tells it in the drone's name, with the keys it has there, under which term that is.
  void lie_about_term(std::size_t i, std::uint32_t term) {
    InitiatorParams params;
    params.suite = &require_suite(kLight);
    params.drone_id = "uav1";
    params.gcs_id = kStations[i];
    params.psk = GcsKeys(root_ / ("stations/" + kStations[i])).psk("uav1");
    params.gcs_public_key = DroneKeys(root_ / "drones/uav1").gcs_public(*params.suite->sig, kStations[i]);
    params.features = features::kStations;
    params.term = term;
    RawDrone liar(std::move(params), *stations[i]);
    ASSERT_TRUE(liar.connected()) << liar.outcome.reason;
    liar.send(liar.seal("I hear you"));
    ASSERT_TRUE(eventually([&] { return status(*stations[i]).term == term; }));
  }
  [[nodiscard]] std::filesystem::path state_dir() const { return root_ / "state"; }
  /// The autopilot speaks, so that the engines know where it is.
  void telemetry(std::string_view text) { autopilot.send(text, plain_port(*drone, "uav1")); }

  UdpPeer autopilot;
  std::array<UdpPeer, 2> grounds;
  std::array<std::unique_ptr<Engine>, 2> stations;
  std::unique_ptr<Engine> drone;

 private:
  TempFolder root_;
  FlatConfig drone_more_;
  std::array<std::uint16_t, 2> ports_{};
};

TEST(EngineStations, TheFirstOfTheListIsUsed) {
  TwoStations net;
  ASSERT_TRUE(net.uses("north"));
  net.telemetry("hello");
  EXPECT_EQ(net.grounds[0].receive_text(), "hello");
  EXPECT_EQ(net.command(0, "go"), "go");
  EXPECT_EQ(net.role(0), "active");
  EXPECT_EQ(net.role(1), "");
  EXPECT_EQ(status(*net.drone).stations.size(), 2U);
  EXPECT_EQ(net.standby(), "");
  EXPECT_GE(status(*net.drone).term, 1U);
  EXPECT_EQ(status(*net.stations[0]).term, status(*net.drone).term);
}

TEST(EngineStations, AGoodbyeMovesTheDroneByAHandshake) {
  TwoStations net;
  ASSERT_TRUE(net.uses("north"));
  const auto term = status(*net.drone).term;
  net.stations[0].reset();  // says CLOSE
  ASSERT_TRUE(net.uses("south"));
  EXPECT_EQ(status(*net.drone).term, term + 1);
  net.telemetry("hello");
  EXPECT_EQ(net.grounds[1].receive_text(), "hello");
  EXPECT_EQ(net.command(1, "go"), "go");
  // The first one is back, and nothing changes by itself.
  net.start_station(0);
  EXPECT_FALSE(eventually([&] { return net.active() != "south"; }, 1500ms));
}

TEST(EngineStations, OnCommandTheDroneGoesBackAndTheOldOneIsToldSo) {
  TwoStations net;
  ASSERT_TRUE(net.uses("north"));
  EXPECT_THROW(net.drone->use_station("east"), TunnelError);
  EXPECT_FALSE(net.stations[0]->use_station(""));
  ASSERT_TRUE(net.drone->use_station("south"));
  ASSERT_TRUE(net.uses("south"));
  EXPECT_TRUE(eventually([&] { return state(*net.stations[0]) == LinkState::down; }));
  ASSERT_TRUE(net.drone->use_station("north"));
  ASSERT_TRUE(net.uses("north"));
  EXPECT_TRUE(eventually([&] { return state(*net.stations[1]) == LinkState::down && up(*net.stations[0]); }));
}

const FlatConfig kTwoPaths = {{"standby", true},
                              {"paths", Names{"first", "second"}},
                              {"path.first.via", "127.0.0.1"},
                              {"path.second.via", "127.0.0.2"}};

void wait_for_both_paths(TwoStations& net) {
  ASSERT_TRUE(net.uses("north"));
  ASSERT_TRUE(eventually([&] { return net.standby() == "south"; }));
  ASSERT_TRUE(eventually([&] { return status(*net.drone).paths.at(1).state == "good"; }));
}

TEST(EngineStations, BothSessionsTakeAnotherPath) {
  TwoStations net(kTwoPaths);
  ASSERT_NO_FATAL_FAILURE(wait_for_both_paths(net));
  ASSERT_TRUE(net.drone->use_path("first", "off"));
  const auto hears_second = [&](std::size_t i) { return status(*net.stations[i]).peer.starts_with("127.0.0.2:"); };
  ASSERT_TRUE(eventually([&] { return hears_second(0) && hears_second(1); }));
  net.telemetry("hello");
  EXPECT_EQ(net.grounds[0].receive_text(), "hello");
  EXPECT_EQ(net.active(), "north") << "paths change before stations";
  net.stations[0].reset();
  ASSERT_TRUE(net.uses("south"));
  EXPECT_EQ(net.command(1, "go"), "go");
  EXPECT_EQ(status(*net.drone).handshakes_ok, 2u);
}

TEST(EngineStations, EachIsAskedByEachPathHoweverSoonTheNextIsTried) {
  const TempFolder root;
  init_keys(root.path(), {"uav1"}, {"mldsa44"}, false, "gcs", kStations);
  std::array<UdpPeer, 2> silent;
  Names peers;
  for (std::size_t i = 0; i < 2; ++i) peers.push_back(kStations[i] + "@" + silent[i].address().text());
  const Names ways = {"127.0.0.1", "127.0.0.2", "127.0.0.3"};
  const auto drone = start({{"role", "drone"},
                            {"keys", root / "drones/uav1"},
                            {"drone_id", "uav1"},
                            {"peer", peers},
                            {"paths", Names{"a", "b", "c"}},
                            {"path.a.via", ways[0]},
                            {"path.b.via", ways[1]},
                            {"path.c.via", ways[2]},
                            {"local_data_port", 0},
                            {"suite", kLight},
                            {"plain_bind", "127.0.0.1:0"},
                            {"keepalive_s", 0.1},
                            {"failover_after_s", 0.5}});
  std::set<std::pair<std::size_t, std::string>> asked;
  EXPECT_TRUE(eventually([&] {
    for (std::size_t i = 0; i < 2; ++i)
      while (silent[i].receive(0ms)) asked.emplace(i, silent[i].source().host_text());
    return asked.size() == 2 * ways.size();
  })) << asked.size();
}

TEST(EngineStations, AfterATakeOverEachPathLeadsToTheNewStation) {
  for (const bool goodbye : {false, true}) {
    TwoStations net(kTwoPaths);
    ASSERT_NO_FATAL_FAILURE(wait_for_both_paths(net));
    if (goodbye)
      net.stations[0].reset();
    else
      ASSERT_TRUE(net.drone->use_station("south"));
    ASSERT_TRUE(net.uses("south"));
    const auto hears = [&](std::string_view from) { return status(*net.stations[1]).peer.starts_with(from); };
    ASSERT_TRUE(net.drone->use_path("first", "off"));
    EXPECT_TRUE(eventually([&] { return hears("127.0.0.2:"); })) << goodbye;
    net.telemetry("hello");
    EXPECT_EQ(net.grounds[1].receive_text(), "hello") << goodbye;
    EXPECT_EQ(net.command(1, "go"), "go") << goodbye;
    ASSERT_TRUE(net.drone->use_path("first", "first"));
    EXPECT_TRUE(eventually([&] { return hears("127.0.0.1:"); })) << goodbye;
    net.telemetry("again");
    EXPECT_EQ(net.grounds[1].receive_text(), "again") << goodbye;
    EXPECT_EQ(status(*net.drone).handshakes_ok, 2u) << goodbye;
  }
}

TEST(EngineStations, WithStandbyBothHaveASessionAndOneIsHeard) {
  TwoStations net({{"standby", true}});
  ASSERT_TRUE(net.uses("north"));
  ASSERT_TRUE(eventually([&] { return net.standby() == "south" && net.role(1) == "standby"; }));
  net.telemetry("hello");
  EXPECT_EQ(net.grounds[0].receive_text(), "hello");
  EXPECT_EQ(net.grounds[1].receive_text(200ms), "(nothing)");
  EXPECT_EQ(net.command(0, "go"), "go");
  EXPECT_EQ(net.command(1, "no", 300ms), "(nothing)");  // it knows that it would be refused
  EXPECT_EQ(stat(*net.stations[1], "plain_dropped_no_session"), 1U);
  EXPECT_TRUE(up(*net.stations[1]));
  const auto answer = net.stations[1]->request_rekey("uav1", "", "", 5s);
  EXPECT_FALSE(answer.ok);
  EXPECT_NE(answer.message.find("another ground station"), std::string::npos) << answer.message;
}

TEST(EngineStations, TheStandbyTakesOverAndBackWithoutAHandshake) {
  TwoStations net({{"standby", true}});
  ASSERT_TRUE(net.uses("north"));
  ASSERT_TRUE(eventually([&] { return net.standby() == "south"; }));
  net.telemetry("hello");
  EXPECT_EQ(net.grounds[0].receive_text(), "hello");
  const auto handshakes = status(*net.drone).handshakes_ok;
  auto term = status(*net.drone).term;
  for (const std::size_t to : {1, 0, 1}) {
    ASSERT_TRUE(net.drone->use_station(kStations[to]));
    ASSERT_TRUE(net.uses(kStations[to]));
    EXPECT_EQ(status(*net.drone).term, ++term);
    ASSERT_TRUE(eventually([&] { return net.role(to) == "active" && net.role(1 - to) == "standby"; }));
    EXPECT_EQ(net.standby(), kStations[1 - to]);
    EXPECT_EQ(net.command(to, "go"), "go");
    net.telemetry("to " + kStations[to]);
    EXPECT_EQ(net.grounds[to].receive_text(), "to " + kStations[to]);
  }
  EXPECT_EQ(status(*net.drone).handshakes_ok, handshakes);
}

TEST(EngineStations, AGoodbyeMovesTheDroneToTheStandbyAtOnce) {
  TwoStations net({{"standby", true}});
  ASSERT_TRUE(net.uses("north"));
  ASSERT_TRUE(eventually([&] { return net.standby() == "south"; }));
  net.stations[0].reset();
  ASSERT_TRUE(net.uses("south"));
  net.telemetry("hello");
  EXPECT_EQ(net.grounds[1].receive_text(), "hello");
  // A restarted one becomes the standby.
  net.start_station(0);
  ASSERT_TRUE(eventually([&] { return net.standby() == "north" && net.role(0) == "standby"; }));
  EXPECT_EQ(net.active(), "south");
}

TEST(EngineStations, TheStandbysSilenceWhileItWaitedIsNone) {
  TwoStations net({{"standby", true}, {"degraded_after_s", 0.8}});
  ASSERT_TRUE(net.uses("north"));
  ASSERT_TRUE(eventually([&] { return net.standby() == "south"; }));
  EXPECT_FALSE(eventually([&] { return net.active() != "north"; }, 1200ms)) << "so long a standby says nothing";
  EventLog log(*net.drone);
  net.stations[0].reset();
  const auto next = log.wait_for<StateEvent>(
      [](const auto& event) { return event.before == LinkState::down && event.after != LinkState::handshaking; });
  ASSERT_TRUE(next);
  EXPECT_EQ(next->after, LinkState::up) << next->reason;
}

TEST(EngineStations, TheDroneGoesBackByItselfAfterTheTimeOfHealth) {
  TwoStations net({{"standby", true}, {"failback_s", 1.0}});
  ASSERT_TRUE(net.uses("north"));
  ASSERT_TRUE(eventually([&] { return net.standby() == "south"; }));
  net.stations[0].reset();
  ASSERT_TRUE(net.uses("south"));
  net.start_station(0);
  EXPECT_TRUE(net.uses("north"));
}

TEST(EngineStations, ADroneThatRestartsIsAboveEveryTermOfBefore) {
  TwoStations net({{"standby", true}});
  ASSERT_TRUE(net.uses("north"));
  ASSERT_TRUE(eventually([&] { return net.standby() == "south"; }));
  for (const auto* to : {"south", "north", "south", "north"}) {
    ASSERT_TRUE(net.drone->use_station(to));
    ASSERT_TRUE(net.uses(to));
  }
  ASSERT_TRUE(eventually([&] { return net.role(0) == "active"; }));
  const auto before = status(*net.drone).term;
  net.drone.reset();
  net.drone = start(net.drone_config());  // it kept nothing: the gcs tells
  ASSERT_TRUE(net.uses("north"));
  EXPECT_TRUE(eventually([&] { return status(*net.drone).term > before && status(*net.stations[0]).term > before; }));
}

/// A captured standby that could lift the term to where no other may follow would let a station from before the drone's
/// restart win against the one that the drone hears.
TEST(EngineStations, ACapturedStandbyDoesNotLiftTheTerm) {
  constexpr std::uint32_t kTop = 0x7fffffff;
  TwoStations net({{"standby", true}});
  net.drone.reset();
  net.lie_about_term(1, kTop);
  net.drone = start(with(net.drone_config(), {{"state_dir", net.state_dir().string()}}));
  ASSERT_TRUE(net.uses("north"));
  // What south says as soon as it is the standby is one frame: the grant that the drone keeps, and the term.
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(net.state_dir() / "uav1.south.key"); }));
  EXPECT_FALSE(
      eventually([&] { return status(*net.drone).term >= kTop || status(*net.stations[0]).term >= kTop; }, 1s));
  const auto before = status(*net.drone).term;
  net.drone.reset();
  net.drone = start(net.drone_config());  // it kept nothing
  ASSERT_TRUE(net.uses("north"));
  EXPECT_TRUE(eventually([&] { return status(*net.drone).term >= before && status(*net.stations[0]).term >= before; }));
}

TEST(EngineStations, TwoStationsWithoutKeysOfTheirOwnAreRefused) {
  KeyFolders keys;
  auto values = drone_values(keys, "uav1", 46011);
  values["peer"] = Names{"north@127.0.0.1", "south@127.0.0.1"};
  EXPECT_THROW((void)start(values), TunnelError);
}

}  // namespace
}  // namespace pqcmav::test
