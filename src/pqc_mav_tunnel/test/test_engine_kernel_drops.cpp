// SPDX-License-Identifier: Apache-2.0
// What the kernel drops at a full receive buffer is counted: nothing that was sent on this machine vanishes without one.
#include <gtest/gtest.h>

#include "engine_fixture.hpp"

namespace pqcmav::test {
namespace {

constexpr int kBurst = 2000;

/// Sends bursts to a port until the counter moves; returns how many datagrams that took.
template <typename Dropped>
std::uint64_t flood(std::uint16_t port, Dropped dropped) {
  UdpPeer sender;
  const auto to = resolve("127.0.0.1", port, false, SOCK_DGRAM);
  const Bytes datagram(300, 0x55);
  std::uint64_t sent = 0;
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < kBurst; ++i, ++sent) sender.send(datagram, to);
    std::this_thread::sleep_for(50ms);
    return dropped() > 0;
  }));
  return sent;
}

std::uint64_t endpoint_count(const Engine& engine, std::string_view name) {
  return value_of(engine.stats().at(0).endpoints.at(0).counters, name);
}

// Segment by segment: each is a datagram that the kernel counts on its own.
const FlatConfig kSmall = {{"socket_buffer_kib", 64}, {"gso", false}};

TEST(EngineKernelDrops, AtTheDataPort) {
  const KeyFolders keys;
  const auto gcs = start(with(gcs_values(keys), kSmall));
  const auto sent = flood(gcs->ports().data, [&] { return total(*gcs, "drop_kernel"); });
  EXPECT_TRUE(eventually([&] { return total(*gcs, "enc_rx_datagrams") + total(*gcs, "drop_kernel") == sent; }))
      << sent << " sent, " << total(*gcs, "enc_rx_datagrams") << " received, " << total(*gcs, "drop_kernel")
      << " dropped";
}

TEST(EngineKernelDrops, AtAPlaintextPort) {
  const KeyFolders keys;
  const auto gcs = start(with(gcs_values(keys), kSmall));
  const auto sent = flood(plain_port(*gcs, "uav1"), [&] { return stat(*gcs, "plain_dropped_kernel"); });
  EXPECT_TRUE(eventually([&] { return stat(*gcs, "plain_rx_packets") + stat(*gcs, "plain_dropped_kernel") == sent; }))
      << sent << " sent, " << stat(*gcs, "plain_rx_packets") << " received, " << stat(*gcs, "plain_dropped_kernel")
      << " dropped";
}

TEST(EngineKernelDrops, AtAnEndpoint) {
  const KeyFolders keys;
  const auto gcs = start(with(with(gcs_values(keys), kSmall), {{"drone.uav1.plain", "udp-listen:127.0.0.1:0"}}));
  const auto name = gcs->stats().at(0).endpoints.at(0).name;
  const auto port = static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
  const auto sent = flood(port, [&] { return endpoint_count(*gcs, "kernel_dropped"); });
  EXPECT_TRUE(
      eventually([&] { return endpoint_count(*gcs, "rx_packets") + endpoint_count(*gcs, "kernel_dropped") == sent; }));
  // What reached the endpoint went on to the data thread, or is counted as what that did not take.
  EXPECT_TRUE(eventually([&] {
    return stat(*gcs, "plain_rx_packets") + endpoint_count(*gcs, "dropped") == endpoint_count(*gcs, "rx_packets");
  }));
}

TEST(EngineKernelDrops, WhatIsTooLongForAnEndpoint) {
  const KeyFolders keys;
  const auto gcs = start(with(gcs_values(keys), {{"drone.uav1.plain", "udp-listen:127.0.0.1:0"}}));
  const auto name = gcs->stats().at(0).endpoints.at(0).name;
  const auto port = static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
  UdpPeer sender;
  sender.send(Bytes(gcs->config().max_payload + 1, 0x55), port);
  EXPECT_TRUE(eventually([&] { return endpoint_count(*gcs, "too_big") == 1; }));
  EXPECT_EQ(endpoint_count(*gcs, "rx_packets"), 0u);
}

}  // namespace
}  // namespace pqcmav::test
