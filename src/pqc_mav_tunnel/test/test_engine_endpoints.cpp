// SPDX-License-Identifier: Apache-2.0
// Several applications at one link: who hears what, over UDP and TCP, and what a slow one costs the others.
#include <netinet/in.h>
#include <sys/socket.h>

#include "engine_fixture.hpp"
#include "mavlink_stream.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr const char* kEndpoints = "drone.uav1.plain_endpoints";

/// A message from an application or a vehicle, addressed to nobody.
Bytes heartbeat(std::uint8_t system, std::uint8_t component, std::uint8_t sequence = 0) {
  return summed(mavlink2(0, 9, {system, component, sequence}), 50);
}

/// COMMAND_LONG, addressed.
Bytes command(std::uint8_t from, std::uint8_t system, std::uint8_t component) {
  auto out = mavlink2(76, 33, {from, 190, 0});
  out[10 + 30] = system;
  out[10 + 31] = component;
  return summed(out, 152);
}

/// A client of a TCP endpoint.
class TcpPeer {
 public:
  explicit TcpPeer(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const auto to = resolve("127.0.0.1", port, false, SOCK_STREAM);
    EXPECT_EQ(::connect(fd_.get(), to.get(), to.size), 0);
  }
  void send(ByteView bytes) const {
    ASSERT_EQ(::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] Bytes receive(std::size_t size, milliseconds limit = 10s) const {
    Bytes out;
    while (out.size() < size) {
      pollfd wait{fd_.get(), POLLIN, 0};
      if (::poll(&wait, 1, static_cast<int>(limit.count())) != 1) break;
      ByteArray<4096> room;
      const auto got = ::recv(fd_.get(), room.data(), std::min(room.size(), size - out.size()), 0);
      if (got <= 0) break;
      append(out, ByteView(room).first(static_cast<std::size_t>(got)));
    }
    return out;
  }
  /// Has the other side ended it?
  [[nodiscard]] bool ended() const {
    std::uint8_t byte = 0;
    pollfd wait{fd_.get(), POLLIN, 0};
    return ::poll(&wait, 1, 10'000) == 1 && ::recv(fd_.get(), &byte, 1, 0) <= 0;
  }

 private:
  Fd fd_;
};

EndpointStatus endpoint(const Engine& engine, std::size_t index) { return engine.stats().at(0).endpoints.at(index); }
std::uint64_t count(const Engine& engine, std::size_t index, std::string_view name) {
  return value_of(endpoint(engine, index).counters, name);
}
/// The port that an endpoint took for its 0.
std::uint16_t port_of(const Engine& engine, std::size_t index) {
  const auto name = endpoint(engine, index).name;
  return static_cast<std::uint16_t>(std::stoi(name.substr(name.rfind(':') + 1)));
}

/// On the ground: QGroundControl at a known address, any application by UDP, and any by TCP.
class EngineEndpoints : public ::testing::Test {
 protected:
  EngineEndpoints()
      : tunnel({{"drone.uav1.plain_peer", "127.0.0.1:14550"},
                {kEndpoints, Names{"udp:" + qgc.address().text(), "udp-listen:127.0.0.1:0", "tcp-listen:127.0.0.1:0"}}},
               {}) {}
  void SetUp() override {
    ASSERT_TRUE(tunnel.connect());
    // The drone's end has one endpoint, which passes everything unread.
    tunnel.autopilot.send(heartbeat(1, 1), plain_port(*tunnel.drone, "uav1"));
    ASSERT_EQ(qgc.receive(), heartbeat(1, 1));
    to_tunnel = qgc.source();
    sdk_port = port_of(*tunnel.gcs, 1);
    tcp = std::make_unique<TcpPeer>(port_of(*tunnel.gcs, 2));
    ASSERT_TRUE(eventually([&] { return count(*tunnel.gcs, 2, "opened") == 1; }));
    // Each is heard once.
    qgc.send(heartbeat(255, 190), to_tunnel);
    ASSERT_EQ(tunnel.autopilot.receive(), heartbeat(255, 190));
    sdk.send(heartbeat(245, 190), sdk_port);
    ASSERT_EQ(tunnel.autopilot.receive(), heartbeat(245, 190));
    tcp->send(heartbeat(250, 190));
    ASSERT_EQ(tunnel.autopilot.receive(), heartbeat(250, 190));
    ASSERT_EQ(qgc.receive(), heartbeat(245, 190));
    ASSERT_EQ(qgc.receive(), heartbeat(250, 190));
    ASSERT_EQ(sdk.receive(), heartbeat(250, 190));
    ASSERT_EQ(tcp->receive(42), together({heartbeat(255, 190), heartbeat(245, 190)}));
    ASSERT_FALSE(tunnel.autopilot.receive(0ms));
  }
  void from_vehicle(const Bytes& frame) { tunnel.autopilot.send(frame, plain_port(*tunnel.drone, "uav1")); }

  UdpPeer qgc, sdk;
  Tunnel tunnel;
  SockAddr to_tunnel;
  std::uint16_t sdk_port = 0;
  std::unique_ptr<TcpPeer> tcp;
};

TEST_F(EngineEndpoints, TelemetryGoesToAll) {
  for (std::uint8_t i = 1; i < 50; ++i) {
    const auto frame = heartbeat(1, 1, i);
    from_vehicle(frame);
    ASSERT_EQ(qgc.receive(), frame);
    ASSERT_EQ(sdk.receive(), frame);
    ASSERT_EQ(tcp->receive(frame.size()), frame);
  }
  EXPECT_EQ(count(*tunnel.gcs, 2, "dropped"), 0u);
}

TEST_F(EngineEndpoints, AnAnswerGoesToWhoAsked) {
  const struct {
    std::uint8_t system;
    int who;
  } cases[] = {{255, 0}, {245, 1}, {250, 2}};
  for (const auto& [system, who] : cases) {
    const auto answer = command(1, system, 190);
    from_vehicle(answer);
    if (who == 0) {
      ASSERT_EQ(qgc.receive(), answer);
    }
    if (who == 1) {
      ASSERT_EQ(sdk.receive(), answer);
    }
    if (who == 2) {
      ASSERT_EQ(tcp->receive(answer.size()), answer);
    }
  }
  // And nobody else has got one: what comes next is for all.
  const auto last = heartbeat(1, 1, 99);
  from_vehicle(last);
  EXPECT_EQ(qgc.receive(), last);
  EXPECT_EQ(sdk.receive(), last);
  EXPECT_EQ(tcp->receive(last.size()), last);
}

TEST_F(EngineEndpoints, ACommandGoesToTheVehicleAlone) {
  const auto frame = command(255, 1, 1);
  qgc.send(frame, to_tunnel);
  EXPECT_EQ(tunnel.autopilot.receive(), frame);
  const auto other = command(255, 9, 1);  // never heard of; the far end may know it
  qgc.send(other, to_tunnel);
  EXPECT_EQ(tunnel.autopilot.receive(), other);
  EXPECT_TRUE(sdk.drain().empty());
  EXPECT_TRUE(tcp->receive(1, 50ms).empty());
  EXPECT_TRUE(qgc.drain().empty()) << "no echo";
}

TEST_F(EngineEndpoints, OneApplicationMayAddressAnother) {
  const auto frame = command(255, 245, 190);
  qgc.send(frame, to_tunnel);
  EXPECT_EQ(sdk.receive(), frame);
  EXPECT_FALSE(tunnel.autopilot.receive(50ms)) << "that is no matter of the air";
}

TEST_F(EngineEndpoints, ADatagramOfSeveralMessagesIsTakenApartWhereTheirWaysDiffer) {
  const auto all = heartbeat(1, 1, 7), one = command(1, 245, 190);
  from_vehicle(together({all, one, all}));
  EXPECT_EQ(qgc.receive(), all);
  EXPECT_EQ(qgc.receive(), all);
  EXPECT_EQ(sdk.receive(), all);
  EXPECT_EQ(sdk.receive(), one);
  EXPECT_EQ(sdk.receive(), all);
  from_vehicle(together({all, all}));
  EXPECT_EQ(qgc.receive(), together({all, all})) << "as it came";
}

TEST_F(EngineEndpoints, WhatIsNotMavlinkGoesToAllAndFromEachToTheTunnel) {
  from_vehicle(Bytes{1, 2, 3});
  EXPECT_EQ(qgc.receive(), (Bytes{1, 2, 3}));
  EXPECT_EQ(sdk.receive(), (Bytes{1, 2, 3}));
  qgc.send(Bytes{4, 5}, to_tunnel);
  EXPECT_EQ(tunnel.autopilot.receive(), (Bytes{4, 5}));
  EXPECT_TRUE(sdk.drain().empty());
}

TEST_F(EngineEndpoints, AStrangersDatagramIsNotTakenAtAKnownAddress) {
  UdpPeer stranger;
  stranger.send(command(255, 1, 1), to_tunnel);
  qgc.send(command(255, 1, 1), to_tunnel);
  EXPECT_TRUE(tunnel.autopilot.receive());
  EXPECT_FALSE(tunnel.autopilot.receive(50ms));
}

TEST_F(EngineEndpoints, AClientOfTcpComesAndGoes) {
  EXPECT_EQ(endpoint(*tunnel.gcs, 2).state, "1 clients");
  tcp.reset();
  EXPECT_TRUE(eventually([&] { return endpoint(*tunnel.gcs, 2).state == "0 clients"; }));
  const auto answer = command(1, 250, 190);  // to one that is gone
  from_vehicle(answer);
  TcpPeer again(port_of(*tunnel.gcs, 2));
  again.send(heartbeat(250, 190));
  EXPECT_TRUE(tunnel.autopilot.receive());
  from_vehicle(answer);
  EXPECT_EQ(again.receive(answer.size()), answer);
  EXPECT_EQ(count(*tunnel.gcs, 2, "opened"), 2u);
  EXPECT_EQ(endpoint(*tunnel.gcs, 2).name, "tcp-listen:127.0.0.1:" + std::to_string(port_of(*tunnel.gcs, 2)));
}

TEST_F(EngineEndpoints, APageInABrowserCommandsNobody) {
  // As fetch(..., {method: "POST", mode: "no-cors", body: COMMAND_LONG}) sends it, in two segments.
  TcpPeer page(port_of(*tunnel.gcs, 2));
  page.send(as_bytes("POST / HTTP/1.1\r\nHost: 127.0.0.1:5760\r\nContent-Length: 44\r\n\r\n"));
  EXPECT_TRUE(page.ended());
  EXPECT_TRUE(eventually([&] { return count(*tunnel.gcs, 2, "refused") == 1; }));
  TcpPeer program(port_of(*tunnel.gcs, 2));
  const auto beat = heartbeat(250, 190);
  program.send(beat);
  EXPECT_EQ(tunnel.autopilot.receive(), std::optional(beat)) << "what a program sends, and nothing before it";
}

TEST_F(EngineEndpoints, ClientsAreCounted) {
  std::vector<std::unique_ptr<TcpPeer>> more;
  for (int i = 0; i < 8; ++i) more.push_back(std::make_unique<TcpPeer>(port_of(*tunnel.gcs, 2)));
  EXPECT_TRUE(more.back()->ended()) << "the ninth";
  EXPECT_TRUE(eventually([&] { return count(*tunnel.gcs, 2, "refused") == 1; }));
  std::vector<UdpPeer> senders(8);
  for (const auto& sender : senders) sender.send(heartbeat(200, 1), sdk_port);
  EXPECT_TRUE(eventually([&] { return count(*tunnel.gcs, 1, "refused") == 1; }));
}

TEST_F(EngineEndpoints, ASlowClientLosesItsOwnAlone) {
  // It reads nothing at all: its socket fills, then its queue.
  std::uint32_t sent = 0;
  ASSERT_TRUE(eventually(
      [&] {
        for (int i = 0; i < 100; ++i, ++sent) {
          auto frame = mavlink2(147, 255, {1, 1, static_cast<std::uint8_t>(sent)});
          store_be(frame.data() + 10, sent);
          from_vehicle(summed(frame));
          EXPECT_TRUE(sdk.receive());
        }
        (void)qgc.drain();
        return count(*tunnel.gcs, 2, "dropped") > 100;
      },
      60s));
  EXPECT_EQ(count(*tunnel.gcs, 1, "dropped"), 0u);
  EXPECT_TRUE(up(*tunnel.gcs));
  // What it gets in the end is whole frames in order, the newest last.
  std::uint32_t last = 0;
  Bytes frame;
  while ((frame = tcp->receive(267, 500ms)).size() == 267) {
    ASSERT_EQ(frame[0], 0xfd);
    const auto number = load_be<std::uint32_t>(frame.data() + 10);
    ASSERT_TRUE(number > last || last == 0);
    last = number;
  }
  EXPECT_EQ(last, sent - 1);
}

TEST_F(EngineEndpoints, NoiseInATcpStreamIsLeftOut) {
  tcp->send(as_bytes("GET / HTTP/1.1"));
  const auto frame = heartbeat(250, 190, 3);
  tcp->send(frame);
  EXPECT_EQ(tunnel.autopilot.receive(), frame);
  EXPECT_TRUE(eventually([&] { return count(*tunnel.gcs, 2, "skipped_bytes") == 14; }));
}

TEST(EngineEndpointsOnADrone, SerialAutopilotAndALocalApplication) {
  TempFolder folder;
  FakePort port(folder / "tty");
  UdpPeer app;
  Tunnel tunnel({}, {{"plain_bind", "127.0.0.1:14590"},
                     {"plain_endpoints", Names{"serial:" + port.path() + ":57600", "udp:" + app.address().text()}}});
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(eventually([&] { return count(*tunnel.drone, 0, "opened") == 1; }));
  const auto telemetry = heartbeat(1, 1);
  port.send(telemetry);
  EXPECT_EQ(tunnel.ground.receive(), telemetry);
  EXPECT_EQ(app.receive(), telemetry);
  // The application arms the vehicle without the ground's hearing of it, and gets its answer.
  app.send(heartbeat(1, 191), app.source());
  EXPECT_EQ(tunnel.ground.receive(), heartbeat(1, 191));
  EXPECT_EQ(port.receive(21), heartbeat(1, 191));
  app.send(command(1, 1, 1), app.source());
  EXPECT_EQ(port.receive(45), command(1, 1, 1));
  port.send(command(1, 1, 191));
  EXPECT_EQ(app.receive(), command(1, 1, 191));
  EXPECT_FALSE(tunnel.ground.receive(50ms));
}

TEST(EngineEndpointsOnADrone, RefusesWhatIsInUse) {
  const KeyFolders keys;
  UdpPeer taken;
  const auto values = with(drone_values(keys, "uav1", 1), {{"plain_bind", "127.0.0.1:14590"}});
  expect_error(Errc::port_in_use, {taken.address().text(), "in use by another program"},
               [&] { start(with(values, {{"plain_endpoints", Names{"udp-listen:" + taken.address().text()}}})); });
  expect_error(Errc::config_invalid, {"'plain_endpoints'", "loopback"},
               [&] { start(with(values, {{"plain_endpoints", Names{"tcp-listen:0.0.0.0:0", "udp:127.0.0.1:1"}}})); });
}

}  // namespace
}  // namespace pqcmav
