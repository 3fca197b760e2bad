// SPDX-License-Identifier: Apache-2.0
// Several plaintext datagrams in one packet, between engines.
#include "engine_fixture.hpp"
#include "relay.hpp"
#include "session/compact_header.hpp"

namespace pqcmav {
namespace {

using namespace test;

const FlatConfig kBundled{{"bundle_ms", 20}};
const FlatConfig kBundledCompact{{"bundle_ms", 20}, {"compact", true}};

class EngineBundles : public ::testing::TestWithParam<bool> {
 protected:
  static FlatConfig config() { return GetParam() ? kBundledCompact : kBundled; }
};
INSTANTIATE_TEST_SUITE_P(Forms, EngineBundles, ::testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "compact" : "long_form"); });

/// Sends datagrams of these sizes, in portions with pauses, and expects all of them, in order and unchanged.
void expect_carried(UdpPeer& from, std::uint16_t port, UdpPeer& to, const std::vector<std::size_t>& sizes,
                    std::size_t portion) {
  std::size_t sent = 0, got = 0;
  const auto content = [](std::size_t number, std::size_t size) {
    Bytes out(size);
    for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(number * 31 + i);
    return out;
  };
  while (got < sizes.size()) {
    for (std::size_t i = 0; i < portion && sent < sizes.size(); ++i, ++sent)
      from.send(content(sent, sizes[sent]), port);
    for (; got < sent; ++got) {
      const auto datagram = to.receive();
      ASSERT_TRUE(datagram) << got;
      ASSERT_EQ(*datagram, content(got, sizes[got])) << got;
    }
  }
}

TEST_P(EngineBundles, CarryEverythingInOrder) {
  Tunnel tunnel(config(), config());
  ASSERT_TRUE(tunnel.connect());
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < 400; ++i) sizes.push_back(i % 7 == 0 ? i * 3 : i % 61);  // the longest go alone
  expect_carried(tunnel.autopilot, plain_port(*tunnel.drone, "uav1"), tunnel.ground, sizes, 50);
  expect_carried(tunnel.ground, plain_port(*tunnel.gcs, "uav1"), tunnel.autopilot, sizes, 50);
  for (const auto* engine : {tunnel.gcs.get(), tunnel.drone.get()}) {
    EXPECT_EQ(stat(*engine, "delivered_datagrams"), sizes.size());
    EXPECT_EQ(total(*engine, "delivered_datagrams"), sizes.size());
    EXPECT_LT(stat(*engine, "delivered"), sizes.size() / 2) << "a packet counts once";
    EXPECT_TRUE(eventually([&] { return stat(*engine, "plain_tx_packets") == sizes.size(); }));
    EXPECT_EQ(total(*engine, "drop_decrypt_fail") + total(*engine, "drop_malformed"), 0u);
    expect_all_accounted_for(*engine);
  }
}

TEST_P(EngineBundles, NothingWaitsLongerThanItMay) {
  Tunnel tunnel(config(), config());
  ASSERT_TRUE(tunnel.connect());
  std::vector<milliseconds> waited;
  for (int i = 0; i < 20; ++i) {
    const auto began = std::chrono::steady_clock::now();
    tunnel.send_up("alone");
    ASSERT_EQ(tunnel.ground.receive_text(), "alone");
    waited.push_back(std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - began));
  }
  std::sort(waited.begin(), waited.end());
  EXPECT_GE(waited.front(), 19ms);
  EXPECT_LT(waited[waited.size() / 2], 100ms) << "on a machine with other things to do";
  EXPECT_EQ(stat(*tunnel.gcs, "delivered"), 20u) << "one by one, as data frames";
}

TEST(EngineBundle, EachEndDecidesForItself) {
  Tunnel tunnel({}, kBundled);
  ASSERT_TRUE(tunnel.connect());
  for (int i = 0; i < 4; ++i) tunnel.send_up("up");
  for (int i = 0; i < 4; ++i) ASSERT_EQ(tunnel.ground.receive_text(), "up");
  for (int i = 0; i < 4; ++i) tunnel.send_down("down");
  for (int i = 0; i < 4; ++i) ASSERT_EQ(tunnel.autopilot.receive_text(), "down");
  EXPECT_LT(stat(*tunnel.gcs, "delivered"), 4u);
  EXPECT_EQ(stat(*tunnel.drone, "delivered"), 4u);
}

TEST(EngineBundle, FewerPacketsOfFewerBytesAreOnTheAir) {
  RelayedTunnel tunnel(kBundledCompact, kBundledCompact);
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  tunnel.relay->record(true);
  const std::string message(40, 'm');
  for (int i = 0; i < 9; ++i) tunnel.send_up(message);
  for (int i = 0; i < 9; ++i) ASSERT_EQ(tunnel.ground.receive_text(), message);
  std::size_t bundles = 0, data = 0;
  for (const auto& packet : tunnel.relay->take(Relay::Way::up)) {
    if (packet[0] == 0xa0) {
      ++bundles;
      EXPECT_LE(packet.size(), 420u);
    }
    data += packet[0] == 0x80 ? 1 : 0;
  }
  EXPECT_GE(bundles, 1u);
  EXPECT_LT(bundles + data, 5u);
}

TEST(EngineBundle, RekeysAndLossLoseNoMoreThanTheirPackets) {
  RelayedTunnel tunnel(kBundledCompact, kBundledCompact);
  ASSERT_TRUE(eventually([&] { return tunnel.both_up(); }));
  std::size_t got = 0;
  for (int round = 0; round < 8; ++round) {
    std::thread rekey([&] { EXPECT_TRUE(tunnel.drone->request_rekey("uav1", "", "test", 20s).ok); });
    for (int i = 0; i < 40; ++i) {
      tunnel.send_up("up");
      tunnel.send_down("down");
      std::this_thread::sleep_for(2ms);
    }
    rekey.join();
  }
  ASSERT_TRUE(eventually([&] {
    got += tunnel.ground.drain().size();
    return got == 320;
  })) << got;
  EXPECT_EQ(stat(*tunnel.gcs, "delivered_datagrams"), 320u);
  EXPECT_TRUE(eventually([&] { return stat(*tunnel.drone, "delivered_datagrams") == 320; }));
  tunnel.relay->lose(40);
  for (int i = 0; i < 300; ++i) {
    tunnel.send_up("up");
    std::this_thread::sleep_for(1ms);
  }
  tunnel.relay->lose(0);
  EXPECT_TRUE(eventually([&] { return tunnel.both_up(); }));
  for (const auto* engine : {tunnel.gcs.get(), tunnel.drone.get()}) {
    EXPECT_EQ(total(*engine, "drop_auth_fail") + total(*engine, "drop_malformed"), 0u);
    expect_all_accounted_for(*engine);
  }
}

TEST(EngineBundle, OfASessionThatEndsNothingIsKept) {
  Tunnel tunnel({}, {{"bundle_ms", 200}});
  ASSERT_TRUE(tunnel.connect());
  for (int i = 0; i < 5; ++i) tunnel.send_up("waits");
  ASSERT_TRUE(eventually([&] { return stat(*tunnel.drone, "plain_rx_packets") == 5; }));
  tunnel.gcs->stop();  // says goodbye
  ASSERT_TRUE(eventually([&] {
    return stat(*tunnel.drone, "plain_dropped_no_session") + stat(*tunnel.drone, "enc_tx_packets") > 0 &&
           !up(*tunnel.drone);
  }));
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(stat(*tunnel.drone, "plain_dropped_no_session") == 5u || tunnel.ground.drain().size() == 5u);
}

}  // namespace
}  // namespace pqcmav
