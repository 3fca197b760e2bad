// SPDX-License-Identifier: Apache-2.0
// A gcs and a drone with two paths, each of which the test may cut: by UDP through a Relay, and by another one or by a
// pair of radios.
#pragma once

#include "radio_air.hpp"
#include "relay.hpp"

namespace pqcmav::test {

class TwoWays {
 public:
  enum class Second { udp, radio };

  explicit TwoWays(Second second, const FlatConfig& gcs_more = {}, const FlatConfig& drone_more = {})
      : air(second == Second::radio ? std::make_unique<RadioAir>(folder.path()) : nullptr) {
    FlatConfig gcs_own{{"drone.uav1.plain_peer", ground.address().text()}};
    if (air) gcs_own["drone.uav1.radio"] = air->at(0);
    gcs = start(with(with(gcs_values(keys), gcs_own), gcs_more));
    lte = std::make_unique<Relay>(gcs->ports());
    if (!air) wifi = std::make_unique<Relay>(gcs->ports());
    drone_config = with(drone_values(keys, "uav1", lte->data_port()), {{"paths", Names{"lte", "other"}},
                                                                       {"pace_autopilot", false},
                                                                       {"path.lte.via", "127.0.0.1"},
                                                                       {"path.lte.peer", at(*lte)}});
    if (air) {
      drone_config["path.other.via"] = air->at(1);
    } else {
      drone_config["path.other.via"] = "127.0.0.2";
      drone_config["path.other.peer"] = at(*wifi);
    }
    drone_config = with(drone_config, drone_more);
    cut_of_air = std::make_shared<std::array<std::atomic<bool>, 2>>();
    if (air)
      air->change([cut = cut_of_air](std::size_t from, ByteView bytes) {
        return (*cut)[from] ? Bytes{} : Bytes(bytes.begin(), bytes.end());
      });
  }
  void start_drone() { drone = start(drone_config); }
  [[nodiscard]] bool connect() {
    start_drone();
    return eventually([&] { return up(*gcs) && up(*drone); });
  }
  /// What passes by the first path, up and down; handshakes only where both do.
  void lte_passes(bool upward, bool downward) const {
    lte->pass(upward, downward);
    lte->pass_handshakes(upward && downward);
  }
  void other_passes(bool upward, bool downward) const {
    (*cut_of_air)[1] = !upward;
    (*cut_of_air)[0] = !downward;
    if (!wifi) return;
    wifi->pass(upward, downward);
    wifi->pass_handshakes(upward && downward);
  }
  [[nodiscard]] PathStatus path(std::size_t i) const { return status(*drone).paths.at(i); }
  /// Do packets take this path, and is the other in that state?
  [[nodiscard]] bool takes(std::size_t i, std::string_view state_of_other = "") const {
    const auto paths = status(*drone).paths;
    return paths.at(i).state == "best" && (state_of_other.empty() || paths.at(1 - i).state == state_of_other);
  }
  [[nodiscard]] bool comes_to(std::size_t i, std::string_view state_of_other = "") const {
    return eventually([&] { return takes(i, state_of_other); });
  }
  [[nodiscard]] bool passes_up() {
    const auto message = next_message();
    autopilot.send(message, plain_port(*drone, "uav1"));
    return came(ground, message);
  }
  [[nodiscard]] bool passes_down() {
    const auto message = next_message();
    ground.send(message, plain_port(*gcs, "uav1"));
    return came(autopilot, message);
  }
  /// In the end, both ways.
  [[nodiscard]] bool passes() {
    return eventually([&] { return passes_up(); }) && eventually([&] { return passes_down(); });
  }
  /// The session that the test began with goes on at both ends.
  void expect_one_session() const {
    EXPECT_EQ(status(*drone).handshakes_ok, 1u);
    EXPECT_EQ(status(*gcs).session_id, status(*drone).session_id);
  }
  /// Where the gcs sees the drone by this path.
  [[nodiscard]] std::string at_gcs(std::size_t i) const {
    return i == 0 ? lte->outside().text() : air ? air->at(0) : wifi->outside().text();
  }
  static std::string at(const Relay& relay) { return "127.0.0.1:" + std::to_string(relay.data_port()); }

  TempFolder folder;
  std::unique_ptr<RadioAir> air;
  KeyFolders keys;
  UdpPeer autopilot, ground;
  std::unique_ptr<Engine> gcs;
  std::unique_ptr<Relay> lte, wifi;
  FlatConfig drone_config;
  std::unique_ptr<Engine> drone;

 private:
  [[nodiscard]] Bytes next_message() {
    ++count_;
    return summed(mavlink2(30, 28, {1, static_cast<std::uint8_t>(count_ >> 8), static_cast<std::uint8_t>(count_)}));
  }
  static bool came(UdpPeer& at, const Bytes& message) {
    for (auto got = at.receive(400ms); got; got = at.receive(400ms))
      if (got == message) return true;
    return false;
  }
  std::shared_ptr<std::array<std::atomic<bool>, 2>> cut_of_air;
  unsigned count_ = 0;
};

}  // namespace pqcmav::test
