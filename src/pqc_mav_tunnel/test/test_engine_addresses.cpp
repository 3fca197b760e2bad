// SPDX-License-Identifier: Apache-2.0
// A ground station with several addresses: what a drone gets comes from the one that it wrote to.
#include "net/handshake_port.hpp"
#include "raw_drone.hpp"

namespace pqcmav {
namespace {

using namespace test;

class EngineAddresses : public ::testing::Test {
 protected:
  void SetUp() override {
    gcs = start(with(gcs_values(keys), {{"bind", ""}, {"drone.uav1.plain_peer", ground.address().text()}}));
  }
  void send_down(std::string_view text) { ground.send(text, plain_port(*gcs, "uav1")); }

  KeyFolders keys;
  UdpPeer ground;
  std::unique_ptr<Engine> gcs;
};

TEST_F(EngineAddresses, ADroneThatHearsOnlyTheAddressItWroteToConnects) {
  UdpPeer autopilot;
  const auto drone = start(with(drone_values(keys, "uav1", gcs->ports().data), {{"peer", "127.0.0.2"}}));
  ASSERT_TRUE(eventually([&] { return up(*gcs) && up(*drone); })) << status(*drone).last_error;
  autopilot.send("up", plain_port(*drone, "uav1"));
  EXPECT_EQ(ground.receive_text(), "up");
  EXPECT_EQ(status(*drone).peer.substr(0, 9), "127.0.0.2");
}

TEST_F(EngineAddresses, EverythingInASessionComesFromThere) {
  RawDrone drone(initiator_params(keys, "uav1"), *gcs, "127.0.0.1", 5s, "127.0.0.2");
  ASSERT_TRUE(drone.connected()) << drone.outcome.reason;
  EXPECT_EQ(drone.socket.source().host_text(), "127.0.0.2") << "the last of the handshake";
  drone.send(drone.seal("up"));
  ASSERT_EQ(ground.receive_text(), "up");
  const std::string text(400, 'x');
  for (int i = 0; i < 200; ++i) send_down(text);  // runs, and single ones
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(drone.receive_text(drone.socket), text) << i;
    ASSERT_EQ(drone.socket.source(), data_address(*gcs, "127.0.0.2")) << i;
  }
}

TEST_F(EngineAddresses, SoDoesTheAnswerToASessionThatNobodyHolds) {
  UdpPeer stranger;
  Bytes packet(kOverhead + 10, 7);
  packet[0] = 0x03;
  stranger.send(packet, data_address(*gcs, "127.0.0.3"));
  const auto answer = stranger.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)[0], kRestartType);
  EXPECT_EQ(stranger.source(), data_address(*gcs, "127.0.0.3"));
}

/// The other of our addresses is another path, which the drone answers, too: both serve it as long as it speaks there.
TEST_F(EngineAddresses, ADroneThatSpeaksToTwoOfOurAddressesHearsBoth) {
  RawDrone drone(initiator_params(keys, "uav1"), *gcs, "127.0.0.1", 5s, "127.0.0.2");
  ASSERT_TRUE(drone.connected()) << drone.outcome.reason;
  drone.send(drone.seal("one"));
  ASSERT_EQ(ground.receive_text(), "one");
  drone.socket.send(drone.seal("two"), data_address(*gcs, "127.0.0.3"));
  ASSERT_EQ(ground.receive_text(), "two") << "delivered all the same";

  for (int i = 0; i < 50; ++i) {
    send_down(std::to_string(i));
    EXPECT_EQ(drone.receive_text(drone.socket), std::to_string(i));
  }

  EXPECT_EQ(stat(*gcs, "roams"), 0u);
}

}  // namespace
}  // namespace pqcmav
