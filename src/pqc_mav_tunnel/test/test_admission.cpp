// SPDX-License-Identifier: Apache-2.0
#include "control/admission.hpp"

#include <gtest/gtest.h>

#include "handshake/handshake_messages.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kStart = 5'000 * kSecond;

struct Facts {
  std::string drone = "uav1", source = "10.0.0.1";
  bool proven = false, validated = false, heavy = false;
  operator AttemptFacts() const { return {drone, source, proven, validated, heavy}; }
};

std::string name(const char* prefix, int i) { return prefix + std::to_string(i); }

/// So many attempts of drones and sources of their own.
std::vector<AttemptFacts> others(int count, bool validated = false, bool proven = false, bool heavy = false) {
  std::vector<AttemptFacts> out;
  for (int i = 0; i < count; ++i) out.push_back({name("other", i), name("10.1.0.", i), proven, validated, heavy});
  return out;
}

// Section 6: when an address is to be proven first.

TEST(Retry, AFirstHelloOnAnIdleStationIsAnswered) { EXPECT_FALSE(Admission({}).wants_retry(Facts{}, false, {})); }

TEST(Retry, EightUnvalidatedAttemptsAskTheNinth) {
  const Admission admission({});
  EXPECT_FALSE(admission.wants_retry(Facts{}, false, others(7)));
  EXPECT_TRUE(admission.wants_retry(Facts{}, false, others(8)));
  EXPECT_FALSE(admission.wants_retry(Facts{}, false, others(100, true))) << "validated ones do not count";
}

TEST(Retry, ASecondAttemptOfTheSameDroneIsAsked) {
  const Admission admission({});
  const std::vector<AttemptFacts> unvalidated{Facts{.source = "10.0.0.2"}}, validated{Facts{.validated = true}};
  EXPECT_TRUE(admission.wants_retry(Facts{}, false, unvalidated)) << "from any address";
  EXPECT_FALSE(admission.wants_retry(Facts{}, false, validated));
  EXPECT_FALSE(admission.wants_retry(Facts{.drone = "uav2"}, false, unvalidated));
}

TEST(Retry, ACostlySuiteIsAsked) { EXPECT_TRUE(Admission({}).wants_retry(Facts{}, true, {})); }

TEST(Retry, MoreThan200GatesOf5000DatagramsInASecondAsk) {
  for (const bool gates : {true, false}) {
    Admission admission({});
    const int limit = gates ? 200 : 5000;
    const auto add = [&](std::uint64_t now) { gates ? admission.on_gate(now) : admission.on_datagram(now); };
    for (int i = 0; i < limit; ++i) add(kStart + static_cast<std::uint64_t>(i) * 100'000);
    EXPECT_FALSE(admission.wants_retry(Facts{}, false, {}));
    add(kStart + 999'000'000 - kSecond / 2);
    EXPECT_TRUE(admission.wants_retry(Facts{}, false, {}));
    add(kStart + 2 * kSecond);
    EXPECT_FALSE(admission.wants_retry(Facts{}, false, {})) << "a second later it is over";
  }
}

TEST(Retry, ALoadJustBelowTheLimitNeverAsks) {
  Admission admission({});
  for (std::uint64_t i = 0; i < 2000; ++i) {
    admission.on_gate(kStart + i * kSecond / 180);
    ASSERT_FALSE(admission.wants_retry(Facts{}, false, {})) << i;
  }
}

TEST(Retry, WhoHasShownItsAddressOrItselfIsNotAskedWhateverTheLoad) {
  Admission admission({});
  for (int i = 0; i < 6000; ++i) {
    admission.on_gate(kStart);
    admission.on_datagram(kStart);
  }
  auto running = others(20);
  running.push_back(Facts{});
  EXPECT_TRUE(admission.wants_retry(Facts{}, true, running));
  EXPECT_FALSE(admission.wants_retry(Facts{.validated = true}, true, running));
  EXPECT_FALSE(admission.wants_retry(Facts{.proven = true}, true, running));
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

TEST(Admission, TwoPerDroneWithoutAProof) {
  Admission admission({});
  std::vector<AttemptFacts> running{Facts{.source = "a"}};
  EXPECT_TRUE(admission.admit(Facts{.source = "b"}, running, kStart));
  running.push_back(Facts{.source = "b"});
  EXPECT_FALSE(admission.admit(Facts{.source = "c"}, running, kStart));
  EXPECT_FALSE(admission.admit(Facts{.source = "c", .validated = true}, running, kStart)) << "a cookie is no proof";
  EXPECT_TRUE(admission.admit(Facts{.drone = "uav2", .source = "c"}, running, kStart));
}

TEST(Admission, FourPerDroneWithAProof) {
  Admission admission({});
  std::vector<AttemptFacts> running;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(admission.admit(Facts{.source = name("s", i), .proven = true}, running, kStart)) << i;
    running.push_back(Facts{.source = name("s", i), .proven = true});
  }
  EXPECT_FALSE(admission.admit(Facts{.source = "s4", .proven = true}, running, kStart));
}

TEST(Admission, ThievesOfThePskTakeNoPlaceThatAProofReserves) {
  Admission admission({});
  std::vector<AttemptFacts> running{Facts{.source = "thief1"}, Facts{.source = "thief2"}};
  EXPECT_FALSE(admission.admit(Facts{.source = "thief3"}, running, kStart));
  EXPECT_TRUE(admission.admit(Facts{.source = "home", .proven = true}, running, kStart));
  running.push_back(Facts{.source = "home", .proven = true});
  EXPECT_TRUE(admission.admit(Facts{.source = "away", .proven = true}, running, kStart));
}

TEST(Admission, TheDronesOwnAttemptsDoNotKeepOutItsProoflessOne) {
  Admission admission({});
  const std::vector<AttemptFacts> running{Facts{.source = "a", .proven = true}, Facts{.source = "b", .proven = true}};
  EXPECT_TRUE(admission.admit(Facts{.source = "c"}, running, kStart));
}

TEST(Admission, TwoPerDroneAndSource) {
  Admission admission({});
  const std::vector<AttemptFacts> running{Facts{.proven = true}, Facts{.proven = true}};
  EXPECT_FALSE(admission.admit(Facts{.proven = true}, running, kStart));
  EXPECT_FALSE(admission.admit(Facts{}, running, kStart));
  EXPECT_TRUE(admission.admit(Facts{.source = "10.0.0.2", .proven = true}, running, kStart));
  EXPECT_TRUE(admission.admit(Facts{.drone = "uav2"}, running, kStart)) << "others behind the same address go on";
}

/// Who copied a drone's PSK, and perhaps sits behind its address, keeps it from no rekey.
TEST(Admission, ARekeyInsideTheSessionHasNoSource) {
  Admission admission({});
  const Facts inside{.source = "", .proven = true, .validated = true};
  EXPECT_TRUE(admission.admit(inside, {Facts{}, Facts{}}, kStart));
  EXPECT_TRUE(admission.admit(Facts{.proven = true}, {inside, Facts{}}, kStart)) << "nor does it take one's place";
  EXPECT_TRUE(admission.admit(inside, {Facts{}, Facts{}, inside}, kStart));
  EXPECT_FALSE(admission.admit(inside, {Facts{}, Facts{}, inside, inside}, kStart)) << "four of a drone, as proven";
}

TEST(Admission, StrangersBehindTheSameAddressCostADroneNothing) {
  Admission admission({.max_handshakes = 1000});
  std::vector<AttemptFacts> running;
  for (int i = 0; i < 500; ++i) running.push_back(Facts{.drone = name("uav", i + 2)});
  EXPECT_TRUE(admission.admit(Facts{}, running, kStart));
}

TEST(Admission, SixteenInAllAndOneMorePerDroneWithAProof) {
  Admission admission({.max_handshakes = 16, .drones = 3});
  auto running = others(15);
  EXPECT_TRUE(admission.admit(Facts{}, running, kStart));
  running = others(16);
  EXPECT_FALSE(admission.admit(Facts{}, running, kStart));
  for (int i = 0; i < 3; ++i) {
    const Facts proven{.drone = name("proven", i), .source = name("p", i), .proven = true};
    EXPECT_TRUE(admission.admit(proven, running, kStart)) << i;
    running.push_back(proven);
  }
  EXPECT_FALSE(admission.admit(Facts{.proven = true}, running, kStart)) << "never more than that";
  running.erase(running.begin());
  EXPECT_TRUE(admission.admit(Facts{}, running, kStart)) << "a place without a proof came free";
}

TEST(Admission, FourOfClassicMcEliecesSizeAtOnce) {
  Admission admission({});
  const auto running = others(3, false, false, true);
  EXPECT_TRUE(admission.admit(Facts{.heavy = true}, running, kStart));
  const auto full = others(4, false, false, true);
  EXPECT_FALSE(admission.admit(Facts{.heavy = true}, full, kStart));
  EXPECT_FALSE(admission.admit(Facts{.proven = true, .heavy = true}, full, kStart)) << "memory has no exceptions";
  EXPECT_TRUE(admission.admit(Facts{}, full, kStart));
}

TEST(Admission, FiveASecondAfterABurstOfTwenty) {
  Admission admission({.per_drone_s = 5});
  const auto taken = [&](bool proven, std::uint64_t now) {
    int count = 0;
    while (admission.admit(Facts{.proven = proven}, {}, now)) ++count;
    return count;
  };
  EXPECT_EQ(taken(false, kStart), 20);
  EXPECT_EQ(taken(true, kStart), 20) << "the same again with a proof";
  EXPECT_EQ(taken(false, kStart + kSecond), 5);
  EXPECT_EQ(taken(true, kStart + kSecond / 5), 1);
  EXPECT_EQ(taken(false, kStart + 1000 * kSecond), 20);
  EXPECT_TRUE(admission.admit(Facts{.drone = "uav2"}, {}, kStart + 1000 * kSecond)) << "each drone has its own";
}

TEST(Admission, WhatIsRefusedForAnotherReasonCostsNoToken) {
  Admission admission({});
  const std::vector<AttemptFacts> full{Facts{.source = "a"}, Facts{.source = "b"}};
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(admission.admit(Facts{}, full, kStart));
  int count = 0;
  while (admission.admit(Facts{}, {}, kStart)) ++count;
  EXPECT_EQ(count, 20);
}

TEST(Admission, ARateOfZeroIsABurstOfFourAndNoMore) {
  Admission admission({.per_drone_s = 0});
  int count = 0;
  while (admission.admit(Facts{}, {}, kStart)) ++count;
  EXPECT_EQ(count, 4);
  EXPECT_FALSE(admission.admit(Facts{}, {}, kStart + 1000 * kSecond));
}

AttemptId attempt(int i) {
  AttemptId out{};
  store_be(out.data(), static_cast<std::uint32_t>(i));
  return out;
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
