// SPDX-License-Identifier: Apache-2.0
// A router between that lets nothing more through from the drone's UDP port: the drone takes another one.
#include "relay.hpp"

namespace pqcmav {
namespace {

using namespace test;

struct ShunnedPort : RelayedTunnel {
  using RelayedTunnel::RelayedTunnel;
  /// Cuts the port off that the drone has, and returns it once the drone is heard from another one.
  std::uint16_t leave_port() {
    const auto before = relay->drone_port();
    relay->shun_port();
    EXPECT_TRUE(eventually([&] { return relay->drone_port() != before; }, 30s));
    EXPECT_TRUE(eventually([&] { return both_up() && drone->ports().data == relay->drone_port(); }, 10s));
    return before;
  }
};

std::uint16_t free_port() { return UdpPeer().address().port(); }

TEST(EnginePort, ADroneThatNobodyAnswersAsksFromAnotherPort) {
  const auto known = free_port();
  ShunnedPort tunnel({}, {{"local_data_port", static_cast<std::int64_t>(known)}});
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  ASSERT_EQ(tunnel.leave_port(), known);
  tunnel.expect_round_trip("by another port");
  // The known one again: a firewall may let that alone through.
  tunnel.leave_port();
  EXPECT_EQ(tunnel.relay->drone_port(), known);
  tunnel.expect_round_trip("by the known port");
}

TEST(EnginePort, IfSomebodyHasTheKnownPortItTakesAnotherFreeOne) {
  const auto known = free_port();
  ShunnedPort tunnel({}, {{"local_data_port", static_cast<std::int64_t>(known)}});
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  ASSERT_EQ(tunnel.leave_port(), known);
  const auto taken = open_udp(resolve("127.0.0.1", known, true, SOCK_DGRAM), {}, "a test");
  tunnel.leave_port();
  tunnel.expect_round_trip("by a third port");
}

TEST(EnginePort, SoDoesADroneWithPaths) {
  const auto known = free_port();
  ShunnedPort tunnel({}, {{"local_data_port", static_cast<std::int64_t>(known)},
                          {"paths", Names{"only"}},
                          {"path.only.via", "127.0.0.1"}});
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  ASSERT_EQ(tunnel.leave_port(), known);
  tunnel.expect_round_trip("by another port");
}

TEST(EnginePort, ADroneWithASessionKeepsItsPort) {
  const Names stations = {"north", "south"};
  const TempFolder root;
  init_keys(root.path(), {"uav1"}, {"mldsa44"}, false, "gcs", stations);
  const auto north = start({{"role", "gcs"},
                            {"keys", root / "stations/north"},
                            {"gcs_id", "north"},
                            {"drones", Names{"uav1"}},
                            {"bind", "127.0.0.1"},
                            {"data_port", 0},
                            {"key_pool_depth", 0},
                            {"drone.uav1.plain_peer", UdpPeer().address().text()}});
  UdpPeer silent;  // where the standby should be
  const Names peers = {"north@127.0.0.1:" + std::to_string(north->ports().data),
                       "south@127.0.0.1:" + std::to_string(silent.address().port())};
  const auto drone = start({{"role", "drone"},
                            {"keys", root / "drones/uav1"},
                            {"drone_id", "uav1"},
                            {"peer", peers},
                            {"standby", true},
                            {"local_data_port", 0},
                            {"suite", kLight},
                            {"bind", "127.0.0.1"},
                            {"plain_bind", "127.0.0.1:0"}});
  ASSERT_TRUE(eventually([&] { return up(*drone); }));
  const auto before = drone->ports().data;
  EXPECT_FALSE(eventually([&] { return drone->ports().data != before; }, 15s));
  EXPECT_FALSE(silent.drain().empty()) << "it was asked";
  EXPECT_TRUE(up(*drone));
}

}  // namespace
}  // namespace pqcmav
