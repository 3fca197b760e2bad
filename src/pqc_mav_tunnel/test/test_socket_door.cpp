// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/socket_door.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <future>

#include "console/console_server.hpp"
#include "engine_fixture.hpp"
#include "fake_steered.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr const char* kHello = R"({"v": 1, "command": "hello"})";

/// What a daemon has, without an engine; a boot of its own each time.
struct Daemon {
  explicit Daemon(const std::filesystem::path& path) {
    server.emplace(LocalSocket(path), commands, log, ConsoleLimits{});
  }
  FakeSteered engine;
  EventJournal log;
  Commands commands{engine, log};
  std::optional<ConsoleServer> server;
};

class SocketDoorTest : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder / "own.sock"; }
  static Json ask(SocketDoor& door, const std::string& request) { return Json::parse(door.ask(request)); }
  static bool there(const SocketDoor& door) {
    return eventually([&] { return door.away().empty(); });
  }
  /// The next line that is as wanted; those before it are gone.
  static Json until(SocketDoor& door, const std::function<bool(const Json&)>& wanted) {
    for (int i = 0; i < 600; ++i)
      for (const auto& line : door.events(100ms, 1))
        if (auto event = Json::parse(line); wanted(event)) return event;
    ADD_FAILURE() << "nothing came";
    return Json::object();
  }
  static std::function<bool(const Json&)> door_line(bool is_there) {
    return [=](const Json& event) { return event["event"] == "door" && event["there"] == is_there; };
  }
  static std::function<bool(const Json&)> log_line(const std::string& text) {
    return [=](const Json& event) { return event["event"] == "log" && event["text"] == text; };
  }
  static Event said(const std::string& text) { return Event{1, "uav1", LogEvent{LogLevel::info, text}}; }

  TempFolder folder;
};

TEST_F(SocketDoorTest, AsksAsTheDoorInsideDoes) {
  Daemon daemon(path());
  SocketDoor door(path(), {"gcs", "gcs", ""});
  ASSERT_TRUE(there(door)) << door.away();
  EXPECT_EQ(ask(door, R"({"v": 1, "id": 7, "command": "picture", "of": "status"})")["id"], 7);
  EXPECT_EQ(ask(door, R"({"v": 1, "command": "dance"})")["error"]["code"], "unknown_command");
  EXPECT_EQ(ask(door, R"({"v": 1, "command": "rekey", "drone": "uav1"})")["result"]["epoch"], 7);
  EXPECT_EQ(ask(door, "{}\n{}")["error"]["code"], "bad_json") << "two in one would put the answers out of order";
  const auto hello = Json::parse(door.hello());
  EXPECT_EQ(hello["process"], ::getpid());
  EXPECT_EQ(hello["boot"], daemon.log.boot());
}

TEST_F(SocketDoorTest, ARekeyHoldsUpNobodyElseAndEndsWithTheDaemon) {
  std::optional<Daemon> daemon(std::in_place, path());
  SocketDoor door(path(), {});
  ASSERT_TRUE(there(door));
  daemon->engine.hold(true);
  auto waiting =
      std::async(std::launch::async, [&] { return ask(door, R"({"v": 1, "command": "rekey", "drone": "uav1"})"); });
  ASSERT_TRUE(eventually([&] { return daemon->engine.rekeys_asked() == 1; }));
  EXPECT_EQ(ask(door, kHello)["ok"], true);
  door.stop();
  EXPECT_EQ(waiting.get()["error"]["code"], "away");
  EXPECT_EQ(ask(door, kHello)["error"]["code"], "away");
  daemon->engine.hold(false);
}

TEST_F(SocketDoorTest, FollowsEventsOverTheEndOfADaemon) {
  std::optional<Daemon> daemon(std::in_place, path());
  daemon->log.take(said("before"));
  SocketDoor door(path(), {});
  auto line = until(door, door_line(true));
  EXPECT_EQ(line["next"], 1) << "what is older is told again";
  EXPECT_EQ(line["gap"], false);
  (void)until(door, log_line("before"));
  HandshakeEvent shaken;
  shaken.ok = true;
  shaken.suite = all_suites().front().id;
  daemon->log.take({1, "uav1", shaken});
  EXPECT_EQ(until(door, [](const Json& event) { return event["event"] == "handshake"; })["picture"]["drone_id"],
            "uav1");

  daemon.reset();
  line = until(door, door_line(false));
  EXPECT_NE(line["reason"].get<std::string>().find(path().string()), std::string::npos) << line;
  const auto refused = ask(door, kHello)["error"];
  EXPECT_EQ(refused["code"], "away");
  EXPECT_EQ(door.hello(), "");
  daemon.emplace(path());
  daemon->log.take(said("after"));
  line = until(door, door_line(true));
  EXPECT_EQ(line["gap"], true) << "of another boot";
  (void)until(door, log_line("after"));
  EXPECT_EQ(ask(door, kHello)["result"]["boot"], daemon->log.boot()) << "the old connection is not asked again";
}

TEST_F(SocketDoorTest, AStaleSocketIsNobody) {
  {
    Daemon daemon(path());
    std::filesystem::create_hard_link(path(), folder / "kept");
  }
  std::filesystem::rename(folder / "kept", path());
  SocketDoor door(path(), {});
  EXPECT_TRUE(eventually([&] { return door.away().find("nobody listens there") != std::string::npos; })) << door.away();
  const Daemon daemon(path());
  EXPECT_TRUE(there(door));
}

TEST_F(SocketDoorTest, AnotherEndOrAnotherSystemIsNeverAdopted) {
  const Daemon daemon(path());
  for (const auto& [expected, words] :
       {std::pair<SocketDoor::Expected, std::string>{{"drone", "uav1", ""}, "of gcs 'gcs', and not of drone 'uav1'"},
        {{"gcs", "other", ""}, "and not of gcs 'other'"},
        {{"gcs", "gcs", "mine"}, "not started together"}}) {
    SocketDoor door(path(), expected);
    EXPECT_TRUE(eventually([&] { return door.away().find(words) != std::string::npos; })) << door.away();
    EXPECT_EQ(ask(door, kHello)["error"]["code"], "away");
  }
  SocketDoor good(path(), {"gcs", "gcs", ""});
  EXPECT_TRUE(there(good)) << good.away();
}

TEST_F(SocketDoorTest, ADaemonOfAnotherUserIsNeverAsked) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  std::filesystem::permissions(folder.path(), std::filesystem::perms{01777});
  ASSERT_EQ(::seteuid(4711), 0);
  std::optional<Daemon> daemon(std::in_place, path());
  ASSERT_EQ(::seteuid(0), 0);
  SocketDoor door(path(), {});
  EXPECT_TRUE(eventually([&] { return door.away().find("another user (uid 4711)") != std::string::npos; }))
      << door.away();
  daemon.reset();
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0777});
  daemon.emplace(path());
  EXPECT_TRUE(eventually([&] { return door.away().find("is open to other users") != std::string::npos; }))
      << door.away();
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0700});
  EXPECT_TRUE(there(door)) << door.away();
}

TEST_F(SocketDoorTest, WhomRootGaveAFolderBelowRunIsTrusted) {
  char name[] = "/run/pqcmav-test-XXXXXX";
  if (::geteuid() != 0 || ::mkdtemp(name) == nullptr) GTEST_SKIP() << "only root makes folders in /run";
  const std::filesystem::path given = name;
  ASSERT_EQ(::chown(name, 4711, static_cast<gid_t>(-1)), 0);
  ASSERT_EQ(::seteuid(4711), 0);
  std::optional<Daemon> daemon(std::in_place, given / "own.sock");
  ASSERT_EQ(::seteuid(0), 0);
  {
    SocketDoor door(given / "own.sock", {});
    EXPECT_TRUE(there(door)) << door.away();
  }
  daemon.reset();
  std::filesystem::remove_all(given);
}

TEST_F(SocketDoorTest, WhatIsNoDaemonIsToldApart) {
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::strncpy(at.sun_path, path().c_str(), sizeof at.sun_path - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  std::atomic<bool> over{false};
  std::thread liar([&] {
    for (int i = 0; !over; ++i) {
      const Fd one(::accept(listener.get(), nullptr, nullptr));
      char bytes[512];
      if (::recv(one.get(), bytes, sizeof bytes, 0) <= 0) continue;
      static constexpr std::string_view said[] = {"nonsense\n", "{\"ok\": true, \"result\": 7}\n", "[]\n", ""};
      (void)!::send(one.get(), said[i % 4].data(), said[i % 4].size(), MSG_NOSIGNAL);
    }
  });
  {
    SocketDoor door(path(), {});
    std::set<std::string> reasons;
    (void)eventually([&] {
      reasons.insert(door.away());
      return reasons.size() >= 3;
    });
    EXPECT_EQ(door.hello(), "");
  }
  over = true;
  ::shutdown(listener.get(), SHUT_RDWR);
  liar.join();
}

TEST_F(SocketDoorTest, ADaemonThatHangsIsAwayUntilItGoesOn) {
  struct Child {
    ~Child() {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    pid_t pid;
  };
  const Child child{::fork()};
  if (child.pid == 0) {
    const Daemon daemon(path());
    for (;;) ::pause();
  }
  SocketDoor door(path(), {});
  ASSERT_TRUE(there(door)) << door.away();
  ::kill(child.pid, SIGSTOP);
  ASSERT_EQ(::waitpid(child.pid, nullptr, WUNTRACED), child.pid);
  const auto refused = ask(door, kHello);
  EXPECT_EQ(refused.value("ok", true), false) << "and whoever asks does not wait for good";
  const std::string away = "does not answer";
  (void)until(door, [&](const Json& event) { return event.value("reason", "").find(away) != std::string::npos; });
  EXPECT_NE(door.away().find(away), std::string::npos) << door.away();
  ::kill(child.pid, SIGCONT);
  EXPECT_EQ(until(door, door_line(true))["gap"], false);
  const auto answer = ask(door, kHello);
  EXPECT_EQ(answer["ok"], true) << answer;
}

}  // namespace
}  // namespace pqcmav
