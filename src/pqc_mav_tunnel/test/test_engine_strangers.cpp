// SPDX-License-Identifier: Apache-2.0
// A stranger with thousands of datagrams: no answer, no key generation, flat memory, and a drone that is served
// meanwhile.
#include <fstream>
#include <random>

#include "raw_drone.hpp"

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

/// Datagrams of every kind that somebody without a PSK can make, recordings of a real attempt among them.
class Stranger {
 public:
  Stranger(SockAddr gcs, std::uint64_t seed, std::vector<Bytes> recorded)
      : gcs_(gcs), recorded_(std::move(recorded)), random_(seed) {}

  void send_one(const UdpPeer& from) {
    const auto& genuine = recorded_[random_() % recorded_.size()];
    Bytes packet;
    switch (next_++ % 6) {
      case 0:
        packet = noise(1 + random_() % 1400);
        packet[0] = 0x33;
        break;
      case 1:
        packet = genuine;
        packet.resize(random_() % packet.size() + 1);
        break;
      case 2:  // another attempt, the same M1
        packet = genuine;
        store_be(packet.data() + 1, random_());
        break;
      case 3:  // the tag is not right
        packet = genuine;
        packet[packet.size() - 1 - random_() % 8] ^= static_cast<std::uint8_t>(1 + random_() % 255);
        break;
      case 4:  // nor is the content
        packet = genuine;
        packet[13 + random_() % (packet.size() - 13)] ^= static_cast<std::uint8_t>(1 + random_() % 255);
        break;
      default:  // a fragment of something huge
        packet = noise(1200);
        packet[0] = 0x33;
        const Bytes head{1, 2, 0x15, 0x83, 0xd0, 0x04, 0x7e, 0, 0};
        std::copy(head.begin(), head.end(), packet.begin() + 13);
    }
    from.send(packet, gcs_);
    ++sent;
  }
  std::uint64_t sent = 0;

 private:
  Bytes noise(std::size_t size) {
    Bytes out(size);
    for (auto& byte : out) byte = static_cast<std::uint8_t>(random_());
    return out;
  }
  SockAddr gcs_;
  std::vector<Bytes> recorded_;
  std::mt19937_64 random_;
  unsigned next_ = 0;
};

class EngineStrangers : public ::testing::TestWithParam<int> {};

/// The parameter is the number of addresses they come from.
TEST_P(EngineStrangers, CostLittleAndKeepNobodyOut) {
  const KeyFolders keys, elsewhere;
  const auto gcs = start(with(gcs_values(keys), {{"handshakes_per_drone_s", 1000.0}}));
  // Made with the PSK of another installation: in form and size like what a drone of ours sends.
  UdpPeer own;
  RawAttempt attempt(initiator_params(elsewhere, "uav1"), own, data_address(*gcs));
  attempt.start();
  Stranger stranger(data_address(*gcs), 7, attempt.sent);
  std::vector<UdpPeer> sources;
  for (int i = 0; i < GetParam(); ++i) sources.emplace_back("127.0.1." + std::to_string(1 + i % 250));
  ASSERT_TRUE(RawDrone(keys, *gcs, "uav1").connected());

  const auto received = total(*gcs, "enc_rx_datagrams");
  const auto keygens = total(*gcs, "keygens");
  const auto memory = resident_kib();
  const auto events = gcs->events().wait(0ns, EventQueue::kCapacity).size();
  std::size_t answers = 0;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 250; ++i) stranger.send_one(sources[static_cast<std::size_t>(i) % sources.size()]);
    const RawDrone drone(keys, *gcs, "uav1");
    ASSERT_TRUE(drone.connected()) << round << ": " << drone.outcome.reason;
    for (auto& source : sources) answers += source.drain().size();
  }
  EXPECT_EQ(answers, 0u);
  EXPECT_EQ(total(*gcs, "keygens"), keygens + 20);
  EXPECT_TRUE(eventually([&] { return total(*gcs, "enc_rx_datagrams") >= received + stranger.sent; }));
  expect_all_accounted_for(*gcs);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(resident_kib(), memory + 4096) << memory << " KiB before";
#else
  (void)memory;
#endif
  EXPECT_LE(gcs->events().wait(0ns, EventQueue::kCapacity).size(), events + 64)
      << "a flood of datagrams is not a flood of log lines";
}

INSTANTIATE_TEST_SUITE_P(Sources, EngineStrangers, ::testing::Values(1, 250));

}  // namespace
}  // namespace pqcmav
