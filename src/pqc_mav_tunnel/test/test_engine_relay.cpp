// SPDX-License-Identifier: Apache-2.0
// A drone that passes on for others: what reaches the ground station through it, and what does not.
#include "relay.hpp"

#include "crypto/kdf.hpp"

namespace pqcmav {
namespace {

using namespace test;

/// Free, and none that the system gives to those who ask for any: a test takes it twice.
std::uint16_t free_port() {
  for (;;) try {
      const auto port = static_cast<std::uint16_t>(20'000 + random_number<std::uint16_t>() % 10'000);
      const auto probe = open_udp(resolve("127.0.0.1", port, true, SOCK_DGRAM), {}, "a test");
      return port;
    } catch (const TunnelError&) {  // another one then
    }
}

/// A gcs, a drone that passes on ("near"), and one that reaches the gcs through it alone ("far").
class EngineRelay : public ::testing::Test {
 protected:
  EngineRelay() {
    FlatConfig values = quick(gcs_values(keys, {"far", "near", "third"}));
    values["drone.far.plain_peer"] = ground.address().text();
    gcs = start(values);
    near = start(relaying("near", gcs->ports().data, near_port));
  }
  [[nodiscard]] FlatConfig relaying(const std::string& id, std::uint16_t gcs_port, std::uint16_t port) const {
    return with(quick(drone_values(keys, id, gcs_port)),
                {{"relay_port", std::int64_t{port}}, {"relay_from", Names{"127.0.0.0/8"}}});
  }
  [[nodiscard]] FlatConfig far_values(std::uint16_t port) const { return quick(drone_values(keys, "far", port)); }
  [[nodiscard]] bool far_is_up() const {
    return eventually([&] { return state(*far) == LinkState::up && state(*gcs) == LinkState::up; });
  }
  void expect_traffic() {
    autopilot.send("up", plain_port(*far, "far"));
    EXPECT_EQ(ground.receive_text(), "up");
    ground.send("down", plain_port(*gcs, "far"));
    EXPECT_EQ(autopilot.receive_text(), "down");
  }

  KeyFolders keys{{"far", "near", "third"}};
  UdpPeer autopilot, ground;
  std::uint16_t near_port = free_port();
  std::unique_ptr<Engine> gcs, near, far;
};

TEST_F(EngineRelay, ADroneConnectsThroughAnotherAndRenewsItsKeys) {
  ASSERT_TRUE(eventually([&] { return state(*near) == LinkState::up; }));
  far = start(far_values(near_port));
  ASSERT_TRUE(far_is_up());
  expect_traffic();
  const auto outcome = far->request_rekey("far", "", "", patience());
  EXPECT_TRUE(outcome.ok) << outcome.message;
  expect_traffic();
  EXPECT_GT(total(*near, "relay_up"), 4u);
  EXPECT_GT(total(*near, "relay_down"), 3u);
  EXPECT_GT(total(*near, "relay_up_bytes"), total(*near, "relay_up") * 20);
  EXPECT_EQ(total(*near, "relay_refused"), 0u);
  EXPECT_EQ(near->ports().more, std::vector<std::uint16_t>{near_port}) << "no way around the tunnel";
  EXPECT_EQ(status(*near).handshakes_ok, 1u) << "its own session knows nothing of it";
  EXPECT_NE(status(*gcs).peer, status(*gcs, 1).peer) << "to the gcs they are two ports of one machine";
}

TEST_F(EngineRelay, NothingPassesWhileItHasNoSessionItself) {
  gcs.reset();
  ASSERT_TRUE(eventually([&] { return state(*near) != LinkState::up && !status(*near).suite.size(); }, 60s));
  far = start(far_values(near_port));
  EXPECT_TRUE(eventually([&] { return total(*near, "relay_dropped") > 2; }));
  EXPECT_EQ(total(*near, "relay_up"), 0u);
}

TEST_F(EngineRelay, CutAndBackTheSameSessionGoesOn) {
  ASSERT_TRUE(eventually([&] { return state(*near) == LinkState::up; }));
  far = start(with(far_values(near_port), {{"reconnect_after_s", 60.0}}));
  ASSERT_TRUE(far_is_up());
  near.reset();
  ASSERT_TRUE(eventually([&] { return state(*far) == LinkState::degraded; }));
  near = start(relaying("near", gcs->ports().data, near_port));
  ASSERT_TRUE(eventually([&] { return state(*far) == LinkState::up; })) << "by another port of the relay's";
  EXPECT_TRUE(eventually([&] { return state(*gcs) == LinkState::up; }));
  expect_traffic();
  EXPECT_EQ(status(*far).handshakes_ok, 1u);
  EXPECT_EQ(status(*gcs).session_id, status(*far).session_id);
}

TEST_F(EngineRelay, TwoDronesInARowPassOn) {
  const auto third_port = free_port();
  ASSERT_TRUE(eventually([&] { return state(*near) == LinkState::up; }));
  const auto third = start(relaying("third", near_port, third_port));
  ASSERT_TRUE(eventually([&] { return state(*third) == LinkState::up; }));
  far = start(far_values(third_port));
  ASSERT_TRUE(far_is_up());
  expect_traffic();
  EXPECT_GT(total(*third, "relay_up"), 4u);
  EXPECT_GT(total(*near, "relay_up"), total(*third, "relay_up"));
}

TEST_F(EngineRelay, StrangersAndOtherTrafficDoNotPass) {
  near.reset();
  auto values = relaying("near", gcs->ports().data, near_port);
  values["relay_from"] = Names{"10.0.0.0/8"};
  near = start(values);
  ASSERT_TRUE(eventually([&] { return state(*near) == LinkState::up; }));
  const auto before = total(*gcs, "enc_rx_datagrams");
  UdpPeer stranger;
  for (unsigned i = 0; i < 50; ++i) stranger.send(Bytes(200, 0x33), near_port);
  EXPECT_TRUE(eventually([&] { return total(*near, "relay_refused") == 50; }));
  EXPECT_EQ(total(*near, "relay_up"), 0u);
  EXPECT_LT(total(*gcs, "enc_rx_datagrams") - before, 50u) << "but for what the near one sends itself";
}

TEST_F(EngineRelay, AFloodThroughItStopsNeitherDrone) {
  ASSERT_TRUE(eventually([&] { return state(*near) == LinkState::up; }));
  far = start(far_values(near_port));
  ASSERT_TRUE(far_is_up());
  std::atomic<bool> stop{false};
  std::thread flood([&] {
    std::vector<UdpPeer> strangers(20);
    for (std::size_t i = 0; !stop; ++i) {
      strangers[i % strangers.size()].send(Bytes(1200, i % 2 == 0 ? 0x33 : 0x03), near_port);
      if (i % 50 == 0) std::this_thread::sleep_for(1ms);
    }
  });
  std::size_t came = 0;
  for (unsigned i = 0; i < 50; ++i) {
    autopilot.send("up", plain_port(*far, "far"));
    if (ground.receive_text(400ms) == "up") ++came;
    std::this_thread::sleep_for(20ms);
  }
  stop = true;
  flood.join();
  EXPECT_GE(came, 45u);
  EXPECT_EQ(state(*near), LinkState::up);
  EXPECT_EQ(status(*far).handshakes_ok, 1u);
  EXPECT_GT(total(*near, "relay_refused") + total(*near, "relay_dropped"), 500u);
  // An eighth of 1 Mbit/s was for all of them.
  EXPECT_LT(total(*near, "relay_up_bytes"), 2'000'000u);
}

/// In the place of a drone that passes on: before each datagram a changed one, then it twice, then the one before it,
/// and words of its own.
class Liar {
 public:
  explicit Liar(std::uint16_t gcs) : gcs_(resolve("127.0.0.1", gcs, false, SOCK_DGRAM)), thread_([this] { run(); }) {}
  ~Liar() {
    stop_ = true;
    thread_.join();
  }
  Liar(const Liar&) = delete;
  Liar& operator=(const Liar&) = delete;
  [[nodiscard]] std::uint16_t port() const { return inside_.address().port(); }

 private:
  void run() {
    SockAddr far;
    for (; !stop_; std::this_thread::sleep_for(1ms)) {
      for (const auto& packet : inside_.drain(64)) {
        far = inside_.source();
        lie(packet, outside_, gcs_, before_[0]);
      }
      for (const auto& packet : outside_.drain(64)) lie(packet, inside_, far, before_[1]);
    }
  }
  void lie(const Bytes& packet, UdpPeer& from, const SockAddr& to, Bytes& before) {
    auto changed = packet;
    changed[random_() % changed.size()] ^= static_cast<std::uint8_t>(1U << random_() % 8);
    for (const auto& each : {changed, packet, packet, before, Bytes(40, packet[0])})
      if (!each.empty()) from.send(each, to);
    before = packet;
  }

  const SockAddr gcs_;
  UdpPeer inside_, outside_;
  Bytes before_[2];
  std::minstd_rand random_{1};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_F(EngineRelay, ALiarInItsPlaceAddsNothingAndTakesNothingAway) {
  Liar liar(gcs->ports().data);
  far = start(far_values(liar.port()));
  ASSERT_TRUE(far_is_up());
  for (unsigned i = 0; i < 50; ++i) {
    const auto text = std::to_string(i);
    autopilot.send(text, plain_port(*far, "far"));
    ASSERT_EQ(ground.receive_text(), text);
    ground.send(text, plain_port(*gcs, "far"));
    ASSERT_EQ(autopilot.receive_text(), text);
  }
  const auto outcome = far->request_rekey("far", "", "", patience());
  EXPECT_TRUE(outcome.ok) << outcome.message;
  expect_traffic();
  EXPECT_EQ(status(*far).handshakes_ok, 1u) << "the same session, in which the keys were renewed";
  EXPECT_GT(total(*gcs, "drop_replay"), 50u);
  EXPECT_GT(total(*gcs, "drop_auth_fail"), 10u);
}

TEST_F(EngineRelay, SaysWhatIsWrongWithItsSettings) {
  const auto refusal = [&](const FlatConfig& more) -> std::string {
    try {
      (void)start(with(relaying("third", gcs->ports().data, free_port()), more));
    } catch (const TunnelError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal({{"relay_from", Names{}}}).find("'relay_from' is empty"), std::string::npos);
  EXPECT_NE(refusal({{"relay_from", Names{"10.0.0.1/8"}}}).find("'relay_from' has '10.0.0.1/8'"), std::string::npos);
  EXPECT_NE(refusal({{"relay_port", std::int64_t{near_port}}}).find("is in use"), std::string::npos);
  EXPECT_NE(refusal({{"peer", "serial:/dev/ttyUSB0:57600"}}).find("radio"), std::string::npos);
  EXPECT_EQ(refusal({}), "");
}

}  // namespace
}  // namespace pqcmav
