// SPDX-License-Identifier: Apache-2.0
// How endpoints of plaintext are written, and what is refused with which sentence.
#include "net/plain_endpoint.hpp"

#include <gtest/gtest.h>

#include "pqc_mav_tunnel/config.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using namespace test;
using Kind = PlainEndpoint::Kind;

PlainEndpoint parsed(const std::string& text) { return parse_plain_endpoint(text, "plain"); }

TEST(PlainEndpoint, SerialPorts) {
  const auto port = parsed("serial:/dev/serial0:921600");
  EXPECT_EQ(port.kind, Kind::serial);
  EXPECT_EQ(port.path, "/dev/serial0");
  EXPECT_EQ(port.baud, 921600u);
  EXPECT_FALSE(port.flow_control);
  EXPECT_FALSE(port.shared());
  EXPECT_TRUE(parsed("serial:/dev/ttyAMA0:57600:rtscts").flow_control);
  const auto by_path = parsed("serial:/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0:115200:rtscts");
  EXPECT_EQ(by_path.path, "/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0");
  EXPECT_EQ(by_path.baud, 115200u);
}

TEST(PlainEndpoint, Addresses) {
  const auto udp = parsed("udp:127.0.0.1:14550");
  EXPECT_EQ(udp.kind, Kind::udp);
  EXPECT_EQ(udp.address.host, "127.0.0.1");
  EXPECT_EQ(udp.address.port, 14550);
  EXPECT_FALSE(udp.shared());
  EXPECT_EQ(parsed("udp-listen:localhost:0").kind, Kind::udp_listen);
  EXPECT_TRUE(parsed("udp-listen:localhost:0").shared());
  const auto tcp = parsed("tcp-listen:[::1]:5760");
  EXPECT_EQ(tcp.kind, Kind::tcp_listen);
  EXPECT_EQ(tcp.address.host, "::1");
  EXPECT_TRUE(tcp.shared());
}

TEST(PlainEndpoint, RefusesWithWhatToWrite) {
  const auto refused = [](const std::string& text, std::initializer_list<std::string> parts) {
    expect_error(Errc::config_invalid, {"'plain'", "'" + text + "'"}, [&] { parsed(text); });
    expect_error(Errc::config_invalid, parts, [&] { parsed(text); });
  };
  for (const auto* text : {"", "/dev/serial0:921600", "127.0.0.1:14550", "tcp:127.0.0.1:5760", "Serial:/dev/x:1"})
    refused(text, {"serial:DEVICE:BAUD, udp:HOST:PORT"});
  refused("serial", {"serial:DEVICE:BAUD, with ':rtscts'"});
  refused("serial:/dev/serial0", {"serial:DEVICE:BAUD, with ':rtscts'"});
  refused("serial:/dev/serial0:", {"serial:DEVICE:BAUD"});
  refused("serial:/dev/serial0:fast", {"serial:DEVICE:BAUD"});
  refused("serial:/dev/serial0:-9600", {"serial:DEVICE:BAUD"});
  refused("serial:/dev/serial0:rtscts", {"serial:DEVICE:BAUD"});
  refused("serial:/dev/serial0:0", {"between 1200 and 12000000"});
  refused("serial:/dev/serial0:99999999", {"between 1200 and 12000000"});
  refused("serial:ttyACM0:57600", {"must be a path"});
  refused("serial::57600", {"must be a path"});
  refused("udp:127.0.0.1", {"udp:HOST:PORT"});
  refused("udp:127.0.0.1:70000", {"udp:HOST:PORT"});
  refused("udp:127.0.0.1:0", {"port 0"});
  refused("udp:127.0.0:14550", {"not an IPv4 address"});
}

TEST(PlainEndpoint, EachPlaceOnce) {
  const auto all = [](const std::vector<std::string>& texts) {
    return parse_plain_endpoints(texts, "plain_endpoints");
  };
  EXPECT_EQ(all({"udp:127.0.0.1:14550", "udp:127.0.0.1:14551", "udp-listen:127.0.0.1:14552", "tcp-listen:127.0.0.1:0",
                 "tcp-listen:127.0.0.1:0"})
                .size(),
            5u);
  expect_error(Errc::config_invalid, {"'plain_endpoints'", "twice"},
               [&] { all({"udp:127.0.0.1:14550", "udp:127.0.0.1:14550"}); });
  for (const auto& [to, at] : {std::pair{"udp:127.0.0.1:14550", "udp-listen:127.0.0.1:14550"},
                               std::pair{"udp:localhost:14550", "udp-listen:127.0.0.1:14550"},
                               std::pair{"udp:127.0.0.1:14550", "udp-listen:0.0.0.0:14550"}}) {
    expect_error(Errc::config_invalid, {"'plain_endpoints'", "come back"}, [&] { all({to, at}); });
    expect_error(Errc::config_invalid, {"come back"}, [&] { all({at, to}); });
  }
  expect_error(Errc::config_invalid, {"twice"}, [&] { all({"serial:/dev/a:9600", "serial:/dev/a:57600"}); });
  expect_error(Errc::config_invalid, {"17 entries", "16"}, [&] {
    std::vector<std::string> many;
    for (int i = 0; i < 17; ++i) many.push_back("udp:127.0.0.1:" + std::to_string(14550 + i));
    all(many);
  });
}

FlatConfig drone(const FlatConfig& more) {
  FlatConfig out{{"role", "drone"}, {"keys", "/keys"}, {"drone_id", "uav1"}, {"peer", "127.0.0.1"}};
  for (const auto& [key, value] : more) out[key] = value;
  return out;
}

using Texts = std::vector<std::string>;

TEST(PlainEndpoint, InTheConfigurationOfADrone) {
  EXPECT_TRUE(EngineConfig::from_flat(drone({})).plain_endpoints.empty());
  EXPECT_TRUE(EngineConfig::from_flat(drone({{"plain", ""}, {"plain_endpoints", Texts{}}})).plain_endpoints.empty());
  const auto serial = EngineConfig::from_flat(drone({{"plain", "serial:/dev/serial0:921600"}}));
  EXPECT_EQ(serial.plain_endpoints, Texts{"serial:/dev/serial0:921600"});
  // As a dump of all parameters has it.
  EXPECT_NO_THROW(EngineConfig::from_flat(drone({{"plain", "serial:/dev/serial0:921600"},
                                                 {"plain_bind", "127.0.0.1:14590"},
                                                 {"plain_peer", ""},
                                                 {"plain_endpoints", Texts{}}})));
  const Texts two{"serial:/dev/serial0:921600", "tcp-listen:127.0.0.1:5760"};
  EXPECT_EQ(EngineConfig::from_flat(drone({{"plain_endpoints", two}})).plain_endpoints, two);
}

TEST(PlainEndpoint, InTheConfigurationOfAGcs) {
  FlatConfig gcs{{"role", "gcs"}, {"keys", "/keys"}, {"drones", Texts{"uav1", "uav2"}}};
  gcs["drone.uav2.plain_endpoints"] = Texts{"udp:127.0.0.1:14550", "tcp-listen:127.0.0.1:5760"};
  gcs["drone.uav2.plain_bind"] = "127.0.0.1:0";
  gcs["drone.uav2.plain_peer"] = "127.0.0.1:14550";
  const auto config = EngineConfig::from_flat(gcs);
  EXPECT_TRUE(config.drones[0].plain_endpoints.empty());
  EXPECT_EQ(config.drones[1].plain_endpoints.size(), 2u);
  gcs["drone.uav2.plain_peer"] = "127.0.0.1:14551";
  expect_error(Errc::config_invalid, {"'drone.uav2.plain_peer'", "'drone.uav2.plain_endpoints'", "remove"},
               [&] { EngineConfig::from_flat(gcs); });
}

TEST(PlainEndpoint, ContradictionsAreRefused) {
  const auto refused = [](const FlatConfig& more, std::initializer_list<std::string> parts) {
    expect_error(Errc::config_invalid, parts, [&] { EngineConfig::from_flat(drone(more)); });
  };
  refused({{"plain", "serial:/dev/serial0:921600"}, {"plain_bind", "127.0.0.1:14591"}},
          {"'plain_bind' and 'plain' are both given", "udp-listen:HOST:PORT"});
  refused({{"plain", "serial:/dev/serial0:921600"}, {"plain_peer", "127.0.0.1:14591"}},
          {"'plain_peer' and 'plain' are both given"});
  refused({{"plain", "serial:/dev/serial0:921600"}, {"plain_endpoints", Texts{"udp:127.0.0.1:14550"}}},
          {"'plain' and 'plain_endpoints' are both given"});
  refused({{"plain", "127.0.0.1:14590"}}, {"'plain'", "serial:DEVICE:BAUD"});
  refused({{"plain_endpoints", Texts{"udp:192.0.2.1:14550"}}}, {"leave this machine in plaintext"});
  refused({{"plain_endpoints", Texts{"tcp-listen:0.0.0.0:5760"}}}, {"could command the vehicle"});
  EXPECT_NO_THROW(EngineConfig::from_flat(
      drone({{"plain_endpoints", Texts{"udp:192.0.2.1:14550"}}, {"plain_allow_remote", true}})));
}

}  // namespace
}  // namespace pqcmav
