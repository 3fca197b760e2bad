// SPDX-License-Identifier: Apache-2.0
// Rekeys of the default suite on a simulated link of 64 kbit/s with a queue of two seconds, which the data plane keeps
// busy. Times are simulated and seeds fixed.
#include <gtest/gtest.h>

#include "transport_world.hpp"

namespace pqcmav::test {
namespace {

/// A session whose applications offer so much each way.
WorldTerms thin(double kbit, std::uint64_t seed) {
  WorldTerms terms;
  terms.in_session = true;
  terms.seed = 700'000 + seed;
  for (auto* way : {&terms.up, &terms.down}) {
    way->bits_per_second = 64e3;
    way->queue = 16'000;
  }
  terms.busy.emplace().bits_per_second = kbit * 1000;
  // What full queues drop is loss to the session as well, and their round trips say nothing of the link.
  if (kbit > 64) terms.known_to_drone.lossy = terms.known_to_gcs.lossy = true;
  return terms;
}

TEST(RekeyYield, EveryRekeyOnAnOverloadedLinkIsDoneInTime) {
  for (const double kbit : {80.0, 192.0}) {
    double worst = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      TransportWorld world(thin(kbit, seed));
      ASSERT_TRUE(world.run(60'000 * kMs)) << kbit << " " << seed;
      ASSERT_EQ(world.complaint(), "") << kbit << " " << seed;
      EXPECT_GT(world.held_back(), 0U);
      worst = std::max(worst, world.seconds());
    }
    EXPECT_LE(worst, 15.0) << kbit;
    RecordProperty("worst_" + std::to_string(static_cast<int>(kbit)), std::to_string(worst));
  }
}

TEST(RekeyYield, NoneIsDoneIfNobodyYields) {
  for (const double kbit : {80.0, 192.0}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      auto terms = thin(kbit, seed);
      terms.busy->yields = false;
      TransportWorld world(std::move(terms));
      EXPECT_FALSE(world.run(60'000 * kMs)) << kbit << " " << seed;
    }
  }
}

TEST(RekeyYield, ALinkWithRoomIsNotTouched) {
  for (const double kbit : {0.0, 32.0}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      auto terms = thin(kbit, seed);
      learn(terms);
      TransportWorld world(std::move(terms));
      ASSERT_TRUE(world.run(60'000 * kMs)) << kbit << " " << seed;
      EXPECT_EQ(world.held_back(), 0U) << kbit << " " << seed;
      EXPECT_LE(world.seconds(), 2.0) << kbit << " " << seed;
    }
  }
}

}  // namespace
}  // namespace pqcmav::test
