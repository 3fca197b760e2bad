// SPDX-License-Identifier: Apache-2.0
// A running tunnel with shaping on, off, and changed meanwhile; a rekey through a shaped link.
#include <algorithm>
#include <random>

#include "engine_fixture.hpp"
#include "line/radio_status.hpp"
#include "mavlink_bytes.hpp"

namespace pqcmav {
namespace {

using namespace test;

Bytes noise_of(std::mt19937& random) {
  Bytes out(random() % 300);
  for (auto& byte : out) byte = static_cast<std::uint8_t>(random());
  if (!out.empty() && random() % 2 == 0) out[0] = static_cast<std::uint8_t>(0xfd + random() % 2);
  return out;
}

ShapeCount shaped(const Engine& engine, ShapeClass shape_class) {
  return engine.stats().at(0).shaping[static_cast<std::size_t>(shape_class)];
}

TEST(EngineShaping, OffPassesAnythingUnreadAndInOrder) {
  Tunnel tunnel;
  ASSERT_TRUE(tunnel.connect());
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    std::vector<Bytes> sent;
    for (int i = 0; i < 16; ++i) {
      sent.push_back(noise_of(random));
      tunnel.autopilot.send(sent.back(), plain_port(*tunnel.drone, "uav1"));
    }
    for (const auto& each : sent) ASSERT_EQ(tunnel.ground.receive(), each);
  }
  for (std::size_t i = 0; i < kShapeClasses; ++i) EXPECT_EQ(tunnel.drone->stats().at(0).shaping[i].taken, 0u);
}

TEST(EngineShaping, OnChangesNoByteEither) {
  Tunnel tunnel({{"shape_kbit", kShapeKbitMax}}, {{"shape_kbit", kShapeKbitMax}, {"pace_autopilot", false}});
  ASSERT_TRUE(tunnel.connect());
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    const auto sent = noise_of(random);
    tunnel.autopilot.send(sent, plain_port(*tunnel.drone, "uav1"));
    ASSERT_EQ(tunnel.ground.receive(), sent);
    tunnel.ground.send(sent, plain_port(*tunnel.gcs, "uav1"));
    ASSERT_EQ(tunnel.autopilot.receive(), sent);
  }
  EXPECT_TRUE(eventually([&] {
    const auto rest = shaped(*tunnel.drone, ShapeClass::rest);
    return rest.taken == 200 && rest.sent == 200;
  }));
  EXPECT_EQ(status(*tunnel.drone).shape_kbit, kShapeKbitMax);
  expect_all_accounted_for(*tunnel.gcs);
}

TEST(EngineShaping, KeepsTheRateAndLetsCommandsThrough) {
  Tunnel tunnel({}, {{"shape_kbit", 64}, {"shape_ids", Names{"30:3", "33:2"}}});
  ASSERT_TRUE(tunnel.connect());
  const auto from = std::chrono::steady_clock::now();
  const auto before = stat(*tunnel.drone, "enc_tx_bytes");
  const auto packets = stat(*tunnel.drone, "enc_tx_packets");
  const auto port = plain_port(*tunnel.drone, "uav1");
  for (std::uint8_t i = 0; i < 100; ++i) {
    for (int k = 0; k < 5; ++k) tunnel.autopilot.send(mavlink2(30, 28), port);
    tunnel.autopilot.send(mavlink2(33, 28), port);
    if (i % 10 == 0) tunnel.autopilot.send(mavlink2(77, 10, {1, 1, i}), port);
    std::this_thread::sleep_for(10ms);
  }
  std::this_thread::sleep_for(100ms);
  const auto air = static_cast<double>(stat(*tunnel.drone, "enc_tx_bytes") - before) +
                   28.0 * static_cast<double>(stat(*tunnel.drone, "enc_tx_packets") - packets);
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
  EXPECT_LT(air, seconds * 64'000 / 8 * 0.95 + 1'600);
  int commands = 0;
  for (const auto& each : tunnel.ground.drain()) commands += each[7] == 77 ? 1 : 0;
  EXPECT_EQ(commands, 10);
  EXPECT_TRUE(eventually([&] {
    return shaped(*tunnel.drone, ShapeClass::stream).replaced > 0 &&
           shaped(*tunnel.drone, ShapeClass::rest).dropped > 0;
  }));
  EXPECT_EQ(shaped(*tunnel.drone, ShapeClass::command).dropped, 0u);
}

/// Bundles leave after the shaper: the rate on the air holds, more goes into it, and commands do not wait for company.
TEST(EngineShaping, WithBundlesMoreGoesIntoTheSameRate) {
  const FlatConfig bundled{{"compact", true}, {"bundle_ms", 200}};
  Tunnel tunnel(bundled, with(bundled, {{"shape_kbit", 64}}));
  ASSERT_TRUE(tunnel.connect());
  const auto port = plain_port(*tunnel.drone, "uav1");
  for (int i = 0; i < 3; ++i) {
    const auto began = std::chrono::steady_clock::now();
    tunnel.autopilot.send(mavlink2(77, 10), port);
    ASSERT_TRUE(tunnel.ground.receive());
    EXPECT_LT(std::chrono::steady_clock::now() - began, 150ms);
  }
  const auto from = std::chrono::steady_clock::now();
  const auto bytes = stat(*tunnel.drone, "enc_tx_bytes"), packets = stat(*tunnel.drone, "enc_tx_packets");
  const auto delivered = stat(*tunnel.gcs, "delivered_datagrams");
  for (int i = 0; i < 150; ++i) {
    for (std::uint8_t system = 1; system <= 4; ++system)
      tunnel.autopilot.send(mavlink2(30, 28, {system, 1, static_cast<std::uint8_t>(i)}), port);
    std::this_thread::sleep_for(10ms);
  }
  const auto air = static_cast<double>(stat(*tunnel.drone, "enc_tx_bytes") - bytes) +
                   28.0 * static_cast<double>(stat(*tunnel.drone, "enc_tx_packets") - packets);
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
  EXPECT_LT(air, seconds * 64'000 / 8 * 0.95 + 1'700);
  const auto carried = static_cast<double>(stat(*tunnel.gcs, "delivered_datagrams") - delivered);
  EXPECT_GT(carried / seconds, 125) << "88 bytes each would be 86 a second, 65 in pairs 116";
}

TEST(EngineShaping, TheRateChangesWhileItRuns) {
  Tunnel tunnel;
  ASSERT_TRUE(tunnel.connect());
  const auto port = plain_port(*tunnel.drone, "uav1");
  tunnel.drone->set_shape_kbit(8);
  ASSERT_TRUE(eventually([&] { return status(*tunnel.drone).shape_kbit == 8; }));
  for (int i = 0; i < 40; ++i) tunnel.autopilot.send(mavlink2(22, 200), port);
  EXPECT_TRUE(eventually([&] { return shaped(*tunnel.drone, ShapeClass::transfer).taken == 40; }));
  EXPECT_LT(shaped(*tunnel.drone, ShapeClass::transfer).sent, 20u);
  tunnel.drone->set_shape_kbit(0);
  EXPECT_TRUE(eventually([&] { return shaped(*tunnel.drone, ShapeClass::transfer).sent == 40; }));
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(tunnel.ground.receive()) << i;
  tunnel.send_up("unread");
  EXPECT_EQ(tunnel.ground.receive_text(), "unread");
  EXPECT_EQ(shaped(*tunnel.drone, ShapeClass::rest).taken, 0u);
  for (const auto bad : {std::int64_t{-2}, std::int64_t{kShapeKbitMax} + 1})
    EXPECT_THROW(tunnel.drone->set_shape_kbit(bad), TunnelError);
}

/// More leaves at once than a batch holds, two packets at a time.
TEST(EngineShaping, WithBundlesItMayBeSwitchedOffWhileAllIsFull) {
  for (int first = 62; first <= 64; ++first) {
    Tunnel tunnel({}, {{"bundle_ms", 200}, {"bundle_bytes", 100}, {"shape_kbit", 8}});
    ASSERT_TRUE(tunnel.connect());
    const auto port = plain_port(*tunnel.drone, "uav1");
    for (int i = 0; i < first; ++i) tunnel.autopilot.send(mavlink2(77, 10), port);
    for (int i = 0; i < 32; ++i) {
      tunnel.autopilot.send(mavlink2(22, 10), port);
      tunnel.autopilot.send(mavlink2(22, 200), port);  // too long for a bundle
    }
    for (std::uint8_t system = 1; system < 60; ++system)
      tunnel.autopilot.send(mavlink2(30, system % 2 == 0 ? 250 : 10, {system, 1}), port);
    const auto taken = [&] { return stat(*tunnel.drone, "plain_rx_packets"); };
    ASSERT_TRUE(eventually([&] { return taken() == static_cast<std::uint64_t>(first) + 64 + 59; }));
    tunnel.drone->set_shape_kbit(0);
    EXPECT_TRUE(eventually([&] { return shaped(*tunnel.drone, ShapeClass::stream).sent == 59; }));
    EXPECT_EQ(shaped(*tunnel.drone, ShapeClass::transfer).sent, 64u);
    EXPECT_TRUE(eventually([&] { return tunnel.drone->status().at(0).shape_kbit == 0; }));
  }
}

/// As an ArduPilot sends it. Nothing is known of the link: the values leave in portions, and what else comes passes them.
TEST(EngineShaping, AWholeListOfParametersArrivesInOrder) {
  Tunnel tunnel({{"shape_kbit", kShapeAuto}}, {{"shape_kbit", kShapeAuto}});
  ASSERT_TRUE(tunnel.connect());
  const auto port = plain_port(*tunnel.drone, "uav1");
  constexpr int kValues = 1'000;
  for (int i = 0; i < kValues; ++i) {
    auto value = mavlink2(22, 25);
    value[10] = static_cast<std::uint8_t>(i);
    value[11] = static_cast<std::uint8_t>(i >> 8);
    tunnel.autopilot.send(value, port);
  }
  tunnel.autopilot.send(mavlink2(77, 10), port);
  int next = 0;
  bool passed = false;
  while (next < kValues || !passed) {
    const auto got = tunnel.ground.receive();
    ASSERT_TRUE(got) << next;
    if ((*got)[7] == 77) {
      passed = true;
      continue;
    }
    ASSERT_EQ((*got)[10] + 256 * (*got)[11], next++);
  }
  EXPECT_TRUE(eventually([&] { return shaped(*tunnel.drone, ShapeClass::transfer).sent > 0; })) << "some waited";
  EXPECT_EQ(status(*tunnel.drone).shape_kbit, 0u);
}

/// The room that is left, as RADIO_STATUS says it; none if something else comes.
std::optional<unsigned> told_room(const std::optional<Bytes>& datagram) {
  if (!datagram || datagram->size() != kRadioStatusSize) return std::nullopt;
  const unsigned room = (*datagram)[12];
  return std::ranges::equal(*datagram, radio_status(room, (*datagram)[2])) ? std::optional(room) : std::nullopt;
}

TEST(EngineShaping, TheAutopilotIsToldHowMuchRoomIsLeft) {
  Tunnel tunnel({{"shape_kbit", 8}}, {{"shape_kbit", 8}});
  ASSERT_TRUE(tunnel.connect());
  tunnel.send_up("here I am");
  EXPECT_GE(told_room(tunnel.autopilot.receive()), 90u) << "at most that text waits";
  for (int i = 0; i < 16; ++i) tunnel.autopilot.send(mavlink2(110, 200), plain_port(*tunnel.drone, "uav1"));
  EXPECT_TRUE(eventually([&] { return told_room(tunnel.autopilot.receive()).value_or(100) < 50; }));
  EXPECT_TRUE(eventually([&] { return told_room(tunnel.autopilot.receive()) >= 50u; })) << "the queue emptied";
  EXPECT_EQ(stat(*tunnel.drone, "plain_tx_packets"), 0u) << "none of it came from the ground station";
  tunnel.ground.send(mavlink2(76, 33), plain_port(*tunnel.gcs, "uav1"));
  EXPECT_TRUE(eventually([&] { return stat(*tunnel.drone, "plain_tx_packets") == 1; }));
  for (const auto& each : tunnel.ground.drain()) EXPECT_NE(each.size(), kRadioStatusSize);
}

TEST(EngineShaping, TheAutopilotIsLeftAloneWhereItIsNotWanted) {
  Tunnel tunnel({}, {{"shape_kbit", 8}, {"pace_autopilot", false}});
  ASSERT_TRUE(tunnel.connect());
  for (int i = 0; i < 16; ++i) tunnel.autopilot.send(mavlink2(110, 200), plain_port(*tunnel.drone, "uav1"));
  EXPECT_TRUE(eventually([&] { return shaped(*tunnel.drone, ShapeClass::rest).sent >= 2; }));
  EXPECT_TRUE(tunnel.autopilot.drain().empty());
}

TEST(EngineShaping, ARekeyGetsThroughAFullLink) {
  Tunnel tunnel({{"shape_kbit", 256}}, {{"shape_kbit", 256}});
  ASSERT_TRUE(tunnel.connect());
  std::atomic<bool> done{false};
  std::thread load([&] {
    while (!done) {
      for (std::uint8_t system = 1; system < 20; ++system)
        tunnel.autopilot.send(mavlink2(30, 200, {system, 1}), plain_port(*tunnel.drone, "uav1"));
      std::this_thread::sleep_for(20ms);
    }
  });
  const auto outcome = tunnel.drone->request_rekey("uav1", "", "test", 20s);
  done = true;
  load.join();
  EXPECT_TRUE(outcome.ok) << outcome.message;
  EXPECT_GT(shaped(*tunnel.drone, ShapeClass::rekey).sent, 0u);
  EXPECT_GT(shaped(*tunnel.gcs, ShapeClass::rekey).sent, 0u);
}

}  // namespace
}  // namespace pqcmav
