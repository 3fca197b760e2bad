// SPDX-License-Identifier: Apache-2.0
// What a reader of the copies may ask, to the byte, and that it goes to the autopilot alone.
#include "net/interval_request.hpp"

#include "engine_fixture.hpp"

namespace pqcmav {
namespace {

using namespace test;

// COMMAND_LONG SET_MESSAGE_INTERVAL of BATTERY_STATUS every 0.5 s, from 1/191 to 1/1, as pymavlink packs it.
const Bytes kRequest{0xfd, 0x20, 0x00, 0x00, 0x00, 0x01, 0xbf, 0x4c, 0x00, 0x00, 0x00, 0x00, 0x13, 0x43, 0x00,
                     0x24, 0xf4, 0x48, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                     0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0x01, 0x01, 0x01, 0x04, 0x1d};

Bytes changed(std::size_t at, std::uint8_t value) {
  auto frame = kRequest;
  frame[at] = value;
  return frame;
}

TEST(IntervalRequest, IsThisCommandFromACompanionComputerAndNothingElse) {
  EXPECT_TRUE(is_interval_request(kRequest));
  EXPECT_TRUE(is_interval_request(changed(5, 77)));  // whatever its system
  const std::pair<std::size_t, std::uint8_t> others[] = {
      {0, 0xfe},                     // MAVLink 1
      {1, 31},    {1, 33},           // another length
      {2, 1},                        // signed
      {6, 1},     {6, 190},          // the autopilot, a ground station
      {7, 75},    {8, 1},   {9, 1},  // COMMAND_INT, other messages
      {38, 0x90}, {39, 0}};          // MAV_CMD_COMPONENT_ARM_DISARM is 400, others
  for (const auto& [at, value] : others) EXPECT_FALSE(is_interval_request(changed(at, value))) << at;
  auto two = kRequest;
  two.insert(two.end(), kRequest.begin(), kRequest.end());
  EXPECT_FALSE(is_interval_request(two));
  for (std::size_t size = 0; size < kRequest.size(); ++size)
    EXPECT_FALSE(is_interval_request(ByteView(kRequest).first(size))) << size;
}

TEST(IntervalRequest, TenASecond) {
  RequestRate rate;
  constexpr std::uint64_t begin = 5'000'000'000;
  for (unsigned i = 0; i < RequestRate::kMost; ++i) EXPECT_TRUE(rate.admits(begin + i));
  EXPECT_FALSE(rate.admits(begin + 999'999'999));
  EXPECT_TRUE(rate.admits(begin + 1'000'000'000));
}

struct Asked : ::testing::Test {
  UdpPeer reader, stranger;

  /// Where copies come from, once the autopilot has said something.
  SockAddr source(Tunnel& tunnel) {
    tunnel.send_up("telemetry");
    EXPECT_EQ(tunnel.ground.receive_text(), "telemetry");
    EXPECT_EQ(reader.receive_text(), "telemetry");
    return reader.source();
  }
};

TEST_F(Asked, GoesToTheAutopilotAndNotIntoTheTunnel) {
  Tunnel tunnel({}, {{"plain_tap", reader.address().text()}, {"plain_tap_requests", true}});
  ASSERT_TRUE(tunnel.connect());
  const auto to = source(tunnel);
  EXPECT_TRUE(to.loopback());
  reader.send(kRequest, to);
  EXPECT_EQ(tunnel.autopilot.receive(), kRequest);
  EXPECT_EQ(stat(*tunnel.drone, "plain_tap_requests"), 1u);
  EXPECT_FALSE(tunnel.ground.receive(50ms));
}

TEST_F(Asked, AnythingElseAndAnyoneElseIsRefusedAndCounted) {
  Tunnel tunnel({}, {{"plain_tap", reader.address().text()}, {"plain_tap_requests", true}});
  ASSERT_TRUE(tunnel.connect());
  const auto to = source(tunnel);
  stranger.send(kRequest, to);         // another program of this machine
  reader.send(changed(38, 0x90), to);  // another command
  reader.send("anything", to);
  reader.send(Bytes(1400, 0xfd), to);
  EXPECT_TRUE(eventually([&] { return stat(*tunnel.drone, "plain_tap_refused") == 4; }));
  for (int i = 0; i < 50; ++i) reader.send(kRequest, to);
  EXPECT_TRUE(eventually(
      [&] { return stat(*tunnel.drone, "plain_tap_refused") + stat(*tunnel.drone, "plain_tap_requests") == 54; }));
  const auto passed = stat(*tunnel.drone, "plain_tap_requests");
  EXPECT_GE(passed, 10u);
  EXPECT_LE(passed, 20u);  // should the fifty fall into two seconds
  EXPECT_EQ(tunnel.autopilot.drain().size(), passed);
  EXPECT_TRUE(tunnel.ground.drain().empty());
}

TEST_F(Asked, NothingIsReadUnlessItIsAllowed) {
  Tunnel tunnel({}, {{"plain_tap", reader.address().text()}});
  ASSERT_TRUE(tunnel.connect());
  reader.send(kRequest, source(tunnel));
  EXPECT_FALSE(tunnel.autopilot.receive(100ms));
  EXPECT_EQ(stat(*tunnel.drone, "plain_tap_requests") + stat(*tunnel.drone, "plain_tap_refused"), 0u);
}

}  // namespace
}  // namespace pqcmav
