// SPDX-License-Identifier: Apache-2.0
#include "net/data_share.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <set>

#include "crypto/kdf.hpp"
#include "net/net.hpp"
#include "net/udp_batch.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "session/compact_header.hpp"
#include "session/frame.hpp"

namespace pqcmav {
namespace {

/// Sockets at one address, steered, and one that sends there.
class Steered : public ::testing::TestWithParam<std::size_t> {
 protected:
  Steered() {
    UdpOptions options;
    options.shared = true;
    sockets.push_back(open_udp(resolve("127.0.0.1", 0, true, SOCK_DGRAM), options, "a test"));
    address = local_address(sockets[0]);
    steer_packets(sockets[0], GetParam());
    while (sockets.size() < GetParam()) sockets.push_back(open_udp(address, options, "a test"));
  }
  /// Which socket a datagram came to.
  std::size_t arrives_at(ByteView datagram) {
    EXPECT_TRUE(send_one(sender.get(), datagram, address));
    std::vector<pollfd> all;
    for (const auto& each : sockets) all.push_back({each.get(), POLLIN, 0});
    EXPECT_EQ(::poll(all.data(), all.size(), 10'000), 1);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].revents != 0) {
        std::uint8_t buffer[256];
        EXPECT_EQ(::recv(sockets[i].get(), buffer, sizeof buffer, 0), static_cast<ssize_t>(datagram.size()));
        return i;
      }
    return ~std::size_t{0};
  }

  std::vector<Fd> sockets;
  SockAddr address;
  Fd sender = open_udp(resolve("127.0.0.1", 0, true, SOCK_DGRAM), {}, "a test");
};

TEST_P(Steered, APacketComesToTheThreadThatItsSessionNames) {
  std::set<std::size_t> seen;
  for (int i = 0; i < 200; ++i) {
    Header header{FrameType::data, {}, {}, 7, 0};
    header.type = static_cast<FrameType>(i % 3);
    random_bytes(header.session_id);
    Bytes packet(kOverhead + 20);
    write_header(header, std::span<std::uint8_t, kHeaderSize>(packet.data(), kHeaderSize));
    const auto at = arrives_at(packet);
    EXPECT_TRUE((DataShare{at, GetParam()}.takes(header.session_id)));
    seen.insert(at);
  }
  EXPECT_EQ(seen.size(), GetParam());
}

TEST_P(Steered, ACompactOneToTheThreadThatItsIndexNames) {
  for (const std::uint16_t index : {0, 1, 2, 3, 77, 254, 255, 256, 257, 300, 4'097, 65'535})
    for (const auto type : {FrameType::data, FrameType::control, FrameType::bundle}) {
      const CompactHeader header{type, index, 5};
      Bytes packet(header.size() + kTagSize + 3);
      write_compact_header(header, packet);
      EXPECT_TRUE((DataShare{arrives_at(packet), GetParam()}.takes(index))) << index;
    }
}

TEST_P(Steered, HandshakesAndEverythingElseComeToTheFirst) {
  for (const int first : {0x33, 0x43, 0x53, 0x63, 0x73})
    for (const std::size_t size : {1u, 4u, 9u, 200u}) {
      Bytes datagram(size, 0xab);
      datagram[0] = static_cast<std::uint8_t>(first);
      EXPECT_EQ(arrives_at(datagram), 0u) << first << ", " << size << " bytes";
    }
  EXPECT_EQ(arrives_at(Bytes{0x03, 1, 2, 3, 4, 5, 6, 7}), 0u) << "too short for an id";
  EXPECT_EQ(arrives_at(Bytes{0x80}), 0u) << "too short for an index";
  EXPECT_EQ(arrives_at(Bytes{}), 0u);
}

INSTANTIATE_TEST_SUITE_P(Threads, Steered, ::testing::Values(1, 2, 3, 7));

TEST(DataShare, EveryLinkHasOneThreadAndTheLastHasTheFirst) {
  EXPECT_EQ(DataShare::of(0, 1).number, 0u);
  EXPECT_EQ(DataShare::of(0, 2).number, 1u);
  EXPECT_EQ(DataShare::of(1, 2).number, 0u);
  for (const std::size_t threads : {1u, 2u, 5u}) {
    std::vector<std::size_t> links(threads);
    for (std::size_t link = 0; link < 100 * threads; ++link) ++links.at(DataShare::of(link, threads).number);
    for (const auto count : links) EXPECT_EQ(count, 100u);
  }
}

TEST(DataShare, AnotherProgramAtTheAddressIsNoticedOnlyBySocketsThatDoNotShare) {
  UdpOptions shared;
  shared.shared = true;
  const auto own = open_udp(resolve("127.0.0.1", 0, true, SOCK_DGRAM), shared, "a test");
  EXPECT_NO_THROW((void)open_udp(local_address(own), shared, "a test"));
  EXPECT_THROW((void)open_udp(local_address(own), {}, "a test"), TunnelError);
}

}  // namespace
}  // namespace pqcmav
