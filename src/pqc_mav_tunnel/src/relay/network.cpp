// SPDX-License-Identifier: Apache-2.0
#include "relay/network.hpp"

#include "net/net.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr unsigned kBits4 = 32, kBits6 = 128;

unsigned bit(const ByteArray<16>& ip, unsigned at) noexcept { return ip[at / 8] >> (7 - at % 8) & 1U; }

[[noreturn]] void refuse(const std::string& text, const std::string& key, const std::string& why) {
  throw TunnelError(Errc::config_invalid, "'" + key + "' has '" + text.substr(0, 60) + "'; " + why + ".");
}

}  // namespace

bool Network::has(const ByteArray<16>& ip) const noexcept {
  for (unsigned at = 0; at < bits; ++at)
    if (bit(ip, at) != bit(address, at)) return false;
  return true;
}

Network parse_network(const std::string& text, const std::string& key) {
  const auto slash = text.find('/');
  const auto host = text.substr(0, slash);
  const bool four = is_ipv4(host);
  if (!four && (!is_ipv6(host) || host.find('%') != std::string::npos))
    refuse(text, key, "write an address or a network such as 10.0.0.0/24 or 2001:db8::/48");
  const auto most = four ? kBits4 : kBits6;
  unsigned bits = most;
  if (slash != std::string::npos) {
    const auto given = number_of<unsigned>(text.substr(slash + 1));
    if (!given || *given > most) refuse(text, key, "behind the '/' is a number of bits, 0 to " + std::to_string(most));
    bits = *given;
  }
  Network out{resolve(host, 0, false, SOCK_DGRAM).ip16(), bits + (four ? kBits6 - kBits4 : 0)};
  for (unsigned at = out.bits; at < kBits6; ++at)
    if (bit(out.address, at) != 0)
      refuse(text, key,
             "bits of the address are set that the network does not have; write the network's first address");
  return out;
}

}  // namespace pqcmav
