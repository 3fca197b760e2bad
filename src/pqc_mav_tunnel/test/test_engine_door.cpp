// SPDX-License-Identifier: Apache-2.0
// The door of whole engines: commands and events without a socket, in the host's own process.
#include "pqc_mav_tunnel/door.hpp"

#include "console/views.hpp"
#include "engine_fixture.hpp"

namespace pqcmav {
namespace {

using namespace test;

/// The result, or null with the refusal for a refused one.
Json ask(Door& door, const std::string& request) {
  const auto line = door.ask(request);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  return Json::parse(line);
}

/// Events until one is as wanted.
Json until(Door& door, const std::function<bool(const Json&)>& wanted) {
  Json found;
  (void)eventually([&] {
    for (const auto& line : door.events(100ms)) {
      auto event = Json::parse(line);
      if (found.is_null() && wanted(event)) found = std::move(event);
    }
    return !found.is_null();
  });
  return found;
}

class EngineDoorTest : public testing::Test {
 protected:
  Tunnel tunnel{{{"control_socket", std::string("off")}}, {{"control_socket", std::string("off")}}};
};

TEST_F(EngineDoorTest, CommandsAreThoseOfTheSocket) {
  ASSERT_TRUE(tunnel.connect());
  Door door(*tunnel.drone);
  const auto status = ask(door, R"({"v": 1, "id": 7, "command": "picture", "of": "status"})");
  EXPECT_EQ(status["id"], 7);
  EXPECT_EQ(status["result"]["status"][0]["state"], static_cast<int>(LinkState::up));
  EXPECT_EQ(ask(door, R"({"v": 1, "command": "dance"})")["error"]["code"], "unknown_command");
  EXPECT_EQ(ask(door, "nonsense")["error"]["code"], "bad_json");
  const auto found = ask(door, R"({"v": 1, "command": "diagnosis"})")["result"]["status"];
  EXPECT_EQ(found[0]["name"], "tunnel uav1");
  EXPECT_EQ(found[0]["level"], 0);
  EXPECT_TRUE(eventually(
      [&] { return ask(door, R"({"v": 1, "command": "handshakes"})")["result"]["handshakes"].size() == 1; }));
}

TEST_F(EngineDoorTest, ARekeyIsWaitedForAndAnsweredInTheWordsOfTheService) {
  ASSERT_TRUE(tunnel.connect());
  Door door(*tunnel.drone);
  auto done = ask(door, R"({"v": 1, "command": "request_rekey", "reason": "test"})")["result"];
  EXPECT_EQ(done["ok"], true) << done;
  EXPECT_EQ(done["epoch"], 1);
  EXPECT_GT(done["rekey_ms"].get<double>(), 0);
  done = ask(door, R"({"v": 1, "command": "request_rekey", "kind": "wrench"})")["result"];
  EXPECT_EQ(done["ok"], false);
  EXPECT_EQ(done["epoch"], 1) << "what is in use";
  EXPECT_NE(done["message"].get<std::string>().find("'wrench'"), std::string::npos);
  done = ask(door, R"({"v": 1, "command": "request_rekey", "drone_id": "uav9"})")["result"];
  EXPECT_EQ(done["message"], "There is no drone 'uav9' here.");
}

TEST_F(EngineDoorTest, EventsBeginWithWhereTheEngineIsAndHavePicturesAndSentences) {
  Door door(*tunnel.drone);
  ASSERT_TRUE(tunnel.connect());
  const auto first = door.events(0ms);
  ASSERT_EQ(first.size(), 1u);
  const std::string said = Json::parse(first[0])["say"]["text"];
  EXPECT_TRUE(said.starts_with("drone: handshakes and packets on UDP port ")) << said;
  EXPECT_NE(said.find(", plaintext on uav1 "), std::string::npos) << said;
  const auto shaken = until(door, [](const Json& event) { return event["event"] == "handshake"; });
  ASSERT_FALSE(shaken.is_null());
  EXPECT_EQ(shaken["picture"]["drone_id"], "uav1");
  EXPECT_GT(shaken["picture"]["public_key_bytes"].get<int>(), 0);
  const std::string sentence = shaken["say"]["text"];
  EXPECT_TRUE(sentence.starts_with("uav1: handshake with ")) << sentence;
}

TEST_F(EngineDoorTest, WhatCountsAtOnceIsSetAndTheRestRefused) {
  ASSERT_TRUE(tunnel.connect());
  Door door(*tunnel.drone);
  EXPECT_EQ(ask(door, R"({"v": 1, "command": "set", "key": "shape_kbit", "value": 64})")["result"]["now"], true);
  EXPECT_TRUE(eventually([&] { return tunnel.drone->status()[0].shape_kbit == 64; }));
  EXPECT_EQ(ask(door, R"({"v": 1, "command": "set", "key": "shape_kbit", "value": -2})")["error"]["code"],
            "config_invalid");
  for (const auto* other : {R"("key": "dscp", "value": 1)", R"("key": "shape_kbit", "value": "64")", R"("key": 1)"})
    EXPECT_EQ(ask(door, std::string(R"({"v": 1, "command": "set", )") + other + "}")["error"]["code"], "bad_request");
}

TEST_F(EngineDoorTest, NothingIsLoggedOfTheHostsOwnCommands) {
  ASSERT_TRUE(tunnel.connect());
  Door door(*tunnel.drone);
  EXPECT_EQ(ask(door, R"({"v": 1, "command": "dangers", "lines": ["a way around"]})")["result"]["dangers"], 1);
  EXPECT_EQ(tunnel.drone->dangers(), Names{"a way around"});
  EXPECT_EQ(ask(door, R"({"v": 1, "command": "log_level", "level": "debug"})")["ok"], true);
  tunnel.drone->stop();
  for (const auto& event : tunnel.drone->events().wait(0ns, 1000)) {
    const auto* log = std::get_if<LogEvent>(&event.what);
    const auto text = log == nullptr ? std::string() : log->text;
    EXPECT_EQ(text.find("Asked through"), std::string::npos) << text;
  }
}

TEST_F(EngineDoorTest, AnEngineThatDoesNotRunSaysSo) {
  Engine idle(EngineConfig::from_flat(tunnel.drone->config().given));
  Door door(idle);
  EXPECT_EQ(ask(door, R"({"v": 1, "command": "picture"})")["error"]["code"], "state");
  EXPECT_EQ(ask(door, R"({"v": 1, "command": "config"})")["ok"], true);
  EXPECT_THROW((void)door.events(0ms), TunnelError);
}

}  // namespace
}  // namespace pqcmav
