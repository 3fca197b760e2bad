// SPDX-License-Identifier: Apache-2.0
#include "relay/relay_table.hpp"

#include <gtest/gtest.h>

#include "addresses.hpp"
#include "nanoseconds.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

using test::at;

using enum RelayTable::Verdict;
const Bytes kHello(200, 0x33), kPacket(100, 0x03), kAnswer(200, 0x43);

RelayTable table(std::uint32_t kbit = 1000) { return {{parse_network("10.0.0.0/24", "relay_from")}, kbit}; }

TEST(Network, HasWhatItsBitsSay) {
  const auto net = parse_network("10.1.2.128/25", "k");
  EXPECT_TRUE(net.has(at("10.1.2.200", 1).ip16()));
  EXPECT_FALSE(net.has(at("10.1.2.127", 1).ip16()));
  EXPECT_FALSE(net.has(at("::1", 1).ip16()));
  EXPECT_TRUE(parse_network("10.1.2.3", "k").has(at("10.1.2.3", 1).ip16()));
  EXPECT_FALSE(parse_network("10.1.2.3", "k").has(at("10.1.2.2", 1).ip16()));
  EXPECT_TRUE(parse_network("2001:db8::/32", "k").has(at("2001:db8:1::1", 1).ip16()));
  EXPECT_FALSE(parse_network("2001:db8::/32", "k").has(at("2001:db9::1", 1).ip16()));
  EXPECT_TRUE(parse_network("0.0.0.0/0", "k").has(at("192.0.2.1", 1).ip16()));
  EXPECT_FALSE(parse_network("0.0.0.0/0", "k").has(at("2001:db8::1", 1).ip16())) << "IPv4 alone";
}

TEST(Network, RefusesWhatIsNone) {
  for (const auto* text : {"", "drone", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "10.0.0.1/24",
                           "fe80::1%eth0", "::/129", "10.0.0/24"})
    try {
      (void)parse_network(text, "relay_from");
      ADD_FAILURE() << text;
    } catch (const TunnelError& error) {
      EXPECT_EQ(error.code(), Errc::config_invalid);
      EXPECT_NE(std::string(error.what()).find("'relay_from' has '" + std::string(text) + "'"), std::string::npos);
    }
}

TEST(RelayTable, PassesOnForItsNetworkAlone) {
  auto relay = table();
  EXPECT_EQ(relay.up(at("10.0.0.7", 46012), kHello, 64, 0).verdict, pass);
  EXPECT_EQ(relay.up(at("10.0.1.7", 46012), kHello, 64, 0).verdict, stranger);
  EXPECT_EQ(relay.up(at("::ffff:10.0.0.8", 46012), kHello, 64, 0).verdict, pass) << "as a socket for both gives it";
  EXPECT_TRUE(relay.client(2).empty());
}

TEST(RelayTable, PassesOnWhatATunnelSendsAlone) {
  for (unsigned first = 0; first < 256; ++first) {
    auto relay = table();
    const Bytes datagram(60, static_cast<std::uint8_t>(first));
    const bool drone = first == 0x03 || first == 0x13 || first == 0x23 || first == 0x33 || first >= 0x80;
    const bool gcs = first == 0x03 || first == 0x13 || first == 0x23 || first == 0x43 || first == 0x53 ||
                     first == 0x63 || first >= 0x80;
    EXPECT_EQ(relay.up(at("10.0.0.7", 1), datagram, 64, 0).verdict == pass, drone) << first;
    ASSERT_EQ(relay.up(at("10.0.0.7", 1), kHello, 64, 0).verdict, pass);
    EXPECT_EQ(relay.down(0, datagram, 0).pass, gcs) << first;
  }
  auto relay = table();
  EXPECT_EQ(relay.up(at("10.0.0.7", 1), {}, 64, 0).verdict, malformed);
}

TEST(RelayTable, ThreeDronesMayPassADatagramOn) {
  EXPECT_EQ(RelayTable::next_ttl(64), 48);
  EXPECT_EQ(RelayTable::next_ttl(255), 48) << "some systems begin higher";
  EXPECT_EQ(RelayTable::next_ttl(50), 48) << "14 routers between count as nothing";
  EXPECT_EQ(RelayTable::next_ttl(48), 32);
  EXPECT_EQ(RelayTable::next_ttl(33), 32);
  EXPECT_EQ(RelayTable::next_ttl(32), 16);
  EXPECT_FALSE(RelayTable::next_ttl(16).has_value());
  EXPECT_FALSE(RelayTable::next_ttl(0).has_value());
  for (unsigned begin = 0; begin < 256; ++begin) {  // a circle ends
    unsigned passed = 0;
    for (auto ttl = std::optional(static_cast<std::uint8_t>(begin)); ttl; ttl = RelayTable::next_ttl(*ttl)) ++passed;
    EXPECT_LE(passed, 4u);
  }
  auto relay = table();
  EXPECT_EQ(relay.up(at("10.0.0.7", 1), kHello, 64, 0).ttl, 48);
  EXPECT_EQ(relay.up(at("10.0.0.7", 1), kHello, 16, 0).verdict, hops);
}

TEST(RelayTable, ThoseThatAreNotAnsweredGiveTheirPlaceBack) {
  auto relay = table();
  for (std::uint16_t port = 1; port <= RelayTable::kClients; ++port)
    ASSERT_TRUE(relay.up(at("10.0.0.7", port), kHello, 64, port).fresh);
  EXPECT_EQ(relay.up(at("10.0.0.7", 99), kHello, 64, kS).verdict, full);
  EXPECT_TRUE(relay.down(0, kAnswer, kS).first);
  EXPECT_FALSE(relay.down(0, kAnswer, kS).first);
  for (std::uint16_t port = 2; port <= RelayTable::kClients; ++port)  // going on is no answer
    (void)relay.up(at("10.0.0.7", port), kHello, 64, 2 * kS);
  std::size_t gone = 0;
  while (relay.expire(4 * kS)) ++gone;
  EXPECT_EQ(gone, RelayTable::kClients - 1);
  EXPECT_FALSE(relay.client(0).empty()) << "the ground station knows it";
  EXPECT_EQ(relay.up(at("10.0.0.7", 99), kHello, 64, 4 * kS).verdict, pass);
  EXPECT_FALSE(relay.expire(60 * kS + kS - 1).has_value() && relay.client(0).empty());
  while (relay.expire(61 * kS)) {
  }
  EXPECT_TRUE(relay.client(0).empty()) << "idle for a minute";
  EXPECT_FALSE(relay.down(0, kAnswer, 62 * kS).pass) << "nobody is there any more";
}

/// Bytes a second that a client gets through, of more than it may, while others flood.
std::size_t through(RelayTable& relay, const SockAddr& client, const std::vector<SockAddr>& flooders) {
  std::size_t out = 0;
  for (std::uint64_t now = 10 * kS; now < 20 * kS; now += kS / 1000) {
    for (const auto& each : flooders) (void)relay.up(each, kPacket, 64, now);
    if (relay.up(client, kPacket, 64, now).verdict == pass) out += kPacket.size();
  }
  return out / 10;
}

TEST(RelayTable, WhatAnybodyGetsLetsNobodyIn) {
  auto relay = table();
  ASSERT_TRUE(relay.up(at("10.0.0.7", 1), kPacket, 64, 0).fresh);
  for (const std::uint8_t first : {0x53, 0x63}) {  // Retry, RESTART
    const auto down = relay.down(0, Bytes(25, first), kS);
    EXPECT_TRUE(down.pass);
    EXPECT_FALSE(down.first);
  }
  EXPECT_TRUE(relay.expire(4 * kS).has_value()) << "the ground station does not know it";
}

TEST(RelayTable, FloodsTakeNothingFromThoseThatAreAnswered) {
  auto relay = table(1000);
  const auto client = at("10.0.0.7", 1), other = at("10.0.0.8", 1);
  ASSERT_EQ(relay.up(client, kHello, 64, 0).verdict, pass);
  (void)relay.down(0, kAnswer, 0);
  std::vector<SockAddr> strangers;
  for (std::uint16_t port = 2; port < 200; ++port) strangers.push_back(at("10.0.0.66", port));
  EXPECT_NEAR(static_cast<double>(through(relay, client, strangers)), 100e3, 2e3) << "all that it sends: 800 kbit/s";
  // One that the ground station answers has half of the rate, whatever it sends.
  while (relay.expire(40 * kS)) {
  }
  ASSERT_EQ(relay.up(other, kHello, 64, 40 * kS).verdict, pass);
  ASSERT_EQ(relay.up(client, kHello, 64, 40 * kS).verdict, pass);
  (void)relay.down(1, kAnswer, 40 * kS);
  std::size_t mine = 0;
  for (std::uint64_t now = 41 * kS; now < 51 * kS; now += kS / 1000) {
    for (unsigned i = 0; i < 5; ++i) (void)relay.up(other, kPacket, 64, now);
    if (relay.up(client, kPacket, 64, now).verdict == pass) mine += kPacket.size();
  }
  EXPECT_NEAR(static_cast<double>(mine) / 10, 62.5e3, 2e3);
}

}  // namespace
}  // namespace pqcmav
