// SPDX-License-Identifier: Apache-2.0
// A rekey that meets an accident at any of its steps, on either side: the handshake cut at each message, each end
// killed at each step of the commit, the link dark in one or both directions from there, a message held back. The world
// (session_world.hpp) checks all along that no key has two senders or sees a nonce twice, that no key outlives its
// time, and that the ends are not apart for longer than silence takes to be noticed and cured.
#include <gtest/gtest-spi.h>

#include "session_world.hpp"

namespace pqcmav {
namespace {

using test::Accident;
using test::Plan;
using test::SessionWorld;
using test::Step;

std::string words(const Plan& plan) {
  return std::string(test::kAccidentNames[static_cast<std::size_t>(plan.what)]) + " at " +
         test::kStepNames[static_cast<std::size_t>(plan.at)] + " for " + std::to_string(plan.duration / kMs) + " ms";
}
bool is_message(Step step) { return step == Step::m1 || step == Step::m2 || step == Step::m3 || step == Step::m4; }
bool connected(Step step) { return is_message(step) || step == Step::gcs_installed; }

/// Every accident that can happen at every step. Darkness shorter than silence takes to be noticed, longer than that,
/// longer than unused keys and longer than any key may live without a sign of life.
std::vector<Plan> every_plan() {
  std::vector<Plan> out;
  for (const auto at : test::kSteps)
    for (const auto what : test::kAccidents) {
      if (what == Accident::cut && !connected(at)) continue;
      if (what == Accident::stall && !is_message(at)) continue;
      std::vector<std::uint64_t> durations = {0};
      if (what == Accident::stall) durations = {100 * kMs, 4 * kS, 20 * kS, 60 * kS};
      if (what == Accident::dark || what == Accident::dark_up || what == Accident::dark_down)
        durations = {300 * kMs, 3 * kS, 12 * kS, 40 * kS, 200 * kS};
      for (const auto duration : durations) out.push_back({at, what, duration});
    }
  return out;
}

std::uint64_t lost(const SessionWorld& world) { return world.sent() - world.delivered() - world.in_flight(); }

/// A session that has been used for a while.
void connect(SessionWorld& world) {
  ASSERT_TRUE(world.run_until([&] { return world.agree(); }, 5 * kS));
  world.run(3 * kS);
}

/// A rekey now succeeds and loses nothing.
void expect_clean_rekey(SessionWorld& world) {
  world.run(kS);  // what is still on the way under keys that died with a crash
  const auto lost_before = lost(world);
  const auto done_before = world.handshakes();
  world.rekey_now();
  ASSERT_TRUE(world.run_until([&] { return world.handshakes() > done_before && world.agree(); }, 5 * kS));
  world.run(4 * kS);
  ASSERT_EQ(lost(world), lost_before);
}

TEST(RekeyFaults, EveryAccidentAtEveryStepHeals) {
  for (const auto& plan : every_plan())
    for (const bool idle : {false, true}) {
      SCOPED_TRACE(words(plan) + (idle ? ", idle" : ""));
      SessionWorld world(17 + static_cast<std::uint64_t>(plan.at));
      ASSERT_NO_FATAL_FAILURE(connect(world));
      if (idle) world.stop_sending();
      world.plan(plan);
      world.rekey_now();
      ASSERT_TRUE(world.run_until([&] { return world.happened(); }, 10 * kS)) << "the rekey never got there";
      world.run(plan.duration);
      ASSERT_TRUE(world.run_until([&] { return world.agree() && !world.rekeying(); }, SessionWorld::kApartMost + kS))
          << "the link does not come back";
      ASSERT_NO_FATAL_FAILURE(expect_clean_rekey(world));
    }
}

TEST(RekeyFaults, AHandshakeThatIsCutLeavesTheRunningSessionAlone) {
  for (const auto at : test::kSteps) {
    if (!connected(at)) continue;
    SCOPED_TRACE(test::kStepNames[static_cast<std::size_t>(at)]);
    SessionWorld world(5);
    ASSERT_NO_FATAL_FAILURE(connect(world));
    const auto session = world.drone_session();
    world.plan({at, Accident::cut});
    world.rekey_now();
    ASSERT_TRUE(world.run_until([&] { return world.happened(); }, 5 * kS));
    world.run(40 * kS);  // also after unused keys were thrown away
    ASSERT_EQ(world.drone_session(), session);
    ASSERT_EQ(world.gcs_session(), session);
    ASSERT_EQ(world.handshakes(), 1u);
    ASSERT_EQ(lost(world), 0u);
    ASSERT_NO_FATAL_FAILURE(expect_clean_rekey(world));
  }
}

TEST(RekeyFaults, AMessageThatComesLateDelaysTheRekeyAndNothingElse) {
  for (const auto at : test::kSteps) {
    if (!is_message(at)) continue;
    SCOPED_TRACE(test::kStepNames[static_cast<std::size_t>(at)]);
    SessionWorld world(6);
    ASSERT_NO_FATAL_FAILURE(connect(world));
    const auto apart_at_first = world.longest_apart();
    world.plan({at, Accident::stall, 4 * kS});
    world.rekey_now();
    ASSERT_TRUE(world.run_until([&] { return world.handshakes() == 2 && world.agree(); }, 10 * kS));
    world.run(4 * kS);
    ASSERT_EQ(lost(world), 0u);
    ASSERT_EQ(world.longest_apart(), apart_at_first) << "the ends did not understand each other for a moment";
  }
}

TEST(RekeyFaults, TwoAccidentsInARowHeal) {
  const auto plans = every_plan();
  std::mt19937_64 random(2024);
  for (int i = 0; i < 600; ++i) {
    const auto &first = plans[random() % plans.size()], &second = plans[random() % plans.size()];
    SCOPED_TRACE(std::to_string(i) + ": " + words(first) + ", then " + words(second));
    SessionWorld world(random());
    ASSERT_NO_FATAL_FAILURE(connect(world));
    for (const auto& plan : {first, second}) {
      world.plan(plan);
      world.rekey_now();
      // The second may be asked for while the first still disturbs: then it happens later, or its rekey fails before it
      // gets there.
      world.run_until([&] { return world.happened(); }, 20 * kS);
    }
    world.run(first.duration + second.duration);
    world.heal();
    ASSERT_TRUE(world.run_until([&] { return world.agree() && !world.rekeying(); }, SessionWorld::kApartMost + 2 * kS))
        << "the link does not come back";
    ASSERT_NO_FATAL_FAILURE(expect_clean_rekey(world));
  }
}

TEST(RekeyFaults, RandomSchedulesAroundTheSwitchHeal) {
  const auto plans = every_plan();
  std::size_t accidents = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed * 104'729 + 1);
    const auto up_to = [&](unsigned most) { return static_cast<unsigned>(random() % (most + 1)); };
    SessionWorld world(seed, {up_to(300), up_to(200), up_to(300), up_to(60), 20, up_to(2), up_to(2), 0});
    for (int i = 0; i < 6; ++i) {
      world.plan(plans[random() % plans.size()]);
      accidents += world.run_until([&] { return world.happened(); }, 30 * kS) ? 1 : 0;
      world.run(random() % (20 * kS));
      ASSERT_FALSE(HasFatalFailure());
    }
    world.heal();
    ASSERT_TRUE(world.run_until([&] { return world.agree() && !world.rekeying(); }, SessionWorld::kApartMost + 2 * kS));
    ASSERT_NO_FATAL_FAILURE(expect_clean_rekey(world));
  }
  EXPECT_GT(accidents, 1000u) << "the schedules miss what they are for";
}

// The judges themselves: each must be able to say no.

TEST(Judges, SeeASequenceThatIsUsedTwice) {
  EXPECT_FATAL_FAILURE(
      {
        test::KeySource source(1);
        const auto keys = source.make(0);
        test::NonceJudge judge;
        judge.made(keys.drone);
        Header header{};
        header.session_id = keys.drone.session_id;
        judge.sealed(true, 0, header);
        judge.sealed(false, 0, header);  // the other direction has a key of its own
        judge.sealed(true, 0, header);
      },
      "used sequence 0 twice");
}

TEST(Judges, SeeAKeyThatSurvivesACrash) {
  EXPECT_FATAL_FAILURE(
      {
        test::KeySource source(1);
        const auto keys = source.make(0);
        test::NonceJudge judge;
        judge.made(keys.drone);
        Header header{};
        header.session_id = keys.drone.session_id;
        judge.sealed(true, 0, header);
        header.sequence = 1;
        judge.sealed(true, 1, header);
      },
      "two senders under one key");
}

TEST(Judges, SeeAKeyThatIsMadeTwice) {
  EXPECT_FATAL_FAILURE(
      {
        test::KeySource source(1);
        auto keys = source.make(0);
        test::NonceJudge judge;
        judge.made(keys.drone);
        keys.drone.session_id[7] ^= 1;
        judge.made(keys.drone);
      },
      "made twice");
}

TEST(Judges, SeeAKeyThatLivesTooLong) {
  EXPECT_FATAL_FAILURE(
      {
        test::KeySource source(1);
        Session gcs(false, test::kTimers, 1024);
        Session drone(true, test::kTimers, 1024);
        test::LifetimeJudge judge(false);
        auto first = source.make(0);
        auto second = source.make(1);
        const auto first_id = first.gcs.session_id;
        const auto second_id = second.gcs.session_id;
        std::uint64_t now = kS;
        gcs.install(std::move(first.gcs), now);
        judge.installed(gcs, first_id, now);
        drone.install(std::move(first.drone), now);
        (void)test::open(gcs, *test::seal(drone, 1, now), now);
        judge.heard(gcs, first_id, now);
        gcs.install(std::move(second.gcs), now);
        judge.installed(gcs, second_id, now);
        drone.install(std::move(second.drone), now);
        (void)test::open(gcs, *test::seal(drone, 2, now), now);
        judge.heard(gcs, second_id, now);
        judge.check(gcs, now);
        judge.check(gcs, now + test::kTimers.grace + test::LifetimeJudge::kTick);  // and nobody called tick()
      },
      "beyond the grace time");
}

}  // namespace
}  // namespace pqcmav
