// SPDX-License-Identifier: Apache-2.0
// The copy of the plaintext: what it carries, whom it reaches, and that the tunnel does not notice it.
#include "net/plain_tap.hpp"

#include "addresses.hpp"
#include "engine_fixture.hpp"

namespace pqcmav {
namespace {

using namespace test;

TEST(PlainTap, GoesToLoopbackAlone) {
  const auto check = [](const std::string& tap) {
    check_plain_addresses("", {}, {}, resolve_endpoint(tap, "plain_tap"));
  };
  for (const auto* good : {"127.0.0.1:14591", "127.8.8.8:14591", "localhost:14591"})
    EXPECT_NO_THROW(check(good)) << good;
  for (const auto* bad : {"0.0.0.0:14591", "192.0.2.1:14591", "128.0.0.1:14591", "[2001:db8::1]:14591", "[::]:14591",
                          "255.255.255.255:14591", "127.0.0.1:0"})
    expect_error(Errc::config_invalid, {"'plain_tap'", bad, "loopback"}, [&] { check(bad); });
  expect_error(Errc::config_invalid, {"'plain_tap'", "loopback"}, [&] { check("[::ffff:192.0.2.1]:14591"); });
  for (const auto* malformed : {"14591", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", ":14591"})
    expect_error(Errc::address, {"'plain_tap'", malformed, "host:port"}, [&] { check(malformed); });
}

TEST(PlainTap, KeepsCopiesUntilTheFlush) {
  UdpPeer reader;
  PlainTap tap(reader.address(), 4, 10);
  LinkCounters counters;
  Bytes packet{1, 2, 3};
  tap.take(packet, at("127.0.0.1", 1), counters);
  tap.take({}, at("127.0.0.1", 1), counters);
  packet.assign(3, 0xee);  // sealed in place meanwhile
  EXPECT_FALSE(reader.receive(0ms));
  tap.flush(counters);
  EXPECT_EQ(reader.receive(), (Bytes{1, 2, 3}));
  EXPECT_EQ(reader.receive(), Bytes{});
  tap.flush(counters);
  EXPECT_FALSE(reader.receive(0ms));
  EXPECT_EQ(counters.plain_tap_packets.get(), 2u);
  EXPECT_EQ(counters.plain_tap_dropped.get(), 0u);
}

TEST(PlainTap, CountsWhatItHasNoRoomFor) {
  UdpPeer reader;
  PlainTap tap(reader.address(), 2, 10);
  LinkCounters counters;
  const Bytes longest(10, 1), longer(11, 2);
  for (const auto* packet : {&longest, &longer, &longest, &longest}) tap.take(*packet, at("127.0.0.1", 1), counters);
  tap.flush(counters);
  EXPECT_EQ(reader.drain().size(), 2u);
  EXPECT_EQ(counters.plain_tap_packets.get(), 2u);
  EXPECT_EQ(counters.plain_tap_dropped.get(), 2u);
}

TEST(PlainTap, SendsNothingBackToItsReader) {
  UdpPeer reader;
  PlainTap tap(reader.address(), 4, 10);
  LinkCounters counters;
  tap.take(Bytes{1}, reader.address(), counters);
  tap.flush(counters);
  EXPECT_FALSE(reader.receive(0ms));
  EXPECT_EQ(counters.plain_tap_packets.get() + counters.plain_tap_dropped.get(), 0u);
}

TEST(PlainTap, IsNotWhereTheTunnelItselfListensOrSends) {
  const auto tap = at("127.0.0.1", 14591);
  const auto refused = [&](const SockAddr& local) {
    for (const auto& [bind, peer] : {std::pair{local, SockAddr{}}, std::pair{SockAddr{}, local}})
      expect_error(Errc::config_invalid, {"'plain_tap'", "'plain_bind'"},
                   [&] { check_plain_addresses("", bind, peer, tap); });
  };
  for (const auto* host : {"127.0.0.1", "0.0.0.0", "::"}) refused(at(host, 14591));
  for (const auto& other : {at("127.0.0.1", 14592), at("127.0.0.2", 14591)})
    EXPECT_NO_THROW(check_plain_addresses("", other, at("127.0.0.3", 14593), tap));
}

TEST(PlainTap, AnApplicationIsNotWhereTheTunnelListens) {
  expect_error(Errc::config_invalid, {"'plain_peer'", "would come back"},
               [] { check_plain_addresses("", at("0.0.0.0", 14590), at("127.0.0.1", 14590), {}); });
  EXPECT_NO_THROW(check_plain_addresses("", at("127.0.0.1", 0), at("127.0.0.1", 14590), {}));
}

TEST(PlainTap, FamiliesOfThePlaintextSideMustAgree) {
  expect_error(Errc::config_invalid, {"'drone.a.plain_bind'", "IPv4"},
               [] { check_plain_addresses("drone.a.", at("127.0.0.1", 1), at("::1", 2), {}); });
}

TEST(EnginePlainTap, CopiesWhatTheAutopilotSaysWithAndWithoutASession) {
  UdpPeer reader, watcher;
  const KeyFolders keys;
  const auto lonely =
      start(with(drone_values(keys, "uav1", watcher.address().port()), {{"plain_tap", reader.address().text()}}));
  watcher.send("before any session", plain_port(*lonely, "uav1"));
  EXPECT_EQ(reader.receive_text(), "before any session");
  EXPECT_TRUE(eventually([&] { return stat(*lonely, "plain_dropped_no_session") == 1; }));

  Tunnel tunnel({}, {{"plain_tap", reader.address().text()}});
  ASSERT_TRUE(tunnel.connect());
  std::vector<Bytes> sent;
  for (std::size_t size = 0; size < 400; ++size) {
    sent.push_back(Bytes(size * kDefaultMaxPayload / 399, static_cast<std::uint8_t>(size)));
    tunnel.autopilot.send(sent.back(), plain_port(*tunnel.drone, "uav1"));
    ASSERT_EQ(tunnel.ground.receive(), sent.back());
    ASSERT_EQ(reader.receive(), sent.back());
  }
  EXPECT_TRUE(eventually([&] { return stat(*tunnel.drone, "plain_tap_packets") == sent.size(); }));
  // The ground's packets and the reader's own are not for it.
  tunnel.send_down("command");
  EXPECT_EQ(tunnel.autopilot.receive_text(), "command");
  reader.send("forwarded by a router", plain_port(*tunnel.drone, "uav1"));
  EXPECT_EQ(tunnel.ground.receive_text(), "forwarded by a router");
  EXPECT_TRUE(reader.drain().empty());
  EXPECT_EQ(stat(*tunnel.drone, "plain_tap_dropped"), 0u);
  EXPECT_EQ(stat(*tunnel.gcs, "plain_tap_packets"), 0u);
}

TEST(EnginePlainTap, AReaderThatIsDeadOrSleepsCostsTheTunnelNothing) {
  auto reader = std::make_unique<UdpPeer>();
  const int tiny = 0;
  ASSERT_EQ(::setsockopt(reader->fd(), SOL_SOCKET, SO_RCVBUF, &tiny, sizeof tiny), 0);
  Tunnel tunnel({}, {{"plain_tap", reader->address().text()}});
  ASSERT_TRUE(tunnel.connect());
  const std::string bulk(1000, 'x');
  const auto send_some = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      tunnel.send_up(bulk);
      ASSERT_EQ(tunnel.ground.receive_text(), bulk);
    }
  };
  send_some(200);  // the reader takes nothing out, and its buffer holds two or three
  reader.reset();
  send_some(200);
  EXPECT_EQ(stat(*tunnel.gcs, "delivered"), 400u);
  EXPECT_EQ(stat(*tunnel.drone, "plain_rx_packets"), 400u);
  EXPECT_TRUE(eventually(
      [&] { return stat(*tunnel.drone, "plain_tap_packets") + stat(*tunnel.drone, "plain_tap_dropped") == 400; }));
}

TEST(EnginePlainTap, RefusesAnAddressThatIsNotForIt) {
  const KeyFolders keys;
  const auto drone = drone_values(keys, "uav1", 1);
  const auto expect_refused = [&](std::initializer_list<std::string> words, const FlatConfig& more) {
    expect_error(Errc::config_invalid, words, [&] { (void)EngineConfig::from_flat(with(drone, more)); });
  };
  expect_refused({"'plain_tap'", "192.0.2.1:14591", "loopback"}, {{"plain_tap", "192.0.2.1:14591"}});
  expect_refused({"'plain_tap'", "'plain_peer'"},
                 {{"plain_tap", "127.0.0.1:14591"}, {"plain_peer", "127.0.0.1:14591"}});
  std::uint16_t free_port = 0;
  {
    UdpPeer reserved;
    free_port = reserved.address().port();
  }
  const auto port = std::to_string(free_port);
  expect_refused({"'plain_tap'", "'plain_bind'"},
                 {{"plain_tap", "127.0.0.1:" + port}, {"plain_bind", "0.0.0.0:" + port}, {"plain_allow_remote", true}});
  expect_error(Errc::config_unknown_key, {"plain_tap", "only a drone"},
               [&] { (void)EngineConfig::from_flat(with(gcs_values(keys), {{"plain_tap", "127.0.0.1:14591"}})); });
}

}  // namespace
}  // namespace pqcmav
