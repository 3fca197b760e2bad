// SPDX-License-Identifier: Apache-2.0
// Where messages go among several channels, by the rules of https://mavlink.io/en/guide/routing.html.
#include "route/mavlink_router.hpp"

#include <gtest/gtest.h>

#include "mavlink_bytes.hpp"
#include "route/mavlink_target.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr unsigned kTunnel = kTunnelChannel, kQgc = 1, kSdk = 2, kOther = 3;
constexpr ChannelMask kAll = 0b1111;

ChannelMask bits(std::initializer_list<unsigned> channels) {
  ChannelMask out = 0;
  for (const auto channel : channels) out |= channel_bit(channel);
  return out;
}

/// COMMAND_LONG: its target is at 30 and 31 of 33 bytes.
Bytes command(std::uint8_t system, std::uint8_t component) {
  auto out = mavlink2(76, 33);
  out[10 + 30] = system;
  out[10 + 31] = component;
  return out;
}

MavlinkTarget target_of(const Bytes& frame) { return mavlink_target(*read_mavlink_header(frame), frame); }

struct World {
  MavlinkRouter router;
  World() {
    router.hear(kTunnel, 1, 1);    // autopilot
    router.hear(kTunnel, 1, 100);  // its camera
    router.hear(kQgc, 255, 190);
    router.hear(kSdk, 245, 190);
  }
  ChannelMask from(unsigned channel, const Bytes& frame) const {
    return router.route(channel, *read_mavlink_header(frame), frame, kAll);
  }
};

TEST(MavlinkTarget, IsWhereTheMessageHasIt) {
  EXPECT_EQ(target_of(command(7, 9)).system, 7);
  EXPECT_EQ(target_of(command(7, 9)).component, 9);
  EXPECT_EQ(target_of(mavlink2(0, 9)).system, 0) << "a HEARTBEAT names none";
  EXPECT_EQ(target_of(mavlink2(0xabcdef, 255)).system, 0) << "nobody knows this one";
  auto one = mavlink1(76, 33);
  one[6 + 30] = 5;
  one[6 + 31] = 6;
  EXPECT_EQ(target_of(one).system, 5);
  EXPECT_EQ(target_of(one).component, 6);
  auto mode = mavlink2(11, 6);  // SET_MODE has no component
  EXPECT_EQ(target_of(mode).system, 0x55);
  EXPECT_EQ(target_of(mode).component, 0);
}

TEST(MavlinkTarget, WhatWasCutOffIsZero) {
  EXPECT_EQ(target_of(mavlink2(76, 30)).system, 0);
  EXPECT_EQ(target_of(mavlink2(76, 31)).system, 0x55);
  EXPECT_EQ(target_of(mavlink2(76, 31)).component, 0);
  EXPECT_EQ(target_of(mavlink2(76, 0)).system, 0);
}

TEST(MavlinkRouter, OneForAllGoesToAllOthers) {
  const World world;
  EXPECT_EQ(world.from(kTunnel, mavlink2(0)), bits({kQgc, kSdk, kOther}));
  EXPECT_EQ(world.from(kQgc, mavlink2(0)), bits({kTunnel, kSdk, kOther}));
  EXPECT_EQ(world.from(kQgc, command(0, 0)), bits({kTunnel, kSdk, kOther}));
}

TEST(MavlinkRouter, OneWithATargetGoesWhereThatWasHeard) {
  const World world;
  EXPECT_EQ(world.from(kQgc, command(1, 1)), bits({kTunnel}));
  EXPECT_EQ(world.from(kTunnel, command(255, 190)), bits({kQgc}));
  EXPECT_EQ(world.from(kTunnel, command(245, 0)), bits({kSdk}));
  EXPECT_EQ(world.from(kQgc, command(245, 190)), bits({kSdk})) << "not to the air";
}

TEST(MavlinkRouter, TheComponentCountsWhereItIsKnown) {
  World world;
  world.router.hear(kOther, 255, 191);
  EXPECT_EQ(world.from(kTunnel, command(255, 190)), bits({kQgc}));
  EXPECT_EQ(world.from(kTunnel, command(255, 191)), bits({kOther}));
  EXPECT_EQ(world.from(kTunnel, command(255, 0)), bits({kQgc, kOther}));
  EXPECT_EQ(world.from(kTunnel, command(255, 5)), bits({kQgc, kOther})) << "its system may know it";
}

TEST(MavlinkRouter, NothingGoesBackToWhereItCameFrom) {
  World world;
  EXPECT_EQ(world.from(kQgc, command(255, 190)), 0u);
  world.router.hear(kSdk, 255, 190);  // two programs with the same id
  EXPECT_EQ(world.from(kQgc, command(255, 190)), bits({kSdk}));
  EXPECT_EQ(world.from(kTunnel, command(255, 190)), bits({kQgc, kSdk}));
}

TEST(MavlinkRouter, AnUnknownTargetMayBeBeyondTheTunnel) {
  const World world;
  EXPECT_EQ(world.from(kQgc, command(9, 1)), bits({kTunnel}));
  EXPECT_EQ(world.from(kTunnel, command(9, 1)), 0u);
}

TEST(MavlinkRouter, WhoIsGoneIsForgotten) {
  World world;
  world.router.hear(kOther, 255, 190);
  world.router.forget(kQgc);
  EXPECT_EQ(world.from(kTunnel, command(255, 190)), bits({kOther}));
  world.router.forget(kOther);
  EXPECT_EQ(world.from(kTunnel, command(255, 190)), 0u);
  EXPECT_EQ(world.from(kTunnel, command(245, 190)), bits({kSdk}));
}

TEST(MavlinkRouter, SystemZeroIsNobody) {
  World world;
  world.router.hear(kOther, 0, 0);
  EXPECT_EQ(world.from(kOther, command(0, 0)), bits({kTunnel, kQgc, kSdk}));
}

TEST(MavlinkRouter, KnowsSoManyAndForgetsTheOldest) {
  World world;
  for (unsigned i = 0; i < MavlinkRouter::kKnownMax; ++i) {
    world.router.hear(kQgc, 255, 190);  // it goes on
    world.router.hear(kOther, static_cast<std::uint8_t>(2 + i / 200), static_cast<std::uint8_t>(1 + i % 200));
  }
  EXPECT_EQ(world.from(kTunnel, command(255, 190)), bits({kQgc}));
  EXPECT_EQ(world.from(kTunnel, command(245, 190)), 0u) << "silent for longest";
}

}  // namespace
}  // namespace pqcmav
