// SPDX-License-Identifier: Apache-2.0
#include "console/console_server.hpp"

#include "engine_fixture.hpp"
#include "fake_steered.hpp"
#include "local_client.hpp"

namespace pqcmav {
namespace {

using namespace test;

class ConsoleServerTest : public testing::Test {
 protected:
  void serve(const ConsoleLimits& limits = {}) {
    EngineConfig config;
    config.control_socket = folder / "own.sock";
    config.control_socket_mode = 0600;
    server.emplace(LocalSocket(config), commands, log, limits);
  }
  LocalClient client() { return LocalClient(folder / "own.sock"); }
  /// For root: the kernel tells the door who connects.
  LocalClient client_of(uid_t uid) {
    std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
    std::filesystem::permissions(folder / "own.sock", std::filesystem::perms{0666});
    EXPECT_EQ(::seteuid(uid), 0);
    auto out = client();
    EXPECT_EQ(::seteuid(0), 0);
    return out;
  }
  static Json answer(LocalClient& from) {
    const auto line = from.line();
    return line ? Json::parse(*line) : Json();
  }

  TempFolder folder;
  FakeSteered engine;
  EventJournal log;
  Commands commands{engine, log};
  std::optional<ConsoleServer> server;
};

TEST_F(ConsoleServerTest, AnswersLinesInOrderHoweverTheyArrive) {
  serve();
  auto one = client();
  one.say("{\"v\": 1, \"id\": 1, \"command\": \"drones\"}\n{\"v\": 1, \"id\": 2, \"comm");
  EXPECT_EQ(answer(one)["id"], 1);
  one.say("and\": \"status\"}\nnonsense\n");
  EXPECT_EQ(answer(one)["id"], 2);
  EXPECT_EQ(answer(one)["error"]["code"], "bad_json");
  one.say("{\"v\": 1, \"id\": 3, \"command\": \"drones\"}\n");
  EXPECT_EQ(answer(one)["id"], 3);
}

TEST_F(ConsoleServerTest, AnswersWhoSaysNothingMore) {
  serve();
  auto one = client();
  one.say(
      "{\"v\": 1, \"id\": 1, \"command\": \"drones\"}\n{\"v\": 1, \"id\": 2, \"command\": \"rekey\", \"drone\": "
      "\"uav1\"}\n");
  ::shutdown(one.fd().get(), SHUT_WR);
  EXPECT_EQ(answer(one)["id"], 1);
  EXPECT_EQ(answer(one)["result"]["epoch"], 7);
  EXPECT_TRUE(one.closed());
}

TEST_F(ConsoleServerTest, ALineThatIsTooLongIsRefusedByKind) {
  serve();
  auto one = client();
  one.say(std::string(4097, ' '));
  EXPECT_EQ(answer(one)["error"]["code"], "too_long");
  EXPECT_TRUE(one.closed());
  auto other = client();
  other.say("{\"v\": 1, \"command\": \"drones\"}" + std::string(4096 - 30, ' ') + "\n");
  EXPECT_EQ(answer(other)["ok"], true);
}

TEST_F(ConsoleServerTest, ARekeyHoldsUpNobodyElse) {
  engine.hold(true);
  serve();
  auto asking = client(), other = client();
  asking.say(
      "{\"v\": 1, \"id\": 1, \"command\": \"rekey\", \"drone\": \"uav1\"}\n{\"v\": 1, \"id\": 2, \"command\": "
      "\"drones\"}\n");
  ASSERT_TRUE(eventually([&] { return engine.rekeys_asked() == 1; }));
  other.say("{\"v\": 1, \"command\": \"drones\"}\n");
  EXPECT_EQ(answer(other)["ok"], true);
  engine.hold(false);
  EXPECT_EQ(answer(asking)["result"]["epoch"], 7);
  EXPECT_EQ(answer(asking)["id"], 2);
}

TEST_F(ConsoleServerTest, WhoLeavesDuringARekeyIsForgotten) {
  engine.hold(true);
  serve({.works = 1});
  {
    auto asking = client();
    asking.say("{\"v\": 1, \"command\": \"rekey\", \"drone\": \"uav1\"}\n");
    ASSERT_TRUE(eventually([&] { return engine.rekeys_asked() == 1; }));
  }
  auto other = client();
  other.say("{\"v\": 1, \"id\": 5, \"command\": \"rekey\", \"drone\": \"uav1\"}\n");
  const auto refused = answer(other);
  EXPECT_EQ(refused["error"]["code"], "busy");
  EXPECT_EQ(refused["id"], 5);
  engine.hold(false);
  EXPECT_TRUE(eventually([&] {
    other.say("{\"v\": 1, \"command\": \"rekey\", \"drone\": \"uav1\"}\n");
    return answer(other)["ok"] == true;
  }));
}

TEST_F(ConsoleServerTest, EventsGoToThoseWhoFollowThem) {
  serve();
  auto all = client(), states = client(), none = client();
  all.say("{\"v\": 1, \"command\": \"subscribe\"}\n");
  states.say("{\"v\": 1, \"command\": \"subscribe\", \"events\": [\"state\"]}\n");
  ASSERT_EQ(answer(all)["ok"], true);
  ASSERT_EQ(answer(states)["ok"], true);
  log.take(Event{1, "uav1", LogEvent{LogLevel::info, "hello"}});
  log.take(Event{1, "uav1", StateEvent{LinkState::down, LinkState::up, "so"}});
  EXPECT_EQ(answer(all)["text"], "hello");
  EXPECT_EQ(answer(all)["new"], "UP");
  EXPECT_EQ(answer(states)["new"], "UP");
  states.say("{\"v\": 1, \"id\": 9, \"command\": \"drones\"}\n");
  EXPECT_EQ(answer(states)["id"], 9);
  EXPECT_FALSE(none.line(50));
}

TEST_F(ConsoleServerTest, WhoReadsTooSlowlyIsToldHowManyEventsItMissed) {
  serve({.waiting_events = 4096});
  auto slow = client();
  slow.say("{\"v\": 1, \"command\": \"subscribe\"}\n");
  ASSERT_EQ(answer(slow)["ok"], true);
  constexpr int kTold = 2000;
  for (int i = 0; i < kTold; ++i) log.take(Event{1, "", LogEvent{LogLevel::info, std::string(1000, 'x')}});
  std::uint64_t read = 0, missed = 0;
  while (read + missed < kTold) {
    const auto event = answer(slow);
    ASSERT_TRUE(event.is_object()) << read << " read, " << missed << " missed";
    if (event["event"] == "lost")
      missed += event["count"].get<std::uint64_t>();
    else
      ++read;
    log.take(Event{1, "", StateEvent{}});  // what was missed is told with the next event
    if (event["event"] == "state") break;
  }
  EXPECT_GT(missed, 0u);
}

TEST_F(ConsoleServerTest, WhoTakesNothingIsSentAway) {
  serve({.stalled_ns = 300'000'000});
  auto slow = client();
  slow.say("{\"v\": 1, \"command\": \"subscribe\"}\n");
  ASSERT_EQ(answer(slow)["ok"], true);
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < 50; ++i) log.take(Event{1, "", LogEvent{LogLevel::info, std::string(1000, 'x')}});
    return slow.hung_up();
  }));
}

TEST_F(ConsoleServerTest, WhoComesBackHearsWhatCameMeanwhile) {
  serve();
  const auto told = [&](int number) { log.take(Event{1, "", LogEvent{LogLevel::info, std::to_string(number)}}); };
  for (int i = 0; i < 3; ++i) told(i);
  std::uint64_t next = 0;
  for (int turn = 1; turn <= 3; ++turn) {
    auto one = client();
    one.say(Json{{"v", 1}, {"command", "subscribe"}, {"since", next}, {"boot", log.boot()}}.dump() + '\n');
    EXPECT_EQ(answer(one)["result"]["gap"], false);
    for (int i = 0; i < 3; ++i, ++next) {
      const auto event = answer(one);
      EXPECT_EQ(event["number"], next);
      EXPECT_EQ(event["text"], std::to_string(next));
    }
    for (int i = 0; i < 3; ++i) told(turn * 3 + i);
  }
}

TEST_F(ConsoleServerTest, AMassReconnectIsToldToEveryFollowerWhole) {
  constexpr std::uint64_t kDrones = 1000, kFollowers = 4;
  log.make_room(kDrones);
  serve({.waiting_events = 4096});
  std::vector<LocalClient> followers;
  for (std::uint64_t i = 0; i < kFollowers; ++i) {
    followers.push_back(client());
    followers.back().say("{\"v\": 1, \"command\": \"subscribe\", \"since\": 0}\n");
    ASSERT_EQ(answer(followers.back())["ok"], true);
  }
  // All at once, before anybody reads.
  for (std::uint64_t i = 0; i < kDrones; ++i) {
    log.take(Event{1, std::to_string(i), StateEvent{LinkState::down, LinkState::up, ""}});
    log.take(Event{1, std::to_string(i), HandshakeEvent{}});
  }
  for (auto& each : followers)
    for (std::uint64_t number = 0; number < 2 * kDrones; ++number) {
      const auto event = answer(each);
      ASSERT_EQ(event["number"], number);
      ASSERT_EQ(event["drone_id"], std::to_string(number / 2));
    }
}

TEST_F(ConsoleServerTest, WhoWasOvertakenIsToldFromWhereItGoesOn) {
  serve({.waiting_events = 1});
  auto slow = client();
  slow.say("{\"v\": 1, \"command\": \"subscribe\", \"since\": 0}\n");
  ASSERT_EQ(answer(slow)["ok"], true);
  for (int i = 0; i < 5000; ++i) log.take(Event{1, "", LogEvent{LogLevel::info, std::string(1000, 'x')}});
  std::uint64_t next = 0, lost = 0;
  while (next < 5000) {
    const auto event = answer(slow);
    ASSERT_TRUE(event.is_object()) << next;
    if (event["event"] == "lost") {
      EXPECT_EQ(event["number"], next + event["count"].get<std::uint64_t>());
      lost += event["count"].get<std::uint64_t>();
      next = event["number"];
    } else {
      ASSERT_EQ(event["number"], next++);
    }
  }
  EXPECT_GT(lost, 0u);
}

TEST_F(ConsoleServerTest, CountersAreAnsweredToWhoAskedTooMuch) {
  serve({.share = 0, .burst_ns = 1, .counters_share = 1});
  auto one = client(), other = client();
  one.say("{\"v\": 1, \"id\": 1, \"command\": \"status\"}\n{\"v\": 1, \"id\": 2, \"command\": \"status\"}\n");
  ASSERT_EQ(answer(one)["id"], 1);
  for (int i = 0; i < 20; ++i) {
    other.say("{\"v\": 1, \"command\": \"server_stats\"}\n");
    ASSERT_EQ(answer(other)["ok"], true);
  }
  EXPECT_FALSE(one.line(50)) << "its user has no time left";
}

TEST_F(ConsoleServerTest, OneUserTakesNothingFromAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  engine.hold(true);
  serve({.clients = 4, .clients_in_all = 6, .works = 2, .works_in_all = 2});
  const std::string rekey = "{\"v\": 1, \"command\": \"rekey\", \"drone\": \"uav1\"}\n";
  const std::string follow = "{\"v\": 1, \"command\": \"subscribe\"}\n";
  // Two users take all that they can: workers and places.
  std::vector<LocalClient> crowd;
  for (const uid_t uid : {4711, 4712})
    for (int i = 0; i < 5; ++i) {
      crowd.push_back(client_of(uid));
      (void)!::send(crowd.back().fd().get(), rekey.data(), rekey.size(), MSG_NOSIGNAL);
      (void)!::send(crowd.back().fd().get(), follow.data(), follow.size(), MSG_NOSIGNAL);
    }
  ASSERT_TRUE(eventually([&] { return engine.rekeys_asked() == 3; })) << "two, and one of who had none";
  auto own = client_of(0);
  own.say(follow);
  EXPECT_EQ(answer(own)["ok"], true) << "a place";
  auto own_work = client_of(0);
  own_work.say(rekey);
  EXPECT_TRUE(eventually([&] { return engine.rekeys_asked() == 4; })) << "a worker";
  engine.hold(false);
  EXPECT_EQ(answer(own_work)["result"]["epoch"], 7);
}

TEST_F(ConsoleServerTest, OneUserTakesNoTimeFromAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  serve({.share = 0, .burst_ns = 1});
  auto greedy = client_of(4711), own = client_of(0);
  greedy.say("{\"v\": 1, \"id\": 1, \"command\": \"status\"}\n{\"v\": 1, \"id\": 2, \"command\": \"status\"}\n");
  EXPECT_EQ(answer(greedy)["id"], 1);
  EXPECT_FALSE(greedy.line(50));
  greedy = client_of(4711);
  greedy.say("{\"v\": 1, \"command\": \"status\"}\n");
  own.say("{\"v\": 1, \"command\": \"status\"}\n");
  EXPECT_EQ(answer(own)["ok"], true);
  EXPECT_FALSE(greedy.line(50)) << "who comes again has no more than before";
}

TEST_F(ConsoleServerTest, WhoAsksWithoutAPauseWaitsForItsShare) {
  serve({.share = 0, .burst_ns = 1});
  auto one = client();
  one.say("{\"v\": 1, \"id\": 1, \"command\": \"status\"}\n{\"v\": 1, \"id\": 2, \"command\": \"status\"}\n");
  EXPECT_EQ(answer(one)["id"], 1);
  EXPECT_FALSE(one.line(100));  // none is earned here
}

TEST_F(ConsoleServerTest, ANewcomerTakesThePlaceOfTheIdlest) {
  serve({.clients = 2});
  auto first = client();
  first.say("{\"v\": 1, \"command\": \"drones\"}\n");
  ASSERT_EQ(answer(first)["ok"], true);
  auto second = client();
  second.say("{\"v\": 1, \"command\": \"subscribe\"}\n");
  ASSERT_EQ(answer(second)["ok"], true);
  auto third = client();
  third.say("{\"v\": 1, \"command\": \"subscribe\"}\n");
  EXPECT_EQ(answer(third)["ok"], true);
  EXPECT_TRUE(first.closed());
  auto fourth = client();
  EXPECT_EQ(answer(fourth)["error"]["code"], "too_many_clients");
  EXPECT_TRUE(fourth.closed());
}

TEST_F(ConsoleServerTest, WhoAsksNothingIsSentAway) {
  serve({.idle_ns = 100'000'000});
  auto idle = client(), half = client();
  half.say("{\"v\": 1");
  EXPECT_TRUE(idle.closed());
  EXPECT_TRUE(half.closed());
}

}  // namespace
}  // namespace pqcmav
