// SPDX-License-Identifier: Apache-2.0
#include "net/plain_endpoint.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr std::uint32_t kBaudMin = 1200, kBaudMax = 12'000'000;
constexpr const char* kForms =
    "write serial:DEVICE:BAUD, udp:HOST:PORT, udp-listen:HOST:PORT or tcp-listen:HOST:PORT, for example "
    "serial:/dev/ttyAMA0:921600 or tcp-listen:127.0.0.1:5760.";

[[noreturn]] void refuse_endpoint(const std::string& key, const std::string& text, const std::string& why) {
  throw TunnelError(Errc::config_invalid, "'" + key + "' has '" + text.substr(0, 120) + "': " + why);
}

/// What is behind the last colon, and what is before it: the names in /dev/serial/by-path have colons, too.
std::pair<std::string, std::string> split_last(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

void read_serial(PlainEndpoint& out, const std::string& rest, const std::string& key) {
  auto [head, tail] = split_last(rest);
  if (tail == "rtscts") {
    out.flow_control = true;
    std::tie(head, tail) = split_last(head);
  }
  const auto baud = number_of<std::uint32_t>(tail);
  if (!baud)
    refuse_endpoint(key, out.text,
                    "a serial port is written serial:DEVICE:BAUD, with ':rtscts' behind it for hardware flow control, "
                    "for example serial:/dev/ttyAMA0:921600.");
  if (*baud < kBaudMin || *baud > kBaudMax)
    refuse_endpoint(
        key, out.text,
        "the baud rate must be between " + std::to_string(kBaudMin) + " and " + std::to_string(kBaudMax) + ".");
  if (head.empty() || head.front() != '/')
    refuse_endpoint(key, out.text, "the serial port must be a path, for example /dev/ttyAMA0.");
  out.path = head;
  out.baud = *baud;
}

void read_address(PlainEndpoint& out, const std::string& rest, const std::string& key) {
  const auto address = parse_endpoint(rest);
  if (!address) refuse_endpoint(key, out.text, kForms);
  if (const auto problem = problem_of_host(address->host); !problem.empty())
    refuse_endpoint(key, out.text, problem + ". Give host:port, for example 127.0.0.1:14550.");
  if (out.kind == PlainEndpoint::Kind::udp && address->port == 0)
    refuse_endpoint(key, out.text, "packets cannot be sent to port 0; name the application's port.");
  out.address = *address;
}

/// Does one of them send to where the other one hears?
bool comes_back(const PlainEndpoint& one, const PlainEndpoint& other) {
  using Kind = PlainEndpoint::Kind;
  const auto& to = one.kind == Kind::udp ? one : other;
  const auto& at = one.kind == Kind::udp ? other : one;
  if (to.kind != Kind::udp || at.kind != Kind::udp_listen || to.address.port != at.address.port) return false;
  const auto host = [](const PlainEndpoint& each) {
    return each.address.host == "localhost" ? std::string("127.0.0.1") : each.address.host;
  };
  return host(to) == host(at) || at.address.host == "0.0.0.0" || at.address.host == "::";
}

}  // namespace

PlainEndpoint parse_plain_endpoint(const std::string& text, const std::string& key) {
  using Kind = PlainEndpoint::Kind;
  PlainEndpoint out;
  out.text = text;
  const auto colon = text.find(':');
  const auto kind = text.substr(0, colon);
  const auto rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "serial") {
    read_serial(out, rest, key);
    return out;
  }
  if (kind == "udp")
    out.kind = Kind::udp;
  else if (kind == "udp-listen")
    out.kind = Kind::udp_listen;
  else if (kind == "tcp-listen")
    out.kind = Kind::tcp_listen;
  else
    refuse_endpoint(key, text, kForms);
  read_address(out, rest, key);
  return out;
}

RadioSettings parse_radio(const std::string& text, const std::string& key) {
  static constexpr std::string_view kKind = "serial:", kMavlink = ":mavlink";
  if (!text.starts_with(kKind))
    refuse_endpoint(key, text,
                    "a radio is written serial:DEVICE:BAUD, with ':rtscts' behind it for hardware flow control and "
                    "':mavlink' for a radio that looks at MAVLink, for example serial:/dev/ttyUSB0:57600:mavlink.");
  const bool mavlink = text.ends_with(kMavlink);
  PlainEndpoint port;
  port.text = text;
  read_serial(port, text.substr(kKind.size(), text.size() - kKind.size() - (mavlink ? kMavlink.size() : 0)), key);
  RadioSettings out;
  out.text = text;
  out.path = port.path;
  out.baud = port.baud;
  out.flow_control = port.flow_control;
  out.mavlink = mavlink;
  return out;
}

std::vector<PlainEndpoint> parse_plain_endpoints(const std::vector<std::string>& texts, const std::string& key) {
  if (texts.size() > kPlainEndpointsMax)
    throw TunnelError(Errc::config_invalid, "'" + key + "' has " + std::to_string(texts.size()) +
                                                " entries; there may be " + std::to_string(kPlainEndpointsMax) + ".");
  std::vector<PlainEndpoint> out;
  for (const auto& text : texts) {
    auto one = parse_plain_endpoint(text, key);
    const auto same = [&](const PlainEndpoint& other) {
      if (one.kind != other.kind) return false;
      if (one.kind == PlainEndpoint::Kind::serial) return one.path == other.path;
      return one.address.port != 0 && one.address.host == other.address.host && one.address.port == other.address.port;
    };
    if (std::any_of(out.begin(), out.end(), same))
      refuse_endpoint(key, text, "the same place is there twice; each may be there once.");
    if (std::any_of(out.begin(), out.end(), [&](const auto& other) { return comes_back(one, other); }))
      refuse_endpoint(key, text,
                      "udp: sends to where udp-listen: of the same list hears: each message would come back.");
    out.push_back(std::move(one));
  }
  return out;
}

void check_plain_remote(const PlainEndpoint& endpoint, const SockAddr& address, const std::string& key,
                        bool allow_remote) {
  if (allow_remote || address.loopback()) return;
  refuse_endpoint(
      key, endpoint.text,
      endpoint.kind == PlainEndpoint::Kind::udp
          ? "this is not a loopback address: MAVLink would leave this machine in plaintext; give 127.0.0.1, "
            "or set 'plain_allow_remote' to true on a network you trust."
          : "this is not a loopback address: whoever reaches it could command the vehicle in plaintext; "
            "give 127.0.0.1, or set 'plain_allow_remote' to true on a network you trust.");
}

}  // namespace pqcmav
