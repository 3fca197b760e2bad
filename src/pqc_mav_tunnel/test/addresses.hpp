// SPDX-License-Identifier: Apache-2.0
// Addresses as tests write them.
#pragma once

#include <arpa/inet.h>

#include <cstdint>
#include <string>

#include "net/net.hpp"

namespace pqcmav::test {

/// An address that nobody has (RFC 5737).
inline SockAddr address(std::uint16_t port, std::uint32_t host = 0xc0000201) {
  SockAddr out;
  auto& in = out.storage.four;
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(host);
  in.sin_port = htons(port);
  out.size = sizeof in;
  return out;
}

inline SockAddr at(const std::string& host, std::uint16_t port = 5) { return resolve(host, port, false, SOCK_DGRAM); }

}  // namespace pqcmav::test
