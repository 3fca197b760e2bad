// SPDX-License-Identifier: Apache-2.0
// How a place for plaintext MAVLink is written in the configuration, besides plain_bind and plain_peer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/net.hpp"
#include "pqc_mav_tunnel/config.hpp"

namespace pqcmav {

struct PlainEndpoint {
  enum class Kind : std::uint8_t { serial, udp, udp_listen, tcp_listen };
  Kind kind = Kind::serial;
  std::string text;  // as it was written
  // serial:PATH:BAUD[:rtscts]
  std::string path;
  std::uint32_t baud = 0;
  bool flow_control = false;
  // udp:HOST:PORT, udp-listen:HOST:PORT, tcp-listen:HOST:PORT
  Endpoint address{};

  /// May there be more than one application behind it?
  [[nodiscard]] bool shared() const noexcept { return kind == Kind::udp_listen || kind == Kind::tcp_listen; }
};

inline constexpr std::size_t kPlainEndpointsMax = 16;

/// Throws TunnelError(config_invalid), which names `key`. Asks nobody.
PlainEndpoint parse_plain_endpoint(const std::string& text, const std::string& key);
/// "serial:DEVICE:BAUD[:rtscts][:mavlink]": a radio of the encrypted side. Throws as that does.
RadioSettings parse_radio(const std::string& text, const std::string& key);
/// All of them, each place once.
std::vector<PlainEndpoint> parse_plain_endpoints(const std::vector<std::string>& texts, const std::string& key);
/// Throws TunnelError(config_invalid) where the endpoint is open to other machines, or sends to them, without the
/// owner's word.
void check_plain_remote(const PlainEndpoint& endpoint, const SockAddr& address, const std::string& key,
                        bool allow_remote);

}  // namespace pqcmav
