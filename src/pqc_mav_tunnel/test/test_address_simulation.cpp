// SPDX-License-Identifier: Apache-2.0
// Random schedules of an attacker without a key against the engine's own classes (address_world.hpp). What must hold:
//
// * a drone whose real path loses nothing gets 99 % of the commands,
// * it is up within 2 RTT + 1 s of a restart of the gcs,
// * an address at which nobody answers gets at most three times what came from it.
//
// PQCMAV_ADDRESS_RUNS runs of 40 s in all (200), PQCMAV_ADDRESS_SEED the first of them (1); with PQCMAV_ADDRESS_REPORT a table of
// the results is written there (`make addresses`).
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iomanip>

#include "address_world.hpp"

namespace pqcmav::test {
namespace {

enum Schedule {
  first_race,
  running_race,
  restart_race,
  moving_race,
  forged_hellos,
  forged_packets,
  recordings,
  calm,
  kScenes
};
constexpr std::array<const char*, kScenes> kNames{"race at the first handshake",
                                                  "race in a running session",
                                                  "race at a restart",
                                                  "race at a move",
                                                  "forged copies of handshakes, and a race",
                                                  "forged copies of all packets, at a move",
                                                  "recorded hellos at a restart, and a race",
                                                  "nobody attacks; restart"};

AddressAttack schedule(Schedule scene, std::mt19937_64& random) {
  const auto between = [&](std::uint64_t low, std::uint64_t high) { return low + random() % (high - low + 1); };
  AddressAttack out;
  out.delay = between(5, 60) * kMs;
  out.lead = between(1, 50) * kMs;
  out.addresses = static_cast<unsigned>(between(1, 3));
  out.policy = static_cast<Policy>(random() % 6);
  out.telemetry = random() % 4 == 0 ? 2 : 20;
  const auto event = between(3'000, 8'000) * kMs;
  if (random() % 2 == 0) out.leaves = between(500, 15'000) * kMs;
  switch (scene) {
    case running_race: out.begins = event; break;
    case restart_race:
      out.restarts = event;
      out.begins = random() % 2 == 0 ? 0 : event;
      break;
    case moving_race:
    case forged_packets:
      out.moves = event;
      out.telemetry = 20;
      out.begins = random() % 3 == 0 ? 0 : event - between(0, 2'000) * kMs;
      if (scene == forged_packets) out.forged_packets = static_cast<unsigned>(between(1, 20));
      break;
    case forged_hellos: out.forged_hellos = static_cast<unsigned>(between(1, 30)); break;
    case recordings:
      out.restarts = event;
      out.recordings = static_cast<unsigned>(between(1, 50));
      break;
    case calm:
      out.restarts = event;
      out.addresses = 0;
      break;
    default: break;
  }
  if (out.begins > 0 && out.leaves != ~std::uint64_t{0}) out.leaves += out.begins;
  return out;
}

struct Tally {
  unsigned runs = 0;
  double share = 0, worst_share = 1, worst_up = 0, worst_over = -10, to = 0, from = 0;
  std::uint64_t reflected = 0;
};

unsigned number_of(const char* name, unsigned otherwise) {
  const auto* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

void report(const char* path, unsigned runs, unsigned seed, const std::array<Tally, kScenes>& all) {
  std::ofstream out(path);
  out << "| scene | runs | commands delivered, mean | worst run | up after (s), worst | ... of the limit left (s) | "
         "bytes to "
         "the attacker / his own | most above 3 x, bytes |\n|---|---|---|---|---|---|---|---|\n";
  out << std::fixed;
  for (std::size_t i = 0; i < kScenes; ++i) {
    const auto& one = all[i];
    out << "| " << kNames[i] << " | " << one.runs << " | " << std::setprecision(2) << 100 * one.share / one.runs
        << " % | " << 100 * one.worst_share << " % | " << one.worst_up << " | " << -one.worst_over << " | "
        << (one.from > 0 ? one.to / one.from : 0) << " | " << one.reflected << " |\n";
  }
  out << "\n" << runs << " runs, seeds from " << seed << " on.\n";
}

TEST(AddressSimulation, WhateverHeSchedulesTheDroneGetsItsCommands) {
  const auto runs = number_of("PQCMAV_ADDRESS_RUNS", 200), first = number_of("PQCMAV_ADDRESS_SEED", 1);
  std::array<Tally, kScenes> all;
  for (auto seed = first; seed < first + runs; ++seed) {
    std::mt19937_64 random(seed);
    const auto scene = static_cast<Schedule>(seed % kScenes);
    const auto attack = schedule(scene, random);
    AddressWorld world(attack, seed);
    world.run();
    const auto share =
        world.sent() == 0 ? 0.0 : static_cast<double>(world.delivered()) / static_cast<double>(world.sent());
    const auto limit = 4 * attack.delay + 1 * kS;
    const auto up = static_cast<double>(world.up_after()) * 1e-9;
    auto& tally = all[scene];
    ++tally.runs;
    tally.share += share;
    tally.worst_share = std::min(tally.worst_share, share);
    tally.worst_up = std::max(tally.worst_up, up);
    tally.worst_over = std::max(tally.worst_over, up - static_cast<double>(limit) * 1e-9);
    tally.reflected = std::max(tally.reflected, world.reflected());
    tally.to += static_cast<double>(world.to_attacker());
    tally.from += static_cast<double>(world.from_attacker());
    const auto where = testing::Message()
                       << kNames[scene] << ", seed " << seed << ", policy " << static_cast<int>(attack.policy) << ", "
                       << attack.addresses << " addresses";
    // Forged copies of everything delay the discovery of a move: what that costs is in the table, not promised.
    if (scene != forged_packets) {
      EXPECT_GE(share, 0.99) << where << ": " << world.delivered() << " of " << world.sent();
    }
    EXPECT_LE(world.up_after(), limit) << where;
    EXPECT_EQ(world.reflected(), 0u) << where;
  }
  if (const auto* path = std::getenv("PQCMAV_ADDRESS_REPORT")) report(path, runs, first, all);
}

}  // namespace
}  // namespace pqcmav::test
