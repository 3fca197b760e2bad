// SPDX-License-Identifier: Apache-2.0
#include "control/path_address.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace pqcmav {
namespace {

const SockAddr kFirst = resolve_endpoint("192.0.2.1:9", ""), kSecond = resolve_endpoint("192.0.2.2:9", "");

struct Name {
  std::vector<SockAddr> has;
  std::vector<SockAddr> routed;  // by the path's interface
  int asked = 0;

  std::optional<PathAddress> by_path(const std::optional<SockAddr>& answered) {
    return path_address(
        answered,
        [this] {
          ++asked;
          return has;
        },
        [this](const SockAddr& to) { return std::ranges::find(routed, to) != routed.end(); });
  }
};

TEST(PathAddress, IsTheOneThatAnsweredIfThePathLeadsThere) {
  Name name{{kFirst, kSecond}, {kFirst, kSecond}};
  const auto chosen = name.by_path(kSecond);
  EXPECT_TRUE(chosen && chosen->to == kSecond && chosen->sure);
  EXPECT_EQ(name.asked, 0) << "no name is resolved for that";
}

TEST(PathAddress, IsAnotherOneIfOnlyThatHasARoute) {
  const auto chosen = Name{{kFirst, kSecond}, {kFirst}}.by_path(kSecond);
  EXPECT_TRUE(chosen && chosen->to == kFirst && chosen->sure);
}

TEST(PathAddress, IsTheOneThatAnsweredUntilTheInterfaceComes) {
  const auto chosen = Name{{kFirst, kSecond}, {}}.by_path(kSecond);
  EXPECT_TRUE(chosen && chosen->to == kSecond);
  EXPECT_FALSE(chosen->sure) << "it may have a route to the other one alone";
}

TEST(PathAddress, IsSureIfThereIsNoOther) {
  for (const auto& answered : {std::optional<SockAddr>(), std::optional(kFirst)}) {
    const auto chosen = Name{{kFirst}, {}}.by_path(answered);
    EXPECT_TRUE(chosen && chosen->to == kFirst && chosen->sure);
  }
}

TEST(PathAddress, OfANameWithoutAddressesIsNoneOrAGuess) {
  EXPECT_FALSE(Name().by_path(std::nullopt));
  const auto chosen = Name().by_path(kSecond);
  EXPECT_TRUE(chosen && chosen->to == kSecond && !chosen->sure);
}

}  // namespace
}  // namespace pqcmav
