// SPDX-License-Identifier: Apache-2.0
// Others on the air of engines with serial radios: strangers who inject, forge and repeat, further drones, a foreign
// pair.
#include "line/radio_status.hpp"
#include "radio_tunnel.hpp"

namespace pqcmav {
namespace {

using namespace test;

class RadioStrangers : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Framings, RadioStrangers, ::testing::Values("", ":mavlink"),
                         [](const auto& info) { return std::string(info.param).empty() ? "Raw" : "Mavlink"; });

TEST_P(RadioStrangers, StrangersBytesCostNothingButTheirPlace) {
  RadioTunnel tunnel(GetParam());
  ASSERT_TRUE(tunnel.connect());
  tunnel.expect_round_trip(0);
  std::mt19937 random(8);
  for (const auto& bytes : {Bytes(20'000, 0), Bytes(20'000, 0xfd), Bytes(20'000, 0xff), [&] {
                              Bytes noise(20'000);
                              for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
                              return noise;
                            }()})
    for (const std::size_t radio : {0u, 1u})
      for (ByteView rest = bytes; !rest.empty(); rest = rest.subspan(std::min<std::size_t>(rest.size(), 1000)))
        tunnel.air.inject(radio, rest.first(std::min<std::size_t>(rest.size(), 1000)));
  // All that was ever sent, once more and to the wrong end.
  const auto recorded = tunnel.air.seen();
  for (const std::size_t radio : {0u, 1u})
    for (ByteView rest = recorded; !rest.empty(); rest = rest.subspan(std::min<std::size_t>(rest.size(), 1000)))
      tunnel.air.inject(radio, rest.first(std::min<std::size_t>(rest.size(), 1000)));
  ASSERT_TRUE(eventually([&] {
    const auto message = summed(mavlink2(76, 33));
    tunnel.send_down(message);
    return tunnel.autopilot.receive(200ms) == message;
  }));
  EXPECT_TRUE(up(*tunnel.gcs));
  EXPECT_GT(RadioTunnel::count(*tunnel.gcs, "not_mine"), 0u) << "its own frames came back";
  EXPECT_EQ(total(*tunnel.gcs, "drop_auth_fail"), 0u);
  expect_all_accounted_for(*tunnel.gcs);
}

TEST_P(RadioStrangers, SeveralDronesShareOneRadioAndAForeignOneIsLeftAlone) {
  TempFolder folder;
  RadioAir air(folder.path(), 4);
  KeyFolders keys({"uav1", "uav2"}), foreign_keys;
  UdpPeer ground1, ground2, autopilot1, autopilot2;
  auto gcs = start(with(gcs_values(keys, {"uav1", "uav2"}), {{"drone.uav1.plain_peer", ground1.address().text()},
                                                             {"drone.uav2.plain_peer", ground2.address().text()},
                                                             {"drone.uav1.radio", air.at(0, GetParam())},
                                                             {"drone.uav2.radio", air.at(0, GetParam())},
                                                             {"drone.uav1.radio_id", 1},
                                                             {"drone.uav2.radio_id", 2}}));
  const auto drone = [&](const KeyFolders& of, const char* id, std::size_t radio, std::int64_t number) {
    return start(with(drone_values(of, id, 46011), {{"peer", air.at(radio, GetParam())}, {"radio_id", number}}));
  };
  auto one = drone(keys, "uav1", 1, 1), two = drone(keys, "uav2", 2, 2), foreign = drone(foreign_keys, "uav1", 3, 1);
  ASSERT_TRUE(eventually([&] { return up(*gcs, 0) && up(*gcs, 1) && up(*one) && up(*two); }));
  const auto message1 = summed(mavlink2(76, 33, {255, 190, 1})), message2 = summed(mavlink2(76, 33, {255, 190, 2}));
  autopilot1.send("hello", plain_port(*one, "uav1"));
  autopilot2.send("hello", plain_port(*two, "uav2"));
  ASSERT_EQ(ground1.receive_text(), "hello");
  ASSERT_EQ(ground2.receive_text(), "hello");
  ground1.send(message1, plain_port(*gcs, "uav1"));
  ground2.send(message2, plain_port(*gcs, "uav2"));
  // Beside what the tunnel tells an autopilot of the radio.
  EXPECT_TRUE(eventually([&] { return autopilot1.receive(200ms) == message1; }));
  EXPECT_TRUE(eventually([&] { return autopilot2.receive(200ms) == message2; }));
  EXPECT_GT(RadioTunnel::count(*one, "not_mine"), 0u);
  EXPECT_EQ(total(*one, "drop_auth_fail") + total(*two, "drop_auth_fail") + total(*gcs, "drop_auth_fail"), 0u)
      << "another drone's packets are not tried with these keys";
  EXPECT_FALSE(up(*foreign));
}

/// Nobody chose a radio_id, and both sessions have the first index: what the other pair sends is tried, and no more.
TEST_P(RadioStrangers, AForeignPairWithEqualNumbersDisturbsNobody) {
  TempFolder folder;
  RadioAir air(folder.path(), 4);
  KeyFolders ours_keys, theirs_keys;
  UdpPeer ground, autopilot, their_ground, their_autopilot;
  const auto gcs_at = [&](const KeyFolders& keys, const UdpPeer& to, std::size_t radio) {
    return start(with(gcs_values(keys), {{"drone.uav1.plain_peer", to.address().text()},
                                         {"drone.uav1.radio", air.at(radio, GetParam())}}));
  };
  const auto drone_at = [&](const KeyFolders& keys, std::size_t radio) {
    return start(with(drone_values(keys, "uav1", 46011), {{"peer", air.at(radio, GetParam())}}));
  };
  auto gcs = gcs_at(ours_keys, ground, 0), their_gcs = gcs_at(theirs_keys, their_ground, 1);
  auto drone = drone_at(ours_keys, 2), their_drone = drone_at(theirs_keys, 3);
  ASSERT_TRUE(eventually([&] { return up(*gcs) && up(*drone) && up(*their_gcs) && up(*their_drone); }));
  EXPECT_TRUE(eventually([&] {
    their_autopilot.send("theirs", plain_port(*their_drone, "uav1"));
    return their_ground.receive_text(200ms) == "theirs";
  }));
  for (std::uint8_t i = 0; i < 10; ++i) {
    const auto message = summed(mavlink2(30, 28, {1, 1, i}));
    EXPECT_TRUE(eventually([&] {
      autopilot.send(message, plain_port(*drone, "uav1"));
      return ground.receive(500ms) == message;
    }));
    ground.drain();
  }
  EXPECT_EQ(status(*drone).handshakes_ok, 1u) << "the session goes on";
  EXPECT_EQ(status(*their_drone).handshakes_ok, 1u);
}

/// Says again and again, to both ends, that the radio's buffer has so much room.
class Forger {
 public:
  Forger(RadioTunnel& tunnel, unsigned free_percent, milliseconds every = 20ms)
      : thread_([&tunnel, free_percent, every, this] {
          for (std::uint8_t number = 0; !stopping_; ++number) {
            for (const std::size_t radio : {0u, 1u}) tunnel.air.inject(radio, radio_status(free_percent, number));
            ++words_;
            std::this_thread::sleep_for(every);
          }
        }) {}
  ~Forger() {
    stopping_ = true;
    thread_.join();
  }
  Forger(const Forger&) = delete;
  Forger& operator=(const Forger&) = delete;
  [[nodiscard]] std::uint64_t words() const { return words_; }

 private:
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> words_{0};
  std::thread thread_;
};

constexpr std::uint32_t kLineKbit = 46;

TEST(RadioWords, ForgedFullBuffersSlowItToAnEighthAndCommandsPass) {
  RadioTunnel tunnel(":mavlink");
  ASSERT_TRUE(tunnel.connect());
  {
    const Forger forger(tunnel, 0);
    const auto slow = [](const Engine& end) {
      const auto kbit = status(end).shape_kbit;  // 0 while no rate is known
      return kbit != 0 && kbit <= kLineKbit / 8;
    };
    ASSERT_TRUE(eventually([&] { return slow(*tunnel.drone) && slow(*tunnel.gcs); }));
    for (std::uint8_t i = 0; i < 5; ++i) tunnel.expect_round_trip(i);
    EXPECT_GE(status(*tunnel.drone).shape_kbit, kLineKbit / 8 - 1) << "and no further";
    EXPECT_TRUE(up(*tunnel.drone));
  }
  EXPECT_TRUE(eventually([&] { return status(*tunnel.drone).shape_kbit > kLineKbit / 2; })) << "it does not last";
}

TEST(RadioWords, ForgedEmptyBuffersDoNotExceedTheLine) {
  RadioTunnel tunnel(":mavlink");
  ASSERT_TRUE(tunnel.connect());
  const Forger forger(tunnel, 100, 1ms);
  const auto before = RadioTunnel::count(*tunnel.drone, "tx_bytes");
  ASSERT_TRUE(eventually([&] { return forger.words() > 3'000; }));
  EXPECT_LE(status(*tunnel.drone).shape_kbit, kLineKbit * 95 / 100);
  EXPECT_LT(RadioTunnel::count(*tunnel.drone, "tx_bytes") - before, 3'000u * kRadioStatusSize / 4)
      << "none is answered";
  tunnel.expect_round_trip(1);
}

TEST(RadioWords, AFirstHandshakeComesThroughForgedFullBuffers) {
  RadioTunnel tunnel(":mavlink");
  const Forger forger(tunnel, 0);
  ASSERT_TRUE(tunnel.connect());
  tunnel.expect_round_trip(1);
}

}  // namespace
}  // namespace pqcmav
