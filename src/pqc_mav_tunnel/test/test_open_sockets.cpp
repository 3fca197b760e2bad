// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/open_sockets.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>

#include "fd.hpp"

namespace pqcmav {
namespace {

struct Bound {
  Fd fd;
  std::uint16_t port = 0;
};

Bound bound(int type, std::uint32_t host = INADDR_ANY) {
  Bound out{Fd(::socket(AF_INET, type, 0)), 0};
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(host);
  socklen_t size = sizeof place;
  EXPECT_EQ(::bind(out.fd.get(), reinterpret_cast<sockaddr*>(&place), size), 0);
  EXPECT_EQ(::getsockname(out.fd.get(), reinterpret_cast<sockaddr*>(&place), &size), 0);
  out.port = ntohs(place.sin_port);
  return out;
}

/// By whether UDP, and port.
std::map<std::pair<bool, int>, OpenSocket> now(const EnginePorts& ports = {},
                                               const std::vector<LinkStats>& stats = {}) {
  std::map<std::pair<bool, int>, OpenSocket> out;
  for (const auto& each : open_sockets(ports, stats)) out.emplace(std::pair(each.udp, each.port), each);
  return out;
}

TEST(OpenSockets, WhoeverHearsAnybodyIsThereOnce) {
  const auto udp = bound(SOCK_DGRAM), local = bound(SOCK_DGRAM, INADDR_LOOPBACK), tcp = bound(SOCK_STREAM);
  const Fd again(::dup(udp.fd.get()));
  EXPECT_FALSE(now().contains({false, tcp.port})) << "it does not listen yet";
  ASSERT_EQ(::listen(tcp.fd.get(), 1), 0);
  const auto found = now();
  EXPECT_EQ(found.at({true, udp.port}).host, "0.0.0.0");
  EXPECT_FALSE(found.at({true, udp.port}).loopback);
  EXPECT_TRUE(found.at({true, local.port}).loopback);
  EXPECT_EQ(found.at({false, tcp.port}).use, SocketUse::other);
  EXPECT_EQ(std::ranges::count(open_sockets(), udp.port, &OpenSocket::port), 1) << "two descriptors are one socket";
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(udp.port);
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::connect(local.fd.get(), reinterpret_cast<const sockaddr*>(&peer), sizeof peer), 0);
  EXPECT_FALSE(now().contains({true, local.port})) << "a connected one hears its peer alone";
}

TEST(OpenSockets, OfOtherPathsAndForOtherDronesIsOfTheTunnel) {
  const auto data = bound(SOCK_DGRAM), path = bound(SOCK_DGRAM), stranger = bound(SOCK_DGRAM);
  const auto found = now({data.port, {path.port}, {}});
  EXPECT_EQ(found.at({true, data.port}).use, SocketUse::tunnel);
  EXPECT_EQ(found.at({true, path.port}).use, SocketUse::tunnel);
  EXPECT_EQ(found.at({true, stranger.port}).use, SocketUse::other);
}

TEST(OpenSockets, Version6AlsoInTheClothesOfVersion4) {
  const Fd fd(::socket(AF_INET6, SOCK_DGRAM, 0));
  if (!fd) GTEST_SKIP() << "no IPv6 here";
  sockaddr_in6 place{};
  place.sin6_family = AF_INET6;
  ASSERT_EQ(::inet_pton(AF_INET6, "::ffff:127.0.0.1", &place.sin6_addr), 1);
  socklen_t size = sizeof place;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&place), size) != 0) GTEST_SKIP() << "no IPv6 here";
  ASSERT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&place), &size), 0);
  const auto found = now().at({true, ntohs(place.sin6_port)});
  EXPECT_EQ(found.host, "::ffff:127.0.0.1");
  EXPECT_TRUE(found.loopback);
}

TEST(OpenSockets, WhatAnEngineUsesThemFor) {
  const auto data = bound(SOCK_DGRAM), plain = bound(SOCK_DGRAM), listens = bound(SOCK_DGRAM), tcp = bound(SOCK_STREAM);
  ASSERT_EQ(::listen(tcp.fd.get(), 1), 0);
  std::vector<LinkStats> stats(1);
  for (const auto& name : {"udp-listen:0.0.0.0:" + std::to_string(listens.port),
                           "tcp-listen:[::]:" + std::to_string(tcp.port), std::string("udp:192.0.2.7:14550"),
                           std::string("serial:/dev/ttyUSB0:57600"), std::string("tcp-listen:nowhere")})
    stats[0].endpoints.push_back({name, "", true, {}});
  const auto found = now({data.port, {}, {{"d1", plain.port}}}, stats);
  EXPECT_EQ(found.at({true, data.port}).use, SocketUse::tunnel);
  EXPECT_EQ(found.at({true, plain.port}).use, SocketUse::plain);
  EXPECT_EQ(found.at({true, listens.port}).use, SocketUse::plain);
  EXPECT_EQ(found.at({false, tcp.port}).use, SocketUse::plain);
  EXPECT_EQ(now({tcp.port, {}, {}}).at({false, tcp.port}).use, SocketUse::other) << "the tunnel is UDP";
}

}  // namespace
}  // namespace pqcmav
