// SPDX-License-Identifier: Apache-2.0
// Time-outs out of round trips, by numbers (docs/protocol.md section 5, rule 6).
#include "handshake/rtt_estimator.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

TEST(RttEstimator, BeforeTheFirstRoundTripItIsTheGivenOne) {
  const RttEstimator estimator(400 * kMs);
  EXPECT_EQ(estimator.timeout(0), 400 * kMs);
  EXPECT_FALSE(estimator.srtt());
}

TEST(RttEstimator, RoundTripsAreAveragedOverEightAndTheirVariationOverFour) {
  RttEstimator estimator(400 * kMs);
  estimator.sample(80 * kMs);
  EXPECT_EQ(estimator.variation(), 10 * kMs);
  EXPECT_EQ(estimator.timeout(0), 110 * kMs) << "a quarter of a round trip, and 10 ms for the acknowledgement";
  estimator.sample(160 * kMs);
  EXPECT_EQ(estimator.srtt(), 90 * kMs);
  EXPECT_EQ(estimator.variation(), 27'500'000u);
  EXPECT_EQ(estimator.timeout(0), 155 * kMs) << "twice the variation";
  estimator.sample(10 * kMs);
  EXPECT_EQ(estimator.srtt(), 80 * kMs);
  EXPECT_EQ(estimator.variation(), 40'625'000u);
  EXPECT_EQ(estimator.least(), 10 * kMs);
}

TEST(RttEstimator, NoTimeOutIsShorterThanItMayBe) {
  RttEstimator near(400 * kMs), bounded(400 * kMs, 30 * kMs);
  near.sample(8 * kMs);
  bounded.sample(8 * kMs);
  EXPECT_EQ(near.timeout(0), 28 * kMs) << "10 ms for the variation at least";
  EXPECT_EQ(bounded.timeout(0), 30 * kMs);
}

TEST(RttEstimator, AfterSixTimeOutsTheyGrowByHalfUpToTwoSeconds) {
  EXPECT_EQ(grown(100, 6, 1000), 100u);
  EXPECT_EQ(grown(100, 7, 1000), 150u);
  EXPECT_EQ(grown(100, 8, 1000), 225u);
  EXPECT_EQ(grown(100, 8, 200), 200u);
  EXPECT_EQ(grown(300, 8, 200), 300u) << "what is longer stays so";
  EXPECT_EQ(grown(1, 7, 9), 2u);
  EXPECT_EQ(RttEstimator(400 * kMs).timeout(100), 2'000 * kMs);
}

}  // namespace
}  // namespace pqcmav
