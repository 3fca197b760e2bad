// SPDX-License-Identifier: Apache-2.0
#include "console/commands.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "clock.hpp"
#include "fake_steered.hpp"
#include "pqc_mav_tunnel/open_sockets.hpp"

namespace pqcmav {
namespace {

using namespace test;

const Asker kMe{42, 1000, 1001};

class CommandsTest : public testing::Test {
 protected:
  Json ask(const std::string& line) {
    const auto answer = commands.answer(line, kMe);
    return Json::parse(answer.work ? answer.work() : answer.line);
  }
  std::string code_of(const std::string& line) {
    const auto answer = ask(line);
    EXPECT_EQ(answer["v"], 1) << line;
    EXPECT_EQ(answer["ok"], false) << line;
    const std::string text = answer["error"]["text"];
    EXPECT_TRUE(text.ends_with('.')) << text;
    return answer["error"]["code"];
  }

  FakeSteered engine;
  EventJournal log;
  Commands commands{engine, log};
};

TEST_F(CommandsTest, StatusIsWholeAndForOneDrone) {
  const auto answer = ask(R"({"v": 1, "id": 7, "command": "status"})");
  EXPECT_EQ(answer["id"], 7);
  EXPECT_EQ(answer["ok"], true);
  const auto& result = answer["result"];
  EXPECT_EQ(result["role"], "gcs");
  EXPECT_EQ(result["dangers"], Json({"a way around"}));
  EXPECT_EQ(result["key_limit_s"], engine.set_up.key_limit_s);
  ASSERT_EQ(result["tunnels"].size(), 2u);
  EXPECT_EQ(result["tunnels"][0]["state"], "UP");
  EXPECT_EQ(result["tunnels"][1]["last_error"], "\xef\xbf\xbd is no UTF-8");
  const auto one = ask(R"({"v": 1, "id": "mine", "command": "status", "drone": "uav2"})");
  EXPECT_EQ(one["id"], "mine");
  ASSERT_EQ(one["result"]["tunnels"].size(), 1u);
  EXPECT_EQ(one["result"]["tunnels"][0]["drone_id"], "uav2");
}

TEST_F(CommandsTest, VersionOneIsAsEver) {
  const std::pair<const char*, const char*> golden[] = {
      {R"({"v": 1, "id": 7, "command": "drones"})",
       R"({"v":1,"id":7,"ok":true,"result":{"drones":[{"drone_id":"uav1","plain_port":14550},{"drone_id":"uav2",)"
       R"("plain_port":14551}],"files":["/etc/gcs.yaml"]}})"},
      {R"({"v": 1, "id": "x", "command": "rekey", "drone": "uav1", "kind": "ratchet"})",
       R"({"v":1,"id":"x","ok":true,"result":{"drone_id":"uav1","suite":"","epoch":7,"rekey_ms":2.5,"pin_for_s":0.0,)"
       R"("message":"Rekeyed."}})"},
      {R"({"v": 1, "command": "reload"})",
       R"({"v":1,"id":null,"ok":true,"result":{"renewed":["uav1"],"removed":[],"signing":["ML-DSA-65"],)"
       R"("configuration":true,"drones":{"added":[],"removed":["uav3"],"changed":[],"restart":["gso"],"kept":["uav4"],)"
       R"("avoid":"lattices"}}})"},
      {R"({"v": 1, "command": "log_level"})", R"({"v":1,"id":null,"ok":true,"result":{"level":"info"}})"},
      {R"({"v": 1, "command": "handshakes"})", R"({"v":1,"id":null,"ok":true,"result":{"handshakes":[]}})"},
      {R"({"v": 1, "command": "subscribe", "events": []})", R"({"v":1,"id":null,"ok":true,"result":{}})"},
      {R"({"v": 1, "command": "rekey"})",
       R"({"v":1,"id":null,"ok":false,"error":{"code":"which_drone","text":"This gcs serves 2 drones; name one with )"
       R"('drone'."}})"},
      {R"({"v": 2})",
       R"({"v":1,"id":null,"ok":false,"error":{"code":"version","text":"This engine speaks version 1 of the control )"
       R"(socket: begin with \"v\": 1."}})"},
  };
  for (const auto& [line, told] : golden) {
    const auto answer = commands.answer(line, kMe);
    EXPECT_EQ(answer.work ? answer.work() : answer.line, std::string(told) + '\n') << line;
  }
  EXPECT_EQ(event_line(Event{1, "uav1", LogEvent{}}).find("number"), std::string::npos);
  EXPECT_EQ(lost_line(3), "{\"v\":1,\"event\":\"lost\",\"count\":3}\n");
}

TEST_F(CommandsTest, DangersComeFromTheEnginesUserAndFromRootAlone) {
  const auto line = R"({"v": 1, "command": "dangers", "lines": ["mavros listens", "two\nlines\u001b[2J"]})";
  const auto tell = [&](uid_t uid) { return Json::parse(commands.answer(line, {42, uid, 1001}).line); };
  const auto other = ::geteuid() + 1;
  EXPECT_EQ(tell(other)["error"]["code"], "permission");
  EXPECT_EQ(engine.dangers(), std::vector<std::string>{"a way around"});
  const std::vector<std::string> told = {"mavros listens", "two\\nlines\\x1b[2J"};
  for (const auto uid : {::geteuid(), uid_t{0}}) {
    EXPECT_EQ(tell(uid)["result"], (Json{{"dangers", 2}, {"for_s", 30}}));
    EXPECT_EQ(engine.dangers(), told) << "one line each, whatever was sent";
  }
  ASSERT_EQ(engine.noted.size(), 1u) << "what is told again is no news";
  EXPECT_NE(engine.noted[0].find("note ways around the tunnel, now 2"), std::string::npos) << engine.noted[0];
}

TEST_F(CommandsTest, DangersAreFewAndShort) {
  const auto refused = [&](const Json& lines) {
    const Json request = {{"v", 1}, {"command", "dangers"}, {"lines", lines}};
    const auto answer = Json::parse(commands.answer(request.dump(), {42, ::geteuid(), 1001}).line);
    return answer["ok"] == true ? "" : answer["error"]["code"].get<std::string>();
  };
  EXPECT_EQ(refused(Json::array()), "");
  EXPECT_EQ(engine.dangers(), std::vector<std::string>{});
  EXPECT_EQ(refused(std::vector<std::string>(16, std::string(1000, 'a'))), "");
  for (const auto& bad : {Json("a"), Json(nullptr), Json{7}, Json{Json::array()}, Json{std::string(1001, 'a')},
                          Json(std::vector<std::string>(17, "a"))})
    EXPECT_EQ(refused(bad), "bad_request") << bad;
  EXPECT_EQ(engine.dangers().size(), 16u) << "what is refused changes nothing";
}

TEST_F(CommandsTest, AlarmsComeFromTheEnginesUserAndFromRootAlone) {
  const auto tell = [&](Json fields, uid_t uid = ::geteuid()) {
    fields.update({{"v", 1}, {"command", "alarm"}});
    return Json::parse(commands.answer(fields.dump(), {42, uid, 1001}).line);
  };
  EXPECT_EQ(tell({{"level", 2}, {"kind", "flood"}}, ::geteuid() + 1)["error"]["code"], "permission");
  EXPECT_TRUE(engine.alarms.empty());
  EXPECT_EQ(tell({{"level", 2}, {"kind", "flood"}})["result"], (Json{{"level", 2}, {"for_s", 10}}));
  EXPECT_EQ(tell(Json::object())["result"], (Json{{"level", 2}, {"kind", "flood"}})) << "asked, not told";
  EXPECT_EQ(tell({{"from", "south"}, {"level", nullptr}})["result"], (Json{{"level", 0}, {"kind", ""}}));
  EXPECT_EQ(tell({{"level", 0}, {"kind", "flood"}, {"from", "south"}})["ok"], true);
  EXPECT_EQ(engine.alarms.at("").kind, "flood");
  EXPECT_EQ(engine.alarms.at("south").level, 0);
  EXPECT_EQ(engine.alarms.at("south").kind, "");
  for (const auto& bad : {Json{{"level", 3}}, Json{{"level", -1}}, Json{{"level", 0.5}}, Json{{"level", "2"}},
                          Json{{"level", 1}, {"kind", std::string(25, 'a')}}})
    EXPECT_EQ(tell(bad)["error"]["code"], "bad_request") << bad;
  EXPECT_EQ(engine.alarms.size(), 2u);
}

TEST_F(CommandsTest, SocketsAreThoseOfThisProcess) {
  ::setenv(kSystemVariable, "mine", 1);
  const auto result = ask(R"({"v": 1, "command": "sockets"})")["result"];
  ::unsetenv(kSystemVariable);
  EXPECT_EQ(result["system"], "mine");
  EXPECT_EQ(result["sockets"].size(), open_sockets().size());
}

TEST_F(CommandsTest, CountersHaveRates) {
  engine.packets = 50;
  const auto result = ask(R"({"v": 1, "command": "stats"})")["result"];
  EXPECT_EQ(result["tunnels"][0]["tx_packets_per_s"], 25.0);
  EXPECT_EQ(result["tunnels"][0]["enc_tx_packets"], 50);
  EXPECT_EQ(result["tunnels"][0]["shape_taken"].size(), kShapeClasses);
  EXPECT_EQ(result["tunnels"][0]["window_depth"].size(), kDepthClasses);
  EXPECT_EQ(result["totals"]["delivered"], 3);
}

TEST_F(CommandsTest, LinkDronesAndSuites) {
  const auto links = ask(R"({"v": 1, "command": "link"})")["result"]["tunnels"];
  EXPECT_EQ(links[0]["rtt_ms"], 1.5);
  EXPECT_TRUE(links[0]["peer"].is_object());
  EXPECT_TRUE(links[1]["peer"].is_null());
  EXPECT_EQ(ask(R"({"v": 1, "command": "drones"})")["result"]["drones"][1]["plain_port"], 14551);
  const auto all = ask(R"({"v": 1, "command": "suites"})")["result"]["suites"];
  EXPECT_EQ(all.size(), all_suites().size());
  EXPECT_LE(ask(R"({"v": 1, "command": "suites", "available": true})")["result"]["suites"].size(), all.size());
}

TEST_F(CommandsTest, HandshakesAreTheNewestOfADrone) {
  for (int i = 0; i < 100; ++i) {
    HandshakeEvent event;
    event.epoch = static_cast<std::uint8_t>(i);
    log.take(Event{1, i % 2 == 0 ? "uav1" : "uav2", event});
  }
  EXPECT_EQ(ask(R"({"v": 1, "command": "handshakes"})")["result"]["handshakes"].size(), 64u);
  EXPECT_EQ(ask(R"({"v": 1, "command": "handshakes", "limit": 1024})")["result"]["handshakes"].size(), 100u);
  const auto two = ask(R"({"v": 1, "command": "handshakes", "drone": "uav1", "limit": 2})")["result"]["handshakes"];
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0]["epoch"], 96);
  EXPECT_EQ(two[1]["epoch"], 98);
  EXPECT_TRUE(two[1]["phases_ms"].contains("hello"));
}

TEST_F(CommandsTest, StatsCountAllHandshakes) {
  HandshakeEvent event;
  event.ok = true;
  event.kind = HandshakeKind::rekey;
  event.duration_ns = 3'500'000;
  log.take(Event{1, "uav1", event});
  event.ok = false;
  event.error = HandshakeError::timeout;
  log.take(Event{2, "uav1", event});
  const auto counted = ask(R"({"v": 1, "command": "stats"})")["result"]["handshakes"];
  ASSERT_EQ(counted["le_ms"][2], 5);
  EXPECT_EQ(counted["rekey"]["counts"][2], 1);
  EXPECT_EQ(counted["rekey"]["counts"].size(), counted["le_ms"].size() + 1);
  EXPECT_EQ(counted["rekey"]["sum_ms"], 3.5);
  EXPECT_EQ(counted["rekey"]["failed"]["timeout"], 1);
  EXPECT_EQ(counted["first"]["failed"]["timeout"], 0);
  EXPECT_EQ(counted["first"]["failed"].size(), kHandshakeErrors - 1);
  EXPECT_FALSE(counted["first"]["failed"].contains("none"));
}

TEST_F(CommandsTest, ARekeyIsLoggedWithWhoAskedAndAnswered) {
  const auto answer =
      ask(R"({"v": 1, "id": 1, "command": "rekey", "drone": "uav2", "suite": "ML-768-AS-MD-65", "reason": "drill"})");
  EXPECT_EQ(engine.asked, std::vector<std::string>{"uav2|cs-mlkem768-ascon128a-mldsa65|drill"});
  EXPECT_EQ(answer["result"]["epoch"], 7);
  EXPECT_EQ(answer["result"]["rekey_ms"], 2.5);
  ASSERT_EQ(engine.noted.size(), 1u);
  EXPECT_EQ(engine.noted[0],
            "uav2: Asked through the control socket by uid 1000, gid 1001, pid 42: rekey to "
            "cs-mlkem768-ascon128a-mldsa65 (drill).");
}

TEST_F(CommandsTest, RefusedRekeys) {
  EXPECT_EQ(code_of(R"({"v": 1, "command": "rekey"})"), "which_drone");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "rekey", "drone": "uav3"})"), "unknown_drone");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "rekey", "drone": "uav1", "suite": "nonsense"})"), "suite_unknown");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "rekey", "drone": "uav1", "timeout_s": 1e9})"), "bad_request");
  EXPECT_TRUE(engine.noted.empty());
  EXPECT_EQ(code_of(R"({"v": 1, "command": "rekey", "drone": "uav1", "reason": "refuse me"})"), "refused");
}

TEST_F(CommandsTest, TheServicesRekeyIsAnsweredWhateverComesOfIt) {
  const auto rekey = [&](const std::string& more) {
    return ask(R"({"v": 1, "command": "request_rekey")" + more + "}")["result"];
  };
  auto done = rekey(R"(, "drone_id": "uav1", "suite": "cs-x", "reason": "why", "kind": "rekey", "pin_for_s": 5)");
  EXPECT_EQ(done, Json::parse(R"({"ok": true, "suite": "cs-x", "epoch": 7, "rekey_ms": 2.5, "pin_for_s": 5.0,
      "message": "Rekeyed."})"));
  EXPECT_EQ(engine.asked.back(), "uav1|cs-x|why|rekey");
  EXPECT_EQ(engine.noted.size(), 1u);
  done = rekey(R"(, "drone_id": "uav1", "suite": "cs-x", "reason": "refuse me")");
  EXPECT_EQ(done["ok"], false);
  EXPECT_EQ(done["message"], "There is no session.");
  EXPECT_EQ(done["suite"], "") << "what is in use, not what was asked for";
  EXPECT_EQ(rekey("")["message"], "This gcs serves 2 drones: name one in drone_id (uav1, uav2).");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "request_rekey", "suite": 1})"), "bad_request");
}

TEST_F(CommandsTest, OnlyTheEnginesUserAndRootSetWhatCountsAtOnce) {
  const auto set = [&](const std::string& what, uid_t uid) {
    return Json::parse(commands.answer(R"({"v": 1, "command": "set", )" + what + "}", {42, uid, 1001}).line);
  };
  const auto me = ::geteuid();
  EXPECT_EQ(set(R"("key": "shape_kbit", "value": 64)", me + 1)["error"]["code"], "permission");
  EXPECT_EQ(engine.shaped, 0);
  EXPECT_EQ(set(R"("key": "shape_kbit", "value": 64)", me)["result"]["now"], true);
  EXPECT_EQ(engine.shaped, 64);
  EXPECT_EQ(set(R"("key": "station", "value": "north")", 0)["result"]["now"], true);
  EXPECT_EQ(engine.wanted, "north");
  EXPECT_EQ(engine.noted.size(), 2u);
  EXPECT_EQ(set(R"("key": "dscp", "value": 1)", me)["error"]["code"], "bad_request");
  EXPECT_EQ(set(R"("key": "shape_kbit")", me)["error"]["code"], "bad_request");
}

TEST_F(CommandsTest, ADiagnosisIsOfWhatGrewSinceTheAskerAskedLast) {
  const Asker first{42, 1000, 1001, false, std::make_shared<Diagnoser>()};
  const auto snapshots = [&](const Asker& who) {
    const auto found = Json::parse(commands.answer(R"({"v": 1, "command": "diagnosis"})", who).line);
    for (const auto& each : found["result"]["status"])
      if (each["name"] == "snapshots") return each["level"].get<int>();
    return -1;
  };
  EXPECT_EQ(snapshots(first), 0);
  engine.counted = {{"set_back", 1}};
  EXPECT_EQ(snapshots(kMe), 0) << "it has not asked before";
  EXPECT_EQ(snapshots(first), 1);
  EXPECT_EQ(snapshots(first), 0);
}

TEST_F(CommandsTest, TheLogLevelIsSetAndLogged) {
  EXPECT_EQ(ask(R"({"v": 1, "command": "log_level"})")["result"]["level"], "info");
  EXPECT_TRUE(engine.noted.empty());
  EXPECT_EQ(ask(R"({"v": 1, "command": "log_level", "level": "debug"})")["result"]["level"], "debug");
  EXPECT_EQ(engine.level, LogLevel::debug);
  EXPECT_EQ(engine.noted.size(), 1u);
  EXPECT_EQ(code_of(R"({"v": 1, "command": "log_level", "level": "loud"})"), "bad_request");
}

TEST_F(CommandsTest, ADroneIsSentToOneOfItsGroundStations) {
  EXPECT_EQ(code_of(R"({"v": 1, "command": "station", "gcs_id": "south"})"), "refused");  // a gcs
  engine.set_up.role = Role::drone;
  engine.set_up.peers = {{"north", "a", 1}, {"south", "b", 1}};
  EXPECT_EQ(code_of(R"({"v": 1, "command": "station", "gcs_id": "east"})"), "bad_request");
  EXPECT_TRUE(engine.noted.empty());
  EXPECT_EQ(ask(R"({"v": 1, "command": "station", "gcs_id": "south"})")["result"]["gcs_id"], "south");
  EXPECT_EQ(engine.wanted, "south");
  EXPECT_EQ(engine.noted.size(), 1u);
}

TEST_F(CommandsTest, ADroneTakesAnotherPathOrLeavesOne) {
  EXPECT_EQ(code_of(R"({"v": 1, "command": "path", "path": "lte", "use": "off"})"), "refused");  // a gcs
  engine.set_up.role = Role::drone;
  EXPECT_EQ(code_of(R"({"v": 1, "command": "path", "path": "lte", "use": "off"})"), "bad_request") << "one way alone";
  engine.set_up.paths = {{"lte", "wwan0"}, {"radio", ""}};
  EXPECT_EQ(code_of(R"({"v": 1, "command": "path", "path": "sat", "use": "off"})"), "bad_request");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "path", "path": "lte", "use": "maybe"})"), "bad_request");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "path", "path": "lte"})"), "bad_request");
  EXPECT_TRUE(engine.noted.empty());
  EXPECT_EQ(ask(R"({"v": 1, "command": "path", "path": "lte", "use": "first"})")["result"]["use"], "first");
  EXPECT_EQ(engine.wanted, "lte first");
  EXPECT_EQ(engine.noted.size(), 1u);
  EXPECT_EQ(code_of(R"({"v": 1, "command": "path", "path": "radio", "use": "off"})"), "state") << "the last one";
}

TEST_F(CommandsTest, AGroundStationLeavesAFamilyAndSaysWhoseKeysStillHaveIt) {
  engine.suite = kDefaultSuite;
  EXPECT_EQ(ask(R"({"v": 1, "command": "avoid"})")["result"], (Json{{"avoid", ""}, {"still", Json::array()}}));
  EXPECT_TRUE(engine.noted.empty()) << "a question";
  EXPECT_EQ(ask(R"({"v": 1, "command": "avoid", "families": ["lattices"]})")["result"],
            (Json{{"avoid", "lattices"}, {"still", {"uav1"}}}));
  EXPECT_EQ(engine.noted.size(), 1u);
  EXPECT_EQ(code_of(R"({"v": 1, "command": "avoid", "families": ["lettuce"]})"), "config_invalid");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "avoid", "families": "lattices"})"), "bad_request");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "avoid", "families": [1]})"), "bad_request");
  EXPECT_EQ(ask(R"({"v": 1, "command": "avoid", "families": []})")["result"]["avoid"], "");
  engine.set_up.role = Role::drone;
  EXPECT_EQ(code_of(R"({"v": 1, "command": "avoid", "families": []})"), "refused");
}

TEST_F(CommandsTest, AReloadTellsWhatChangedOrWhyNothingDid) {
  const auto result = ask(R"({"v": 1, "command": "reload"})")["result"];
  EXPECT_EQ(result["renewed"], Json({"uav1"}));
  EXPECT_EQ(result["removed"], Json::array());
  EXPECT_EQ(result["signing"], Json({"ML-DSA-65"}));
  EXPECT_EQ(result["configuration"], true);
  EXPECT_EQ(result["drones"]["removed"], Json({"uav3"}));
  EXPECT_EQ(result["drones"]["restart"], Json({"gso"}));
  EXPECT_EQ(result["drones"]["kept"], Json({"uav4"}));
  EXPECT_EQ(result["drones"]["avoid"], "lattices");
  EXPECT_EQ(engine.noted.size(), 1u);
  EXPECT_EQ(ask(R"({"v": 1, "command": "reload", "dry_run": true})")["result"], result);
  EXPECT_EQ(code_of(R"({"v": 1, "command": "reload", "dry_run": 1})"), "bad_request");
  EXPECT_EQ(engine.noted.size(), 1u) << "a dry run changes nothing";
  EXPECT_EQ(engine.dry_runs, 1);
  engine.bad_keys = true;
  EXPECT_EQ(code_of(R"({"v": 1, "command": "reload"})"), "key_format");
}

TEST_F(CommandsTest, DronesAreAddedAndRemovedByNameAlone) {
  const auto added = ask(R"({"v": 1, "command": "drones", "action": "add", "drone": "uav9",
                             "settings": {"plain_bind": "127.0.0.1:1", "plain_endpoints": ["a", "b"],
                                          "require_signature": true}})");
  EXPECT_EQ(added["result"]["added"], Json({"uav9"}));
  EXPECT_EQ(engine.added.at("plain_bind"), ConfigValue("127.0.0.1:1"));
  EXPECT_EQ(engine.added.at("plain_endpoints"), ConfigValue(std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(engine.added.at("require_signature"), ConfigValue(true));
  EXPECT_EQ(
      ask(R"({"v": 1, "command": "drones", "action": "add", "drone": "uav9", "dry_run": true})")["result"]["added"],
      Json({"uav9"}));
  EXPECT_EQ(engine.dry_runs, 1);
  EXPECT_EQ(ask(R"({"v": 1, "command": "drones", "action": "remove", "drone": "uav2"})")["result"]["removed"],
            Json({"uav2"}));
  EXPECT_EQ(engine.noted.size(), 2u) << "with who asked; a dry run changes nothing";
  EXPECT_EQ(ask(R"({"v": 1, "command": "drones", "action": "end", "drone": "uav2"})")["result"]["renewed"],
            Json({"uav2"}));
  EXPECT_EQ(engine.noted.back(),
            "uav2: Asked through the control socket by uid 1000, gid 1001, pid 42: end the "
            "session of uav2.");
  engine.noted.resize(2);
  const auto listed = ask(R"({"v": 1, "command": "drones", "action": "list"})")["result"];
  EXPECT_EQ(listed["drones"].size(), 2u);
  EXPECT_EQ(listed["files"], Json({"/etc/gcs.yaml"}));
  EXPECT_EQ(engine.noted.size(), 2u);
}

TEST_F(CommandsTest, ARequestAboutDronesThatMakesNoSenseDoesNothing) {
  for (const auto* more : {R"("action": "dance")", R"("action": "add")", R"("action": "remove", "drone": 7)",
                           R"("drone": "uav1")", R"("action": "list", "settings": {})",
                           R"("action": "remove", "drone": "uav2", "settings": {"plain_bind": "x"})",
                           R"("action": "remove", "drone": "uav2", "dry_run": true)", R"("dry_run": true)",
                           R"("action": "add", "drone": "uav9", "dry_run": 1)", R"("action": "end")",
                           R"("action": "end", "drone": "uav2", "settings": {"plain_bind": "x"})",
                           R"("action": "add", "drone": "uav9", "settings": [])",
                           R"("action": "add", "drone": "uav9", "settings": {"plain_bind": 7.5})",
                           R"("action": "add", "drone": "uav9", "settings": {"plain_bind": {"x": 1}})",
                           R"("action": "add", "drone": "uav9", "settings": {"plain_endpoints": [1]})"})
    EXPECT_EQ(code_of(std::string(R"({"v": 1, "command": "drones", )") + more + "}"), "bad_request") << more;
  EXPECT_EQ(code_of(R"({"v": 1, "command": "drones", "action": "remove", "drone": "uav9"})"), "unknown_drone");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "drones", "action": "end", "drone": "uav9"})"), "unknown_drone");
  EXPECT_TRUE(engine.added.empty());
  EXPECT_TRUE(engine.noted.empty());
  EXPECT_EQ(code_of(R"({"v": 1, "command": "drones", "action": "add", "drone": "uav1"})"), "config_invalid");
}

TEST_F(CommandsTest, ASubscriptionNamesItsEvents) {
  const Event state{1, "uav1", StateEvent{LinkState::down, LinkState::up, "why"}}, words{1, "", LogEvent{}};
  const auto all = commands.answer(R"({"v": 1, "command": "subscribe"})", kMe);
  ASSERT_TRUE(all.follow);
  EXPECT_TRUE(all.follow->wants(state) && all.follow->wants(words));
  const auto some = commands.answer(R"({"v": 1, "command": "subscribe", "events": ["state"]})", kMe);
  ASSERT_TRUE(some.follow);
  EXPECT_TRUE(some.follow->wants(state));
  EXPECT_FALSE(some.follow->wants(words));
  EXPECT_EQ(code_of(R"({"v": 1, "command": "subscribe", "events": ["all"]})"), "bad_request");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "subscribe", "events": "state"})"), "bad_request");
  const auto line = Json::parse(event_line(state));
  EXPECT_EQ(line["event"], "state");
  EXPECT_EQ(line["new"], "UP");
}

TEST_F(CommandsTest, AFollowerGoesOnWhereItWas) {
  for (int i = 0; i < 10; ++i) log.take(Event{1, "", LogEvent{}});
  const auto follow = [&](const Json& more) {
    Json request = {{"v", 1}, {"command", "subscribe"}};
    request.update(more);
    return commands.answer(request.dump(), kMe);
  };
  const auto result = [](const CommandAnswer& answer) { return Json::parse(answer.line)["result"]; };
  const auto plain = follow(Json::object());
  EXPECT_EQ(plain.line, R"({"v":1,"id":null,"ok":true,"result":{}})"
                        "\n")
      << "version 1 as ever";
  EXPECT_FALSE(plain.follow->numbered);
  EXPECT_EQ(plain.follow->next, 10u);
  const auto on = follow({{"since", 4}, {"boot", log.boot()}});
  EXPECT_EQ(result(on), (Json{{"boot", log.boot()}, {"next", 4}, {"gap", false}}));
  EXPECT_TRUE(on.follow->numbered);
  EXPECT_EQ(on.follow->next, 4u);
  EXPECT_EQ(result(follow({{"since", 10}}))["gap"], false);
  // Of another boot, or of none: everything that there is, and the picture has to be fetched.
  for (const auto& more : {Json{{"since", 4}, {"boot", "of another"}}, Json{{"since", 11}}, Json{{"boot", "x"}}})
    EXPECT_EQ(result(follow(more)), (Json{{"boot", log.boot()}, {"next", 0}, {"gap", true}})) << more;
  for (int i = 0; i < 2000; ++i) log.take(Event{1, "", LogEvent{}});
  const auto late = follow({{"since", 4}});
  EXPECT_EQ(result(late)["gap"], true);
  EXPECT_EQ(result(late)["next"], log.oldest());
  for (const auto* since : {"-1", "1e300", "\"4\"", "null", "[]"})
    EXPECT_EQ(code_of(std::string(R"({"v": 1, "command": "subscribe", "since": )") + since + "}"), "bad_request");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "subscribe", "boot": 7})"), "bad_request");
}

TEST_F(CommandsTest, HelloSaysWhoseDoorThisIs) {
  ::setenv(kSystemVariable, "mine", 1);
  const auto result = ask(R"({"v": 1, "command": "hello"})")["result"];
  ::unsetenv(kSystemVariable);
  EXPECT_EQ(result["boot"], log.boot());
  EXPECT_EQ(result["pid"], ::getpid());
  EXPECT_EQ(result["uid"], ::geteuid());
  EXPECT_EQ(result["role"], "gcs");
  EXPECT_EQ(result["id"], "gcs");
  EXPECT_EQ(result["nonce"], "mine");
  const auto network = std::filesystem::read_symlink("/proc/self/ns/net").string();
  EXPECT_EQ("net:[" + result["network_namespace"].dump() + "]", network);
  engine.set_up.role = Role::drone;
  engine.set_up.drone_id = "uav1";
  EXPECT_EQ(ask(R"({"v": 1, "command": "hello"})")["result"]["id"], "uav1");
}

TEST_F(CommandsTest, AnEngineOfANodeIsOpenedByItsNode) {
  const auto answer = [&](const char* command, uid_t uid) {
    const auto made = commands.answer(Json{{"v", 1}, {"command", command}}.dump(), {42, uid, 1001});
    return Json::parse(made.work ? made.work() : made.line)["error"]["code"];
  };
  for (const auto* command : {"configure", "pause", "resume"}) {
    EXPECT_EQ(answer(command, ::geteuid() + 1), "permission") << command;
    EXPECT_EQ(answer(command, ::geteuid()), "state") << command;
  }
}

TEST_F(CommandsTest, CountersOfTheServerSayWhenTheyWereRead) {
  engine.packets = 7;
  const auto before = now_ns();
  const auto result = ask(R"({"v": 1, "command": "server_stats"})")["result"];
  EXPECT_GE(result["monotonic_ns"], before);
  EXPECT_LE(result["monotonic_ns"], now_ns());
  EXPECT_EQ(result["server"]["opened"], (Json{7, 0}));
  EXPECT_EQ(result["server"], ask(R"({"v": 1, "command": "picture", "of": "server"})")["result"]["server"]);
}

TEST_F(CommandsTest, WhatIsNoRequestIsRefusedByKind) {
  EXPECT_EQ(code_of(""), "bad_json");
  EXPECT_EQ(code_of("status"), "bad_json");
  EXPECT_EQ(code_of("[1]"), "bad_json");
  EXPECT_EQ(code_of("{\"v\": 1, \"command\": \"\xff\"}"), "bad_json");
  EXPECT_EQ(code_of(std::string(4096, '[')), "bad_json");
  EXPECT_EQ(code_of(R"({"command": "status"})"), "version");
  EXPECT_EQ(code_of(R"({"v": 2, "command": "status"})"), "version");
  EXPECT_EQ(code_of(R"({"v": 1})"), "unknown_command");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "explode"})"), "unknown_command");
  EXPECT_EQ(code_of(R"({"v": 1, "command": 3})"), "bad_request");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "status", "dron": "uav1"})"), "bad_request");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "status", "id": [1]})"), "bad_request");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "handshakes", "limit": 0})"), "bad_request");
  EXPECT_EQ(code_of(R"({"v": 1, "command": "suites", "available": 1})"), "bad_request");
}

}  // namespace
}  // namespace pqcmav
