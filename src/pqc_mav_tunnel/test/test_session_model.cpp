// SPDX-License-Identifier: Apache-2.0
// Two sessions in a simulated world: handshakes that half succeed, packets lost, doubled, held back and overtaken,
// blackouts, crashes, goodbyes. Every schedule comes from a seed; a failure names it.
#include "session_world.hpp"

namespace pqcmav {
namespace {

using test::SessionWorld;

TEST(SessionModel, SurvivesEverySchedule) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed * 7919);
    const auto up_to = [&](unsigned most) { return static_cast<unsigned>(random() % (most + 1)); };
    SessionWorld world(seed, {up_to(400), up_to(200), up_to(300), up_to(150), up_to(60), up_to(3), up_to(3), up_to(2)});
    world.run(200 * kS);
    world.heal();
    world.run(kS + SessionWorld::kApartMost);
    ASSERT_FALSE(HasFailure());
    ASSERT_TRUE(world.agree()) << "the ends stay apart on a working network";
    ASSERT_GT(world.handshakes(), 0u);
  }
}

TEST(SessionModel, HealsWithinSecondsOfTheNetwork) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SessionWorld world(seed, {300, 0, 200, 150, 100, 5, 5, 0});
    world.run(60 * kS);
    world.heal();
    world.run(kS + SessionWorld::kApartMost);
    ASSERT_FALSE(HasFailure());
    ASSERT_TRUE(world.agree());
  }
}

TEST(SessionModel, RekeysLoseNothing) {
  // Only reordering (up to a second, below the grace time), duplicates and half-finished handshakes.
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SessionWorld world(seed, {0, 200, 100, 60, 8, 0, 0, 0});
    world.run(120 * kS);  // an attempt whose messages are lost for good takes ten seconds
    world.stop_sending();
    world.run(2 * kS);
    ASSERT_FALSE(HasFailure());
    ASSERT_GT(world.handshakes(), 5u);
    // Keepalives of the last moments may still be on the way.
    ASSERT_LE(world.in_flight(), 4u);
    ASSERT_GE(world.delivered() + world.in_flight(), world.sent())
        << world.sent() - world.delivered() << " of " << world.sent() << " lost";
  }
}

}  // namespace
}  // namespace pqcmav
