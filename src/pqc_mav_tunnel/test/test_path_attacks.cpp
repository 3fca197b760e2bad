// SPDX-License-Identifier: Apache-2.0
// The attacks and moves of docs/protocol.md section 14, simulated: 60 s, 50 packets/s up, 39 commands/s down.
#include <gtest/gtest.h>

#include "path_world.hpp"

namespace pqcmav {
namespace {

using test::PathAttack;
using test::PathWorld;

/// As the design page counts: without challenges, with the headers below UDP.
std::size_t diverted(const PathWorld& world, std::size_t command = 69) {
  return world.copies_bytes_x / command * (command + PathWorld::kLowerHeaders);
}

class Races : public ::testing::TestWithParam<std::tuple<double, bool>> {};
TEST_P(Races, DivertNothing) {
  const auto [race, answers] = GetParam();
  PathWorld world({.race = race, .answers = answers});
  world.run();
  EXPECT_EQ(world.commands, 2352 + 1);
  EXPECT_EQ(world.delivered, world.commands);
  EXPECT_EQ(world.validator.changes(), 0u);
  EXPECT_EQ(world.validator.path(), world.y);
  EXPECT_GE(world.validator.refused(), 3u);
  EXPECT_LE(diverted(world), race < 0.2 ? 5'238u : 11'446u);
  RecordProperty("diverted_bytes", static_cast<int>(diverted(world)));
}
INSTANTIATE_TEST_SUITE_P(All, Races,
                         ::testing::Combine(::testing::Values(0.1, 0.5, 1.0), ::testing::Values(false, true)));

TEST(PathAttack, OneForgedSourceGetsLessThanThreeTimesItsBytes) {
  PathWorld world({.forged_at = 5'000 * kMs});
  world.run();
  EXPECT_EQ(world.delivered, world.commands);
  EXPECT_EQ(world.validator.changes(), 0u);
  EXPECT_LE(diverted(world), 194u);
  EXPECT_GT(world.all_bytes_x, 0u);
  EXPECT_LT(world.all_bytes_x, 3 * PathWorld::kPacketBytes);
  EXPECT_LE(world.datagrams_x, 3u);
}

TEST(PathAttack, AForgedSourceAndThenSilenceReflectsThreeTimesAtMostAndThenNothing) {
  PathWorld world({.forged_at = 5'000 * kMs, .silent_from = 5'020 * kMs, .moves_at = 5'000 * kMs});  // Y is dead
  world.run();
  EXPECT_EQ(world.validator.path(), world.y);
  EXPECT_GT(world.all_bytes_x, 0u);
  EXPECT_LT(world.all_bytes_x, 3 * PathWorld::kPacketBytes);
  EXPECT_LE(world.all_bytes_x + world.datagrams_x * PathWorld::kLowerHeaders,
            3 * (PathWorld::kPacketBytes + PathWorld::kLowerHeaders));
}

TEST(PathMove, LosesOnlyWhatWasInFlight) {
  for (const std::uint64_t late : {std::uint64_t{0}, 200 * kMs}) {
    PathWorld world({.moves_at = 5'000 * kMs, .late = late});
    world.run();
    EXPECT_LE(world.commands - world.delivered, 4) << "in flight: 100 ms of 39/s";
    EXPECT_EQ(world.validator.path(), world.z);
    EXPECT_EQ(world.validator.changes(), 1u);
  }
}

TEST(PathMove, LargeCommandsWaitForTheDecision) {
  PathWorld world({.moves_at = 5'000 * kMs, .command_bytes = 972});
  world.run();
  EXPECT_LE(world.commands - world.delivered, 22) << "500 ms and a round trip";
  EXPECT_EQ(world.validator.path(), world.z);
}

TEST(PathMove, SucceedsOverBadLinks) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    PathWorld world({.moves_at = 5'000 * kMs, .loss = 0.3}, seed);
    world.run();
    EXPECT_EQ(world.validator.path(), world.z) << seed;
    EXPECT_LE(world.commands - world.delivered, 2353 * 0.3 + 250) << seed;
  }
}

TEST(PathAttack, RacesOverBadLinksEndAtTheDrone) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    PathWorld silent({.race = 0.5, .loss = 0.3}, seed);
    silent.run();
    EXPECT_EQ(silent.ended_at_x, 0) << seed;
    // Who answers challenges may win while all of the drone's answers are lost; the senior takes it back.
    PathWorld answering({.race = 0.5, .answers = true, .loss = 0.3}, seed);
    answering.run();
    EXPECT_LE(answering.ended_at_x, 2) << seed;
    EXPECT_LE(answering.commands - answering.delivered, 2353 * 0.3 + 150) << seed;
  }
}

}  // namespace
}  // namespace pqcmav
