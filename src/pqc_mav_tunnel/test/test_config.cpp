// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/config.hpp"

#include <cmath>
#include <set>

#include "constants.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using test::expect_error;
using Names = std::vector<std::string>;

const FlatConfig kDrone{{"role", "drone"}, {"keys", "/keys"}, {"drone_id", "uav1"}, {"peer", "gcs.example"}};
const FlatConfig kGcs{{"role", "gcs"}, {"keys", "/keys"}, {"drones", Names{"uav1", "uav2"}}};

FlatConfig with(FlatConfig base, const FlatConfig& more) {
  for (const auto& [key, value] : more) base[key] = value;
  return base;
}
FlatConfig without(FlatConfig base, const std::string& key) {
  base.erase(key);
  return base;
}
void expect_refused(Errc code, std::initializer_list<std::string> words, const FlatConfig& values) {
  expect_error(code, words, [&] { (void)EngineConfig::from_flat(values); });
}

TEST(Config, DefaultsOfADroneAreTheSchemas) {
  const auto config = EngineConfig::from_flat(kDrone);
  EXPECT_EQ(config.role, Role::drone);
  EXPECT_EQ(config.suite, find_suite(kDefaultSuite));
  EXPECT_TRUE(config.hybrid);
  EXPECT_FALSE(config.sign);
  EXPECT_EQ(config.gcs_id, "gcs");
  EXPECT_EQ(config.data_port, kDefaultGcsDataPort);
  EXPECT_EQ(config.local_data_port, kDefaultDroneDataPort);
  EXPECT_EQ(config.max_payload, kDefaultMaxPayload);
  EXPECT_EQ(config.replay_window, kWindowBits);
  EXPECT_EQ(config.rekey_packets, kForcedRekeyPackets);
  // Below the failsafes of the autopilots, 5 and 10 s.
  EXPECT_EQ(config.keepalive_s, 0.5);
  EXPECT_EQ(config.degraded_after_s, 1.5);
  EXPECT_EQ(config.reconnect_after_s, 2.0);
  EXPECT_EQ(config.rekey_interval_s, 600.0);
  EXPECT_EQ(config.session_limit_s, 180.0);
  for (const auto& key : config_schema()) {
    const std::string name(key.key);
    if (!key.drone) {
      EXPECT_FALSE(config.effective.contains(name)) << name;
    } else if (!kDrone.contains(name)) {
      EXPECT_EQ(config.effective.at(name), key.default_value) << name;
    }
  }
}

TEST(Config, DefaultsOfAGcsAreTheSchemas) {
  const auto config = EngineConfig::from_flat(kGcs);
  EXPECT_EQ(config.role, Role::gcs);
  ASSERT_EQ(config.drones.size(), 2u);
  EXPECT_EQ(config.drones[0].id, "uav1");
  EXPECT_EQ(config.drones[1].plain_peer, "127.0.0.1:14550");
  EXPECT_TRUE(config.allowed_suites.empty());
  EXPECT_TRUE(config.allow_pure);
  for (const auto& key : config_schema()) {
    const std::string name(key.key);
    if (!key.gcs) {
      EXPECT_FALSE(config.effective.contains(name)) << name;
    } else if (!kGcs.contains(name)) {
      EXPECT_EQ(config.effective.at(name), key.default_value) << name;
    }
  }
  for (const auto& [key, value] : config.effective)
    EXPECT_TRUE(!key.starts_with("drone.") || kGcs.contains(key)) << key << ": there may be thousands";
}

TEST(Config, TheEffectiveValuesMakeTheSameConfigurationAgain) {
  const auto gcs = with(kGcs, {{"drone.uav2.plain_peer", "127.0.0.1:14560"},
                               {"data_port", 0},
                               {"gcs_id", "north"},
                               {"key_pool_kems", Names{"hqc128"}}});
  for (const auto& values : {kDrone, gcs}) {
    const auto once = EngineConfig::from_flat(values);
    EXPECT_EQ(EngineConfig::from_flat(once.effective).effective, once.effective);
  }
}

TEST(Config, APeerThatCouldNeverBeAHost) {
  for (const auto* peer : {"gcs example", "gcs..example", "-gcs", "gcs/1", "256.1.1.1", "10.0.1", "10.0.0.1:46000",
                           "gcs.example:46000", "[::1]", "::1::", ".", "g\xc3\xa4"})
    expect_refused(Errc::config_invalid, {"'peer' is '" + std::string(peer) + "'"}, with(kDrone, {{"peer", peer}}));
  expect_refused(Errc::config_invalid, {"'peer'", "63"}, with(kDrone, {{"peer", std::string(64, 'a')}}));
  expect_refused(Errc::config_invalid, {"'peer'", "253"}, with(kDrone, {{"peer", std::string(254, 'a')}}));
  for (const auto* peer : {"localhost", "gcs", "gcs.example.org.", "my_gcs-2.local", "10.0.0.1", "::1", "fe80::1%eth0",
                           "1host", "xn--gcs-rla.example"})
    EXPECT_EQ(EngineConfig::from_flat(with(kDrone, {{"peer", peer}})).peers.at(0).host, peer);
}

TEST(Config, TheSchemaIsConsistent) {
  std::set<std::string_view> seen;
  for (const auto& key : config_schema()) {
    EXPECT_TRUE(seen.insert(key.key).second) << key.key << " twice";
    EXPECT_TRUE(key.drone || key.gcs) << key.key;
    EXPECT_TRUE(key.description.ends_with('.')) << key.key;
    const bool number =
        std::holds_alternative<std::int64_t>(key.default_value) || std::holds_alternative<double>(key.default_value);
    EXPECT_EQ(key.min.has_value(), number) << key.key;
    EXPECT_EQ(key.max.has_value(), number) << key.key;
    if (number) {
      const auto value = std::holds_alternative<double>(key.default_value)
                             ? std::get<double>(key.default_value)
                             : static_cast<double>(std::get<std::int64_t>(key.default_value));
      EXPECT_GE(value, *key.min) << key.key;
      EXPECT_LE(value, *key.max) << key.key;
    }
  }
}

TEST(Config, NumbersOutOfRangeForEveryKeyThatHasOne) {
  for (const auto& key : config_schema()) {
    if (!key.min) continue;
    const auto& base = key.drone ? kDrone : kGcs;
    const std::string name(key.key);
    for (const double value : {*key.min - 1, *key.max + 1}) {
      auto given = base;
      if (std::holds_alternative<double>(key.default_value))
        given[name] = value;
      else
        given[name] = static_cast<std::int64_t>(value);
      expect_refused(Errc::config_invalid, {"'" + name + "'", "between"}, given);
    }
    if (std::holds_alternative<double>(key.default_value))
      for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL})
        expect_refused(Errc::config_invalid, {"'" + name + "'", "between"}, with(base, {{name, value}}));
  }
  expect_refused(Errc::config_invalid, {"is 268435457;", "between 1000 and 268435456 packets"},
                 with(kDrone, {{"rekey_packets", 268435457}}));
  expect_refused(Errc::config_invalid, {"'max_payload' is 63;", "between 64 and 65469 bytes"},
                 with(kDrone, {{"max_payload", 63}}));
  expect_refused(Errc::config_invalid, {"'data_port' is 65536;"}, with(kGcs, {{"data_port", 65536}}));
}

TEST(Config, TheBoundsThemselvesAreTaken) {
  EXPECT_EQ(EngineConfig::from_flat(with(kDrone, {{"max_payload", 64}})).max_payload, 64u);
  EXPECT_EQ(EngineConfig::from_flat(with(kDrone, {{"max_payload", 65469}})).max_payload, 65469u);
  EXPECT_EQ(EngineConfig::from_flat(with(kGcs, {{"data_port", 0}})).data_port, 0);
  EXPECT_EQ(EngineConfig::from_flat(with(kGcs, {{"data_port", 65535}})).data_port, 65535);
  EXPECT_EQ(EngineConfig::from_flat(with(kGcs, {{"key_pool_depth", 0}})).key_pool_depth, 0u);
}

TEST(Config, WrongTypesForEveryKey) {
  const std::vector<ConfigValue> values{true, std::int64_t{1}, 1.5, std::string{"text"}, Names{"a"}};
  for (const auto& key : config_schema()) {
    if (key.key == "role") continue;
    const auto& base = key.drone ? kDrone : kGcs;
    for (const auto& value : values) {
      if (value.index() == key.default_value.index()) continue;
      if (std::holds_alternative<double>(key.default_value) && std::holds_alternative<std::int64_t>(value))
        continue;                                                               // a whole number passes for a number
      if (key.key == "peer" && std::holds_alternative<Names>(value)) continue;  // several ground stations
      expect_refused(Errc::config_invalid, {"'" + std::string(key.key) + "'", "must be"},
                     with(base, {{std::string(key.key), value}}));
    }
  }
  expect_refused(Errc::config_invalid, {"'hybrid' must be true or false, not 'yes'."},
                 with(kDrone, {{"hybrid", "yes"}}));
  EXPECT_EQ(EngineConfig::from_flat(with(kDrone, {{"grace_s", 3}})).grace_s, 3.0);
}

TEST(Config, SeveralGroundStations) {
  const auto config =
      EngineConfig::from_flat(with(kDrone, {{"peer", Names{"north@a:1", "south@b"}}, {"station", "south"}}));
  ASSERT_EQ(config.peers.size(), 2U);
  EXPECT_EQ(config.peers[1].gcs_id, "south");
  EXPECT_EQ(config.peers[1].port, 46011);
  EXPECT_EQ(std::get<std::string>(config.effective.at("peer")), "north@a:1, south@b");
  EXPECT_EQ(config.station, "south");
  expect_refused(Errc::config_invalid, {"'station' is 'east'", "north, south"},
                 with(kDrone, {{"peer", "north@a,south@b"}, {"station", "east"}}));
  expect_refused(Errc::config_invalid, {"'failover_after_s'"},
                 with(kDrone, {{"peer", "north@a,south@b"}, {"failover_after_s", 0.5}}));
}

TEST(Config, ARadioAndAnAutopilotHavePortsOfTheirOwn) {
  const std::string port = "serial:/dev/ttyUSB0:57600";
  const FlatConfig plain{{"plain", "serial:/dev/ttyUSB0:115200"}};
  const auto refused = [](const FlatConfig& values) {
    expect_refused(Errc::config_invalid, {"serial:/dev/ttyUSB0:57600", "plain", "the same port"}, values);
  };
  refused(with(with(kDrone, {{"peer", port}}), plain));
  refused(with(with(kDrone, {{"paths", Names{"lte", "radio"}}, {"path.radio.via", port}}), plain));
  refused(with(kGcs, {{"drone.uav1.radio", port}, {"drone.uav1.plain", port}}));
}

TEST(Config, SeveralPaths) {
  const auto paths = [](const Names& names, const FlatConfig& more = {}) {
    return with(with(kDrone, {{"paths", names}}), more);
  };
  const FlatConfig both{{"path.lte.via", "wwan0"},
                        {"path.lte.peer", "gcs.mobile.example:46012"},
                        {"path.radio.via", "serial:/dev/ttyUSB0:57600:mavlink"},
                        {"path.radio.use", "backup"},
                        {"radio_id", 3}};
  const auto config = EngineConfig::from_flat(paths({"lte", "radio"}, both));
  ASSERT_EQ(config.paths.size(), 2U);
  EXPECT_EQ(config.paths[0].via, "wwan0");
  EXPECT_EQ(config.paths[0].use, PathUse::always);
  EXPECT_EQ(config.paths[1].use, PathUse::backup);
  EXPECT_EQ(config.paths[0].host, "gcs.mobile.example");
  EXPECT_EQ(config.paths[0].port, 46012);
  ASSERT_TRUE(config.paths[1].radio.has_value());
  EXPECT_EQ(config.paths[1].radio->radio_id, 3);
  EXPECT_EQ(config.paths[1].radio->bundle_bytes, kRadioBundleBytes);
  EXPECT_TRUE(config.compact && config.has_radio()) << "as with a radio alone";
  EXPECT_EQ(config.bundle_ms, 0u) << "elsewhere as configured";
  EXPECT_EQ(EngineConfig::from_flat(config.effective).effective, config.effective);
  EXPECT_FALSE(EngineConfig::from_flat(kDrone).has_radio());

  const auto refused = [&](std::initializer_list<std::string> words, const Names& names, const FlatConfig& more) {
    expect_refused(Errc::config_invalid, words, paths(names, more));
  };
  refused({"'paths' names 5 paths", "there may be 4"}, {"a", "b", "c", "d", "e"},
          {{"path.a.via", "1.0.0.1"},
           {"path.b.via", "1.0.0.2"},
           {"path.c.via", "1.0.0.3"},
           {"path.d.via", "1.0.0.4"},
           {"path.e.via", "1.0.0.5"}});
  refused({"'paths' names 'sat' before 'lte'", "'path.sat.use'", "name it last"}, {"sat", "lte"},
          {{"path.lte.via", "wwan0"}, {"path.sat.use", "commands"}});
  refused({"no path for telemetry", "'path.sat.use'"}, {"sat"}, {{"path.sat.use", "commands"}});
  refused({"'path.sat.use' is 'seldom'", "always, metered, backup, commands"}, {"sat"}, {{"path.sat.use", "seldom"}});
  refused({"'paths' names 'lte' twice"}, {"lte", "lte"}, {});
  refused({"'lte' and 'wifi' are the same way"}, {"lte", "wifi"}, {});
  refused({"'a' and 'b' are the same way"}, {"a", "b"},
          {{"path.a.via", "serial:/dev/ttyUSB0:57600"}, {"path.b.via", "serial:/dev/ttyUSB0:115200"}});
  refused({"'path.lte.via' is 'no such thing'", "wwan0"}, {"lte"}, {{"path.lte.via", "no such thing"}});
  refused({"'path.lte.via'", "wwan0"}, {"lte"}, {{"path.lte.via", "an-interface-0123"}});
  refused({"'path.lte.peer' is 'a:0'", "1 to 65535"}, {"lte"}, {{"path.lte.peer", "a:0"}});
  refused({"'path.r.peer' has no meaning for a radio"}, {"r"},
          {{"path.r.via", "serial:/dev/ttyUSB0:57600"}, {"path.r.peer", "a"}});
  refused({"'peer' is a radio"}, {"lte"}, {{"peer", "serial:/dev/ttyUSB0:57600"}});
  refused({"several ground stations", "'r' leads to one alone"}, {"lte", "r"},
          {{"peer", "north@a,south@b"}, {"path.r.via", "serial:/dev/ttyUSB0:57600"}});
  expect_refused(Errc::config_unknown_key, {"'path.lte.vai'", "Did you mean 'path.lte.via'"},
                 paths({"lte"}, {{"path.lte.vai", "wwan0"}}));
  expect_refused(Errc::config_unknown_key, {"'path.mesh.via'", "'paths' does not name 'mesh'."},
                 with(kDrone, {{"path.mesh.via", "wlan0"}}));
  expect_refused(Errc::config_unknown_key, {"'paths'", "only a drone has it"}, with(kGcs, {{"paths", Names{"lte"}}}));
}

TEST(Config, Choices) {
  expect_refused(Errc::config_invalid, {"'log_level' is 'loud'", "debug, info, warning, error"},
                 with(kDrone, {{"log_level", "loud"}}));
  expect_refused(Errc::config_invalid, {"'role' is 'ground'", "drone, gcs"}, with(kDrone, {{"role", "ground"}}));
  expect_refused(Errc::config_invalid, {"'role' must be a string"}, with(kDrone, {{"role", true}}));
}

TEST(Config, UnknownKeysWithTheClosestOne) {
  expect_refused(Errc::config_unknown_key, {"'keepalives'", "Did you mean 'keepalive_s'?"},
                 with(kDrone, {{"keepalives", 1.0}}));
  expect_refused(Errc::config_unknown_key, {"'Hybrid'", "Did you mean 'hybrid'?"}, with(kDrone, {{"Hybrid", true}}));
  expect_refused(Errc::config_unknown_key, {"'drone.uav1.plain_pear'", "Did you mean 'drone.uav1.plain_peer'?"},
                 with(kGcs, {{"drone.uav1.plain_pear", "x"}}));
  expect_refused(Errc::config_unknown_key, {"'drone.uav3.plain_peer'", "'drones' does not name 'uav3'."},
                 with(kGcs, {{"drone.uav3.plain_peer", "127.0.0.1:1"}}));
  expect_refused(Errc::config_unknown_key, {"'" + std::string(300, 'q') + "'"},
                 with(kDrone, {{std::string(300, 'q'), 1}}));
  expect_refused(Errc::config_unknown_key, {"''"}, with(kDrone, {{"", 1}}));
}

TEST(Config, AKeyOfTheOtherRoleIsUnknown) {
  expect_refused(Errc::config_unknown_key, {"'drones'", "for a drone: only a gcs has it."},
                 with(kDrone, {{"drones", Names{"uav1"}}}));
  expect_refused(Errc::config_unknown_key, {"'peer'", "for a gcs: only a drone has it."},
                 with(kGcs, {{"peer", "127.0.0.1"}}));
}

TEST(Config, WhatMustBeThere) {
  for (const auto* key : {"keys", "drone_id", "peer"}) {
    expect_refused(Errc::config_invalid, {"'" + std::string(key) + "' is missing"}, without(kDrone, key));
    expect_refused(Errc::config_invalid, {"'" + std::string(key) + "' is missing"}, with(kDrone, {{key, ""}}));
  }
  for (const auto* key : {"keys", "drones"})
    expect_refused(Errc::config_invalid, {"'" + std::string(key) + "' is missing"}, without(kGcs, key));
  expect_refused(Errc::config_invalid, {"'drones' is missing"}, with(kGcs, {{"drones", Names{}}}));
  expect_refused(Errc::config_invalid, {"'keys' is missing"}, {});
}

TEST(Config, DroneIds) {
  for (const auto* good : {"a", "uav-1_x", "01234567890123456789012345678901"}) {
    EXPECT_EQ(EngineConfig::from_flat(with(kDrone, {{"drone_id", good}})).drone_id, good);
    EXPECT_EQ(EngineConfig::from_flat(with(kGcs, {{"drones", Names{good}}})).drones[0].id, good);
  }
  for (const auto* bad : {"Uav", "uav 1", "uav.1", "../x", "012345678901234567890123456789012", "dr\xc3\xb6ne"}) {
    expect_refused(Errc::config_invalid, {"'drone_id'", "a-z"}, with(kDrone, {{"drone_id", bad}}));
    expect_refused(Errc::config_invalid, {"'drones'", "a-z"}, with(kGcs, {{"drones", Names{bad}}}));
  }
  expect_refused(Errc::config_invalid, {"'drones'"}, with(kGcs, {{"drones", Names{"a", ""}}}));
  expect_refused(Errc::config_invalid, {"'drones' names 'a' twice"}, with(kGcs, {{"drones", Names{"a", "b", "a"}}}));
}

TEST(Config, AWrongListOfDronesIsWhatIsSaid) {
  // Not that the keys of the drones are unknown.
  expect_refused(Errc::config_invalid, {"'drones' must be a list of strings"},
                 with(kGcs, {{"drones", "uav1"}, {"drone.uav1.plain_peer", "127.0.0.1:1"}}));
}

TEST(Config, SettingsOfEachDrone) {
  const auto config = EngineConfig::from_flat(
      with(kGcs, {{"drone.uav2.plain_peer", "127.0.0.1:14560"},
                  {"drone.uav2.plain_bind", "127.0.0.1:14561"},
                  {"drone.uav2.require_signature", true},
                  {"drone.uav2.allowed_suites", Names{"ML-512-AG-MD-44", "cs-mlkem1024-ascon128a-mldsa87"}}}));
  EXPECT_EQ(config.drones[0].plain_peer, "127.0.0.1:14550");
  EXPECT_FALSE(config.drones[0].require_signature);
  EXPECT_EQ(config.drones[1].plain_peer, "127.0.0.1:14560");
  EXPECT_EQ(config.drones[1].plain_bind, "127.0.0.1:14561");
  EXPECT_TRUE(config.drones[1].require_signature);
  ASSERT_EQ(config.drones[1].allowed_suites.size(), 2u);
  EXPECT_EQ(config.drones[1].allowed_suites[0]->id, "cs-mlkem512-aesgcm-mldsa44");
  expect_refused(Errc::config_invalid, {"'drone.uav2.require_signature' must be true or false"},
                 with(kGcs, {{"drone.uav2.require_signature", "yes"}}));
  expect_refused(Errc::suite_unknown, {"'drone.uav1.allowed_suites'"},
                 with(kGcs, {{"drone.uav1.allowed_suites", Names{"rot13"}}}));
}

TEST(Config, SuitesWithTheClosestMatches) {
  expect_refused(Errc::suite_unknown, {"'suite'", "cs-mlkem768-aesgcm-mldsa65"},
                 with(kDrone, {{"suite", "cs-mlkem768-aesgmc-mldsa65"}}));
  expect_refused(Errc::suite_unknown, {"'allowed_suites'", "cs-mlkem768-aesgcm-mldsa65"},
                 with(kGcs, {{"allowed_suites", Names{"cs-mlkem768-aesgcm-mldsa65", "cs-mlkem768-aesgcm-mldsa66"}}}));
  EXPECT_EQ(EngineConfig::from_flat(with(kDrone, {{"suite", "ml-768-ag-md-65"}})).suite->id,
            "cs-mlkem768-aesgcm-mldsa65");
}

TEST(Config, KemsOfThePool) {
  const auto config =
      EngineConfig::from_flat(with(kGcs, {{"key_pool_kems", Names{"classicmceliece348864", "hqc128"}}}));
  ASSERT_EQ(config.key_pool_kems.size(), 2u);
  EXPECT_EQ(config.key_pool_kems[1], find_kem("hqc128"));
  expect_refused(Errc::config_invalid, {"'key_pool_kems'", "'rsa2048'", "mlkem768"},
                 with(kGcs, {{"key_pool_kems", Names{"rsa2048"}}}));
}

TEST(Config, TimersThatContradictEachOther) {
  expect_refused(Errc::config_invalid, {"'degraded_after_s'", "'keepalive_s'"}, with(kDrone, {{"keepalive_s", 3.0}}));
  expect_refused(Errc::config_invalid, {"'reconnect_after_s'", "'keepalive_s'"},
                 with(kDrone, {{"keepalive_s", 2.0}, {"degraded_after_s", 3.0}, {"reconnect_after_s", 2.0}}));
  expect_refused(Errc::config_invalid, {"'session_limit_s'", "'keepalive_s'"},
                 with(kGcs, {{"keepalive_s", 2.0}, {"degraded_after_s", 3.0}, {"session_limit_s", 2.0}}));
}

TEST(Config, WrongTypesAreShown) {
  expect_refused(Errc::config_invalid, {"'max_payload' must be a whole number, not 1400.0."},
                 with(kDrone, {{"max_payload", 1400.0}}));
  expect_refused(Errc::config_invalid, {"'max_payload' must be a whole number, not 1400.5."},
                 with(kDrone, {{"max_payload", 1400.5}}));
  expect_refused(Errc::config_invalid, {"'peer' must be a string, not 5."}, with(kDrone, {{"peer", 5}}));
  expect_refused(Errc::config_invalid, {"'suite' must be a string, not a list."},
                 with(kDrone, {{"suite", Names{"a"}}}));
  expect_refused(Errc::config_invalid, {"'peer' must be a string, not true."}, with(kDrone, {{"peer", true}}));
}

TEST(Config, AddressesThatCannotBe) {
  const auto invalid = [](const FlatConfig& base, const std::string& key, const std::string& value,
                          const std::string& word) {
    expect_refused(Errc::config_invalid, {"'" + key + "'", word}, with(base, {{key, value}}));
  };
  for (const auto* bad : {"14590", "127.0.0.1", "127.0.0.1:", ":14590", "127.0.0.1:http", "127.0.0.1:65536", "[]:1"})
    for (const auto* key : {"plain_bind", "plain_peer", "plain_tap"}) invalid(kDrone, key, bad, "host:port");
  for (const auto* key : {"drone.uav2.plain_bind", "drone.uav2.plain_peer"}) invalid(kGcs, key, "14590", "host:port");
  invalid(kDrone, "plain_bind", "", "host:port");
  invalid(kDrone, "plain_bind", "127.0.0.300:14590", "not an IPv4 address");
  invalid(kDrone, "plain_peer", "no such host:14590", "letters, digits");
  invalid(kDrone, "bind", "127.0.0.1:46012", "ports have their own keys");
  invalid(kDrone, "plain_peer", "[::1]:14550", "both be IPv4 or both IPv6");
  invalid(kDrone, "plain_tap", "192.0.2.1:14591", "loopback");
  invalid(kDrone, "plain_tap", "127.0.0.1:14590", "'plain_bind'");
}

TEST(Config, AnOpenPlaintextPortNeedsTheOwnersWord) {
  for (const auto* open : {"0.0.0.0:14590", "192.0.2.1:14590", "[::]:14590", "[2001:db8::1]:0"}) {
    for (const auto& [base, key] : {std::pair{kDrone, "plain_bind"}, std::pair{kGcs, "drone.uav2.plain_bind"}}) {
      const auto values = with(base, {{key, open}, {base == kDrone ? "plain_peer" : "drone.uav2.plain_peer", ""}});
      expect_refused(Errc::config_invalid, {"'" + std::string(key) + "' is '" + open, "loopback", "plain_allow_remote"},
                     values);
      EXPECT_TRUE(EngineConfig::from_flat(with(values, {{"plain_allow_remote", true}})).plain_allow_remote);
    }
  }
}

TEST(Config, AddressesThatMayBe) {
  for (const auto* good :
       {"127.0.0.1:0", "localhost:14590", "[::1]:14590", "[fe80::1%eth0]:14590", "host.that.does.not.resolve:1"})
    EXPECT_EQ(EngineConfig::from_flat(with(kDrone, {{"plain_bind", good}})).plain_bind, good);
  for (const auto* good : {"", "::", "192.0.2.1", "vehicle.example"})
    EXPECT_EQ(EngineConfig::from_flat(with(kGcs, {{"bind", good}})).bind, good);
}

TEST(Config, NamesOfAGroundStation) {
  for (const auto& base : {kDrone, kGcs}) {
    for (const auto* good : {"gcs", "north-1", "a", "0123456789abcdef0123456789abcdef"})
      EXPECT_EQ(EngineConfig::from_flat(with(base, {{"gcs_id", good}})).gcs_id, good);
    for (const auto* bad : {"", "North", "a b", "../x", "0123456789abcdef0123456789abcdef0"})
      expect_refused(Errc::config_invalid, {"'gcs_id'", "1-32 characters"}, with(base, {{"gcs_id", bad}}));
  }
}

TEST(Config, ThePortOfHandshakesIsNoLongerKnown) {
  for (const auto& base : {kDrone, kGcs})
    expect_refused(Errc::config_unknown_key, {"handshake_port"}, with(base, {{"handshake_port", 46000}}));
}

TEST(Config, PortsAndWindows) {
  expect_refused(Errc::config_invalid, {"'data_port'", "cannot be 0"}, with(kDrone, {{"data_port", 0}}));
  EXPECT_EQ(EngineConfig::from_flat(with(kDrone, {{"local_data_port", 0}})).local_data_port, 0);
  expect_refused(Errc::config_invalid, {"'replay_window' is 100;", "multiple of 64"},
                 with(kDrone, {{"replay_window", 100}}));
  EXPECT_EQ(EngineConfig::from_flat(with(kDrone, {{"replay_window", 8192}})).replay_window, 8192u);
}

TEST(Config, TheLeanOneHasNothingOfEachDrone) {
  const auto whole = EngineConfig::from_flat({{"role", "gcs"}, {"keys", "/k"}, {"drones", Names{"a", "b"}}});
  ASSERT_EQ(whole.drones.size(), 2u);
  EXPECT_EQ(whole.given.size(), 3u);
  const auto lean = whole.lean();
  EXPECT_TRUE(lean.drones.empty() && lean.effective.empty() && lean.given.empty());
  EXPECT_EQ(lean.max_handshakes, whole.max_handshakes);
  EXPECT_EQ(lean.keys, "/k");
}

}  // namespace
}  // namespace pqcmav
