// SPDX-License-Identifier: Apache-2.0
// An engine with its autopilot on a serial port: what is carried, and what happens when the port comes and goes.
#include "engine_fixture.hpp"
#include "mavlink_stream.hpp"
#include "two_ways.hpp"

namespace pqcmav {
namespace {

using namespace test;

class EngineSerial : public ::testing::Test {
 protected:
  FlatConfig serial(const FlatConfig& more = {}) const {
    return with({{"plain_bind", "127.0.0.1:14590"}, {"plain", "serial:" + port.path() + ":921600"}}, more);
  }
  static EndpointStatus endpoint(const Engine& engine) { return engine.stats().at(0).endpoints.at(0); }
  static std::uint64_t count(const Engine& engine, std::string_view name) {
    return value_of(endpoint(engine).counters, name);
  }
  bool opens(const Tunnel& tunnel, std::uint64_t times = 1) const {
    return eventually([&] { return count(*tunnel.drone, "opened") == times && endpoint(*tunnel.drone).good; });
  }
  /// What comes out of the tunnel on the ground, as one stream.
  static Bytes arrived(Tunnel& tunnel, std::size_t size) {
    Bytes out;
    while (out.size() < size) {
      const auto datagram = tunnel.ground.receive(5s);
      if (!datagram) break;
      append(out, *datagram);
    }
    return out;
  }

  TempFolder folder;
  FakePort port{folder / "tty"};
};

TEST_F(EngineSerial, CarriesFramesBothWaysBitByBit) {
  Tunnel tunnel({}, serial());
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(opens(tunnel));
  std::mt19937 random(1);
  Bytes sent;
  for (int i = 0; i < 300; ++i) {
    const auto message = any_message(random);
    port.send(message);
    append(sent, message);
  }
  EXPECT_EQ(arrived(tunnel, sent.size()), sent);
  EXPECT_EQ(count(*tunnel.drone, "rx_packets"), 300u);
  EXPECT_EQ(count(*tunnel.drone, "skipped_bytes"), 0u);
  // Downwards, nothing is looked at.
  Bytes down;
  for (std::uint8_t i = 0; i < 50; ++i) {
    const Bytes datagram(1 + i * 20, i);
    tunnel.ground.send(datagram, plain_port(*tunnel.gcs, "uav1"));
    append(down, datagram);
    ASSERT_EQ(port.receive(datagram.size()), datagram);
  }
  EXPECT_TRUE(eventually([&] { return count(*tunnel.drone, "tx_bytes") == down.size(); }));
  EXPECT_EQ(count(*tunnel.drone, "tx_packets"), 50u);
  EXPECT_EQ(count(*tunnel.drone, "dropped"), 0u);
  EXPECT_EQ(status(*tunnel.drone).plain_local, "serial:" + port.path() + ":921600");
  EXPECT_EQ(status(*tunnel.drone).last_error, "");
}

TEST_F(EngineSerial, WhatComesTogetherGoesTogetherUpToALimit) {
  Tunnel tunnel({}, serial());
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(opens(tunnel));
  Bytes burst;
  for (int i = 0; i < 100; ++i) append(burst, summed(mavlink2(30, 28)));
  port.send(burst);
  Bytes all;
  std::size_t datagrams = 0;
  while (all.size() < burst.size()) {
    const auto datagram = tunnel.ground.receive();
    ASSERT_TRUE(datagram);
    EXPECT_EQ(datagram->size() % 40, 0u) << "no datagram begins or ends within a frame";
    EXPECT_LE(datagram->size(), 512u);
    append(all, *datagram);
    ++datagrams;
  }
  EXPECT_EQ(all, burst);
  EXPECT_LT(datagrams, 100u);
}

TEST_F(EngineSerial, EachFrameAloneWhereTheLinkIsShaped) {
  Tunnel tunnel({}, serial({{"shape_kbit", 100'000}}));
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(opens(tunnel));
  Bytes burst;
  for (int i = 0; i < 10; ++i) append(burst, summed(mavlink2(76, 33)));
  port.send(burst);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(tunnel.ground.receive().value_or(Bytes{}).size(), 45u);
}

TEST_F(EngineSerial, EachFrameAloneWithSeveralPaths) {
  TwoWays ways(TwoWays::Second::udp, {}, serial());
  ASSERT_TRUE(ways.connect());
  ASSERT_TRUE(eventually([&] { return count(*ways.drone, "opened") == 1; }));
  Bytes burst;
  for (int i = 0; i < 10; ++i) append(burst, summed(mavlink2(30, 28)));
  port.send(burst);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(ways.ground.receive().value_or(Bytes{}).size(), 40u);
}

TEST_F(EngineSerial, NoiseIsLeftOutAndCounted) {
  Tunnel tunnel({}, serial());
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(opens(tunnel));
  const auto frame = summed(mavlink2(0));
  port.send(as_bytes("login: "));
  port.send(frame);
  EXPECT_EQ(tunnel.ground.receive(), frame);
  EXPECT_TRUE(eventually([&] { return count(*tunnel.drone, "skipped_bytes") == 7; }));
  port.send(Bytes{0xfd, 200, 0});  // a start, and then silence
  EXPECT_TRUE(eventually([&] { return count(*tunnel.drone, "skipped_bytes") == 10; }));
  EXPECT_TRUE(tunnel.ground.drain().empty());
}

TEST_F(EngineSerial, ComesAndGoes) {
  Tunnel tunnel({}, serial());
  EventLog log(*tunnel.drone);
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(opens(tunnel));
  const auto frame = summed(mavlink2(0));
  for (std::uint64_t round = 2; round < 5; ++round) {
    port.send(ByteView(frame).first(9));  // cut within a frame
    port.unplug();
    ASSERT_TRUE(eventually([&] { return !endpoint(*tunnel.drone).good; }));
    EXPECT_TRUE(status(*tunnel.drone).last_error.starts_with("PLAIN_DOWN: The serial port " + port.path()));
    EXPECT_TRUE(up(*tunnel.drone)) << "the tunnel itself is well";
    tunnel.send_down("to nobody");
    port.plug();
    ASSERT_TRUE(opens(tunnel, round));
    EXPECT_EQ(status(*tunnel.drone).last_error, "");
    port.send(frame);
    ASSERT_EQ(tunnel.ground.receive(), frame);
    tunnel.send_down("back");
    ASSERT_EQ(port.receive(4), Bytes({'b', 'a', 'c', 'k'}));
  }
  EXPECT_EQ(count(*tunnel.drone, "dropped"), 3u);
  log.gather();
  int lost = 0, open = 0, missing = 0;
  for (const auto& event : log.all())
    if (const auto* line = std::get_if<LogEvent>(&event.what)) {
      lost += line->text.find("was lost") != std::string::npos ? 1 : 0;
      open += line->text.find("is open at 921600 baud") != std::string::npos ? 1 : 0;
      missing += line->text.find("is not there") != std::string::npos ? 1 : 0;
    }
  EXPECT_EQ(lost, 3);
  EXPECT_EQ(open, 4);
  EXPECT_LE(missing, 3) << "said once for each time";
}

TEST_F(EngineSerial, StartsBeforeThePortIsThere) {
  port.unplug();
  Tunnel tunnel({}, serial());
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(eventually([&] { return !endpoint(*tunnel.drone).good; }));
  EXPECT_NE(status(*tunnel.drone).last_error.find("is not there"), std::string::npos);
  port.plug();
  ASSERT_TRUE(opens(tunnel));
}

TEST_F(EngineSerial, ASlowPortLosesTheOldestWholeDatagrams) {
  Tunnel tunnel({}, serial({{"plain", "serial:" + port.path() + ":9600"}}));
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(opens(tunnel));
  // Nobody reads the port: the terminal's own buffer fills, then the queue.
  std::uint32_t sent = 0;
  ASSERT_TRUE(eventually([&] {
    for (int i = 0; i < 20; ++i) {
      Bytes datagram(100, 0xab);
      store_be(datagram.data(), ++sent);
      tunnel.ground.send(datagram, plain_port(*tunnel.gcs, "uav1"));
    }
    return count(*tunnel.drone, "dropped") > 500;
  }));
  // The tunnel goes on meanwhile.
  const auto frame = summed(mavlink2(0));
  port.send(frame);
  EXPECT_EQ(tunnel.ground.receive(), frame);
  const auto in_all = [&] { return count(*tunnel.drone, "tx_packets") + count(*tunnel.drone, "dropped"); };
  std::vector<std::uint32_t> numbers;
  for (Bytes one; (one = port.receive(100, 1s)).size() == 100;) {
    numbers.push_back(load_be<std::uint32_t>(one.data()));
    for (std::size_t i = 4; i < one.size(); ++i) ASSERT_EQ(one[i], 0xab) << "half a datagram";
  }
  ASSERT_FALSE(numbers.empty());
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_EQ(numbers.back(), sent) << "the newest is there";
  EXPECT_TRUE(eventually([&] { return in_all() == stat(*tunnel.drone, "delivered"); }))
      << in_all() << " of " << stat(*tunnel.drone, "delivered");
}

TEST_F(EngineSerial, APortThatTakesNothingIsToldUntilBytesLeave) {
  Tunnel tunnel({}, serial({{"plain", "serial:" + port.path() + ":9600:rtscts"}}));
  EventLog log(*tunnel.drone);
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(opens(tunnel));
  ASSERT_TRUE(eventually([&] {
    for (int i = 0; i < 20; ++i) tunnel.send_down(std::string(100, 'x'));
    return count(*tunnel.drone, "dropped") > 0;
  }));
  ASSERT_TRUE(eventually([&] { return count(*tunnel.drone, "stuck") > 0 && !endpoint(*tunnel.drone).good; }));
  EXPECT_TRUE(status(*tunnel.drone).last_error.starts_with("PLAIN_DOWN: The serial port " + port.path()));
  EXPECT_NE(status(*tunnel.drone).last_error.find("takes nothing: is CTS wired"), std::string::npos);
  log.gather();
  EXPECT_TRUE(std::ranges::any_of(log.all(), [](const Event& event) {
    const auto* line = std::get_if<LogEvent>(&event.what);
    return line != nullptr && line->text.find("takes nothing") != std::string::npos;
  }));
  (void)port.receive(1 << 20, 50ms);
  tunnel.send_down("again");
  EXPECT_TRUE(eventually([&] { return endpoint(*tunnel.drone).good; }));
}

TEST_F(EngineSerial, NothingComesOfADatagramAboveThisEndsLimit) {
  for (const std::int64_t bundle_ms : {0, 20}) {
    const FlatConfig bundles{{"bundle_ms", bundle_ms}, {"bundle_bytes", 1432}};
    Tunnel tunnel(bundles, serial({{"max_payload", 300}}));
    ASSERT_TRUE(tunnel.connect());
    ASSERT_TRUE(eventually([&] { return endpoint(*tunnel.drone).good; }));
    const auto to = plain_port(*tunnel.gcs, "uav1");
    tunnel.ground.send(Bytes(800, 1), to);
    if (bundle_ms != 0) tunnel.ground.send(Bytes(100, 1), to);  // in one bundle with it
    ASSERT_TRUE(eventually([&] { return stat(*tunnel.drone, "drop_malformed") == 1; }));
    const Bytes most(300, 2);
    tunnel.ground.send(most, to);
    EXPECT_EQ(port.receive(most.size()), most);
    EXPECT_EQ(stat(*tunnel.drone, "drop_malformed"), 1u);
    EXPECT_EQ(stat(*tunnel.drone, "delivered_datagrams"), 1u);
  }
}

TEST_F(EngineSerial, TheTapHearsItAndMayAsk) {
  UdpPeer reader;
  Tunnel tunnel({}, serial({{"plain_tap", reader.address().text()}, {"plain_tap_requests", true}}));
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(opens(tunnel));
  const auto frame = summed(mavlink2(0));
  port.send(frame);
  EXPECT_EQ(reader.receive(), frame);
  EXPECT_EQ(tunnel.ground.receive(), frame);
}

}  // namespace
}  // namespace pqcmav
