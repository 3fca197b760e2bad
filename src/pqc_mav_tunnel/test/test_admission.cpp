// SPDX-License-Identifier: Apache-2.0
#include "control/admission.hpp"

#include <gtest/gtest.h>

#include "handshake/handshake_messages.hpp"
#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kStart = 5'000 * kS;

struct Facts {
  std::string drone = "uav1", source = "10.0.0.1";
  bool proven = false, answered = true, heavy = false;
  operator AttemptFacts() const { return {drone, source, proven, answered, heavy}; }
};
using Verdict = Admission::Verdict;
bool admits(Admission& admission, const AttemptFacts& newcomer, const Census& running, std::uint64_t now = kStart) {
  return admission.judge(newcomer, false, running, now) == Verdict::begin;
}
/// Of one that did not answer. It may begin, or is asked to answer; it is never told that the gcs is busy.
bool asked(Admission& admission, const Census& running, bool costly_suite = false, std::uint64_t now = kStart,
           const Facts& newcomer = {.answered = false}) {
  const auto verdict = admission.judge(newcomer, costly_suite, running, now);
  EXPECT_NE(verdict, Verdict::busy);
  return verdict == Verdict::retry;
}

std::string name(const char* prefix, int i) { return prefix + std::to_string(i); }

/// So many attempts of drones and sources of their own.
std::vector<AttemptFacts> others(int count, bool answered = true, bool proven = false, bool heavy = false) {
  std::vector<AttemptFacts> out;
  for (int i = 0; i < count; ++i) out.push_back({name("other", i), name("10.1.0.", i), proven, answered, heavy});
  return out;
}

// Section 6: who must answer before anything is kept.

TEST(Retry, AFirstHelloOnAnIdleStationIsAnswered) {
  Admission admission({});
  EXPECT_FALSE(asked(admission, {}));
}

TEST(Retry, EightWhoDidNotAnswerAreEnough) {
  Admission admission({});
  EXPECT_FALSE(asked(admission, others(7, false)));
  EXPECT_TRUE(asked(admission, others(8, false)));
  EXPECT_FALSE(asked(admission, others(15, true))) << "those who answered do not count";
}

TEST(Retry, OneOfADroneRunsWithoutAnAnswerWhateverItsProof) {
  for (const bool proven : {false, true}) {
    Admission admission({});
    const std::vector<AttemptFacts> unanswered{Facts{.source = "10.0.0.2", .proven = !proven, .answered = false}};
    const Facts newcomer{.proven = proven, .answered = false};
    EXPECT_TRUE(asked(admission, unanswered, false, kStart, newcomer)) << "from any address";
    EXPECT_FALSE(asked(admission, {Facts{.proven = proven}}, false, kStart, newcomer));
    EXPECT_FALSE(asked(admission, unanswered, false, kStart, {.drone = "uav2", .answered = false}));
    EXPECT_TRUE(admits(admission, Facts{.proven = proven}, unanswered)) << "who answers is not held up by it";
  }
}

TEST(Retry, ACostlySuiteIsAsked) {
  Admission admission({});
  EXPECT_TRUE(asked(admission, {}, true));
  EXPECT_TRUE(asked(admission, {}, false, kStart, {.answered = false, .heavy = true}));
}

TEST(Retry, MoreThan200GatesOf5000DatagramsInASecondAsk) {
  for (const bool gates : {true, false}) {
    Admission admission({});
    const int limit = gates ? 200 : 5000;
    const auto add = [&](std::uint64_t now) { gates ? admission.on_gate(now) : admission.on_datagram(now); };
    for (int i = 0; i < limit; ++i) add(kStart + static_cast<std::uint64_t>(i) * 100'000);
    EXPECT_FALSE(asked(admission, {}));
    add(kStart + 999'000'000 - kS / 2);
    EXPECT_TRUE(asked(admission, {}));
    add(kStart + 2 * kS);
    EXPECT_FALSE(asked(admission, {})) << "a second later it is over";
  }
}

TEST(Retry, ALoadJustBelowTheLimitNeverAsks) {
  Admission admission({});
  for (std::uint64_t i = 0; i < 2000; ++i) {
    admission.on_gate(kStart + i * kS / 180);
    ASSERT_FALSE(asked(admission, {}, false, kStart + i * kS / 4)) << i;
  }
}

TEST(Retry, WhoAnsweredIsNotAskedWhateverTheLoad) {
  Admission admission({});
  for (int i = 0; i < 6000; ++i) {
    admission.on_gate(kStart);
    admission.on_datagram(kStart);
  }
  auto running = others(20, false);
  running.push_back(Facts{.answered = false});
  EXPECT_TRUE(asked(admission, running));
  EXPECT_TRUE(asked(admission, running, false, kStart, {.proven = true, .answered = false})) << "a proof may be a copy";
  EXPECT_EQ(admission.judge(Facts{}, true, running, kStart), Verdict::begin);
}

TEST(Retry, WhereThePlacesOfAllAreTakenWhoDidNotAnswerIsAsked) {
  Admission admission({.max_handshakes = 2, .drones = 1});
  EXPECT_FALSE(asked(admission, others(1)));
  EXPECT_TRUE(asked(admission, others(2)));
  EXPECT_FALSE(asked(admission, others(2), false, kStart, {.proven = true, .answered = false}));
  EXPECT_TRUE(asked(admission, others(3), false, kStart, {.proven = true, .answered = false}));
}

TEST(Retry, RecordingsUseUpNoTokenOfWhoAnswers) {
  Admission admission({});
  int count = 0;
  while (!asked(admission, {})) ++count;
  EXPECT_EQ(count, 20);
  EXPECT_TRUE(admits(admission, Facts{}, {}));
}

TEST(Admission, OnlyClassicMcElieceIsHeavy) {
  for (const auto& suite : all_suites())
    EXPECT_EQ(longest_server_hello(suite, true) > kHeavyServerHello, suite.id.find("mceliece") != std::string::npos)
        << suite.id;
}

TEST(Retry, CostlyIsALongAnswerOrASlowSignature) {
  for (const auto& suite : all_suites()) {
    const bool large = longest_server_hello(suite, true) > 16 * 1024;
    EXPECT_EQ(costly(suite, 0), large) << suite.id;
    EXPECT_EQ(costly(suite, 20'000'000), large) << suite.id;
    EXPECT_TRUE(costly(suite, 20'000'001)) << suite.id;
  }
  EXPECT_FALSE(costly(require_suite(kDefaultSuite), 0));
}

TEST(Retry, TheLongestAnswerIsThatOfTheMessagesLimits) {
  const auto& suite = require_suite(kDefaultSuite);
  EXPECT_EQ(longest_server_hello(suite, true), 4587u);
  EXPECT_EQ(longest_server_hello(suite, false), 4587u - 32);
}

// Section 13: how many run at once, and how many a second.

TEST(Admission, FourPerDroneWithoutAProof) {
  Admission admission({});
  std::vector<AttemptFacts> running{Facts{.source = "a"}, Facts{.source = "b"}, Facts{.source = "b"}};
  EXPECT_TRUE(admits(admission, Facts{.source = "c"}, running, kStart));
  running.push_back(Facts{.source = "c"});
  EXPECT_FALSE(admits(admission, Facts{.source = "d"}, running, kStart));
  EXPECT_TRUE(admits(admission, Facts{.drone = "uav2", .source = "d"}, running, kStart));
}

/// Neither by the places that he holds, nor by how often he begins.
TEST(Admission, AThiefOfThePskAtOneAddressLeavesTheDroneItsShare) {
  Admission admission({.per_drone_s = 5});
  const Facts thief{.source = "thief"}, home{.source = "home"};
  EXPECT_TRUE(admits(admission, home, {thief, thief}));
  EXPECT_FALSE(admits(admission, thief, {thief, thief}));
  for (std::uint64_t ms = 0; ms < 10'000; ++ms) {
    const auto now = kStart + kS + ms * kS / 1000;
    (void)admits(admission, thief, {}, now);
    if (ms % 500 == 0) {
      EXPECT_TRUE(admits(admission, home, {}, now)) << ms;
    }
  }
}

TEST(Admission, SixPerDroneWithAProof) {
  Admission admission({});
  std::vector<AttemptFacts> running;
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(admits(admission, Facts{.source = name("s", i), .proven = true}, running, kStart)) << i;
    running.push_back(Facts{.source = name("s", i), .proven = true});
  }
  EXPECT_FALSE(admits(admission, Facts{.source = "s6", .proven = true}, running, kStart));
}

TEST(Admission, ThievesOfThePskTakeNoPlaceThatAProofReserves) {
  Admission admission({});
  std::vector<AttemptFacts> running;
  for (const auto* thief : {"thief1", "thief1", "thief2", "thief2"}) running.push_back(Facts{.source = thief});
  EXPECT_FALSE(admits(admission, Facts{.source = "thief3"}, running, kStart));
  EXPECT_TRUE(admits(admission, Facts{.source = "home", .proven = true}, running, kStart));
  running.push_back(Facts{.source = "home", .proven = true});
  EXPECT_TRUE(admits(admission, Facts{.source = "away", .proven = true}, running, kStart));
}

TEST(Admission, TheDronesOwnAttemptsDoNotKeepOutItsProoflessOne) {
  Admission admission({});
  const std::vector<AttemptFacts> running{Facts{.source = "a", .proven = true}, Facts{.source = "b", .proven = true}};
  EXPECT_TRUE(admits(admission, Facts{.source = "c"}, running, kStart));
}

TEST(Admission, TwoPerDroneAndSource) {
  Admission admission({});
  const std::vector<AttemptFacts> running{Facts{.proven = true}, Facts{.proven = true}};
  EXPECT_FALSE(admits(admission, Facts{.proven = true}, running, kStart));
  EXPECT_FALSE(admits(admission, Facts{}, running, kStart));
  EXPECT_TRUE(admits(admission, Facts{.source = "10.0.0.2", .proven = true}, running, kStart));
  EXPECT_TRUE(admits(admission, Facts{.drone = "uav2"}, running, kStart)) << "others behind the same address go on";
  EXPECT_TRUE(admits(admission, Facts{.proven = true}, {Facts{}, Facts{}})) << "a thief of the PSK has no proof";
}

/// A thief who copied a drone's PSK, and perhaps sits behind its address, keeps it from no rekey.
TEST(Admission, ARekeyInsideTheSessionHasNoSource) {
  Admission admission({});
  const Facts inside{.source = "", .proven = true};
  EXPECT_TRUE(admits(admission, inside, {Facts{}, Facts{}}, kStart));
  EXPECT_TRUE(admits(admission, Facts{.proven = true}, {inside, Facts{}}, kStart)) << "nor does it take one's place";
  EXPECT_TRUE(admits(admission, inside, {Facts{}, Facts{}, inside, inside, inside}, kStart));
  EXPECT_FALSE(admits(admission, inside, {Facts{}, Facts{}, inside, inside, inside, inside}, kStart))
      << "six of a drone, as proven";
}

TEST(Admission, StrangersBehindTheSameAddressCostADroneNothing) {
  Admission admission({.max_handshakes = 1000});
  std::vector<AttemptFacts> running;
  for (int i = 0; i < 500; ++i) running.push_back(Facts{.drone = name("uav", i + 2)});
  EXPECT_TRUE(admits(admission, Facts{}, running, kStart));
}

TEST(Admission, SixteenInAllAndOneMorePerDroneWithAProof) {
  Admission admission({.max_handshakes = 16, .drones = 3});
  auto running = others(15);
  EXPECT_TRUE(admits(admission, Facts{}, running, kStart));
  running = others(16);
  EXPECT_FALSE(admits(admission, Facts{}, running, kStart));
  for (int i = 0; i < 3; ++i) {
    const Facts proven{.drone = name("proven", i), .source = name("p", i), .proven = true};
    EXPECT_TRUE(admits(admission, proven, running, kStart)) << i;
    running.push_back(proven);
  }
  EXPECT_FALSE(admits(admission, Facts{.proven = true}, running, kStart)) << "never more than that";
  running.erase(running.begin());
  EXPECT_TRUE(admits(admission, Facts{}, running, kStart)) << "a place without a proof came free";
}

TEST(Admission, FourOfClassicMcEliecesSizeAtOnce) {
  Admission admission({});
  const auto running = others(3, true, false, true);
  EXPECT_TRUE(admits(admission, Facts{.heavy = true}, running, kStart));
  const auto full = others(4, true, false, true);
  EXPECT_FALSE(admits(admission, Facts{.heavy = true}, full, kStart));
  EXPECT_FALSE(admits(admission, Facts{.proven = true, .heavy = true}, full, kStart)) << "memory has no exceptions";
  EXPECT_TRUE(admits(admission, Facts{}, full, kStart));
}

TEST(Admission, FiveASecondAfterABurstOfTwenty) {
  Admission admission({.per_drone_s = 5});
  const auto taken = [&](bool proven, std::uint64_t now) {
    int count = 0;
    while (admits(admission, Facts{.proven = proven}, {}, now)) ++count;
    return count;
  };
  EXPECT_EQ(taken(false, kStart), 20);
  EXPECT_EQ(taken(true, kStart), 20) << "the same again with a proof";
  EXPECT_EQ(taken(false, kStart + kS), 5);
  EXPECT_EQ(taken(true, kStart + kS / 5), 1);
  EXPECT_EQ(taken(false, kStart + 1000 * kS), 20);
  EXPECT_TRUE(admits(admission, Facts{.drone = "uav2"}, {}, kStart + 1000 * kS)) << "each drone has its own";
}

TEST(Admission, WhatIsRefusedForAnotherReasonCostsNoToken) {
  Admission admission({});
  const std::vector<AttemptFacts> full{Facts{.source = "a"}, Facts{.source = "a"}, Facts{.source = "b"},
                                       Facts{.source = "b"}};
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(admits(admission, Facts{}, full, kStart));
  int count = 0;
  while (admits(admission, Facts{}, {}, kStart)) ++count;
  EXPECT_EQ(count, 20);
}

TEST(Admission, ARateOfZeroIsABurstOfFourAndNoMore) {
  Admission admission({.per_drone_s = 0});
  int count = 0;
  while (admits(admission, Facts{}, {}, kStart)) ++count;
  EXPECT_EQ(count, 4);
  EXPECT_FALSE(admits(admission, Facts{}, {}, kStart + 1000 * kS));
}

AttemptId attempt(int i) {
  AttemptId out{};
  store_be(out.data(), static_cast<std::uint32_t>(i));
  return out;
}

TEST(Admission, CountsWhatASourceBeganAndDidNotFinish) {
  Admission admission({});
  const auto count = [&](const char* source, std::uint64_t now) { return admission.unfinished("uav1", source, now); };
  EXPECT_TRUE(admits(admission, Facts{.source = "thief"}, {}));
  EXPECT_TRUE(admits(admission, Facts{.source = "thief"}, {}, kStart + kS));
  EXPECT_TRUE(admits(admission, Facts{.source = "home", .proven = true}, {}));
  EXPECT_FALSE(asked(admission, {}));
  admission.begun("uav1", "later", kStart + kS);
  EXPECT_EQ(count("thief", kStart + kS), 2u);
  EXPECT_EQ(count("home", kStart + kS), 0u) << "with a proof it does not matter";
  EXPECT_EQ(count("10.0.0.1", kStart + kS), 0u) << "nobody answered there yet";
  EXPECT_EQ(count("later", kStart + kS), 1u);
  EXPECT_EQ(count("thief", kStart + 61 * kS), 1u) << "of the last minute";
  EXPECT_EQ(admission.unfinished("uav2", "thief", kStart + kS), 0u);
  admission.completed("uav1");
  EXPECT_EQ(count("thief", kStart + kS), 0u);
}

TEST(Admission, ManyAttemptsOfOtherSourcesTakeNoM2OfOneThatBeganNone) {
  Admission admission({.per_drone_s = 5});
  int count = 0;
  for (int i = 0; i < 1000; ++i) count += admits(admission, Facts{.source = name("thief", i % 6)}, {});
  EXPECT_EQ(count, 6 + 40) << "the first of each, and the burst of all";
  EXPECT_TRUE(admits(admission, Facts{}, {}));
}

TEST(Admission, AProofIsGoodForTheAttemptThatShowedItFirst) {
  Admission admission({});
  const auto mac = [](int i) {
    ByteArray<16> out{};
    store_be(out.data(), static_cast<std::uint32_t>(i));
    return out;
  };
  EXPECT_FALSE(admission.is_copied("uav1", mac(0), attempt(1)));
  for (int i = 0; i < 256; ++i) admission.used_proof("uav1", mac(i), attempt(i));
  EXPECT_FALSE(admission.is_copied("uav1", mac(7), attempt(7))) << "the same M1 comes several times";
  EXPECT_TRUE(admission.is_copied("uav1", mac(7), attempt(8)));
  EXPECT_TRUE(admission.is_copied("uav1", mac(0), attempt(256)));
  EXPECT_FALSE(admission.is_copied("uav1", mac(256), attempt(7)));
  EXPECT_FALSE(admission.is_copied("uav2", mac(7), attempt(8)));
  admission.used_proof("uav1", mac(256), attempt(256));
  EXPECT_FALSE(admission.is_copied("uav1", mac(0), attempt(256))) << "of each drone the last 256";
  admission.forget("uav1");
  EXPECT_FALSE(admission.is_copied("uav1", mac(7), attempt(8)));
}

TEST(Admission, TheLast256EndedAttemptsOfEachDroneAreKnown) {
  Admission admission({});
  for (int i = 0; i < 256; ++i) admission.ended("uav1", attempt(i));
  for (int i = 0; i < 256; ++i) EXPECT_TRUE(admission.has_ended("uav1", attempt(i))) << i;
  EXPECT_FALSE(admission.has_ended("uav2", attempt(0))) << "another drone may copy the eight bytes";
  admission.ended("uav2", attempt(0));
  admission.ended("uav1", attempt(256));
  EXPECT_FALSE(admission.has_ended("uav1", attempt(0)));
  EXPECT_TRUE(admission.has_ended("uav1", attempt(1)));
  EXPECT_TRUE(admission.has_ended("uav1", attempt(256)));
  EXPECT_TRUE(admission.has_ended("uav2", attempt(0)));
}

}  // namespace
}  // namespace pqcmav
