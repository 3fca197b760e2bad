// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/host.hpp"

#include <atomic>

#include "console/views.hpp"
#include "engine_fixture.hpp"
#include "local_client.hpp"

namespace pqcmav {
namespace {

using namespace test;

class HostTest : public testing::Test {
 protected:
  /// As a program that was started again.
  std::unique_ptr<Host> host() {
    return std::make_unique<Host>(Host::Sources{[this] { return values; }, {"/etc/gcs.yaml"}});
  }
  Json ask(const std::string& command, Json fields = Json::object()) {
    fields["v"] = 1;
    fields["command"] = command;
    LocalClient client(folder / "own.sock");
    client.say(fields.dump() + '\n');
    const auto line = client.line(60'000);
    return line ? Json::parse(*line) : Json();
  }
  /// All names in an answer, in order.
  static std::string names_in(const Json& value) {
    std::string out;
    if (!value.is_structured()) return out;
    for (const auto& [name, each] : value.items())
      out += value.is_object() ? name + ' ' + names_in(each) : names_in(each) + ", ";
    return out;
  }

  TempFolder folder;
  KeyFolders keys{{"uav1"}};
  FlatConfig values = with(gcs_values(keys), {{"control_socket", folder / "own.sock"}});
};

TEST_F(HostTest, OpensPausesAndOpensAgain) {
  const auto own = host();
  EXPECT_EQ(own->configure().state, HostState::inactive);
  EXPECT_FALSE(std::filesystem::exists(folder / "own.sock")) << "nothing is open yet";
  EXPECT_EQ(own->begin().state, HostState::active);
  EXPECT_FALSE(std::filesystem::exists(folder / "own.wanted")) << "nothing was asked yet";
  const auto port = own->ports().data;
  EXPECT_NE(port, 0);
  EXPECT_EQ(ask("hello")["result"]["state"], "active");
  const auto boot = ask("hello")["result"]["boot"];
  Json shown;
  for (const auto* part : {"status", "stats", "link", "picture", "server_stats"}) shown[part] = ask(part)["result"];

  EXPECT_EQ(ask("pause")["result"]["state"], "inactive");
  const auto closed = ask("status")["result"];
  EXPECT_EQ(closed["data_port"], 0);
  EXPECT_EQ(closed["tunnels"][0]["state"], "DOWN");
  EXPECT_EQ(closed["tunnels"][0]["last_error"], "The tunnel is paused; 'resume' opens it.");
  EXPECT_EQ(ask("rekey")["error"]["text"], "The tunnel is paused; 'resume' opens it.");
  for (const auto& [part, open] : shown.items()) {
    auto now = ask(part)["result"];
    EXPECT_EQ(names_in(now), names_in(open)) << part << " has all that an open tunnel's has";
  }
  start(with(gcs_values(keys), {{"data_port", port}}))->stop();  // the port is free
  EXPECT_EQ(ask("pause")["ok"], true) << "twice is once";
  values["data_port"] = port;
  EXPECT_EQ(ask("configure")["result"]["state"], "inactive");
  EXPECT_EQ(ask("resume")["result"], (Json{{"state", "active"}, {"problem", ""}}));
  EXPECT_EQ(own->ports().data, port);
  EXPECT_EQ(ask("configure")["error"]["code"], "state") << "it is open";
  EXPECT_EQ(ask("hello")["result"]["boot"], boot) << "the journal is the same";
}

TEST_F(HostTest, ARefusedConfigurationIsAnAnswer) {
  const auto good = values;
  const auto own = host();
  own->open_door(folder / "own.sock");
  EXPECT_EQ(ask("hello")["result"]["state"], "unconfigured");
  values["data_port"] = std::int64_t{70'000};
  expect_error(Errc::config_invalid, {"between 0 and 65535"}, [&] { own->configure(); });
  const auto hello = ask("hello")["result"];
  EXPECT_EQ(hello["state"], "unconfigured");
  EXPECT_EQ(hello["role"], "");
  const std::string problem = hello["problem"];
  EXPECT_NE(problem.find("between 0 and 65535"), std::string::npos) << problem;
  EXPECT_EQ(ask("configure")["error"], (Json{{"code", "config_invalid"}, {"text", problem}}));
  for (const auto* command : {"status", "resume", "config"}) {
    EXPECT_EQ(ask(command)["error"]["code"], "state") << command;
    EXPECT_EQ(ask(command)["error"]["text"], problem) << command;
  }
  EXPECT_EQ(ask("drones")["result"]["drones"], Json::array());
  values = with(good, {{"keys", "/nowhere"}});
  EXPECT_EQ(ask("configure")["error"]["code"], "key_missing");
  values = good;
  EXPECT_EQ(ask("configure")["result"]["state"], "inactive");
  EXPECT_EQ(ask("resume")["result"]["state"], "active");
  values["keys"] = "/nowhere";
  EXPECT_EQ(ask("pause")["ok"], true);
  EXPECT_EQ(ask("configure")["error"]["code"], "key_missing");
  EXPECT_EQ(ask("hello")["result"]["state"], "inactive") << "what was good stays";
  EXPECT_EQ(ask("resume")["result"]["state"], "active");
}

TEST_F(HostTest, ASignalMendsWhatWasRefusedAtTheStart) {
  const auto own = host();
  own->open_door(folder / "own.sock");
  const auto good = std::exchange(values, with(values, {{"keys", "/nowhere"}}));
  EXPECT_THROW(own->configure(), TunnelError);
  EXPECT_THROW(own->reload(), TunnelError);
  values = good;
  (void)own->reload();
  EXPECT_EQ(own->view().state, HostState::active);
  (void)own->pause();
  (void)own->reload();
  EXPECT_EQ(own->view().state, HostState::inactive) << "paused is paused";
}

TEST_F(HostTest, APausedTunnelStaysClosedUntilItIsResumed) {
  const auto start = [&](bool open = true) {
    auto own = host();
    (void)own->configure();
    (void)own->begin(open);
    return own;
  };
  const auto wanted = [&] { return read_text(folder / "own.wanted"); };
  auto own = start();
  (void)own->pause();
  EXPECT_EQ(wanted(), "closed\n");
  for (int i = 0; i < 2; ++i) {
    own.reset();
    own = start();
    EXPECT_EQ(own->view().state, HostState::inactive);
    EXPECT_EQ(ask("hello")["result"]["state"], "inactive") << "the door is open";
  }
  (void)own->resume();
  EXPECT_EQ(wanted(), "open\n");
  // A crash leaves the file; an end that was asked for does not.
  std::filesystem::copy(folder / "own.wanted", folder / "kept");
  own.reset();
  EXPECT_FALSE(std::filesystem::exists(folder / "own.wanted"));
  own = start(false);
  EXPECT_EQ(own->view().state, HostState::inactive);
  own.reset();
  std::filesystem::copy(folder / "kept", folder / "own.wanted", std::filesystem::copy_options::overwrite_existing);
  own = start(false);
  EXPECT_EQ(own->view().state, HostState::active) << "it was open when the program crashed";
}

TEST_F(HostTest, WhatIsSetCountsFromTheNextConfigureOn) {
  const auto own = host();
  (void)own->configure();
  (void)own->begin();
  const auto set = [&](const std::string& key, const Json& value) {
    return ask("set", {{"key", key}, {"value", value}});
  };
  const auto now = [&](const char* key) { return ask("config")["result"]["config"][key]; };
  EXPECT_EQ(set("dscp", 10)["result"]["now"], false);
  EXPECT_EQ(set("shape_kbit", 64)["result"]["now"], true);
  EXPECT_EQ(set("keys", "/tmp")["error"]["code"], "permission");
  EXPECT_EQ(set("dcsp", 1)["error"]["code"], "config_unknown_key");
  EXPECT_EQ(now("dscp"), 46);
  (void)own->pause();
  EXPECT_EQ(set("shape_kbit", 128)["result"]["now"], false);
  (void)own->resume();
  EXPECT_EQ(now("dscp"), 46) << "not before it is read again";
  EXPECT_TRUE(eventually([&] { return own->status()[0].shape_kbit == 128; })) << "but at once in the next engine";
  EXPECT_EQ(ask("reload")["result"]["drones"]["restart"], Json{"dscp"}) << "what counts already is no news";
  (void)own->pause();
  (void)own->configure();
  EXPECT_EQ(now("dscp"), 10);
  EXPECT_EQ(now("shape_kbit"), 128);
  EXPECT_EQ(set("dscp", 64)["ok"], true);
  EXPECT_EQ(ask("configure")["error"]["code"], "config_invalid");
  EXPECT_EQ(set("dscp", 11)["ok"], true);
  EXPECT_EQ(ask("configure")["ok"], true);
}

TEST_F(HostTest, WhatWasChangedWhileItWasOpenIsSoWhenItIsOpenedAgain) {
  const KeyFolders three{{"uav1", "uav2", "uav3"}};
  values = with(gcs_values(three, {"uav1", "uav2"}), {{"control_socket", folder / "own.sock"}});
  values["drone.uav2.allowed_suites"] = Names{std::string(kDefaultSuite)};
  const auto own = host();
  (void)own->configure();
  (void)own->begin();
  const auto expect = [&](const Names& ids) {
    Names found;
    const auto listed = ask("drones")["result"]["drones"];
    for (const auto& each : listed) found.push_back(each["drone_id"]);
    EXPECT_EQ(found, ids);
    EXPECT_EQ(ask("avoid")["result"]["avoid"], "codes");
  };
  EXPECT_EQ(ask("drones", {{"action", "remove"}, {"drone", "uav2"}})["ok"], true);
  EXPECT_EQ(ask("drones", {{"action", "add"}, {"drone", "uav3"}})["ok"], true);
  EXPECT_EQ(ask("avoid", {{"families", Json::array({"codes"})}})["ok"], true);
  for (int i = 0; i < 2; ++i) {
    (void)own->pause();
    expect({"uav1", "uav3"});
    (void)own->resume();
    expect({"uav1", "uav3"});
  }
  // The next engine knows the file apart from that, as the one before did.
  const Json laxer = {{"allowed_suites", Json::array({kLight})}};
  EXPECT_EQ(ask("drones", {{"action", "add"}, {"drone", "uav2"}, {"settings", laxer}})["error"]["code"],
            "config_invalid");
  EXPECT_EQ(ask("reload")["result"]["drones"]["kept"], Json{"uav3"});
  (void)own->pause();
  (void)own->configure();
  EXPECT_EQ(ask("drones")["result"]["drones"].size(), 2u) << "what is read anew has the word";
  EXPECT_EQ(ask("avoid")["result"]["avoid"], "");
}

/// A drone was added by a rule that the file has lost since; its tunnel can be closed and opened all the same.
TEST_F(HostTest, WhatDoesNotGoWithTheFileAnyMoreIsAsItWas) {
  const KeyFolders two{{"uav1", "uav2"}};
  values = with(gcs_values(two), {{"control_socket", folder / "own.sock"}, {"plain_allow_remote", true}});
  const auto own = host();
  (void)own->configure();
  (void)own->begin();
  values.erase("plain_allow_remote");
  EXPECT_EQ(own->reload().drones.restart, Names{"plain_allow_remote"});
  const Json settings = {{"plain_bind", "0.0.0.0:0"}};
  ASSERT_EQ(ask("drones", {{"action", "add"}, {"drone", "uav2"}, {"settings", settings}})["ok"], true);
  EXPECT_EQ(own->pause().state, HostState::inactive);
  EXPECT_EQ(own->resume().state, HostState::active);
  EXPECT_EQ(own->ports().plain.size(), 2u);
}

TEST_F(HostTest, AStartThatIsRefusedForgetsNoPause) {
  auto own = host();
  own->open_door(folder / "own.sock");
  EXPECT_EQ(ask("hello")["result"]["starting"], true);
  (void)own->configure();
  (void)own->begin();
  EXPECT_EQ(ask("hello")["result"]["starting"], false);
  EXPECT_EQ(ask("pause")["ok"], true);
  EXPECT_EQ(ask("hello")["result"]["wanted"], false);
  own.reset();
  const auto good = std::exchange(values, with(values, {{"keys", "/nowhere"}}));
  own = host();
  own->open_door(folder / "own.sock");
  EXPECT_THROW(own->configure(), TunnelError);
  EXPECT_EQ(ask("hello")["result"]["starting"], false);
  EXPECT_EQ(ask("hello")["result"]["wanted"], false);
  values = good;
  (void)own->reload();
  EXPECT_EQ(own->view().state, HostState::inactive) << "mended, and paused as before";
}

TEST_F(HostTest, OnlyTheOwnerOpensAndCloses) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const auto own = host();
  (void)own->configure();
  (void)own->begin();
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(folder / "own.sock", std::filesystem::perms{0666});
  // The kernel tells the door who connects.
  ASSERT_EQ(::seteuid(4711), 0);
  LocalClient other(folder / "own.sock");
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_TRUE(other.connected());
  for (const auto* command : {"pause", "resume", "configure"}) {
    other.say(Json{{"v", 1}, {"command", command}}.dump() + '\n');
    EXPECT_EQ(Json::parse(other.line().value_or("{}"))["error"]["code"], "permission") << command;
  }
  EXPECT_EQ(own->view().state, HostState::active);
}

TEST_F(HostTest, PausingEndsWhatWaitsAndHoldsUpNobody) {
  const auto own = host();
  (void)own->configure();
  (void)own->begin();
  std::atomic<bool> over{false};
  std::vector<std::thread> readers;
  for (const auto* command : {"status", "stats", "picture", "reload", "server_stats"})
    readers.emplace_back([&, command] {
      LocalClient client(folder / "own.sock");
      while (!over) {
        client.say(Json{{"v", 1}, {"command", command}}.dump() + '\n');
        ASSERT_TRUE(client.line(60'000)) << command;
      }
    });
  for (int i = 0; i < 5; ++i) {
    LocalClient asking(folder / "own.sock");
    asking.say("{\"v\": 1, \"command\": \"rekey\", \"timeout_s\": 300}\n");
    EXPECT_EQ(ask("pause")["result"]["state"], "inactive");
    EXPECT_EQ(Json::parse(asking.line(60'000).value_or("{}"))["ok"], false);
    EXPECT_EQ(ask("resume")["result"]["state"], "active");
  }
  over = true;
  for (auto& reader : readers) reader.join();
}

TEST_F(HostTest, FollowersHearThatATunnelCloses) {
  const auto own = host();
  (void)own->configure();
  (void)own->begin();
  auto drone = start(drone_values(keys, "uav1", own->ports().data));
  ASSERT_TRUE(eventually([&] { return own->status()[0].state == LinkState::up; }, 60s));
  LocalClient follower(folder / "own.sock");
  follower.say("{\"v\": 1, \"command\": \"subscribe\", \"events\": [\"state\"]}\n");
  ASSERT_TRUE(follower.line());
  EXPECT_EQ(ask("pause")["ok"], true);
  Json last;
  do last = Json::parse(follower.line().value_or("{\"new\": \"nothing came\"}"));
  while (last["reason"] != "The tunnel is paused; 'resume' opens it." && last["new"] != "nothing came");
  EXPECT_EQ(last["new"], "DOWN");
  EXPECT_EQ(last["drone_id"], "uav1");
}

}  // namespace
}  // namespace pqcmav
