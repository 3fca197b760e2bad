// SPDX-License-Identifier: Apache-2.0
#include "config_plain.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "net/net.hpp"
#include "net/plain_endpoint.hpp"
#include "net/plain_tap.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

/// "host:port" with a host that may be one. Given as an address in figures, the address; a name is asked for at start.
std::optional<SockAddr> check_endpoint(const std::string& key, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto endpoint = parse_endpoint(text);
  if (!endpoint) refuse_address(key, text, kWriteHostPort);
  if (const auto problem = problem_of_host(endpoint->host); !problem.empty())
    refuse_address(key, text, ": " + problem + ". Give host:port, for example 127.0.0.1:14550.");
  if (!is_ipv4(endpoint->host) && !(is_ipv6(endpoint->host) && endpoint->host.find('%') == std::string::npos))
    return std::nullopt;
  return resolve(endpoint->host, endpoint->port, false, SOCK_DGRAM);
}

bool is_default(std::span<const ConfigKey> schema, std::string_view name, const std::string& value) {
  return std::any_of(schema.begin(), schema.end(), [&](const ConfigKey& key) {
    return key.key == name && std::get<std::string>(key.default_value) == value;
  });
}

}  // namespace

void refuse_address(const std::string& key, const std::string& text, const std::string& why) {
  throw TunnelError(Errc::config_invalid, "'" + key + "' is '" + text + "'" + why);
}

void check_plain(const std::string& prefix, const std::string& bind, const std::string& peer, const std::string& tap,
                 bool allow_remote) {
  const auto local = check_endpoint(prefix + "plain_bind", bind), to = check_endpoint(prefix + "plain_peer", peer);
  const auto copies = check_endpoint("plain_tap", tap);
  if (bind.empty()) refuse_address(prefix + "plain_bind", bind, kWriteHostPort);
  if (local) check_plain_bind(prefix, *local, allow_remote);
  check_plain_addresses(prefix, local.value_or(SockAddr{}), to.value_or(SockAddr{}), copies.value_or(SockAddr{}));
}

Strings check_plain_endpoints(std::span<const ConfigKey> schema, const std::string& prefix, const std::string& plain,
                              Strings several, const std::string& bind, const std::string& peer, bool allow_remote) {
  if (plain.empty() && several.empty()) return {};
  const auto key = "'" + prefix + (plain.empty() ? "plain_endpoints'" : "plain'");
  if (!plain.empty() && !several.empty())
    throw TunnelError(Errc::config_invalid, "'" + prefix + "plain' and '" + prefix +
                                                "plain_endpoints' are both given; put all endpoints into "
                                                "'plain_endpoints'.");
  for (const auto& [name, value] : {std::pair{"plain_bind", &bind}, std::pair{"plain_peer", &peer}})
    if (!is_default(schema, name, *value))
      throw TunnelError(Errc::config_invalid,
                        "'" + prefix + name + "' and " + key + " are both given; remove '" + name +
                            "', and write an application at a UDP address as udp:HOST:PORT or udp-listen:HOST:PORT in "
                            "'plain_endpoints'.");
  if (!plain.empty()) several = {plain};
  const auto name = prefix + (plain.empty() ? "plain_endpoints" : "plain");
  for (const auto& endpoint : parse_plain_endpoints(several, name))
    if (is_ipv4(endpoint.address.host) || is_ipv6(endpoint.address.host))
      check_plain_remote(endpoint, resolve(endpoint.address.host, endpoint.address.port, false, SOCK_DGRAM), name,
                         allow_remote);
  return several;
}

}  // namespace pqcmav
