// SPDX-License-Identifier: Apache-2.0
// Which path packets take: a world of paths with delays and outages in each direction, without sockets and clock.
#include "paths/path_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kTick = 100 * kMs;
constexpr PathPace kUdp{250 * kMs, 750 * kMs, 5 * kS}, kSerial{500 * kMs, 1250 * kMs, 5 * kS};
constexpr PathPace kDear{5 * kS, 12 * kS, 60 * kS};
constexpr std::uint64_t kForever = ~std::uint64_t{0};

/// When a direction of a path carries nothing, ns.
struct Outage {
  std::uint64_t from, to;
};
struct Way {
  PathPace pace = kUdp;
  std::uint64_t delay = 30 * kMs;  // each way
  std::vector<Outage> up = {}, down = {};
  [[nodiscard]] static bool carries(const std::vector<Outage>& outages, std::uint64_t at) {
    return std::ranges::none_of(outages, [at](const auto& each) { return at >= each.from && at < each.to; });
  }
};

/// The ground station answers a PROBE by the main path and by that of the PROBE; by all where one alone lives.
class World {
 public:
  explicit World(std::vector<Way> ways)
      : ways_(std::move(ways)), choice([this] {
          std::vector<PathPace> paces;
          for (const auto& way : ways_) paces.push_back(way.pace);
          return PathChoice(paces);
        }()) {}

  void begin(std::size_t path) {
    choice.begin(path, now);
    log.push_back({now, path});
  }
  void run_until(std::uint64_t end) {
    for (; now < end; now += kTick) {
      for (auto it = due_.begin(); it != due_.end() && it->first <= now;) {
        const auto at = it->first;
        it->second(at);
        it = due_.erase(it);
        move(at);
      }
      move(now);
      for (std::size_t path = 0; path < ways_.size(); ++path)
        if (choice.probe_due(path, now)) probe(path);
      if (each_tick) each_tick();
    }
  }
  void probe(std::size_t path) {
    choice.probed(path, now);
    ++probes[path];
    const auto& way = ways_[path];
    const auto at_ground = now + way.delay, sent = now;
    if (!Way::carries(way.up, now)) return;
    const auto lives = [&](auto other) {
      return other != active() && choice.state(other, now) == PathChoice::State::good;
    };
    bool alone = choice.active().has_value();
    for (std::size_t other = 0; alone && other < ways_.size(); ++other) alone = !lives(other);
    const auto main = choice.active() ? choice.down(now) : path;
    for (std::size_t back = 0; back < ways_.size(); ++back)
      if ((back == main || back == path || alone) && Way::carries(ways_[back].down, at_ground))
        due_.emplace(at_ground + ways_[back].delay, [this, back, path, sent](std::uint64_t at) {
          choice.heard(back, at);
          choice.replied(path, sent, at);
        });
  }
  [[nodiscard]] std::size_t active() const { return choice.active().value(); }
  /// How often packets changed their path in a time.
  [[nodiscard]] std::size_t moves(std::uint64_t from, std::uint64_t to) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(log, [&](const auto& each) { return each.first > from && each.first <= to; }));
  }

  std::uint64_t now = 1000 * kS;
  const std::uint64_t start = now;
  std::map<std::size_t, std::size_t> probes;
  std::vector<std::pair<std::uint64_t, std::size_t>> log;
  std::function<void()> each_tick;

 private:
  void move(std::uint64_t at) {
    const auto to = choice.next(at);
    if (!to) return;
    ASSERT_NE(*to, active());
    choice.moved(*to, at);
    log.push_back({at, *to});
  }
  std::vector<Way> ways_;
  std::multimap<std::uint64_t, std::function<void(std::uint64_t)>> due_;

 public:
  PathChoice choice;
};

constexpr std::uint64_t after(double seconds) { return 1000 * kS + static_cast<std::uint64_t>(seconds * kS); }
std::vector<Outage> out(double from, double to) { return {{after(from), to < 0 ? kForever : after(to)}}; }
Way radio() { return {kSerial, 125 * kMs}; }

struct Case {
  const char* name;
  std::vector<Way> ways;
  std::size_t began;
  std::vector<std::pair<double, std::size_t>> expected;  // at so many seconds this one is active
  std::size_t moves;
};

class PathChoices : public ::testing::TestWithParam<Case> {};

TEST_P(PathChoices, AreTheseInTime) {
  const auto& one = GetParam();
  World world(one.ways);
  world.begin(one.began);
  for (const auto& [seconds, path] : one.expected) {
    world.run_until(after(seconds));
    EXPECT_EQ(world.active(), path) << "at " << seconds << " s";
  }
  EXPECT_EQ(world.moves(world.start, world.now), one.moves);
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, PathChoices,
    ::testing::Values(
        Case{"Calm", {{}, radio()}, 0, {{60, 0}}, 0},
        Case{
            "TheFirstDies", {{kUdp, 30 * kMs, out(10, -1), out(10, -1)}, radio()}, 0, {{10, 0}, {11.2, 1}, {60, 1}}, 1},
        Case{"UpOnly", {{kUdp, 30 * kMs, out(10, -1)}, radio()}, 0, {{10, 0}, {11.2, 1}, {60, 1}}, 1},
        Case{"DownOnly", {{kUdp, 30 * kMs, {}, out(10, -1)}, radio()}, 0, {{10, 0}, {11.2, 1}, {60, 1}}, 1},
        Case{"ItComesBack",
             {{kUdp, 30 * kMs, out(10, 20), out(10, 20)}, radio()},
             0,
             {{11.2, 1}, {21.9, 1}, {24, 0}, {60, 0}},
             2},
        Case{"AShortOne", {{kUdp, 30 * kMs, out(10, 10.4), out(10, 10.4)}, radio()}, 0, {{30, 0}}, 0},
        Case{"TheSecondDies", {{}, {kSerial, 125 * kMs, out(10, -1), out(10, -1)}}, 0, {{60, 0}}, 0},
        Case{"BothDieAndTheSecondReturns",
             {{kUdp, 30 * kMs, out(10, -1), out(10, -1)}, {kUdp, 50 * kMs, out(5, 30), out(5, 30)}},
             0,
             {{29, 0}, {32, 1}, {60, 1}},
             1},
        Case{"BothDieAndTheFirstReturns",
             {{kUdp, 30 * kMs, out(10, 30), out(10, 30)}, {kUdp, 50 * kMs, out(5, -1), out(5, -1)}},
             0,
             {{29, 0}, {60, 0}},
             0},
        Case{"BegunByTheSecond", {{}, radio()}, 1, {{1.5, 1}, {4, 0}, {60, 0}}, 1},
        Case{"OpposedHalves",
             {{kUdp, 30 * kMs, out(12.3, -1)}, {kUdp, 30 * kMs, {}, out(12.3, -1)}, {kUdp, 60 * kMs}},
             0,
             {{12.3, 0}, {14.3, 2}, {60, 2}},
             1},
        Case{"ASlowPath", {{kUdp, 900 * kMs}, {kUdp, 30 * kMs, out(0, -1), out(0, -1)}}, 0, {{60, 0}}, 0}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(PathChoice, APathThatReturnsEveryTwoSecondsDoesNotFlap) {
  Way lte;
  for (double t = 10; t < 300; t += 4) lte.up.push_back({after(t), after(t + 2)});
  for (const bool preferred : {false, true}) {
    World world({lte, radio()});
    world.begin(0);
    world.run_until(after(11));
    if (preferred) world.choice.prefer(0);
    world.run_until(after(300));
    EXPECT_EQ(world.active(), 1u);
    EXPECT_LE(world.moves(world.start, world.now), preferred ? 5u : 3u);
  }
}

TEST(PathChoice, EachRelapseDoublesTheWait) {
  Way lte;
  for (double t = 10; t < 600; t += 9) lte.up.push_back({after(t), after(t + 2)});  // 7 s good
  World world({lte, radio()});
  world.begin(0);
  world.run_until(after(600));
  EXPECT_EQ(world.active(), 1u);
  EXPECT_LE(world.moves(world.start, world.now), 7u);
  EXPECT_EQ(world.moves(after(60), world.now), 0u);
}

TEST(PathChoice, EachDirectionTakesTheWayThatItHas) {
  for (const bool lte_goes_up : {false, true}) {
    Way lte, slow = radio();
    (lte_goes_up ? lte.down : lte.up).push_back({after(10), kForever});
    (lte_goes_up ? slow.up : slow.down).push_back({after(10), kForever});
    World world({lte, slow});
    world.begin(0);
    world.run_until(after(9));
    EXPECT_EQ(world.choice.down(world.now), 0u);
    world.run_until(after(16));
    for (int i = 0; i < 60; ++i) {
      world.run_until(world.now + kS);
      EXPECT_EQ(world.active(), lte_goes_up ? 0u : 1u);
      EXPECT_EQ(world.choice.down(world.now), lte_goes_up ? 1u : 0u);
    }
    EXPECT_LE(world.moves(world.start, world.now), 3u);
  }
}

TEST(PathChoice, AnOperatorsWordCounts) {
  World world({{}, radio(), {}});
  world.begin(0);
  world.run_until(after(10));
  world.choice.prefer(1);
  world.run_until(after(10.7));
  EXPECT_EQ(world.active(), 1u);
  EXPECT_TRUE(world.choice.use(1, false));
  world.run_until(after(11));
  EXPECT_EQ(world.active(), 0u);
  EXPECT_EQ(world.choice.state(1, world.now), PathChoice::State::off);
  const auto asked = world.probes[1];
  EXPECT_TRUE(world.choice.use(0, false));
  EXPECT_FALSE(world.choice.use(2, false)) << "the last one";
  world.run_until(after(20));
  EXPECT_EQ(world.active(), 2u);
  EXPECT_EQ(world.probes[1], asked);
  EXPECT_TRUE(world.choice.use(0, true));
  EXPECT_TRUE(world.choice.use(1, true));
  world.run_until(after(30));
  EXPECT_EQ(world.active(), 0u) << "in the configured order again";
}

TEST(PathChoice, WhatIsNotNeededIsAskedSeldom) {
  World world({{}, radio(), {kUdp, 30 * kMs, out(0, -1), out(0, -1)}});
  world.begin(0);
  world.run_until(after(300));
  EXPECT_NEAR(world.probes[0], 1000, 210) << "every 0.25 s, in ticks of 0.1 s";
  EXPECT_LE(world.probes[1], 62u);
  EXPECT_LE(world.probes[2], 100u);
  EXPECT_EQ(world.choice.state(1, world.now), PathChoice::State::good);
  EXPECT_EQ(world.choice.state(2, world.now), PathChoice::State::dead);
  EXPECT_EQ(world.choice.loss(1), 0.0);
  EXPECT_EQ(world.choice.loss(2), 1.0);
  EXPECT_EQ(world.choice.rtt_ns(0), 60 * kMs);
}

TEST(PathChoice, ADearPathIsAskedInMinutesAndTakenInASecond) {
  World world({{kUdp, 30 * kMs, out(300, 400), out(300, 400)}, {kDear, 400 * kMs}});
  world.begin(0);
  world.run_until(after(300));
  EXPECT_LE(world.probes[1], 7u) << "idle";
  world.run_until(after(301.5));
  EXPECT_EQ(world.active(), 1u);
  const auto before = world.probes[1];
  world.run_until(after(400));
  EXPECT_EQ(world.active(), 1u);
  EXPECT_LE(world.probes[1] - before, 21u) << "in use";
  world.run_until(after(404.5));
  EXPECT_EQ(world.active(), 0u);
  EXPECT_EQ(world.moves(world.start, world.now), 2u);
}

/// What arrives by an address that was left proves nothing of the way to it.
TEST(PathChoice, AReplyAloneAndAPacketAloneAreNoAnswer) {
  PathChoice choice({kUdp, kUdp});
  choice.begin(0, after(0));
  choice.probed(1, after(0));
  choice.heard(1, after(0.1));
  choice.heard(1, after(0.2));
  EXPECT_EQ(choice.state(1, after(0.3)), PathChoice::State::unknown);
  choice.replied(1, after(0), after(0.3));
  EXPECT_EQ(choice.state(1, after(0.3)), PathChoice::State::good);
  choice.probed(1, after(1));
  choice.heard(1, after(4));
  choice.replied(1, after(1), after(4));
  EXPECT_EQ(choice.state(1, after(4)), PathChoice::State::dead) << "it was held back";
  PathChoice other({kUdp, kUdp});
  other.begin(0, after(0));
  other.heard(1, after(0));
  other.probed(1, after(0.1));
  other.replied(1, after(0.1), after(0.2));
  EXPECT_EQ(other.state(1, after(0.2)), PathChoice::State::unknown) << "it was heard before the PROBE left";
}

/// Random outages of each direction of two to four paths: whenever a path has lived for a moment, packets take one that
/// lives; and a path that dies again and again is left alone.
TEST(PathChoice, ABestPathWheneverOneLives) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&](double least, double most) {
      return std::uniform_real_distribution<double>(least, most)(random);
    };
    std::vector<Way> ways(2 + random() % 3);
    for (auto& way : ways) {
      if (random() % 3 == 0) way.pace = kSerial;
      way.delay = static_cast<std::uint64_t>(chance(5, 150)) * kMs;
      for (auto* direction : {&way.up, &way.down})
        for (double t = chance(1, 20); t < 120;) {
          const auto length = chance(0.3, 12);
          direction->push_back({after(t), after(t + length)});
          t += length + chance(2, 30);
        }
    }
    World world(ways);
    world.begin(random() % ways.size());
    std::vector<std::uint64_t> alive_since(ways.size(), world.start);
    std::uint64_t wrong_since = 0, stayed = 0;
    auto before = world.active();
    world.each_tick = [&] {
      bool other = false;
      for (std::size_t i = 0; i < ways.size(); ++i) {
        const bool alive = Way::carries(ways[i].up, world.now) && Way::carries(ways[i].down, world.now);
        if (!alive) alive_since[i] = world.now;
        other = other || (i != world.active() && alive && world.now - alive_since[i] >= 4 * kS);
      }
      const auto active = world.active();
      const bool dead = !Way::carries(ways[active].up, world.now) || !Way::carries(ways[active].down, world.now);
      if (!dead || !other) wrong_since = 0;
      if (!dead || !other || before != active) stayed = 0;
      before = active;
      if (!dead || !other) return;
      if (wrong_since == 0) wrong_since = world.now;
      if (stayed == 0) stayed = world.now;
      // The next one may die just as it is taken.
      EXPECT_LE(world.now - stayed, 3 * kS) << "seed " << seed << " at " << (world.now - world.start) / kMs << " ms";
      EXPECT_LE(world.now - wrong_since, 6 * kS) << "seed " << seed;
    };
    world.run_until(after(120));
    EXPECT_LE(world.moves(world.start, world.now), 60u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace pqcmav
