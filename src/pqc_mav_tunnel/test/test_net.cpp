// SPDX-License-Identifier: Apache-2.0
#include "net/net.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "engine_fixture.hpp"

namespace pqcmav {
namespace {

using test::expect_error;

SockAddr v4(const std::string& host, std::uint16_t port) { return resolve(host, port, false, SOCK_DGRAM); }

TEST(Net, AddressesAsText) {
  EXPECT_EQ(v4("127.0.0.1", 14550).text(), "127.0.0.1:14550");
  EXPECT_EQ(v4("::1", 14550).text(), "[::1]:14550");
  EXPECT_EQ(v4("::ffff:192.0.2.7", 1).text(), "192.0.2.7:1") << "how a dual-stack socket names an IPv4 peer";
  EXPECT_EQ(v4("::ffff:192.0.2.7", 1).host_text(), "192.0.2.7");
  EXPECT_EQ(SockAddr{}.text(), "");
  EXPECT_TRUE(SockAddr{}.empty());
  EXPECT_EQ(SockAddr{}.port(), 0);
}

TEST(Net, AddressesCompareByFamilyHostAndPort) {
  EXPECT_EQ(v4("127.0.0.1", 1), v4("127.0.0.1", 1));
  EXPECT_FALSE(v4("127.0.0.1", 1) == v4("127.0.0.1", 2));
  EXPECT_FALSE(v4("127.0.0.1", 1) == v4("127.0.0.2", 1));
  EXPECT_FALSE(v4("127.0.0.1", 1) == v4("::1", 1));
  EXPECT_EQ(v4("::1", 1), v4("::1", 1));
  EXPECT_FALSE(v4("::1", 1) == v4("::2", 1));
  EXPECT_EQ(SockAddr{}, SockAddr{});
  auto moved = v4("127.0.0.1", 1);
  moved.set_port(2);
  EXPECT_EQ(moved, v4("127.0.0.1", 2));
}

TEST(Net, APathHasTwoEnds) {
  auto there = v4("192.0.2.7", 1), same = there;
  EXPECT_FALSE(there.has_local());
  there.local = v4("127.0.0.2", 0).ip16();
  EXPECT_TRUE(there.has_local());
  EXPECT_FALSE(there == same);
  same.local = v4("127.0.0.2", 5).ip16();
  EXPECT_EQ(there, same);
  same.local = v4("127.0.0.3", 5).ip16();
  EXPECT_FALSE(there == same);
  EXPECT_EQ(there.text(), "192.0.2.7:1");
}

TEST(Net, EveryAddress) {
  for (const auto* host : {"0.0.0.0", "::"}) EXPECT_TRUE(v4(host, 1).any()) << host;
  for (const auto* host : {"127.0.0.1", "::1", "::ffff:0.0.0.0"}) EXPECT_FALSE(v4(host, 1).any()) << host;
  EXPECT_FALSE(SockAddr{}.any());
}

TEST(Net, LoopbackAddresses) {
  for (const auto* host : {"127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"})
    EXPECT_TRUE(v4(host, 1).loopback()) << host;
  for (const auto* host : {"126.0.0.1", "128.0.0.1", "0.0.0.0", "::", "::2", "::ffff:192.0.2.7", "fe80::1"})
    EXPECT_FALSE(v4(host, 1).loopback()) << host;
  EXPECT_FALSE(SockAddr{}.loopback());
}

TEST(Net, WhatOneOwnerHas) {
  EXPECT_EQ(v4("192.0.2.7", 1).network_text(), "192.0.2.7");
  EXPECT_EQ(v4("::ffff:192.0.2.7", 1).network_text(), "192.0.2.7") << "how a dual-stack socket names an IPv4 peer";
  EXPECT_EQ(v4("2001:db8:1:2:3:4:5:6", 1).network_text(), "2001:db8:1:2::/64");
  EXPECT_EQ(v4("2001:db8:1:2:ffff:ffff:ffff:ffff", 9).network_text(), "2001:db8:1:2::/64");
  EXPECT_NE(v4("2001:db8:1:3::6", 1).network_text(), v4("2001:db8:1:2::6", 1).network_text());
}

TEST(Net, Endpoints) {
  EXPECT_EQ(resolve_endpoint("127.0.0.1:14550", "k").text(), "127.0.0.1:14550");
  EXPECT_EQ(resolve_endpoint("[::1]:0", "k").text(), "[::1]:0");
  EXPECT_EQ(resolve_endpoint("127.0.0.1:65535", "k").port(), 65535);
  for (const auto* bad : {"", ":", "14550", "127.0.0.1", "127.0.0.1:", ":14550", "127.0.0.1:65536", "127.0.0.1:-1",
                          "127.0.0.1: 1", "127.0.0.1:1x", "[::1:1", "[]:1", "127.0.0.1:+1"})
    expect_error(Errc::address, {"'plain_peer'", "host:port"}, [&] { (void)resolve_endpoint(bad, "plain_peer"); });
  expect_error(Errc::address, {"no-such-host.invalid"}, [] { (void)resolve_endpoint("no-such-host.invalid:1", "k"); });
}

TEST(Net, EveryAddressOfAName) {
  const auto all = resolve_all("localhost", 7, false, SOCK_STREAM);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front(), resolve("localhost", 7, false, SOCK_STREAM));
  for (const auto& address : all) EXPECT_EQ(address.port(), 7);
  EXPECT_EQ(resolve_all("127.0.0.1", 7, false, SOCK_STREAM).size(), 1u);
  EXPECT_EQ(resolve("", 7, true, SOCK_DGRAM).text(), "0.0.0.0:7");
}

TEST(Net, DescriptorsHaveOneOwner) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Fd reading(ends[0]), writing(ends[1]);
  Fd moved(std::move(writing));
  EXPECT_EQ(writing.get(), -1);
  EXPECT_FALSE(writing);
  EXPECT_TRUE(moved);
  reading = std::move(moved);  // closes the first reading end: nothing is left to write to
  EXPECT_EQ(reading.get(), ends[1]);
  EXPECT_EQ(::fcntl(ends[0], F_GETFD), -1);
  auto& same = reading;  // by another name, or a compiler warns
  reading = std::move(same);
  EXPECT_TRUE(reading) << "assigning to itself keeps it";
  reading.reset();
  EXPECT_EQ(::fcntl(ends[1], F_GETFD), -1);
}

TEST(Net, UdpSockets) {
  bool gro = false;
  const auto fd = open_udp(v4("127.0.0.1", 0), {1024, 46, true}, "a test", &gro);
  EXPECT_NE(local_address(fd).port(), 0);
  EXPECT_NE(::fcntl(fd.get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  int value = 0;
  socklen_t size = sizeof value;
  ASSERT_EQ(::getsockopt(fd.get(), IPPROTO_IP, IP_TOS, &value, &size), 0);
  EXPECT_EQ(value, 46 << 2);
  size = sizeof value;
  ASSERT_EQ(::getsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &value, &size), 0);
  EXPECT_GE(value, 200 * 1024) << "at least the system's limit";
  expect_error(Errc::port_in_use, {"a second test", local_address(fd).text()},
               [&] { (void)open_udp(local_address(fd), {}, "a second test"); });
}

TEST(Net, ASocketForBothKinds) {
  bool gro = false;
  const auto fd = open_udp_both(0, {}, "a test", &gro);
  const auto port = local_address(fd).port();
  test::UdpPeer peer;
  peer.send("over IPv4", port);
  char text[16] = "";
  pollfd wait{fd.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&wait, 1, 10000), 1);
  EXPECT_EQ(::recv(fd.get(), text, sizeof text, 0), 9);
  expect_error(Errc::port_in_use, {"a second test"}, [&] { (void)open_udp_both(port, {}, "a second test"); });
}

TEST(Net, AnIpHasSixteenBytesWhateverItsKindAndPort) {
  const auto of = [](const char* host, std::uint16_t port) { return resolve(host, port, true, SOCK_DGRAM).ip16(); };
  EXPECT_EQ(of("127.0.0.1", 1), (ByteArray<16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}));
  EXPECT_EQ(of("127.0.0.1", 1), of("127.0.0.1", 2));
  EXPECT_EQ(of("::ffff:10.1.2.3", 1), of("10.1.2.3", 1)) << "a socket for both kinds names it so";
  EXPECT_EQ(of("2001:db8::7", 1), (ByteArray<16>{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}));
  EXPECT_EQ(SockAddr{}.ip16(), ByteArray<16>{});
}

TEST(Net, TheClockRunsForward) {
  auto last = now_ns();
  for (int i = 0; i < 1000; ++i) {
    const auto now = now_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Net, WhatTheKernelDropped) {
  const auto socket = open_udp(v4("127.0.0.1", 0), {1, -1, false}, "a test");
  const auto to = local_address(socket);
  const Fd sender(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  KernelDrops drops;
  EXPECT_EQ(drops.more(socket.get()), 0u);
  const Bytes datagram(200);
  for (int i = 0; i < 500; ++i)
    ASSERT_EQ(::sendto(sender.get(), datagram.data(), datagram.size(), 0, to.get(), to.size), 200);
  unsigned received = 0;
  Bytes in(300);
  while (::recv(socket.get(), in.data(), in.size(), MSG_DONTWAIT) >= 0) ++received;
  const auto dropped = drops.more(socket.get());
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(received + dropped, 500u);
  EXPECT_EQ(drops.more(socket.get()), 0u) << "each is told once";
  EXPECT_EQ(KernelDrops().more(-1), 0u);
}

TEST(Net, AnInterfaceWithoutARouteLeadsNowhere) {
  const auto to = [](const char* host) { return resolve(host, 9, false, SOCK_DGRAM); };
  EXPECT_TRUE(address_towards(to("127.0.0.1"), "lo"));
  EXPECT_FALSE(address_towards(to("127.0.0.1"), "nowhere0"));
  EXPECT_FALSE(address_towards(to("2001:db8::1"), "lo")) << "IPv4 counts as next door there, says the kernel";
}

}  // namespace
}  // namespace pqcmav
