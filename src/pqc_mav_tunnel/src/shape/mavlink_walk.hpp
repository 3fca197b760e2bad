// SPDX-License-Identifier: Apache-2.0
// The headers of the MAVLink messages in a datagram, versions 1 and 2. No payload is read and no checksum checked: the
// walk says what a datagram claims to be, never whether that is true.
#pragma once

#include <cstdint>
#include <optional>

#include "bytes.hpp"

namespace pqcmav {

struct MavlinkHeader {
  std::uint8_t version = 0;  // 1 or 2
  std::uint8_t sequence = 0, system = 0, component = 0;
  std::uint32_t id = 0;
  std::size_t size = 0;  // of the whole message, with checksum and signature
  bool has_signature = false;
  std::uint8_t signing_link = 0;  // of the signature: each link of a sender has time stamps of its own
};

/// The message at the beginning; nullopt unless all of it is there.
std::optional<MavlinkHeader> read_mavlink_header(ByteView bytes) noexcept;

/// Visits every message of a datagram. False when it is not whole messages from end to end; some may have been visited
/// by then.
template <typename Visit>
bool walk_mavlink(ByteView datagram, Visit visit) noexcept {
  if (datagram.empty()) return false;
  while (!datagram.empty()) {
    const auto header = read_mavlink_header(datagram);
    if (!header) return false;
    visit(*header);
    datagram = datagram.subspan(header->size);
  }
  return true;
}

}  // namespace pqcmav
