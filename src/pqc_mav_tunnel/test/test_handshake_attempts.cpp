// SPDX-License-Identifier: Apache-2.0
#include "control/handshake_attempts.hpp"

#include <gtest/gtest.h>

#include "addresses.hpp"
#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

using test::address;
using Attempt = HandshakeAttempt;

constexpr AttemptId kName{1, 2, 3, 4, 5, 6, 7, 8};
constexpr SessionId kOurs{9, 9, 9, 9, 9, 9, 9, 1}, kOther{9, 9, 9, 9, 9, 9, 9, 2};

struct What {
  std::size_t link = 0;
  AttemptId name = kName;
  std::optional<SessionId> session = std::nullopt;
  std::string drone = "uav1";
};

class Table : public ::testing::Test {
 protected:
  Attempt& add(const What& what) {
    auto attempt = std::make_unique<Attempt>(++last_, Transport(TransportOptions{}, FragmentKeys{}));
    attempt->name = what.name;
    attempt->link = what.link;
    attempt->session = what.session;
    attempt->facts.drone = what.drone;
    if (!what.session) attempt->paths.push_back(address(static_cast<std::uint16_t>(1000 + last_)));
    return table.add(std::move(attempt));
  }
  static bool any(const Attempt&) { return true; }

  HandshakeAttempts table;
  std::uint64_t last_ = 0;
};

TEST_F(Table, TwoDronesMayUseOneName) {
  auto &one = add({.link = 1}), &two = add({.link = 2});
  EXPECT_EQ(table.named(kName, [&](const Attempt& each) { return each.link == 1; }), &one);
  EXPECT_EQ(table.named(kName, [&](const Attempt& each) { return each.link == 2; }), &two);
  table.remove(one);
  EXPECT_EQ(table.named(kName, any), &two);
  EXPECT_EQ(table.named(AttemptId{}, any), nullptr);
}

TEST_F(Table, AFrameFindsTheAttemptOfItsSessionAlone) {
  auto& rekey = add({.link = 3, .session = kOurs});
  EXPECT_EQ(table.in_session(3, kOurs), &rekey);
  EXPECT_EQ(table.in_session(3, kOther), nullptr);
  EXPECT_EQ(table.in_session(4, kOurs), nullptr) << "another drone's";
  EXPECT_EQ(table.named(kName, any), nullptr) << "a datagram outside a session does not reach into one";
}

TEST_F(Table, OnlyOutsideASessionThereIsALimit) {
  auto &first = add({}), &rekey = add({.session = kOurs});
  for (auto* each : {&first, &rekey}) each->begin(3 * 1024, 100 * kS);
  EXPECT_EQ(first.limit_ns, 148 * kS);
  EXPECT_EQ(rekey.limit_ns, HandshakeAttempts::kNever);
}

TEST_F(Table, TheAttemptsOfADroneAreTheOldestFirst) {
  auto &first = add({.link = 5}), &second = add({.link = 5, .session = kOurs});
  add({.link = 6});
  EXPECT_EQ(table.of_link(5), (std::vector<Attempt*>{&first, &second}));
  table.remove(first);
  EXPECT_EQ(table.of_link(5), std::vector<Attempt*>{&second});
  EXPECT_TRUE(table.of_link(7).empty());
}

TEST_F(Table, KnowsAnAddressWhileAnAttemptComesFromIt) {
  auto &one = add({}), &two = add({});
  table.set_path(one, 0, address(6));
  EXPECT_TRUE(table.knows(address(6)));
  table.set_path(one, 0, address(7));
  EXPECT_FALSE(table.knows(address(6))) << "another took its place";
  table.set_path(two, 0, address(7));
  table.remove(one);
  EXPECT_TRUE(table.knows(address(7)));
  table.remove(two);
  EXPECT_FALSE(table.knows(address(7)));
}

TEST_F(Table, KnowsWhatIsOnOfferUntilItEnds) {
  auto& attempt = add({});
  table.offer(attempt, SessionId{});
  EXPECT_FALSE(table.offers(SessionId{})) << "nothing was offered yet";
  table.offer(attempt, kOurs);
  EXPECT_TRUE(table.offers(kOurs));
  table.remove(attempt);
  EXPECT_FALSE(table.offers(kOurs));
}

TEST_F(Table, TheCensusCountsThoseThatRun) {
  auto &one = add({}), &two = add({});
  EXPECT_EQ(table.census().size(), 2u);
  table.set_answered(one);
  EXPECT_EQ(table.census().answered(), 1u);
  table.linger(one);
  EXPECT_EQ(table.census().size(), 1u);
  EXPECT_EQ(table.census().answered(), 0u);
  table.remove(one);
  table.remove(two);
  EXPECT_EQ(table.census().size(), 0u);
  EXPECT_TRUE(table.census().of("uav1").empty());
}

TEST_F(Table, EachIsDueOnceAndTheEarliestFirst) {
  auto &late = add({}), &early = add({});
  EXPECT_EQ(table.next_due(), HandshakeAttempts::kNever);
  table.schedule(late, 200);
  table.schedule(early, 100);
  EXPECT_EQ(table.next_due(), 100u);
  EXPECT_EQ(table.due(99), std::vector<std::uint64_t>{});
  EXPECT_EQ(table.due(200), (std::vector<std::uint64_t>{early.id, late.id}));
  table.schedule(early, 300);
  EXPECT_EQ(table.next_due(), 200u);
  table.remove(late);
  table.schedule(early, HandshakeAttempts::kNever);
  EXPECT_EQ(table.next_due(), HandshakeAttempts::kNever);
}

TEST_F(Table, EndedOnesAreNotFoundByTheirNumber) {
  auto& attempt = add({});
  const auto id = attempt.id;
  EXPECT_EQ(table.find(id), &attempt);
  table.remove(attempt);
  EXPECT_EQ(table.find(id), nullptr);
  EXPECT_EQ(table.size(), 0u);
}

}  // namespace
}  // namespace pqcmav
