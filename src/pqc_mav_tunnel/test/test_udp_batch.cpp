// SPDX-License-Identifier: Apache-2.0
#include "net/udp_batch.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "engine_fixture.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr std::size_t kMost = 65507;

Bytes noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes out(size);
  for (auto& byte : out) byte = static_cast<std::uint8_t>(random());
  return out;
}

/// Datagrams with memory of their own, as UdpSender wants it.
std::vector<Bytes> datagrams(const std::vector<std::size_t>& sizes) {
  std::vector<Bytes> out;
  for (std::size_t i = 0; i < sizes.size(); ++i) out.push_back(noise(sizes[i], static_cast<unsigned>(i) + 1));
  return out;
}

std::size_t bytes_of(const std::vector<std::size_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

class UdpBatch : public ::testing::TestWithParam<bool> {
 protected:
  static bool gso() { return GetParam(); }

  UdpBatch() {
    if (gso() && !supports_gso()) skip = true;
  }
  /// Sends all, in batches of what the sender holds, and checks that they arrive as they are.
  void expect_sent(const std::vector<std::size_t>& sizes) {
    auto packets = datagrams(sizes);
    UdpSender sender(gso());
    UdpSender::Sent sent;
    const auto flush = [&] {
      const auto part = sender.flush(from.get(), to.address());
      sent.packets += part.packets;
      sent.bytes += part.bytes;
      sent.dropped += part.dropped;
    };
    for (auto& packet : packets) {
      if (sender.full()) flush();
      sender.add(packet);
    }
    flush();
    EXPECT_TRUE(sender.empty());
    EXPECT_EQ(sent.packets, sizes.size());
    EXPECT_EQ(sent.bytes, bytes_of(sizes));
    EXPECT_EQ(sent.dropped, 0u);
    for (std::size_t i = 0; i < packets.size(); ++i) {
      const auto got = to.receive();
      ASSERT_TRUE(got) << "datagram " << i << " of " << sizes[i] << " bytes";
      ASSERT_EQ(*got, packets[i]) << "datagram " << i << " of " << sizes[i] << " bytes";
    }
    EXPECT_TRUE(to.drain().empty());
  }

  bool skip = false;
  const Fd from = open_udp(resolve("127.0.0.1", 0, true, SOCK_DGRAM), {}, "a test");
  UdpPeer to;
};

#define SKIP_WITHOUT_GSO() \
  if (skip) GTEST_SKIP() << "this kernel has no UDP_SEGMENT"

TEST_P(UdpBatch, EqualSizes) {
  SKIP_WITHOUT_GSO();
  for (const std::size_t size : {1, 2, 100, 1470}) expect_sent(std::vector<std::size_t>(50, size));
}

TEST_P(UdpBatch, MoreThanOneRunHolds) {
  SKIP_WITHOUT_GSO();
  for (const std::size_t count : {63, 64, 65, 127, 128, 129, 300}) expect_sent(std::vector<std::size_t>(count, 40));
  expect_sent(std::vector<std::size_t>(100, 9000));  // limited by bytes before segments
}

TEST_P(UdpBatch, UnequalSizes) {
  SKIP_WITHOUT_GSO();
  expect_sent({100, 100, 99, 100});
  expect_sent({10, 20, 30, 20, 10, 10, 10, 5, 5, 7});
  expect_sent({1400, 1, 1400, 1, 1});
  std::mt19937 random(4);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::size_t> sizes(1 + random() % 128);
    for (auto& size : sizes) size = random() % 3 == 0 ? 200 : random() % 400;
    expect_sent(sizes);
  }
}

TEST_P(UdpBatch, EmptyDatagrams) {
  SKIP_WITHOUT_GSO();
  expect_sent({0});
  expect_sent({0, 0, 0});
  expect_sent({10, 0, 10, 10, 0, 0, 10});
}

TEST_P(UdpBatch, TheLargestDatagrams) {
  SKIP_WITHOUT_GSO();
  expect_sent({kMost, kMost, 1, kMost});
  expect_sent({32000, 32000, 32000});
}

TEST_P(UdpBatch, WhatIsTooLongIsDroppedAloneAndTheRestGoesOut) {
  SKIP_WITHOUT_GSO();
  auto small = datagrams({10, 10, 10, 10});
  Bytes huge(kMost + 1);
  UdpSender sender(gso());
  sender.add(small[0]);
  sender.add(small[1]);
  sender.add(huge);
  sender.add(small[2]);
  sender.add(small[3]);
  const auto sent = sender.flush(from.get(), to.address());
  EXPECT_EQ(sent.packets, 4u);
  EXPECT_EQ(sent.bytes, 40u);
  EXPECT_EQ(sent.dropped, 1u);
  for (const auto& each : small) EXPECT_EQ(*to.receive(), each);
}

TEST_P(UdpBatch, NoDestination) {
  SKIP_WITHOUT_GSO();
  auto packets = datagrams({10, 10, 20});
  UdpSender sender(gso());
  for (auto& packet : packets) sender.add(packet);
  const auto sent = sender.flush(from.get(), SockAddr{});
  EXPECT_EQ(sent.packets, 0u);
  EXPECT_EQ(sent.dropped, 3u);
  EXPECT_TRUE(sender.empty());
  expect_sent({10, 10});  // and the socket still works
}

TEST_P(UdpBatch, RunsThatTheKernelRefusesGoOutOneByOne) {
  SKIP_WITHOUT_GSO();
  // Without checksums there is no segmentation: the same refusal as of a device or a path that cannot do it.
  const int on = 1;
  ASSERT_EQ(::setsockopt(from.get(), SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
  expect_sent(std::vector<std::size_t>(100, 200));
  expect_sent({10, 10, 0, 300, 300, 20});
}

TEST_P(UdpBatch, NothingToSend) {
  UdpSender sender(gso());
  const auto sent = sender.flush(from.get(), to.address());
  EXPECT_EQ(sent.packets + sent.dropped + sent.bytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(Gso, UdpBatch, ::testing::Bool());

/// The receiver, with and without GRO on its socket.
class UdpReceive : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr std::size_t kHead = 22, kTail = 16;

  UdpReceive() : fd(open_udp(resolve("127.0.0.1", 0, true, SOCK_DGRAM), {4096, -1, GetParam()}, "a test", &gro)) {}

  /// What arrives until `count` datagrams are there, runs taken apart.
  std::vector<Bytes> receive(UdpReceiver& receiver, std::size_t count) {
    std::vector<Bytes> out;
    EXPECT_TRUE(eventually([&] {
      const auto got = receiver.receive(fd.get());
      for (std::size_t i = 0; i < got; ++i) {
        const auto slot = receiver.slot(i);
        EXPECT_EQ(receiver.source(i), from.address());
        EXPECT_FALSE(slot.truncated);
        if (!gro) {
          EXPECT_EQ(slot.segment, slot.bytes.size());
        }
        runs += slot.bytes.size() > slot.segment ? 1 : 0;
        auto rest = slot.bytes;
        do {
          const auto size = std::min(slot.segment, rest.size());
          out.emplace_back(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
          rest = rest.subspan(size);
        } while (!rest.empty());
      }
      return out.size() >= count;
    })) << out.size()
        << " of " << count;
    return out;
  }

  bool gro = false;
  const Fd fd;
  UdpPeer from;
  std::size_t runs = 0;
};

TEST_P(UdpReceive, TakesRunsApart) {
  if (GetParam() && !gro) GTEST_SKIP() << "this kernel has no UDP_GRO";
  UdpReceiver receiver(16, 65535, 0, 0, true);
  std::mt19937 random(9);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::size_t> sizes(1 + random() % 128);
    for (auto& size : sizes) size = random() % 4 == 0 ? random() % 500 : 300;
    auto packets = datagrams(sizes);
    UdpSender sender(supports_gso());
    for (auto& packet : packets) sender.add(packet);
    ASSERT_EQ(sender.flush(from.fd(), local_address(fd)).packets, sizes.size());
    EXPECT_EQ(receive(receiver, sizes.size()), packets);
  }
  if (gro) {
    EXPECT_GT(runs, 0u) << "nothing arrived as a run: GRO is not exercised";
  }
}

TEST_P(UdpReceive, LeavesRoomAroundEveryDatagram) {
  UdpReceiver receiver(4, 100, kHead, kTail, true);
  EXPECT_EQ(receiver.capacity(), 4u);
  EXPECT_EQ(receiver.receive(fd.get()), 0u) << "nothing waits";
  for (const std::size_t size : {0, 1, 99, 100}) {
    const auto packet = noise(size, 5);
    from.send(packet, local_address(fd));
    ASSERT_TRUE(eventually([&] { return receiver.receive(fd.get()) == 1; }));
    const auto room = receiver.with_room(0);
    ASSERT_EQ(room.size(), kHead + size + kTail);
    EXPECT_EQ(room.data() + kHead, receiver.slot(0).bytes.data());
    std::fill(room.begin(), room.begin() + kHead, 0xaa);
    std::fill(room.end() - kTail, room.end(), 0xbb);
    EXPECT_TRUE(std::equal(packet.begin(), packet.end(), receiver.slot(0).bytes.begin()));
  }
}

TEST_P(UdpReceive, WritingIntoOneSlotsRoomLeavesItsNeighboursAlone) {
  UdpReceiver receiver(3, 100, kHead, kTail, true);
  std::vector<Bytes> packets;
  for (unsigned i = 0; i < 3; ++i) {
    packets.push_back(noise(100, i));
    from.send(packets.back(), local_address(fd));
  }
  std::size_t got = 0;
  ASSERT_TRUE(eventually([&] { return (got = receiver.receive(fd.get())) > 0; }));
  if (GetParam() && got < 3) GTEST_SKIP() << "arrived as a run longer than a slot";
  ASSERT_EQ(got, 3u);
  for (const std::size_t i : {1, 0, 2}) {
    const auto room = receiver.with_room(i);
    std::fill(room.begin(), room.begin() + kHead, 0xaa);
    std::fill(room.end() - kTail, room.end(), 0xbb);
  }
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(std::equal(packets[i].begin(), packets[i].end(), receiver.slot(i).bytes.begin())) << i;
}

TEST_P(UdpReceive, SaysWhatWasCutOff) {
  UdpReceiver receiver(4, 100, kHead, kTail, true);
  from.send(Bytes(101), local_address(fd));
  ASSERT_TRUE(eventually([&] { return receiver.receive(fd.get()) == 1; }));
  EXPECT_TRUE(receiver.slot(0).truncated);
  EXPECT_EQ(receiver.slot(0).bytes.size(), 100u);
  from.send(Bytes(100), local_address(fd));
  ASSERT_TRUE(eventually([&] { return receiver.receive(fd.get()) == 1; }));
  EXPECT_FALSE(receiver.slot(0).truncated) << "the mark does not stick";
}

INSTANTIATE_TEST_SUITE_P(Gro, UdpReceive, ::testing::Bool());

/// A socket on every address of this machine, and what it knows of the one that was written to.
struct LocalCase {
  const char *bind, *written_to;
};
class UdpLocal : public ::testing::TestWithParam<LocalCase> {
 protected:
  void SetUp() override {
    try {
      fd = open_udp(resolve(GetParam().bind, 0, true, SOCK_DGRAM), {4096, -1, true, true}, "a test", &gro);
    } catch (const TunnelError&) {
      GTEST_SKIP() << "no IPv6 on this machine";
    }
    peer.emplace(std::string(GetParam().written_to) == "::1" ? "::1" : "127.0.0.1");
    at = resolve(GetParam().written_to, local_address(fd).port(), false, SOCK_DGRAM);
  }
  /// Where a datagram of the peer to `at` came from, as the socket sees it.
  SockAddr heard() {
    UdpReceiver receiver(4, 2048, 0, 0, true);
    peer->send("hello", at);
    EXPECT_TRUE(eventually([&] { return receiver.receive(fd.get()) == 1; }));
    return receiver.source(0);
  }
  void expect_from_there(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(peer->receive()) << i;
      ASSERT_EQ(peer->source().host_text(), at.host_text()) << i;
    }
  }

  bool gro = false;
  Fd fd;
  std::optional<UdpPeer> peer;
  SockAddr at;
};

TEST_P(UdpLocal, AnswersLeaveFromTheAddressThatWasWrittenTo) {
  const auto from = heard();
  ASSERT_TRUE(from.has_local());
  EXPECT_EQ(from.local, at.ip16());
  EXPECT_TRUE(send_one(fd.get(), as_bytes("alone"), from));
  expect_from_there(1);
  auto packets = datagrams(std::vector<std::size_t>(100, 300));
  for (const bool checksums : {true, false}) {  // without them the kernel refuses runs: they go out one by one
    const int off = checksums ? 0 : 1;
    if (!checksums && ::setsockopt(fd.get(), SOL_SOCKET, SO_NO_CHECK, &off, sizeof off) != 0) break;
    if (!checksums && from.family() == AF_INET6) break;  // there they are not optional
    UdpSender sender(supports_gso());
    for (auto& packet : packets) sender.add(packet);
    EXPECT_EQ(sender.flush(fd.get(), from).packets, packets.size());
    expect_from_there(packets.size());
  }
}

TEST_P(UdpLocal, ARunThatArrivesWholeNamesItToo) {
  UdpReceiver receiver(16, 65535, 0, 0, true);
  auto packets = datagrams(std::vector<std::size_t>(50, 300));
  UdpSender sender(supports_gso());
  for (auto& packet : packets) sender.add(packet);
  ASSERT_EQ(sender.flush(peer->fd(), at).packets, packets.size());
  std::size_t bytes = 0;
  ASSERT_TRUE(eventually([&] {
    const auto got = receiver.receive(fd.get());
    for (std::size_t i = 0; i < got; ++i) {
      EXPECT_EQ(receiver.source(i).local, at.ip16());
      EXPECT_LE(receiver.slot(i).segment, 300u);
      bytes += receiver.slot(i).bytes.size();
    }
    return bytes == 50 * 300;
  }));
}

TEST_P(UdpLocal, AnAddressThatIsNotOursTakesNothing) {
  auto from = heard();
  from.local =
      resolve(from.family() == AF_INET6 && !std::string(GetParam().written_to).starts_with("127") ? "2001:db8::1"
                                                                                                  : "192.0.2.1",
              0, false, SOCK_DGRAM)
          .ip16();
  EXPECT_FALSE(send_one(fd.get(), as_bytes("from nowhere"), from));
  EXPECT_TRUE(peer->drain().empty());
}

INSTANTIATE_TEST_SUITE_P(Local, UdpLocal,
                         ::testing::Values(LocalCase{"0.0.0.0", "127.0.0.2"}, LocalCase{"0.0.0.0", "127.0.0.1"},
                                           LocalCase{"::", "127.0.0.2"}, LocalCase{"::", "::1"}));

TEST(UdpLocal, BoundToOneAddressThereIsNothingToTell) {
  const auto fd = open_udp(resolve("127.0.0.2", 0, true, SOCK_DGRAM), {4096, -1, true, true}, "a test");
  UdpReceiver receiver(4, 2048, 0, 0, true);
  const UdpPeer peer;
  peer.send("hello", local_address(fd));
  ASSERT_TRUE(eventually([&] { return receiver.receive(fd.get()) == 1; }));
  EXPECT_FALSE(receiver.source(0).has_local());
}

}  // namespace
}  // namespace pqcmav
