// SPDX-License-Identifier: Apache-2.0
#include "console/diagnoser.hpp"

#include <gtest/gtest.h>

#include "console/numbers.hpp"

namespace pqcmav {
namespace {

class DiagnoserTest : public testing::Test {
 protected:
  DiagnoserTest() {
    status.drone_id = "d1";
    status.state = LinkState::up;
    status.suite = "cs-mlkem512-aesgcm-mldsa44";
    status.epoch = 2;
    status.key_age_s = 60;
    status.silence_s = 0.5;
    stats.drone_id = link.drone_id = "d1";
  }
  Json all() { return diagnoser.diagnose({status}, {stats}, {link}, totals); }
  static Json named(const Json& from, std::string_view name) {
    for (const auto& each : from)
      if (each["name"] == name) return each;
    return nullptr;
  }
  Json tunnel() { return named(all(), "tunnel d1"); }
  static std::string value(const Json& of, std::string_view key) {
    for (const auto& each : of["values"])
      if (each["key"] == key) return each["value"];
    return "none";
  }

  LinkStatus status;
  LinkStats stats;
  LinkQualityView link;
  NamedCounters totals;
  Diagnoser diagnoser;
};

TEST_F(DiagnoserTest, LevelsAndWords) {
  using enum LinkState;
  struct Case {
    bool drone;
    LinkState state;
    std::string error;
    int level;
    std::string said;
  };
  const Case cases[] = {
      {true, up, "", 0, "up with ML-512-AG-MD-44, epoch 2"},
      {true, up, "old trouble", 0, "up with ML-512-AG-MD-44, epoch 2"},
      {true, rekeying, "", 0, "up with ML-512-AG-MD-44, epoch 2, renewing its keys"},
      {true, degraded, "", 1, "nothing heard from the peer for 0.5 s"},
      {true, handshaking, "", 1, "connecting"},
      {true, handshaking, "refused", 1, "connecting (last failure: refused)"},
      {true, up, "KEY_OLD: do something. A timeout.", 1, "KEY_OLD: do something. A timeout."},
      {false, rekeying, "KEY_OLD: do something.", 1, "KEY_OLD: do something."},
      {false, degraded, "KEY_OLD: do something.", 1, "KEY_OLD: do something."},
      {true, up, "PLAIN_DOWN: The port is not there.", 1, "PLAIN_DOWN: The port is not there."},
      {false, up, "KEY_OLD: x. PLAIN_DOWN: lost.", 1, "KEY_OLD: x. PLAIN_DOWN: lost."},
      {true, up, "RADIO_DOWN: The port was lost.", 1, "RADIO_DOWN: The port was lost."},
      {true, down, "", 2, "no session"},
      {true, down, "wrong key", 2, "wrong key"},
      {false, down, "", 1, "the drone has not connected yet"},
      {false, down, "wrong key", 2, "wrong key"},
  };
  for (const auto& each : cases) {
    status.drone_side = each.drone;
    status.state = each.state;
    status.last_error = each.error;
    const auto said = tunnel();
    EXPECT_EQ(said["level"], each.level) << each.said;
    EXPECT_EQ(said["message"], each.said);
    EXPECT_EQ(value(said, "key_old"), each.error.starts_with("KEY_OLD") ? "True" : "False");
  }
}

TEST_F(DiagnoserTest, ValuesAreAsPythonWritesThem) {
  link.rtt_ms = 1.5;
  stats.endpoints = {{"serial:/dev/serial0:57600", "open", true, {{"rx_packets", 3}}}};
  const auto said = tunnel();
  EXPECT_EQ(value(said, "state"), "UP");
  EXPECT_EQ(value(said, "epoch"), "2");
  EXPECT_EQ(value(said, "key_age_s"), "60.0");
  EXPECT_EQ(value(said, "rtt_ms"), "1.500");
  EXPECT_EQ(value(said, "endpoint serial:/dev/serial0:57600"), "open, rx_packets 3");
  EXPECT_EQ(value(said, "shape_commands"), "none");
  EXPECT_EQ(number_text(1e-5), "1e-05");
  EXPECT_EQ(number_text(0.1), "0.1");
}

TEST_F(DiagnoserTest, AShapedLinkSaysWhatBecomesOfEachClass) {
  status.shape_kbit = 64;
  stats.shaping[0] = {0, 1, 2, 3, 4};
  stats.shaping[4] = {0, 7, 14, 21, 28};
  const auto said = tunnel();
  EXPECT_EQ(value(said, "shape_kbit"), "64");
  EXPECT_EQ(value(said, "shape_commands"), "taken 0 sent 1 replaced 2 dropped 3 oldest_ms 4");
  EXPECT_EQ(value(said, "shape_rekey"), "taken 0 sent 7 replaced 14 dropped 21 oldest_ms 28");
}

TEST_F(DiagnoserTest, DropsWarnOnlyWhileTheyGrow) {
  stats.counters = {{"drop_auth_fail", 7}, {"plain_dropped_kernel", 1}};
  EXPECT_EQ(tunnel()["level"], 0) << "what was counted before the first look is not new";
  stats.counters = {{"drop_auth_fail", 9}, {"plain_dropped_kernel", 3}};
  const auto grown = tunnel();
  EXPECT_EQ(grown["level"], 1);
  EXPECT_EQ(grown["message"],
            "up with ML-512-AG-MD-44, epoch 2; dropped since the last report: 2 packets that failed authentication, "
            "2 plaintext packets that the kernel had no room for");
  EXPECT_EQ(value(grown, "drop_auth_fail"), "9");
  EXPECT_EQ(tunnel()["level"], 0);
  stats.counters = {{"drop_auth_fail", 1}};
  EXPECT_EQ(tunnel()["level"], 0) << "a drone that was removed and came back counts anew";
}

TEST_F(DiagnoserTest, AStandbyIsNoFaultAndWhatIsSaidToItNoLoss) {
  status.station = "south";
  status.role = "standby";
  (void)tunnel();
  stats.counters = {{"plain_dropped_no_session", 40}};
  const auto waiting = tunnel();
  EXPECT_EQ(waiting["level"], 0);
  EXPECT_EQ(waiting["message"], "up with ML-512-AG-MD-44, epoch 2, standby: the drone hears another ground station");
  status.role = "active";
  stats.counters = {{"plain_dropped_no_session", 43}};
  const std::string active = tunnel()["message"];
  EXPECT_NE(active.find("3 plaintext packets without a session"), std::string::npos) << active;
}

TEST_F(DiagnoserTest, ADroneSaysWhichOfItsStationsItHears) {
  status.drone_side = true;
  status.station = "south";
  status.role = "active";
  status.stations = {{"north", "a:1", "none"}, {"south", "b:1", "active"}};
  EXPECT_EQ(tunnel()["message"], "up with ML-512-AG-MD-44, epoch 2, ground station south");
}

TEST_F(DiagnoserTest, OnlyAGroundStationSaysWhatStrangersTry) {
  totals = {{"enc_rx_datagrams", 1}, {"hs_tag", 0}, {"other_version", 0}, {"keygens", 4}};
  auto said = named(all(), "handshake server");
  EXPECT_EQ(said["level"], 0);
  EXPECT_EQ(said["message"], "no unwanted handshakes");
  EXPECT_EQ(value(said, "keygens"), "4");
  EXPECT_EQ(value(said, "enc_rx_datagrams"), "none");
  totals[1].second = 3;
  said = named(all(), "handshake server");
  EXPECT_EQ(said["level"], 1);
  EXPECT_EQ(said["message"], "refused since the last report: 3 handshake datagrams without a valid pre-shared key");
  status.drone_side = true;
  EXPECT_EQ(named(all(), "handshake server"), nullptr);
}

TEST_F(DiagnoserTest, WhatTheKernelDropsAndWhatSnapshotsDo) {
  totals = {{"drop_kernel", 0}, {"used_twice", 0}, {"set_back", 0}};
  auto said = all();
  EXPECT_EQ(named(said, "data port"), Json::parse(R"({"level": 0, "name": "data port", "message":
      "the kernel had room for all datagrams", "values": [{"key": "drop_kernel", "value": "0"}]})"));
  EXPECT_EQ(named(said, "snapshots")["message"], "neither end was set back to a snapshot");
  totals = {{"drop_kernel", 3}, {"used_twice", 1}, {"set_back", 2}};
  said = all();
  EXPECT_EQ(named(said, "data port")["level"], 1);
  EXPECT_EQ(named(said, "data port")["message"],
            "since the last report: 3 times that the kernel had no room for datagrams of the tunnel; this machine is "
            "busy or flooded, or 'socket_buffer_kib' is too small");
  EXPECT_EQ(named(said, "snapshots")["level"], 1);
  EXPECT_EQ(named(said, "snapshots")["message"],
            "since the last report: 2 times that this machine was set back to a snapshot, or copied, 1 sessions ended "
            "because the other end used the number of a packet twice; see 'set_back' in docs/troubleshooting.md");
  EXPECT_EQ(value(named(said, "snapshots"), "set_back"), "2");
  said = all();
  EXPECT_EQ(named(said, "data port")["level"], 0);
  EXPECT_EQ(named(said, "snapshots")["level"], 0);
}

TEST_F(DiagnoserTest, EachWhoAsksHearsOfWhatGrewSinceItAskedItself) {
  Diagnoser other;
  const auto asked = [&](Diagnoser& by) { return named(by.diagnose({status}, {stats}, {link}, totals), "tunnel d1"); };
  (void)asked(diagnoser);
  (void)asked(other);
  stats.counters = {{"drop_replay", 1}};
  EXPECT_EQ(asked(diagnoser)["level"], 1);
  EXPECT_EQ(asked(diagnoser)["level"], 0);
  EXPECT_EQ(asked(other)["level"], 1);
}

}  // namespace
}  // namespace pqcmav
