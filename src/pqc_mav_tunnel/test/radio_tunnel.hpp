// SPDX-License-Identifier: Apache-2.0
// A gcs and a drone whose encrypted side is a pair of serial radios.
#pragma once

#include "engine_fixture.hpp"
#include "radio_air.hpp"

namespace pqcmav::test {

class RadioTunnel {
 public:
  explicit RadioTunnel(const std::string& more = "", const FlatConfig& gcs_more = {}, const FlatConfig& drone_more = {})
      : air(folder.path()) {
    gcs = start(with(with(gcs_values(keys),
                          {{"drone.uav1.plain_peer", ground.address().text()}, {"drone.uav1.radio", air.at(0, more)}}),
                     gcs_more));
    const FlatConfig own{{"peer", air.at(1, more)}, {"pace_autopilot", false}};  // so that nothing else comes down
    drone = start(with(with(drone_values(keys, "uav1", 46011), own), drone_more));
  }
  [[nodiscard]] bool connect() const {
    return eventually([&] { return up(*gcs) && up(*drone); });
  }
  static EndpointStatus radio(const Engine& engine, std::size_t link = 0) {
    return engine.stats().at(link).endpoints.back();
  }
  static std::uint64_t count(const Engine& engine, std::string_view name) {
    return value_of(radio(engine).counters, name);
  }
  void send_up(ByteView bytes) { autopilot.send(bytes, plain_port(*drone, "uav1")); }
  void send_down(ByteView bytes) { ground.send(bytes, plain_port(*gcs, "uav1")); }
  void expect_round_trip(std::uint8_t number) {
    const auto up = summed(mavlink2(30, 28, {1, 1, number})), down = summed(mavlink2(76, 33, {255, 190, number}));
    send_up(up);
    ASSERT_EQ(ground.receive(), up);
    send_down(down);
    // Beside what the tunnel tells an autopilot of the radio.
    ASSERT_TRUE(eventually([&] { return autopilot.receive(std::chrono::milliseconds(200)) == down; }));
  }

  TempFolder folder;
  RadioAir air;
  KeyFolders keys;
  UdpPeer autopilot, ground;
  std::unique_ptr<Engine> gcs, drone;
};

}  // namespace pqcmav::test
