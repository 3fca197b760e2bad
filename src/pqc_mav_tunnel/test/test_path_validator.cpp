// SPDX-License-Identifier: Apache-2.0
#include "net/path_validator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "path_world.hpp"

namespace pqcmav {
namespace {

using test::address;
using test::counting_values;
using Challenges = std::vector<PathValidator::Challenge>;

constexpr std::uint64_t kSecond = 1000 * kMs;
constexpr std::uint64_t kPto = 100 * kMs;
constexpr std::size_t kChallenge = 49;  // bytes of UDP payload

struct Paths : ::testing::Test {
  const SockAddr y = address(1), x = address(2), z = address(3);
  PathValidator validator{counting_values()};
  std::uint64_t now = 10 * kSecond;

  void SetUp() override { validator.reset(y, true, now); }
  Challenges poll() {
    Challenges out;
    while (const auto challenge = validator.poll(now)) out.push_back(*challenge);
    return out;
  }
  void packet(const SockAddr& from, bool newest = true, std::size_t size = 1000, std::uint64_t pto = kPto) {
    validator.on_packet(from, newest, size, now, pto);
  }
  /// Enough for all challenges.
  void packets(const SockAddr& from, std::uint64_t pto = kPto) {
    for (int i = 0; i < 3; ++i) packet(from, true, 1000, pto);
  }
  /// Lets time pass, with what is due; whoever is in `alive` answers at once.
  Challenges pass(std::uint64_t duration, const std::vector<SockAddr>& alive = {}) {
    Challenges all;
    const auto end = now + duration;
    for (;;) {
      for (const auto& challenge : poll()) {
        all.push_back(challenge);
        if (std::ranges::find(alive, challenge.to) != alive.end()) validator.on_response(challenge.value, now);
      }
      if (validator.deadline() > end) break;
      now = std::max(now, validator.deadline());
    }
    now = end;
    return all;
  }
  static std::ptrdiff_t to(const Challenges& challenges, const SockAddr& whom) {
    return std::ranges::count_if(challenges, [&](const auto& challenge) { return challenge.to == whom; });
  }
};

TEST_F(Paths, RestsWhileThePathStays) {
  EXPECT_EQ(validator.deadline(), PathValidator::kNever);
  packet(y);
  packet(x, false);  // late, from another address: says nothing
  EXPECT_TRUE(poll().empty());
  EXPECT_EQ(validator.copy_to(1), nullptr);
  EXPECT_TRUE(validator.path_validated());
  EXPECT_TRUE(validator.may_send(1'000'000));
}

TEST_F(Paths, ChallengesBothSixTimesWithNewValuesOverHalfASecond) {
  packets(x);
  const auto challenges = pass(499 * kMs);
  EXPECT_EQ(to(challenges, x), 6);
  EXPECT_EQ(to(challenges, y), 6);
  std::vector<ByteArray<8>> values;
  for (const auto& challenge : challenges) values.push_back(challenge.value);
  std::ranges::sort(values);
  EXPECT_EQ(std::ranges::adjacent_find(values), values.end());
  EXPECT_NE(validator.copy_to(1), nullptr);  // not decided yet
  pass(2 * kMs);
  EXPECT_EQ(validator.copy_to(1), nullptr);
  EXPECT_EQ(validator.refused(), 1u);
}

TEST_F(Paths, DecidesAfterThreeTimeOutsWhereTheseAreLonger) {
  packets(x, 400 * kMs);
  EXPECT_EQ(to(pass(1199 * kMs), x), 6);
  EXPECT_NE(validator.copy_to(1), nullptr);
  pass(2 * kMs);
  EXPECT_EQ(validator.copy_to(1), nullptr);
}

TEST_F(Paths, TheLastChallengeHasTimeForItsAnswer) {
  packets(x, 400 * kMs);
  Challenges challenges;
  for (int round = 0; round < 6; ++round) {
    for (const auto& challenge : poll()) challenges.push_back(challenge);
    if (round < 5) now = validator.deadline();
  }
  ASSERT_EQ(to(challenges, x), 6);
  now += 399 * kMs;
  EXPECT_TRUE(poll().empty());
  validator.on_response(challenges.back().value, now);
  pass(2 * kMs);
  EXPECT_EQ(validator.path(), x);
}

TEST_F(Paths, TheNewOneLivesAndTheOldDoesNot) {
  packet(x);
  pass(490 * kMs, {x});
  EXPECT_EQ(validator.path(), y) << "until it is decided";
  pass(20 * kMs, {x});
  EXPECT_EQ(validator.path(), x);
  EXPECT_EQ(validator.changes(), 1u);
  EXPECT_EQ(validator.refused(), 0u);
  EXPECT_TRUE(validator.path_validated());
}

TEST_F(Paths, TheSeniorStaysAndTheNewOneIsIgnoredForTenSeconds) {
  packet(x);
  const auto challenges = pass(600 * kMs, {x, y});
  EXPECT_EQ(validator.path(), y);
  EXPECT_EQ(challenges.size(), 2u) << "its answer decides at once";
  EXPECT_EQ(validator.refused(), 1u);
  packet(y);
  packet(x);
  EXPECT_EQ(validator.copy_to(1), nullptr);
  packet(y);
  EXPECT_EQ(to(pass(9 * kSecond, {x, y}), x), 0);
  now += 500 * kMs;
  packet(x);
  EXPECT_EQ(to(poll(), x), 1);
}

TEST_F(Paths, AnAnswerProvesWhereItsChallengeWentNotWhereItCameFrom) {
  packet(x);
  for (const auto& challenge : poll())
    if (challenge.to == x) validator.on_response(challenge.value, now);
  // Newest packets from Y prove nothing: they may be copies.
  for (int i = 0; i < 10; ++i) packet(y);
  pass(600 * kMs);
  EXPECT_EQ(validator.path(), x);
}

TEST_F(Paths, WrongRepeatedAndStaleAnswersProveNothing) {
  packet(x);
  const auto first = poll();
  validator.on_response({}, now);
  validator.on_response({1, 2, 3}, now);
  pass(600 * kMs);
  for (const auto& challenge : first) validator.on_response(challenge.value, now);  // too late
  EXPECT_EQ(validator.path(), y);
  now += 11 * kSecond;
  packet(x);
  for (const auto& challenge : first) validator.on_response(challenge.value, now);  // of the last validation
  pass(600 * kMs);
  EXPECT_EQ(validator.path(), y);
  EXPECT_EQ(validator.refused(), 2u);
}

TEST_F(Paths, AnAnswerFromAnEarlierValidationSaysNothingAboutNow) {
  packets(x);
  const auto first = pass(600 * kMs);
  now += 11 * kSecond;
  packets(x);
  for (const auto& challenge : first)
    if (challenge.to == x) validator.on_response(challenge.value, now);
  pass(600 * kMs);
  EXPECT_EQ(validator.path(), y);
  EXPECT_EQ(validator.refused(), 2u);
}

TEST_F(Paths, OneValidationAtATime) {
  packet(x);
  packet(z);
  packet(z, true, 100'000);
  EXPECT_EQ(to(pass(600 * kMs, {z}), z), 0);
  packet(z);
  EXPECT_EQ(to(poll(), z), 1);
}

TEST_F(Paths, TheSeniorIsTakenBackWhenItHadWronglyBeenLeft) {
  packet(x);
  pass(600 * kMs, {x});
  ASSERT_EQ(validator.path(), x);
  packet(y);
  const auto challenges = pass(100 * kMs, {x, y});
  EXPECT_EQ(validator.path(), y);
  EXPECT_LE(challenges.size(), 2u) << "at once";
  EXPECT_EQ(validator.changes(), 2u);
  packet(x);  // ignored now
  EXPECT_TRUE(poll().empty());
}

TEST_F(Paths, TheOldestPathsAreRemembered) {
  // An attacker who blocks the path and answers from one address after another.
  for (std::uint16_t port = 100; port < 120; ++port) {
    packet(address(port));
    pass(600 * kMs, {address(port)});
    ASSERT_EQ(validator.path(), address(port));
  }
  packet(y);
  pass(100 * kMs, {y, address(119)});
  EXPECT_EQ(validator.path(), y);
  // Those in the middle were forgotten: they are no seniors of the path any more.
  packet(address(110));
  pass(100 * kMs, {y, address(110)});
  EXPECT_EQ(validator.path(), y);
}

TEST_F(Paths, EightIgnoredAddressesAreRemembered) {
  for (std::uint16_t port = 100; port < 109; ++port) {
    packet(address(port));
    pass(10 * kMs, {y});
  }
  EXPECT_EQ(validator.refused(), 9u);
  for (std::uint16_t port = 101; port < 109; ++port) packet(address(port));
  EXPECT_EQ(validator.copy_to(1), nullptr);
  packet(address(100));  // the oldest was forgotten
  EXPECT_NE(validator.copy_to(1), nullptr);
}

TEST_F(Paths, CopiesAndChallengesStayBelowThreeTimesWhatCame) {
  packet(x, true, 200);
  EXPECT_EQ(to(poll(), x), 1);
  EXPECT_EQ(validator.copy_to(600 - 2 * kChallenge), nullptr) << "not below, with the next challenge";
  ASSERT_NE(validator.copy_to(600 - 2 * kChallenge - 1), nullptr);
  EXPECT_EQ(validator.path(), y);
  EXPECT_EQ(validator.copy_to(1), nullptr);
  EXPECT_EQ(to(pass(499 * kMs), x), 1) << "the one that was kept room for";
  packet(x, false, 100);  // not newest, but new
  EXPECT_EQ(*validator.copy_to(299), x);
}

TEST_F(Paths, NoMoreThanThreeDatagramsForEach) {
  packet(x, true, 1200);
  EXPECT_EQ(to(pass(499 * kMs), x), 3);
  EXPECT_EQ(validator.copy_to(1), nullptr);
  packet(x);
  for (int i = 0; i < 3; ++i) EXPECT_NE(validator.copy_to(1), nullptr) << i;
  EXPECT_EQ(validator.copy_to(1), nullptr);
}

TEST_F(Paths, WhileOnlyAnIgnoredAddressSpeaksThePathIsWatched) {
  packet(x);
  pass(600 * kMs, {y});
  ASSERT_EQ(validator.refused(), 1u);
  // Y answers: nothing changes, however long it goes on.
  Challenges challenges;
  for (int i = 0; i < 8; ++i) {
    packet(x);
    for (const auto& challenge : pass(kSecond, {y})) challenges.push_back(challenge);
  }
  EXPECT_NEAR(static_cast<double>(to(challenges, y)), 8, 1);
  EXPECT_EQ(to(challenges, x), 0);
  // It does not answer any more: the third one decides that X is looked at again.
  challenges.clear();
  const auto dead_since = now;
  while (to(challenges, x) == 0 && now < dead_since + 10 * kSecond) {
    packet(x);
    for (const auto& challenge : pass(100 * kMs, {x})) challenges.push_back(challenge);
  }
  EXPECT_LE(now - dead_since, 4 * kSecond);
  pass(600 * kMs, {x});
  EXPECT_EQ(validator.path(), x);
}

TEST_F(Paths, APacketFromThePathOrSilenceEndsTheWatch) {
  packet(x);
  pass(600 * kMs, {y});
  packet(x);
  packet(y);
  EXPECT_TRUE(pass(20 * kSecond).empty());
  packet(x);
  pass(600 * kMs, {y});
  packet(x);
  const auto challenges = pass(20 * kSecond);
  EXPECT_LE(challenges.size(), 3u);
  EXPECT_EQ(to(challenges, x), 0);
  EXPECT_EQ(validator.deadline(), PathValidator::kNever);
}

TEST_F(Paths, WhatComesLateFromThePathDoesNotEndTheWatch) {
  packet(x);
  pass(600 * kMs, {y});
  packet(x);
  packet(y, false);
  EXPECT_EQ(to(pass(1100 * kMs), y), 1);
}

TEST_F(Paths, AnAnswerCountsOnce) {
  packet(x);
  pass(600 * kMs, {y});
  packet(x);
  now += 1000 * kMs;
  const auto first = poll();
  ASSERT_EQ(first.size(), 1u);
  Challenges challenges;
  for (int i = 0; i < 5; ++i) {
    validator.on_response(first.front().value, now);
    packet(x);
    for (const auto& challenge : pass(kSecond, {x})) challenges.push_back(challenge);
  }
  EXPECT_GE(to(challenges, x), 1);
  EXPECT_EQ(validator.path(), x);
}

TEST_F(Paths, CopiesLeaveRoomForTheNextChallenge) {
  packet(x);
  EXPECT_EQ(to(poll(), x), 1);
  EXPECT_NE(validator.copy_to(1), nullptr);
  EXPECT_EQ(validator.copy_to(1), nullptr);
  EXPECT_EQ(to(pass(400 * kMs), x), 1);
}

TEST_F(Paths, AnUnvalidatedPathThatGotEnoughIsNotChallengedBesideAnother) {
  validator.reset(x, false, now);
  while (validator.may_send(10)) {
  }
  packet(y);
  const auto challenges = pass(400 * kMs);
  EXPECT_EQ(to(challenges, x), 0);
  EXPECT_GE(to(challenges, y), 1);
}

TEST_F(Paths, AnUnvalidatedFirstPathIsChallengedAndLimited) {
  validator.reset(x, false, now);
  EXPECT_FALSE(validator.path_validated());
  std::size_t bytes = 0, datagrams = 0;
  for (int i = 0; i < 100; ++i) {
    for (const auto& challenge : pass(kSecond)) {
      EXPECT_EQ(challenge.to, x);
      bytes += kChallenge, ++datagrams;
    }
    if (validator.may_send(20)) bytes += 20, ++datagrams;
  }
  EXPECT_GE(datagrams, 6u);
  EXPECT_LT(bytes, 3 * 128u);
  EXPECT_LE(datagrams, 9u);
  packet(x, true, 100);
  EXPECT_TRUE(validator.may_send(200));
  EXPECT_FALSE(validator.may_send(200));
  pass(2 * kSecond, {x});
  EXPECT_TRUE(validator.path_validated());
  EXPECT_TRUE(validator.may_send(1'000'000));
  EXPECT_TRUE(pass(10 * kSecond).empty());
}

TEST_F(Paths, TheDroneTakesOverFromAnUnvalidatedFirstPath) {
  validator.reset(x, false, now);  // a copy of M3 with a forged source
  packet(y);
  pass(600 * kMs, {y});
  EXPECT_EQ(validator.path(), y);
  EXPECT_TRUE(validator.path_validated());
}

TEST_F(Paths, ANewSessionForgetsTheOldOnesAddresses) {
  packet(x);
  pass(600 * kMs, {y});
  packet(z);
  validator.reset(z, true, now);
  EXPECT_EQ(validator.path(), z);
  EXPECT_TRUE(poll().empty());
  packet(x);  // not ignored here
  pass(600 * kMs, {x, y});
  EXPECT_EQ(validator.path(), x);
  // X was proven in the session before; that makes it nobody's senior in the next one.
  const auto elsewhere = address(4);
  validator.reset(elsewhere, true, now);
  packet(x);
  pass(600 * kMs, {x, elsewhere});
  EXPECT_EQ(validator.path(), elsewhere);
}

TEST_F(Paths, BeforeASessionNothingHappens) {
  PathValidator fresh{counting_values()};
  fresh.on_packet(x, true, 1000, now, kPto);
  fresh.on_response({}, now);
  EXPECT_FALSE(fresh.poll(now));
  EXPECT_EQ(fresh.deadline(), PathValidator::kNever);
  EXPECT_EQ(fresh.copy_to(1), nullptr);
  EXPECT_FALSE(fresh.path_validated());
  EXPECT_TRUE(fresh.path().empty());
}

// Whatever comes in whatever order: no address that never answered becomes the path or gets three times what it sent.
TEST(PathsProperty, NothingUnprovenIsBelievedOrReflectedTo) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    PathValidator validator{counting_values()};
    std::uint64_t now = kSecond;
    validator.reset(address(0), true, now);
    struct Account {
      std::size_t in = 0, out = 0;
      bool proven = false;
    };
    std::map<std::uint16_t, Account> accounts;
    accounts[0].proven = true;
    Challenges open;
    for (int step = 0; step < 2000; ++step) {
      const auto port = static_cast<std::uint16_t>(random() % 12);
      switch (random() % 4) {
        case 0: {
          const auto size = 38 + random() % 1162;
          accounts[port].in += size;
          validator.on_packet(address(port), random() % 2 == 0, size, now, (1 + random() % 500) * kMs);
          break;
        }
        case 1: {
          const auto size = 38 + random() % 1162;
          if (const auto* copy = validator.copy_to(size)) accounts[copy->port()].out += size;
          break;
        }
        case 2:
          if (open.empty()) break;
          if (const auto& challenge = open[random() % open.size()]; challenge.to.port() % 3 == 0) {  // others are dead
            accounts[challenge.to.port()].proven = true;
            validator.on_response(challenge.value, now);
          }
          break;
        default:
          now += random() % (400 * kMs);
      }
      while (const auto challenge = validator.poll(now)) {
        accounts[challenge->to.port()].out += kChallenge;
        open.push_back(*challenge);
      }
      ASSERT_GT(validator.deadline(), now);
      ASSERT_TRUE(accounts[validator.path().port()].proven) << seed << " " << step;
      for (const auto& [who, account] : accounts)
        ASSERT_TRUE(account.proven || account.out <= 3 * account.in) << seed << " " << step << " " << who;
    }
  }
}

}  // namespace
}  // namespace pqcmav
