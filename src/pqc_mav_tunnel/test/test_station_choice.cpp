// SPDX-License-Identifier: Apache-2.0
// The drone's choice of a ground station: single decisions, and properties over random schedules of losses, crashes,
// restarts and splits (station_world.hpp).
#include "control/station_choice.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"
#include "station_world.hpp"

namespace pqcmav {
namespace {

using Act = StationChoice::Act;
using Step = StationChoice::Step;

StationTimers timers(std::uint64_t failback = 0) { return {2 * kS, failback, 16 * kS, 5 * kS}; }

/// Station 0 active from second 100 on, station 1 standby from second 101 on.
StationChoice with_both(std::uint64_t failback = 0) {
  StationChoice choice(2, true, timers(failback), 0);
  EXPECT_EQ(choice.next(100 * kS), (Step{Act::connect, 0}));
  choice.begin({Act::connect, 0}, 100 * kS);
  choice.succeeded({Act::connect, 0}, 100 * kS);
  EXPECT_EQ(choice.next(101 * kS), (Step{Act::join, 1}));
  choice.begin({Act::join, 1}, 101 * kS);
  choice.succeeded({Act::join, 1}, 101 * kS);
  return choice;
}

TEST(StationChoice, TriesTheStationsInOrderUntilOneAnswers) {
  StationChoice choice(3, false, timers(), 0);
  auto now = 100 * kS;
  for (const std::size_t station : {0, 1, 2, 0}) {
    ASSERT_EQ(choice.next(now), (Step{Act::connect, station}));
    choice.begin({Act::connect, station}, now);
    EXPECT_EQ(choice.next(now + 2 * kS - 1), (Step{Act::connect, station}));
    now += 2 * kS;
  }
  EXPECT_EQ(choice.next(now), (Step{Act::connect, 1}));
}

TEST(StationChoice, AnAttemptThatIsAnsweredMayTakeItsTime) {
  StationChoice choice(2, false, timers(), 0);
  ASSERT_EQ(choice.next(100 * kS), (Step{Act::connect, 0}));
  choice.begin({Act::connect, 0}, 100 * kS);
  choice.answered();
  EXPECT_EQ(choice.next(140 * kS), (Step{Act::connect, 0}));
}

TEST(StationChoice, ASingleStationIsAskedForEver) {
  StationChoice choice(1, true, timers(), 0);
  ASSERT_EQ(choice.next(100 * kS), (Step{Act::connect, 0}));
  choice.begin({Act::connect, 0}, 100 * kS);
  EXPECT_EQ(choice.next(900 * kS), (Step{Act::connect, 0}));
  choice.failed(500 * kMs, 900 * kS);
  EXPECT_EQ(choice.next(900 * kS), Step{});
  EXPECT_EQ(choice.next(900 * kS + 500 * kMs), (Step{Act::connect, 0}));
}

TEST(StationChoice, OtherKeysAreTriedAtOnce) {
  StationChoice choice(2, true, timers(), 0);
  choice.begin({Act::connect, 0}, 100 * kS);
  choice.succeeded({Act::connect, 0}, 100 * kS);
  ASSERT_EQ(choice.next(100 * kS), (Step{Act::join, 1}));
  choice.begin({Act::join, 1}, 100 * kS);
  choice.failed(60 * kS, 101 * kS);
  choice.heard(0, 102 * kS);
  ASSERT_EQ(choice.next(102 * kS), Step{});
  choice.keys_changed();
  EXPECT_EQ(choice.next(102 * kS), (Step{Act::join, 1}));
}

TEST(StationChoice, SilenceMovesItWhereTheStandbyAnswers) {
  auto choice = with_both();
  choice.heard(0, 110 * kS);
  choice.heard(1, 110 * kS);
  EXPECT_EQ(choice.next(110 * kS), Step{});
  EXPECT_EQ(choice.deadline(), 112 * kS);
  for (auto at = 111 * kS; at < 112 * kS; at += 250 * kMs) choice.heard(1, at);
  EXPECT_EQ(choice.next(112 * kS - 1), Step{});
  ASSERT_EQ(choice.next(112 * kS), (Step{Act::take_over, 1}));
  EXPECT_EQ(choice.term_of({Act::take_over, 1}), choice.term() + 1);
  choice.took_over(112 * kS);
  EXPECT_EQ(choice.active(), 1U);
  EXPECT_EQ(choice.standby(), 0U);
}

TEST(StationChoice, SilenceOfBothIsTheDronesOwn) {
  auto choice = with_both();
  choice.heard(0, 110 * kS);
  choice.heard(1, 110 * kS);
  const auto step = choice.next(115 * kS);
  EXPECT_EQ(step, (Step{Act::connect, 1}));  // a handshake proves that somebody is there; the session is kept
  choice.begin(step, 115 * kS);
  // The standby is the first to be heard again; the active one follows.
  choice.heard(1, 115 * kS + 100 * kMs);
  EXPECT_EQ(choice.next(115 * kS + 200 * kMs).act, Act::connect);
  choice.heard(0, 115 * kS + 250 * kMs);
  EXPECT_EQ(choice.next(115 * kS + 260 * kMs), Step{});
  EXPECT_EQ(choice.active(), 0U);
}

TEST(StationChoice, CloseMovesItAtOnce) {
  auto choice = with_both();
  choice.heard(0, 110 * kS);
  choice.ended(0, 110 * kS);
  ASSERT_EQ(choice.next(110 * kS), (Step{Act::take_over, 1}));
  choice.took_over(110 * kS);
  EXPECT_FALSE(choice.standby());
  EXPECT_EQ(choice.next(110 * kS), (Step{Act::join, 0}));
}

/// Stations 0, 1 and 2; 0 is active and 1 the standby.
StationChoice with_three() {
  StationChoice choice(3, true, timers(), 0);
  choice.succeeded({Act::connect, 0}, 100 * kS);
  choice.succeeded({Act::join, 1}, 101 * kS);
  choice.heard(0, 110 * kS);
  choice.heard(1, 110 * kS);
  return choice;
}

/// As when a machine is emptied: both leave, in either order, and the third one is there.
TEST(StationChoice, WhoHasJustLeftIsAskedAfterTheOthers) {
  auto choice = with_three();
  choice.ended(0, 110 * kS);
  ASSERT_EQ(choice.next(110 * kS), (Step{Act::take_over, 1}));
  choice.took_over(110 * kS);
  ASSERT_EQ(choice.next(110 * kS), (Step{Act::join, 2})) << "the new standby";
  choice.begin({Act::join, 2}, 110 * kS);
  choice.ended(1, 110 * kS + 50 * kMs);
  ASSERT_EQ(choice.next(110 * kS + 50 * kMs), (Step{Act::connect, 2}));

  choice = with_three();
  choice.ended(1, 110 * kS);
  ASSERT_EQ(choice.next(110 * kS), (Step{Act::join, 2}));
  choice.succeeded({Act::join, 2}, 110 * kS + 100 * kMs);
  choice.heard(0, 119 * kS);
  choice.heard(2, 119 * kS);
  EXPECT_EQ(choice.next(120 * kS - 1), Step{}) << "the one that left comes earlier in the order, and waits";
  choice.heard(0, 120 * kS);
  choice.heard(2, 120 * kS);
  EXPECT_EQ(choice.next(120 * kS), (Step{Act::join, 1}));
}

TEST(StationChoice, AStandbyThatIsSilentAsWellIsAskedAfterTheOthers) {
  auto choice = with_three();
  ASSERT_EQ(choice.next(112 * kS), (Step{Act::connect, 2}));
  // It does not answer either, so the silence may be the drone's own: all take their turns.
  auto now = 112 * kS;
  for (const std::size_t station : {2, 0, 1, 2, 0}) {
    ASSERT_EQ(choice.next(now), (Step{Act::connect, station})) << now / kS;
    choice.begin({Act::connect, station}, now);
    now += 2 * kS;
  }
}

TEST(StationChoice, OneThatLeftIsAskedAtOnceIfThereIsNoOther) {
  auto choice = with_both();
  choice.heard(0, 110 * kS);
  choice.ended(1, 110 * kS);
  EXPECT_EQ(choice.next(110 * kS), (Step{Act::join, 1}));
  choice.ended(0, 110 * kS);
  EXPECT_EQ(choice.next(110 * kS).act, Act::connect);
}

TEST(StationChoice, ATokenStartsAHandshakeAndMovesItOnlyAfterTheWait) {
  auto choice = with_both();
  choice.heard(0, 110 * kS);
  choice.restarted(0, 300 * kMs, 110 * kS + 1, 110 * kS + 1);
  EXPECT_EQ(choice.next(110 * kS + 2), (Step{Act::connect, 0}));
  choice.begin({Act::connect, 0}, 110 * kS + 2);
  EXPECT_EQ(choice.next(110 * kS + 299 * kMs), (Step{Act::connect, 0}));
  EXPECT_EQ(choice.next(110 * kS + 301 * kMs), (Step{Act::take_over, 1}));
}

TEST(StationChoice, OneThatWasRestartedIsNoStandbyButJoinsAtOnce) {
  auto choice = with_both();
  choice.heard(0, 110 * kS);
  choice.restarted(0, 300 * kMs, 110 * kS + 1, 110 * kS + 1);
  ASSERT_EQ(choice.next(110 * kS + 301 * kMs), (Step{Act::take_over, 1}));
  choice.took_over(110 * kS + 301 * kMs);
  EXPECT_FALSE(choice.standby());
  EXPECT_FALSE(choice.has_session(0));
  EXPECT_EQ(choice.next(110 * kS + 301 * kMs), (Step{Act::join, 0}));
}

TEST(StationChoice, ATokenOfASessionThatAnswersAProbeSentLaterChangesNothing) {
  auto choice = with_both();
  choice.heard(0, 110 * kS);
  choice.restarted(0, 300 * kMs, 110 * kS + 1, 110 * kS + 1);
  choice.begin(choice.next(110 * kS + 2), 110 * kS + 2);
  choice.heard(0, 110 * kS + 50 * kMs, 110 * kS);
  EXPECT_EQ(choice.next(110 * kS + 50 * kMs), (Step{Act::connect, 0})) << "that one was sent before";
  choice.heard(0, 110 * kS + 55 * kMs, 110 * kS + 1);
  EXPECT_EQ(choice.next(110 * kS + 55 * kMs), (Step{Act::connect, 0})) << "and that one at the same time";
  choice.heard(0, 110 * kS + 60 * kMs, 110 * kS + 10 * kMs);
  EXPECT_EQ(choice.next(110 * kS + 60 * kMs), Step{});
}

/// Somebody delivers a packet that the drone had lost: it says nothing about now, but it may be no forged token either.
TEST(StationChoice, AHeldBackPacketNeitherEndsTheHandshakeNorLetsAnotherStationIn) {
  auto choice = with_both();
  choice.heard(0, 110 * kS);
  choice.restarted(0, 300 * kMs, 110 * kS + 1, 110 * kS + 1);
  choice.begin(choice.next(110 * kS + 2), 110 * kS + 2);
  choice.heard(0, 110 * kS + 50 * kMs);
  choice.heard(1, 112 * kS);
  for (const auto at : {100 * kMs, 400 * kMs, 2'000 * kMs})
    EXPECT_EQ(choice.next(110 * kS + at), (Step{Act::connect, 0})) << at;
  EXPECT_EQ(choice.next(110 * kS + 2'051 * kMs), (Step{Act::take_over, 1}));
}

/// A token is shown once. The thread that decides may be late: it hears last of what came first.
TEST(StationChoice, AnAnswerFromBeforeDoesNotTakeATokenBack) {
  auto choice = with_both();
  choice.heard(0, 110 * kS);
  choice.restarted(0, 300 * kMs, 110 * kS + 90 * kMs, 110 * kS + 10 * kMs);
  choice.heard(0, 110 * kS + 95 * kMs, 110 * kS + 50 * kMs);
  EXPECT_TRUE(choice.in_trouble(110 * kS + 100 * kMs));
  choice.heard(0, 110 * kS + 99 * kMs, 110 * kS + 95 * kMs);
  EXPECT_FALSE(choice.in_trouble(110 * kS + 100 * kMs));
  choice.restarted(0, 300 * kMs, 110 * kS + 92 * kMs, 110 * kS + 100 * kMs);
  EXPECT_FALSE(choice.in_trouble(110 * kS + 100 * kMs)) << "it answered after it had shown the token";
}

TEST(StationChoice, GoesBackOnlyAfterTheTimeOfHealth) {
  auto choice = with_both(30 * kS);
  choice.ended(0, 110 * kS);
  choice.took_over(110 * kS);
  const auto attempt = choice.next(110 * kS);
  choice.begin(attempt, 110 * kS);
  choice.succeeded(attempt, 112 * kS);
  ASSERT_EQ(choice.standby(), 0U);
  for (auto at = 113 * kS; at < 142 * kS; at += kS) {
    choice.heard(0, at);
    choice.heard(1, at);
    EXPECT_EQ(choice.next(at), Step{}) << at / kS;
  }
  choice.heard(1, 142 * kS);
  EXPECT_EQ(choice.next(142 * kS), (Step{Act::take_over, 0}));
}

/// The time of health is shorter than what a standby may be silent.
TEST(StationChoice, DoesNotGoBackToOneThatIsStillSilent) {
  auto choice = with_both(2 * kS);
  choice.heard(0, 110 * kS);
  for (auto at = 110 * kS; at < 112 * kS; at += 250 * kMs) choice.heard(1, at);
  ASSERT_EQ(choice.next(112 * kS), (Step{Act::take_over, 1}));
  choice.took_over(112 * kS);
  for (auto at = 112 * kS; at <= 115 * kS; at += 100 * kMs) {
    choice.heard(1, at);
    ASSERT_EQ(choice.next(at), Step{}) << at / kMs;
  }
  choice.heard(0, 115 * kS);
  choice.heard(1, 117 * kS - 1);
  EXPECT_EQ(choice.next(117 * kS - 1), Step{});
  EXPECT_EQ(choice.next(117 * kS), (Step{Act::take_over, 0}));
}

/// A pause of 6 s is none: a standby is asked every 5 s. After a longer one it is healthy only from then on.
TEST(StationChoice, AStandbyThatWasAwayIsHealthyFromThenOn) {
  for (const std::uint64_t more : {0, 1}) {
    auto choice = with_both(30 * kS);
    choice.took_over(110 * kS);
    ASSERT_EQ(choice.standby(), 0U);
    choice.heard(0, 110 * kS);
    choice.heard(0, 116 * kS + more);
    for (auto at = 117 * kS; at <= 140 * kS; at += kS) {
      choice.heard(0, at);
      choice.heard(1, at);
    }
    EXPECT_EQ(choice.next(140 * kS), more == 0 ? (Step{Act::take_over, 0}) : Step{});
    choice.heard(0, 146 * kS);
    choice.heard(1, 146 * kS);
    EXPECT_EQ(choice.next(146 * kS), more == 0 ? (Step{Act::take_over, 0}) : Step{});
    EXPECT_EQ(choice.next(146 * kS + 1), (Step{Act::take_over, 0}));
  }
}

TEST(StationChoice, NoOrderMovesItToAStandbyThatWasNotHeardForSixSeconds) {
  auto choice = with_both();
  choice.heard(1, 110 * kS);
  choice.heard(0, 116 * kS);
  choice.prefer(1);
  EXPECT_EQ(choice.next(116 * kS), (Step{Act::take_over, 1}));
  EXPECT_EQ(choice.next(116 * kS + 1), Step{});
}

TEST(StationChoice, AStandbyWithNewKeysHasBeenHealthyAsLongAsBefore) {
  auto choice = with_both(30 * kS);
  choice.took_over(110 * kS);
  choice.succeeded({Act::join, 0}, 136 * kS);
  choice.heard(0, 140 * kS);
  choice.heard(1, 140 * kS);
  EXPECT_EQ(choice.next(140 * kS), (Step{Act::take_over, 0}));
}

TEST(StationChoice, AStandbyThatIsConnectedToIsNoStandbyAnyMore) {
  auto choice = with_both();
  choice.succeeded({Act::connect, 1}, 110 * kS);
  EXPECT_EQ(choice.active(), 1U);
  EXPECT_FALSE(choice.standby());
  EXPECT_FALSE(choice.has_session(0));
  EXPECT_EQ(choice.next(110 * kS), (Step{Act::join, 0}));
}

/// After an outage of the drone's own the active station has 0.3 s to be heard, too.
TEST(StationChoice, AStandbyThatIsHeardAgainTakesOverAfterThreeTenthsOfASecond) {
  auto choice = with_both();
  choice.heard(0, 110 * kS);
  choice.heard(1, 110 * kS);
  choice.heard(1, 113 * kS);
  EXPECT_EQ(choice.next(113 * kS + 300 * kMs - 1).act, Act::connect);
  EXPECT_EQ(choice.next(113 * kS + 300 * kMs), (Step{Act::take_over, 1}));
}

TEST(StationChoice, AStandbyJoinsAnewWhenItsKeysAreOldAndAtOnceWhenItsSessionEnds) {
  auto times = timers();
  times.renew = 60 * kS;
  StationChoice choice(2, true, times, 0);
  choice.succeeded({Act::connect, 0}, 100 * kS);
  choice.succeeded({Act::join, 1}, 101 * kS);
  const auto hear = [&](std::uint64_t at) {
    choice.heard(0, at);
    choice.heard(1, at);
  };
  hear(161 * kS - 1);
  EXPECT_EQ(choice.next(161 * kS - 1), Step{});
  ASSERT_EQ(choice.next(161 * kS), (Step{Act::join, 1}));
  choice.begin({Act::join, 1}, 161 * kS);
  choice.failed(0, 161 * kS);
  hear(162 * kS);
  EXPECT_EQ(choice.next(162 * kS), Step{}) << "not before 5 s are over";
  choice.ended(1, 162 * kS);
  EXPECT_EQ(choice.next(162 * kS), (Step{Act::join, 1}));
}

TEST(StationChoice, NeverGoesBackByItselfWithoutSuchATime) {
  auto choice = with_both();
  choice.ended(0, 110 * kS);
  choice.took_over(110 * kS);
  const auto attempt = choice.next(110 * kS);
  choice.begin(attempt, 110 * kS);
  choice.succeeded(attempt, 112 * kS);
  for (auto at = 113 * kS; at < 1000 * kS; at += kS) {
    choice.heard(0, at);
    choice.heard(1, at);
    ASSERT_EQ(choice.next(at), Step{}) << at / kS;
  }
  choice.prefer(0);
  EXPECT_EQ(choice.next(1000 * kS), (Step{Act::take_over, 0}));
}

/// Both stations are silent: each attempt is given up for the next one, and one of them succeeds all the same.
TEST(StationChoice, AnAttemptThatWasGivenUpMaySucceed) {
  StationChoice choice(2, false, timers(), 7);
  const auto first = choice.next(100 * kS);
  choice.begin(first, 100 * kS);
  const auto other = choice.next(100 * kS + timers().failover);
  EXPECT_EQ(other, (Step{Act::connect, 1}));
  choice.succeeded(first, 100 * kS + timers().failover);
  EXPECT_EQ(choice.active(), 0u);
  EXPECT_EQ(choice.term(), 8u);
  EXPECT_TRUE(choice.has_session(0));
}

TEST(StationChoice, GoesOnCommandByAHandshakeWithoutStandby) {
  StationChoice choice(2, false, timers(), 7);
  choice.begin(choice.next(100 * kS), 100 * kS);
  choice.succeeded({Act::connect, 0}, 100 * kS);
  EXPECT_EQ(choice.term(), 8U);
  choice.prefer(1);
  const auto step = choice.next(100 * kS);
  ASSERT_EQ(step, (Step{Act::connect, 1}));
  choice.begin(step, 100 * kS);
  choice.heard(0, 101 * kS);
  EXPECT_EQ(choice.next(101 * kS), step);  // the active one goes on meanwhile
  choice.heard(0, 102 * kS);
  EXPECT_EQ(choice.next(102 * kS), Step{});  // nobody there: not at once again
  choice.heard(0, 107 * kS);
  EXPECT_EQ(choice.next(107 * kS), step);
  choice.begin(step, 107 * kS);
  choice.succeeded(step, 107 * kS);
  EXPECT_EQ(choice.active(), 1U);
  EXPECT_EQ(choice.term(), 9U);
}

TEST(StationChoice, AStandbyThatIsNotHeardIsGivenUp) {
  auto choice = with_both();
  choice.heard(0, 117 * kS);
  ASSERT_EQ(choice.next(117 * kS), (Step{Act::forget, 1}));
  choice.ended(1, 117 * kS);
  EXPECT_EQ(choice.next(117 * kS), (Step{Act::join, 1}));
}

TEST(StationChoice, TermsOnlyRiseAndStayBelowTheTopBit) {
  auto choice = with_both();
  const auto before = choice.term();
  EXPECT_FALSE(choice.told(before));
  EXPECT_TRUE(choice.told(before + 5));
  EXPECT_EQ(choice.term(), before + 6);
  EXPECT_FALSE(choice.told(0xffffffff));
  EXPECT_FALSE(choice.told(0x80000000));
  EXPECT_EQ(choice.term(), before + 6);
}

class StationSchedules : public testing::TestWithParam<bool> {};

TEST_P(StationSchedules, NeverBelieveTwoAndMoveInTime) {
  std::uint64_t changes = 0, checked = 0;
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    test::StationWorld world(seed, GetParam());
    world.run(120 * kS);
    ASSERT_EQ(world.problem(), "") << "seed " << seed;
    changes += world.changes();
    checked += world.failovers_checked();
  }
  EXPECT_GT(changes, 500U);
  EXPECT_GT(checked, 30U);
}

INSTANTIATE_TEST_SUITE_P(Standby, StationSchedules, testing::Bool());

}  // namespace
}  // namespace pqcmav
