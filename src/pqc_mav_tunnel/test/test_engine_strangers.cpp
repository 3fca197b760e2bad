// SPDX-License-Identifier: Apache-2.0
// A stranger with a thousand connections: no key generation, flat memory, and a drone that is served meanwhile.
#include <fstream>
#include <random>

#include "raw_drone.hpp"
#include "tcp_client.hpp"

namespace pqcmav {
namespace {

using namespace test;

std::size_t resident_kib() {
  std::ifstream status_file("/proc/self/status");
  for (std::string line; std::getline(status_file, line);)
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  ADD_FAILURE() << "no VmRSS";
  return 0;
}

class Stranger {
 public:
  Stranger(std::uint16_t port, std::uint64_t seed, const Bytes& hello) : port_(port), hello_(hello), random_(seed) {}

  /// One connection of one of the kinds; some stay open.
  void connect(const std::string& from) {
    TcpClient client(port_, from);
    if (!client.connected()) return;
    switch (next_++ % 8) {
      case 0:
        client.send(noise(1 + random_() % 300));
        break;
      case 1:
        break;  // silence
      case 2:
        client.send(ByteView(hello_).first(hello_.size() / 2));
        break;
      case 3: {
        auto forged = hello_;  // a ClientHello with a gate that does not fit this challenge
        client.send(forged);
        break;
      }
      case 4:
        client.send(Bytes{0xff, 0xff, 0xff, 0xff, 1});  // a message of 4 GiB
        break;
      case 5: {
        auto garbled = hello_;
        for (std::size_t i = garbled.size() - 32; i < garbled.size(); ++i)
          garbled[i] = static_cast<std::uint8_t>(random_());
        client.send(garbled);
        break;
      }
      case 6:
        client.reset();
        return;
      case 7: {
        auto trailing = hello_;
        append(trailing, noise(2000));
        client.send(trailing);
        break;
      }
    }
    held_.push_back(std::move(client));
    if (held_.size() > 200) held_.erase(held_.begin());
  }

 private:
  Bytes noise(std::size_t size) {
    Bytes out(size);
    for (auto& byte : out) byte = static_cast<std::uint8_t>(random_());
    return out;
  }
  std::uint16_t port_;
  Bytes hello_;
  std::mt19937_64 random_;
  unsigned next_ = 0;
  std::vector<TcpClient> held_;
};

/// A well-formed ClientHello of a drone that the gcs knows, for a challenge it never sent.
Bytes stale_hello(const KeyFolders& keys) {
  HandshakeInitiator initiator(initiator_params(keys, "uav1"));
  Bytes challenge{0, 0, 0, 8 + kCookieSize, 0};
  append(challenge, as_bytes(kMagic));
  append(challenge, Bytes(kCookieSize, 7));
  return initiator.on_data(challenge, now_ns()).send;
}

class EngineStrangers : public ::testing::TestWithParam<int> {};

TEST_P(EngineStrangers, AThousandConnectionsCostNothing) {
  const KeyFolders keys;
  UdpPeer ground, autopilot;
  const auto gcs = start(with(gcs_values(keys), {{"drone.uav1.plain_peer", ground.address().text()}}));
  const auto ports = gcs->ports();
  const auto hello = stale_hello(keys);
  // Once to touch all memory that the first connections need.
  Stranger warm_up(ports.handshake, 1, hello);
  for (int i = 0; i < 100; ++i) warm_up.connect("127.0.0.31");
  ASSERT_TRUE(eventually([&] { return total(*gcs, "hs_accepted") >= 100; }));
  const auto memory = resident_kib();
  const auto events = gcs->events().wait(0ns, EventQueue::kCapacity).size();

  Stranger stranger(ports.handshake, 2, hello);
  for (int i = 0; i < 500; ++i) stranger.connect("127.1.0." + std::to_string(1 + i % GetParam()));
  // In the middle of it a drone arrives.
  EXPECT_EQ(total(*gcs, "keygens"), 0u);
  EXPECT_EQ(total(*gcs, "hs_gated"), 0u);
  auto drone = start(drone_values(keys, "uav1", ports.handshake, ports.data));
  for (int i = 0; i < 500; ++i) stranger.connect("127.1.0." + std::to_string(1 + i % GetParam()));
  ASSERT_TRUE(eventually([&] { return up(*drone) && up(*gcs); })) << status(*drone).last_error;
  autopilot.send("hello", plain_port(*drone, "uav1"));
  EXPECT_EQ(ground.receive_text(), "hello");

  ASSERT_TRUE(eventually([&] { return total(*gcs, "hs_accepted") >= 1101; }));
  EXPECT_EQ(total(*gcs, "keygens"), 1u) << "the drone's own";
  EXPECT_EQ(total(*gcs, "hs_gated"), 1u);
  EXPECT_EQ(total(*gcs, "hs_completed"), 1u);
  drone.reset();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(resident_kib(), memory + 4096) << memory << " KiB before";
#else
  (void)memory;
#endif
  EXPECT_LE(gcs->events().wait(0ns, EventQueue::kCapacity).size(), events + 16)
      << "a flood of connections is not a flood of log lines";
}

INSTANTIATE_TEST_SUITE_P(Sources, EngineStrangers, ::testing::Values(1, 250));

}  // namespace
}  // namespace pqcmav
