// SPDX-License-Identifier: Apache-2.0
// A network of IP addresses, as its owner writes it: 10.0.0.0/24, 2001:db8::/48, or one address.
#pragma once

#include <string>

#include "bytes.hpp"

namespace pqcmav {

struct Network {
  ByteArray<16> address{};  // as in SockAddr::ip16()
  unsigned bits = 128;      // of these: an IPv4 address has 96 more than as it is written

  [[nodiscard]] bool has(const ByteArray<16>& ip) const noexcept;
};

/// Throws TunnelError(config_invalid) naming `key`.
Network parse_network(const std::string& text, const std::string& key);

}  // namespace pqcmav
