// SPDX-License-Identifier: Apache-2.0
#include "control/blacklist.hpp"

#include <gtest/gtest.h>

namespace pqcmav {
namespace {

const Suite& usual() { return require_suite(kDefaultSuite); }
const Suite& other() { return require_suite("cs-mlkem512-aesgcm-mldsa44"); }

TEST(Blacklist, ListsUntilTheTimeIsUp) {
  Blacklist list(usual(), 100);
  list.add(other(), 1000);
  EXPECT_TRUE(list.contains(other(), 1099));
  EXPECT_EQ(list.entries(1099), std::vector{&other()});
  EXPECT_FALSE(list.contains(other(), 1100));
  EXPECT_TRUE(list.entries(1100).empty());
}

TEST(Blacklist, ANewFailureStartsTheTimeAgain) {
  Blacklist list(usual(), 100);
  list.add(other(), 0);
  list.add(other(), 50);
  EXPECT_TRUE(list.contains(other(), 149));
}

TEST(Blacklist, NeverHoldsTheDefaultSuite) {
  Blacklist list(usual(), 100);
  for (const auto& suite : all_suites()) list.add(suite, 0);
  EXPECT_FALSE(list.contains(usual(), 1));
  EXPECT_EQ(list.entries(1).size(), all_suites().size() - 1);
}

TEST(Blacklist, SuccessForgets) {
  Blacklist list(usual(), 100);
  list.add(other(), 0);
  list.remove(other());
  EXPECT_FALSE(list.contains(other(), 1));
}

TEST(Blacklist, TimeZeroTurnsItOff) {
  Blacklist list(usual(), 0);
  list.add(other(), 0);
  EXPECT_TRUE(list.entries(0).empty());
}

TEST(Blacklist, HoldsAFamilyEvenOfTheDefaultSuite) {
  Blacklist list(usual(), 100);
  list.add(other(), 0);
  list.avoid(Families::named("ML-DSA"), 0);
  EXPECT_TRUE(list.contains(usual(), 99));
  EXPECT_FALSE(list.contains(*find_suite("ML-768-AG-SL-192s"), 99));
  for (const auto* suite : list.entries(99)) EXPECT_EQ(suite->sig->family, "ML-DSA");
  EXPECT_FALSE(list.contains(usual(), 100));
  EXPECT_TRUE(list.avoided(100).empty());
}

TEST(Blacklist, TimeZeroStillLeavesTimeToLeaveAFamily) {
  Blacklist list(usual(), 0);
  list.avoid(Families::named("ML-DSA"), 0);
  EXPECT_TRUE(list.contains(usual(), 59'000'000'000));
  EXPECT_FALSE(list.contains(usual(), 60'000'000'000));
}

TEST(Blacklist, TheNewestWordOfAFamilyCounts) {
  Blacklist list(usual(), 100);
  list.avoid(Families::named("ML-DSA"), 0);
  list.avoid(Families::named("codes"), 50);
  EXPECT_EQ(list.avoided(149), Families::named("codes"));
  list.remove(usual());
  EXPECT_EQ(list.avoided(149), Families::named("codes")) << "it says nothing of others";
  list.remove(*find_suite("HQC-3-AG-SL-192s"));
  EXPECT_TRUE(list.avoided(149).empty()) << "it works, so it is not avoided";
}

TEST(Blacklist, BlamesTheSuiteOnlyForItsOwnFailures) {
  for (int code = 0; code < 256; ++code) {
    const auto reject = static_cast<Reject>(code);
    const bool of_suite = reject == Reject::suite_unknown || reject == Reject::suite_not_allowed ||
                          reject == Reject::algorithm_unavailable;
    EXPECT_EQ(Blacklist::blames_suite(HandshakeError::rejected, static_cast<std::uint8_t>(code)), of_suite) << code;
  }
  for (int i = 0; i <= static_cast<int>(HandshakeError::cancelled); ++i) {
    const auto error = static_cast<HandshakeError>(i);
    if (error == HandshakeError::rejected) continue;
    EXPECT_EQ(Blacklist::blames_suite(error, 2), error == HandshakeError::crypto || error == HandshakeError::weak_key)
        << to_string(error) << ": what a stranger or a bad link can cause moves no suite";
  }
}

}  // namespace
}  // namespace pqcmav
