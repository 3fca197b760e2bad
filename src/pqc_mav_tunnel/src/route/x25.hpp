// SPDX-License-Identifier: Apache-2.0
// The checksum of MAVLink messages: CRC-16/MCRF4XX over what follows the start marker, and over one more byte that
// belongs to the kind of message (CRC_EXTRA, https://mavlink.io/en/guide/serialization.html).
#pragma once

#include <cstdint>

#include "bytes.hpp"

namespace pqcmav {

inline constexpr std::uint16_t kX25Start = 0xffff;

inline std::uint16_t x25_add(std::uint16_t crc, std::uint8_t byte) noexcept {
  auto t = static_cast<std::uint8_t>(byte ^ (crc & 0xffu));
  t = static_cast<std::uint8_t>(t ^ (t << 4));
  return static_cast<std::uint16_t>((crc >> 8) ^ (t << 8) ^ (t << 3) ^ (t >> 4));
}

inline std::uint16_t x25(ByteView bytes) noexcept {
  auto crc = kX25Start;
  for (const auto byte : bytes) crc = x25_add(crc, byte);
  return crc;
}

/// Is there a byte which, added to `before`, gives `after`? One in 256 pairs has one: who does not know the kinds of
/// messages can still tell most checksums that are none.
inline bool x25_reachable(std::uint16_t before, std::uint16_t after) noexcept {
  // x25_add() backwards: its t follows from the upper byte alone, and then the lower one fits or does not.
  const auto difference = static_cast<std::uint16_t>(after ^ (before >> 8));
  const auto upper = static_cast<std::uint8_t>(difference >> 8);
  const auto t = static_cast<std::uint8_t>(upper ^ (upper >> 5));
  return static_cast<std::uint8_t>((t << 3) ^ (t >> 4)) == static_cast<std::uint8_t>(difference);
}

}  // namespace pqcmav
