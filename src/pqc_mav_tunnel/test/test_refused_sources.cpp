// SPDX-License-Identifier: Apache-2.0
#include "net/refused_sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "addresses.hpp"
#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

using test::at;

std::optional<RefusedShare> shown(RefusedSources& sources, std::uint64_t now = kS) {
  sources.tick(now);
  const RefusedSources::Summary all[] = {sources.shown()};
  return RefusedSources::largest(all);
}

TEST(RefusedSources, NothingRefusedIsNothing) {
  RefusedSources sources;
  EXPECT_FALSE(shown(sources));
}

TEST(RefusedSources, HostsOfANetworkAreOne) {
  RefusedSources sources;
  for (int host = 1; host <= 40; ++host) sources.add(at("203.0.113." + std::to_string(host), 1000 + host));
  for (int host = 1; host <= 60; ++host) sources.add(at("198.51." + std::to_string(host % 4) + ".9"));
  const auto most = shown(sources);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->network, "203.0.113.0/24");
  EXPECT_DOUBLE_EQ(most->share, 0.4);
}

TEST(RefusedSources, AnIpv4AddressIsTheSameInASocketForBoth) {
  RefusedSources sources;
  sources.add(at("203.0.113.1"));
  sources.add(at("::ffff:203.0.113.2"));
  const auto most = shown(sources);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->network, "203.0.113.0/24");
  EXPECT_DOUBLE_EQ(most->share, 1.0);
}

TEST(RefusedSources, ASiteOfIpv6IsOne) {
  RefusedSources sources;
  sources.add(at("2001:db8:1:2::7"));
  sources.add(at("2001:db8:1:3::8"));
  sources.add(at("2001:db8:2::8"));
  const auto most = shown(sources);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->network, "2001:db8:1::/48");
  EXPECT_NEAR(most->share, 2.0 / 3, 1e-9);
}

/// Forged addresses of everywhere push no real one out, and never make its share larger than it is.
TEST(RefusedSources, ALargeShareIsFoundAmongRandomAddresses) {
  RefusedSources sources;
  std::mt19937 generator(7);
  std::uniform_int_distribution<int> byte(0, 255);
  const auto anywhere = [&] {
    return at(std::to_string(1 + byte(generator) % 200) + "." + std::to_string(byte(generator)) + "." +
              std::to_string(byte(generator)) + ".1");
  };
  int ours = 0;
  constexpr int kAll = 5000;
  for (int i = 0; i < kAll; ++i) {
    const bool one = byte(generator) < 77;  // three in ten
    ours += one ? 1 : 0;
    sources.add(one ? at("203.0.113.8") : anywhere());
  }
  const auto most = shown(sources);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->network, "203.0.113.0/24");
  const auto share = static_cast<double>(ours) / kAll;
  EXPECT_LE(most->share, share);
  EXPECT_GE(most->share, share - 1.0 / (RefusedSources::kNetworks + 1));
}

TEST(RefusedSources, WhereAllAreDifferentNoneStandsOut) {
  RefusedSources sources;
  for (int i = 0; i < 4000; ++i)
    sources.add(at("10." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ".1"));
  EXPECT_FALSE(shown(sources));
}

TEST(RefusedSources, WhatIsOlderWeighsLessAndIsForgotten) {
  RefusedSources sources;
  for (int i = 0; i < 100; ++i) sources.add(at("198.51.100.1"));
  for (std::uint64_t now = kS; now < 6 * kS; now += kS / 10) sources.tick(now);
  for (int i = 0; i < 50; ++i) sources.add(at("203.0.113.1"));
  const auto most = shown(sources, 6 * kS);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->network, "203.0.113.0/24");
  for (std::uint64_t now = 7 * kS; now < 60 * kS; now += kS / 10) sources.tick(now);
  EXPECT_EQ(sources.shown().sum, 0);
}

TEST(RefusedSources, ADatagramLosesAQuarterEachHalfSecondAndIsForgottenAfterFour) {
  RefusedSources sources;
  sources.add(at("198.51.100.1"));
  const auto alone = shown(sources, 0);
  ASSERT_TRUE(alone) << "a single one has a share, too";
  EXPECT_DOUBLE_EQ(alone->share, 1.0);
  double left = 0.75;
  for (std::uint64_t turn = 2; turn < 9; ++turn) {
    sources.tick(turn * kS / 2);
    sources.tick(turn * kS / 2 + kS / 2 - 1);
    EXPECT_DOUBLE_EQ(sources.shown().sum, left);
    left *= 0.75;
  }
  sources.tick(5 * kS);
  EXPECT_EQ(sources.shown().sum, 0);
}

std::vector<double> weights(RefusedSources& sources, std::uint64_t now) {
  sources.tick(now);
  std::vector<double> found;
  for (const auto& entry : sources.shown().entries) found.push_back(entry.weight);
  std::ranges::sort(found, std::greater());
  return found;
}

/// Misra and Gries: where all places are taken, a new network and the old ones cancel out.
TEST(RefusedSources, ANewNetworkAndTheOldOnesCancelOut) {
  RefusedSources sources;
  const auto add = [&](int network) { sources.add(at("10.0." + std::to_string(network) + ".1")); };
  for (int network = 1; network <= 16; ++network) add(network);
  add(1);
  std::vector<double> expected(16, 1.0);
  expected[0] = 2;
  EXPECT_EQ(weights(sources, kS), expected);  // all are 3/4 from now on
  add(17);
  expected.assign(16, 0.0);
  expected[0] = 0.75;
  expected[1] = 0.25;
  EXPECT_EQ(weights(sources, 2 * kS), expected) << "what is left of the new one has the place of one that is gone";
  EXPECT_DOUBLE_EQ(sources.shown().sum, 17 * 0.75 + 1) << "what cancelled out came nevertheless";

  RefusedSources full;
  for (int network = 1; network <= 16; ++network)
    for (int i = 0; i < 2; ++i) full.add(at("10.0." + std::to_string(network) + ".1"));
  full.add(at("10.0.17.1"));
  EXPECT_EQ(weights(full, kS), std::vector<double>(16, 1.0)) << "nothing is left of the new one";
}

TEST(RefusedSources, SeveralDataThreadsAreAddedUp) {
  RefusedSources one, two;
  for (int i = 0; i < 3; ++i) one.add(at("198.51.100.1"));
  for (int i = 0; i < 2; ++i) one.add(at("203.0.113.1"));
  for (int i = 0; i < 5; ++i) two.add(at("203.0.113.2"));
  one.tick(kS);
  two.tick(kS);
  const RefusedSources::Summary all[] = {one.shown(), two.shown()};
  const auto most = RefusedSources::largest(all);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->network, "203.0.113.0/24");
  EXPECT_DOUBLE_EQ(most->share, 0.7);
}

}  // namespace
}  // namespace pqcmav
