// SPDX-License-Identifier: Apache-2.0
#include "net/path_validator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "addresses.hpp"
#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

using test::address;
using Challenges = std::vector<PathValidator::Challenge>;
using Addresses = std::vector<SockAddr>;

constexpr std::uint64_t kPto = 100 * kMs;
constexpr std::size_t kChallenge = 49 + 28;  // bytes, headers included

/// Every value once.
RandomSource counting_values() {
  return [next = std::uint64_t{0}](MutableBytes out) mutable { store_be(out.data(), ++next); };
}

struct Paths : ::testing::Test {
  const SockAddr y = address(1), x = address(2), z = address(3);
  PathValidator validator{counting_values()};
  std::uint64_t now = 10 * kS;

  void SetUp() override { begin({y}); }
  void begin(const Addresses& answered) { validator.reset(answered, now); }
  Challenges poll() {
    Challenges out;
    while (const auto challenge = validator.poll(now)) out.push_back(*challenge);
    EXPECT_GT(validator.deadline(), now);
    return out;
  }
  void packet(const SockAddr& from, std::size_t size = 1000) { validator.on_packet(from, size, now, kPto); }
  Addresses others(std::size_t bytes) {
    Addresses out;
    validator.for_each_other(bytes, [&](const SockAddr& each) { out.push_back(each); });
    return out;
  }
  Addresses living() const {
    Addresses out;
    validator.for_each_living([&](const SockAddr& each) { out.push_back(each); });
    return out;
  }
  /// Lets time pass: who is in `answering` answers at once, and every 100 ms a packet comes from each of `speaking`.
  Challenges pass(std::uint64_t duration, const Addresses& answering = {}, const Addresses& speaking = {}) {
    Challenges all;
    for (const auto end = now + duration; now < end; now += std::min(10 * kMs, end - now)) {
      if (now / kMs % 100 == 0)
        for (const auto& each : speaking) packet(each);
      for (const auto& challenge : poll()) {
        all.push_back(challenge);
        if (std::ranges::find(answering, challenge.to) != answering.end()) validator.on_response(challenge.value, now);
      }
    }
    for (const auto& challenge : poll()) all.push_back(challenge);
    return all;
  }
  static std::ptrdiff_t to(const Challenges& challenges, const SockAddr& whom) {
    return std::ranges::count_if(challenges, [&](const auto& challenge) { return challenge.to == whom; });
  }
};

TEST_F(Paths, OneLivingAddressCostsNothingAndNeverGoes) {
  EXPECT_EQ(validator.deadline(), PathValidator::kNever);
  packet(y);
  EXPECT_FALSE(validator.wants_repeat(y));
  EXPECT_TRUE(validator.wants_repeat(x));
  EXPECT_TRUE(validator.alone());
  EXPECT_TRUE(pass(100 * kS).empty());
  EXPECT_EQ(validator.path(), y);
  EXPECT_TRUE(others(1).empty());
}

TEST_F(Paths, ANewAddressIsChallengedSixTimesOverHalfASecondAndThenForgotten) {
  packet(x);
  packet(x);
  const auto challenges = pass(499 * kMs);
  EXPECT_EQ(to(challenges, x), 6);
  EXPECT_EQ(to(challenges, y), 0) << "whoever it is, the one that lives has nothing to prove";
  std::vector<ByteArray<8>> values;
  for (const auto& challenge : challenges) values.push_back(challenge.value);
  std::ranges::sort(values);
  EXPECT_EQ(std::ranges::adjacent_find(values), values.end());
  EXPECT_FALSE(validator.alone());
  pass(10 * kMs);
  EXPECT_TRUE(validator.alone());
  EXPECT_EQ(living(), Addresses{y});
}

TEST_F(Paths, WhereTimeOutsAreLongThereIsTimeForThree) {
  validator.on_packet(x, 1000, now, 400 * kMs);
  pass(1199 * kMs);
  EXPECT_FALSE(validator.alone());
  pass(10 * kMs);
  EXPECT_TRUE(validator.alone());
}

TEST_F(Paths, TheLastChallengeHasTimeForItsAnswer) {
  validator.on_packet(x, 1000, now, 400 * kMs);
  packet(x);
  const auto challenges = pass(1190 * kMs);
  ASSERT_EQ(to(challenges, x), 6);
  validator.on_response(challenges.back().value, now);
  EXPECT_EQ(living(), (Addresses{y, x}));
}

TEST_F(Paths, AnAnswerWhereverItComesFromMakesItLiveAtOnceAndBothGetEverything) {
  packet(x, 40);
  EXPECT_EQ(others(1000), Addresses{}) << "not before";
  const auto first = poll();
  ASSERT_EQ(first.size(), 1u);
  validator.on_response(first[0].value, now);
  EXPECT_EQ(living(), (Addresses{y, x}));
  EXPECT_EQ(validator.path(), y);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(others(1400), Addresses{x});
}

TEST_F(Paths, TwoThatBothAnswerAndAreHeardBothStay) {
  packet(x);
  const auto challenges = pass(60 * kS, {x, y}, {x, y});
  EXPECT_EQ(living(), (Addresses{y, x}));
  EXPECT_NEAR(static_cast<double>(to(challenges, x)), 60, 2) << "each is challenged once a second";
  EXPECT_NEAR(static_cast<double>(to(challenges, y)), 60, 2);
}

TEST_F(Paths, WhoAnswersNoMoreGoesAfterThreeSeconds) {
  packet(z);
  pass(2'900 * kMs, {z}, {z});
  EXPECT_EQ(living(), (Addresses{y, z}));
  const auto before = validator.revision();
  pass(200 * kMs, {z}, {z});
  EXPECT_EQ(living(), Addresses{z});
  EXPECT_EQ(validator.path(), z);
  EXPECT_NE(validator.revision(), before);
  EXPECT_TRUE(pass(10 * kS, {z}, {z}).empty()) << "there is nothing to decide any more";
}

TEST_F(Paths, WhoAnswersButIsNotHeardGoesToo) {
  packet(x);
  pass(2 * kS, {x, y}, {x, y});
  ASSERT_EQ(living(), (Addresses{y, x}));
  pass(4'100 * kMs, {x, y}, {y});
  EXPECT_EQ(living(), Addresses{y}) << "nothing comes from there";
}

/// A drone that says something every 5 s only, and a copy of it from an address that answers.
TEST_F(Paths, TheFirstIsNotJudgedByASilenceThatNobodyAskedAbout) {
  now += 100 * kS;
  packet(x);
  const auto first = poll();
  validator.on_response(first.at(0).value, now);
  poll();
  EXPECT_EQ(living(), (Addresses{y, x}));
}

TEST_F(Paths, NobodyGoesWhileNobodyElseIsHeard) {
  packet(x);
  pass(1 * kS, {x, y}, {x, y});
  ASSERT_EQ(living().size(), 2u);
  pass(60 * kS);
  EXPECT_EQ(living().size(), 2u) << "the link is down: it says nothing about either";
}

TEST_F(Paths, FourLiveAndAFifthGetsWhatItsCreditAllowsUntilOneGoes) {
  Addresses all{y};
  for (std::uint16_t port = 100; port < 104; ++port) {
    packet(address(port));
    pass(1'100 * kMs, {y, address(100), address(101), address(102), address(103)}, all);
    all.push_back(address(port));
  }
  EXPECT_EQ(living(), (Addresses{y, address(100), address(101), address(102)}));
  pass(60 * kS, all, all);
  EXPECT_EQ(living().size(), 4u);
  EXPECT_EQ(others(1000), (Addresses{address(100), address(101), address(102), address(103)}));
  while (others(1000).size() == 4) {
  }
  EXPECT_EQ(others(1000).size(), 3u);
  std::erase(all, address(101));
  pass(5 * kS, all, all);
  EXPECT_EQ(living(), (Addresses{y, address(100), address(102), address(103)}));
}

// Found by docs/model/paths.pml.in: three addresses of an attacker live beside the drone's, which moves as he falls silent.
TEST_F(Paths, FourThatFallSilentTogetherMakeRoomForOneThatAnswers) {
  const auto w = address(4), moved = address(5);
  begin({y, x, z, w});
  pass(5 * kS, {y, x, z, w}, {y, x, z, w});
  ASSERT_EQ(living().size(), 4U);
  pass(5 * kS, {moved}, {moved});
  EXPECT_EQ(living(), Addresses{moved});
}

TEST_F(Paths, WrongAndRepeatedAnswersProveNothing) {
  packet(x);
  const auto challenges = pass(600 * kMs);
  validator.on_response({}, now);
  validator.on_response({1, 2, 3}, now);
  for (const auto& challenge : challenges) validator.on_response(challenge.value, now);  // too late
  EXPECT_EQ(living(), Addresses{y});
  packet(x);
  pass(100 * kMs, {x});
  ASSERT_EQ(living().size(), 2u);
  const auto next = pass(1 * kS, {y}, {x, y});
  ASSERT_GE(to(next, x), 1);
  const auto answer = std::ranges::find(next, x, &PathValidator::Challenge::to)->value;
  for (int i = 0; i < 50; ++i) {
    validator.on_response(answer, now);  // again and again
    pass(100 * kMs, {y}, {x, y});
  }
  EXPECT_EQ(living(), Addresses{y});
}

TEST_F(Paths, CopiesAndChallengesStayWithinThreeTimesWhatCame) {
  packet(x, 172);  // 600 bytes
  EXPECT_EQ(to(poll(), x), 1);
  EXPECT_TRUE(others(600 - 2 * kChallenge - 28 + 1).empty()) << "room for the next challenge stays";
  EXPECT_EQ(others(600 - 2 * kChallenge - 28), Addresses{x});
  EXPECT_TRUE(others(1).empty());
  EXPECT_EQ(to(pass(499 * kMs), x), 1) << "the one that was kept room for";
}

TEST_F(Paths, FurtherNewAddressesWaitForASlotsEndAndEightOfThemJoin) {
  std::map<std::uint16_t, int> taken;
  for (unsigned run = 0; run < 300; ++run) {
    std::mt19937 random(run);
    PathValidator each{[&](MutableBytes out) {
      for (auto& byte : out) byte = static_cast<std::uint8_t>(random());
    }};
    each.reset(Addresses{y}, 0);
    each.on_packet(x, 100, 2 * kS, kPto);
    for (std::uint16_t port = 100; port < 116; ++port) each.on_packet(address(port), 100, 2 * kS, kPto);
    Challenges challenges;
    for (auto at = 2 * kS; at <= 2 * kS + 75 * kMs; at += kMs)
      while (const auto challenge = each.poll(at)) challenges.push_back(*challenge);
    ASSERT_EQ(to(challenges, x), 1) << "at once";
    ASSERT_EQ(challenges.size(), 1 + kPathsPerSlot);
    for (std::size_t i = 1; i < challenges.size(); ++i) ++taken[challenges[i].to.port()];
  }
  for (std::uint16_t port = 100; port < 116; ++port) EXPECT_NEAR(taken[port], 150, 45) << port;
}

TEST_F(Paths, NoneIsPushedOutBeforeItsAnswerCanBeHere) {
  packet(x, 100);
  ASSERT_EQ(to(poll(), x), 1);
  const auto asked = now;
  std::uint16_t port = 1000;
  Challenges all;
  for (; now < asked + kPto; now += kMs) {
    for (int i = 0; i < 5; ++i) packet(address(++port), 100);
    for (const auto& each : poll()) all.push_back(each);
  }
  // x is one of 16, and has had a time-out's worth of time only now.
  EXPECT_LE(all.size(), 15 * kPathChallenges);
  EXPECT_FALSE(others(1).empty());
  EXPECT_EQ(others(1).front(), x);
}

TEST_F(Paths, TheDroneGetsItsTurnAmongForgedSources) {
  std::mt19937 random(7);
  validator = PathValidator{[&](MutableBytes out) {
    for (auto& byte : out) byte = static_cast<std::uint8_t>(random());
  }};
  std::uint64_t worst = 0;
  for (int run = 0; run < 100; ++run) {
    begin({y});
    const auto moved = now;
    for (std::uint16_t port = 1000; living() == Addresses{y}; now += 5 * kMs) {
      for (int copies = 0; copies < 20; ++copies) packet(address(++port), 100);
      if (now / kMs % 40 == 0) packet(z, 100);
      for (const auto& challenge : poll())
        if (challenge.to == z) validator.on_response(challenge.value, now);
      ASSERT_LT(now - moved, 120 * kS);
    }
    worst = std::max(worst, now - moved);
    now += kS;
  }
  EXPECT_LT(worst, 60 * kS);
}

TEST_F(Paths, ASessionBeginsWithAllWhoAnsweredInItsHandshake) {
  begin({x, y});
  EXPECT_EQ(living(), (Addresses{x, y}));
  EXPECT_EQ(others(1400), Addresses{y});
  EXPECT_EQ(poll().size(), 2u);
  pass(4 * kS, {y}, {x, y});
  EXPECT_EQ(living(), Addresses{y});
}

TEST_F(Paths, ANewSessionForgetsTheOldOnesAddresses) {
  packet(x);
  pass(100 * kMs, {x, y});
  const auto before = validator.revision();
  begin({z});
  EXPECT_GT(validator.revision(), before);
  EXPECT_EQ(living(), Addresses{z});
  EXPECT_TRUE(poll().empty());
}

TEST_F(Paths, BeforeASessionNothingHappens) {
  PathValidator fresh{counting_values()};
  fresh.on_packet(x, 1000, now, kPto);
  fresh.on_response({}, now);
  EXPECT_FALSE(fresh.poll(now));
  EXPECT_EQ(fresh.deadline(), PathValidator::kNever);
  EXPECT_FALSE(fresh.wants_repeat(x));
  EXPECT_TRUE(fresh.path().empty());
}

// Whatever comes in whatever order: no address that never answered lives or gets more than three times what it sent.
/// Of a drone with several paths: y answered in the handshake.
struct NumberedPaths : Paths {
  void SetUp() override { validator.reset(Addresses{y}, now, true); }
  /// The challenges that are due for this address are answered as having come by the path.
  void answer(const SockAddr& from, std::uint8_t path) {
    for (const auto& challenge : poll())
      if (challenge.to == from) validator.on_response(challenge.value, now, path);
  }
  /// An address becomes known as one of the path.
  void appear(const SockAddr& from, std::uint8_t path) {
    now += 1100 * kMs;
    packet(from);
    answer(from, path);
  }
  void tell(std::uint32_t serial, std::uint8_t main, std::uint8_t more, bool again = false) {
    validator.on_told({serial, main, more, again, false}, now);
  }
  Addresses of_other_paths() const {
    Addresses out;
    validator.for_each_of_other_paths([&](const SockAddr& each) { out.push_back(each); });
    return out;
  }
};

TEST_F(NumberedPaths, AnAddressOfTheHandshakeIsAskedForItsNumber) {
  EXPECT_EQ(to(pass(3500 * kMs, {}, {y}), y), 4) << "until it has one";
  EXPECT_EQ(validator.path(), y);
  const auto asked = pass(1 * kS, {}, {y});
  ASSERT_FALSE(asked.empty());
  validator.on_response(asked.back().value, now);
  EXPECT_FALSE(pass(1100 * kMs).empty()) << "an answer without a number is none";
  now += kS;
  answer(y, 2);
  EXPECT_TRUE(pass(100 * kS).empty());
}

/// One that passed the first handshake on, and nothing since.
TEST_F(NumberedPaths, AnAddressOfTheHandshakeThatNeverHadANumberGoesLikeAnyOther) {
  validator.reset(Addresses{x, y}, now, true);
  answer(y, 0);
  EXPECT_EQ(living(), (Addresses{x, y}));
  pass(5 * kS, {}, {y});
  EXPECT_EQ(living(), Addresses{y});
  EXPECT_EQ(validator.path(), y);
}

TEST_F(NumberedPaths, EachPathHasItsAddressesAndTheDroneSaysWhichIsTheMainOne) {
  answer(y, 0);
  appear(x, 1);
  EXPECT_EQ(validator.path(), y);
  EXPECT_EQ(others(100), Addresses{x}) << "nobody said yet that it is not to have everything";
  tell(1, 0, 0b0010);
  EXPECT_EQ(others(100), Addresses{});
  EXPECT_EQ(of_other_paths(), Addresses{x});
  EXPECT_TRUE(validator.is_of_other_path(x));
  EXPECT_FALSE(validator.is_of_other_path(y));
  EXPECT_TRUE(pass(10 * kS).empty()) << "there is nothing to decide";
  EXPECT_TRUE(validator.lives(x)) << "nor a reason to go, heard or not";
  tell(2, 1, 0);
  EXPECT_EQ(validator.path(), x);
  EXPECT_EQ(of_other_paths(), Addresses{});
  tell(1, 0, 0b0010);
  EXPECT_EQ(validator.path(), x) << "an older word";
  EXPECT_FALSE(validator.again());
  tell(3, 1, 0b0001, true);
  EXPECT_TRUE(validator.again());
}

TEST_F(NumberedPaths, AMainPathOfWhichNoAddressIsKnownIsStoodInFor) {
  answer(y, 0);
  tell(1, 3, 0b0001);
  EXPECT_EQ(validator.path(), y);
  EXPECT_EQ(of_other_paths(), Addresses{}) << "not twice to the same";
  appear(z, 3);
  EXPECT_EQ(validator.path(), z);
  EXPECT_EQ(of_other_paths(), Addresses{y});
}

TEST_F(NumberedPaths, AnAddressThatMovesIsJudgedAmongThoseOfItsPath) {
  answer(y, 0);
  appear(x, 1);
  tell(1, 0, 0b0010);
  appear(z, 0);
  EXPECT_EQ(others(100), Addresses{z}) << "both get all of what their path gets";
  // y is gone; x is not asked, and z answers.
  const auto challenges = pass(5 * kS, {z}, {z});
  EXPECT_EQ(to(challenges, x), 0);
  EXPECT_GE(to(challenges, y), 3);
  EXPECT_EQ(validator.path(), z);
  EXPECT_FALSE(validator.lives(y));
  EXPECT_EQ(of_other_paths(), Addresses{x});
}

TEST_F(NumberedPaths, FourOfOnePathLeaveTheOthersTheirPlaces) {
  answer(y, 0);
  for (std::uint16_t i = 20; i < 24; ++i) appear(address(i), 0);
  EXPECT_FALSE(validator.lives(address(23))) << "the fifth";
  appear(x, 1);
  EXPECT_TRUE(validator.lives(x));
  tell(1, 1, 0b0001);
  EXPECT_EQ(validator.path(), x);
  EXPECT_EQ(of_other_paths().size(), 4u);
}

TEST_F(NumberedPaths, WhereThereAreNoNumbersOneChangesNothing) {
  validator.reset(Addresses{y}, now);
  packet(x);
  for (const auto& challenge : poll()) validator.on_response(challenge.value, now, 1);
  tell(1, 1, 0b0001);
  EXPECT_FALSE(validator.told());
  EXPECT_EQ(living(), Addresses{y});
}

TEST(PathsProperty, NothingUnprovenIsBelievedOrReflectedTo) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    PathValidator validator{counting_values()};
    std::uint64_t now = kS;
    validator.reset(Addresses{address(0)}, now);
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
          accounts[port].in += size + 28;
          validator.on_packet(address(port), size, now, (1 + random() % 500) * kMs);
          break;
        }
        case 1: {
          const auto size = 38 + random() % 1162;
          validator.for_each_other(size, [&](const SockAddr& each) { accounts[each.port()].out += size + 28; });
          break;
        }
        case 2:
          if (open.empty()) break;
          if (const auto& challenge = open[random() % open.size()]; challenge.to.port() % 3 == 0) {  // others are dead
            accounts[challenge.to.port()].proven = true;
            validator.on_response(challenge.value, now);
          }
          break;
        default: now += random() % (400 * kMs);
      }
      while (const auto challenge = validator.poll(now)) {
        accounts[challenge->to.port()].out += kChallenge;
        open.push_back(*challenge);
      }
      ASSERT_GT(validator.deadline(), now);
      std::size_t living = 0;
      validator.for_each_living([&](const SockAddr& each) {
        ++living;
        ASSERT_TRUE(accounts[each.port()].proven) << seed << " " << step;
      });
      ASSERT_TRUE(living >= 1 && living <= kPathsLiving);
      for (const auto& [who, account] : accounts)
        ASSERT_TRUE(account.proven || account.out <= 3 * account.in) << seed << " " << step << " " << who;
    }
  }
}

}  // namespace
}  // namespace pqcmav
