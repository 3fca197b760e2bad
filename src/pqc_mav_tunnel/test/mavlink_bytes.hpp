// SPDX-License-Identifier: Apache-2.0
// MAVLink messages as far as the shaper reads them: headers with a payload of any content and a checksum of zeros.
#pragma once

#include <initializer_list>

#include "bytes.hpp"

namespace pqcmav::test {

struct MavlinkAt {
  std::uint8_t system = 1, component = 1, sequence = 0, signing_link = 0x55;
};

inline Bytes mavlink1(std::uint8_t id, std::size_t payload = 9, MavlinkAt at = {}) {
  Bytes out(8 + payload, 0x55);
  out[0] = 0xfe;
  out[1] = static_cast<std::uint8_t>(payload);
  out[2] = at.sequence;
  out[3] = at.system;
  out[4] = at.component;
  out[5] = id;
  return out;
}

inline Bytes mavlink2(std::uint32_t id, std::size_t payload = 9, MavlinkAt at = {}, bool with_signature = false) {
  Bytes out(12 + payload + (with_signature ? 13 : 0), 0x55);
  out[0] = 0xfd;
  out[1] = static_cast<std::uint8_t>(payload);
  out[2] = with_signature ? 1 : 0;
  out[3] = 0;
  out[4] = at.sequence;
  out[5] = at.system;
  out[6] = at.component;
  out[7] = static_cast<std::uint8_t>(id);
  out[8] = static_cast<std::uint8_t>(id >> 8);
  out[9] = static_cast<std::uint8_t>(id >> 16);
  if (with_signature) out[12 + payload] = at.signing_link;
  return out;
}

inline Bytes together(std::initializer_list<Bytes> messages) {
  Bytes out;
  for (const auto& message : messages) out.insert(out.end(), message.begin(), message.end());
  return out;
}

}  // namespace pqcmav::test
