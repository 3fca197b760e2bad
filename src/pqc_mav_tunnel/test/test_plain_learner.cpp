// SPDX-License-Identifier: Apache-2.0
#include "net/plain_learner.hpp"

#include <gtest/gtest.h>

#include "addresses.hpp"
#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

class PlainLearnerTest : public testing::Test {
 protected:
  std::uint16_t hear(std::uint16_t port, std::uint64_t now) {
    learner_.hear(peer_, test::at("127.0.0.1", port), now);
    return peer_.port();
  }
  PlainLearner learner_;
  SockAddr peer_;
};

TEST_F(PlainLearnerTest, TheFirstWhoSendsIsThePeer) { EXPECT_EQ(hear(1000, 7), 1000); }

TEST_F(PlainLearnerTest, NobodyElseTakesItsPlaceWhileItSends) {
  hear(1000, 0);
  for (std::uint64_t s = 1; s <= 100; ++s) {
    EXPECT_EQ(hear(2000, s * kS + 1), 1000);
    hear(1000, s * kS + 2);
  }
}

TEST_F(PlainLearnerTest, AfterTwoSecondsOfSilenceTheNextOneDoes) {
  hear(1000, kS);
  EXPECT_EQ(hear(2000, 3 * kS - 1), 1000);
  EXPECT_EQ(hear(2000, 3 * kS), 2000);
  // From now on the new one is defended, also against the old.
  EXPECT_EQ(hear(1000, 3 * kS + 1), 2000);
  EXPECT_EQ(hear(2000, 4 * kS), 2000);
  EXPECT_EQ(hear(1000, 6 * kS - 1), 2000);
  EXPECT_EQ(hear(1000, 6 * kS), 1000);
}

TEST_F(PlainLearnerTest, ThoseWhoAreRefusedDoNotCountAsThePeersVoice) {
  hear(1000, 0);
  for (std::uint64_t tenth = 1; tenth < 20; ++tenth) EXPECT_EQ(hear(2000, tenth * kS / 10), 1000);
  EXPECT_EQ(hear(2000, 2 * kS), 2000);
}

}  // namespace
}  // namespace pqcmav
