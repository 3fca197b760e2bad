// SPDX-License-Identifier: Apache-2.0
#include "net/plain_learner.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

SockAddr at(std::uint16_t port) { return resolve("127.0.0.1", port, false, SOCK_DGRAM); }

class PlainLearnerTest : public testing::Test {
 protected:
  std::uint16_t hear(std::uint16_t port, std::uint64_t now) {
    learner_.hear(peer_, at(port), now);
    return peer_.port();
  }
  PlainLearner learner_;
  SockAddr peer_;
};

TEST_F(PlainLearnerTest, TheFirstWhoSendsIsThePeer) { EXPECT_EQ(hear(1000, 7), 1000); }

TEST_F(PlainLearnerTest, NobodyElseTakesItsPlaceWhileItSends) {
  hear(1000, 0);
  for (std::uint64_t s = 1; s <= 100; ++s) {
    EXPECT_EQ(hear(2000, s * kSecond + 1), 1000);
    hear(1000, s * kSecond + 2);
  }
}

TEST_F(PlainLearnerTest, AfterTwoSecondsOfSilenceTheNextOneDoes) {
  hear(1000, kSecond);
  EXPECT_EQ(hear(2000, 3 * kSecond - 1), 1000);
  EXPECT_EQ(hear(2000, 3 * kSecond), 2000);
  // From now on the new one is defended, also against the old.
  EXPECT_EQ(hear(1000, 3 * kSecond + 1), 2000);
  EXPECT_EQ(hear(2000, 4 * kSecond), 2000);
  EXPECT_EQ(hear(1000, 6 * kSecond - 1), 2000);
  EXPECT_EQ(hear(1000, 6 * kSecond), 1000);
}

TEST_F(PlainLearnerTest, ThoseWhoAreRefusedDoNotCountAsThePeersVoice) {
  hear(1000, 0);
  for (std::uint64_t tenth = 1; tenth < 20; ++tenth) EXPECT_EQ(hear(2000, tenth * kSecond / 10), 1000);
  EXPECT_EQ(hear(2000, 2 * kSecond), 2000);
}

}  // namespace
}  // namespace pqcmav
