// SPDX-License-Identifier: Apache-2.0
// What a gcs without a session of the drone sends between M4 and the drone's first packet.
#include "raw_drone.hpp"

namespace pqcmav {
namespace {

using namespace test;

class EngineEarly : public ::testing::Test {
 protected:
  EngineEarly() : gcs(start(quick(gcs_values(keys)))), to(resolve("127.0.0.1", plain_port(*gcs), false, SOCK_DGRAM)) {}
  static std::uint16_t plain_port(const Engine& gcs) { return gcs.ports().plain[0].second; }
  std::unique_ptr<RawDrone> connect(bool standby = false) {
    auto params = initiator_params(keys, "uav1");
    params.features = features::kStations;
    params.standby = standby;
    params.term = 1;
    return std::make_unique<RawDrone>(std::move(params), *gcs);
  }
  /// Says something new until the drone hears it; what it hears, "(nothing)" in the end.
  std::string command(RawDrone& drone, milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    std::string heard;
    for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
      ground.send("land " + std::to_string(i), to);
      heard = drone.receive_text(drone.socket, true, 20ms);
      if (heard != "(nothing)") break;
    }
    return heard;
  }

  const KeyFolders keys;
  UdpPeer ground;
  std::unique_ptr<Engine> gcs;
  SockAddr to;
};

TEST_F(EngineEarly, ACommandReachesADroneThatHasSaidNothingYet) {
  const auto drone = connect();
  ASSERT_TRUE(drone->connected()) << drone->outcome.reason;
  EXPECT_EQ(command(*drone, 400ms).rfind("land ", 0), 0u);
  EXPECT_NE(status(*gcs).state, LinkState::up) << "a packet of the drone says so, and nothing else";
  EXPECT_EQ(status(*gcs).role, "");
  drone->send(drone->seal("telemetry"));
  ASSERT_TRUE(eventually([&] { return status(*gcs).state == LinkState::up; }));
  EXPECT_EQ(status(*gcs).role, "active");
  EXPECT_EQ(command(*drone, 5s).rfind("land ", 0), 0u);
  expect_all_accounted_for(*gcs);
}

TEST_F(EngineEarly, ADroneThatSaysNothingIsSentNothingForLong) {
  const auto drone = connect();
  ASSERT_TRUE(drone->connected()) << drone->outcome.reason;
  ASSERT_EQ(command(*drone, 400ms).rfind("land ", 0), 0u);
  const auto refused = stat(*gcs, "plain_dropped_no_session");
  ASSERT_TRUE(eventually([&] {
    ground.send("hello", to);
    (void)drone->receive_text(drone->socket, true, 20ms);
    return stat(*gcs, "plain_dropped_no_session") > refused;
  }));
  EXPECT_EQ(command(*drone, 100ms), "(nothing)");
  EXPECT_NE(status(*gcs).state, LinkState::up);
}

TEST_F(EngineEarly, AStandbyIsSentNothing) {
  const auto drone = connect(true);
  ASSERT_TRUE(drone->connected()) << drone->outcome.reason;
  EXPECT_EQ(command(*drone, 300ms), "(nothing)");
}

}  // namespace
}  // namespace pqcmav
