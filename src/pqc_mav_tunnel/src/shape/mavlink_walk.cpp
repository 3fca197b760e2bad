// SPDX-License-Identifier: Apache-2.0
#include "shape/mavlink_walk.hpp"

namespace pqcmav {
namespace {

constexpr std::uint8_t kStart1 = 0xfe, kStart2 = 0xfd;
constexpr std::size_t kFixed1 = 8, kFixed2 = 12;  // header and checksum
constexpr std::uint8_t kSigned = 1;
constexpr std::size_t kSignature = 13;

}  // namespace

std::optional<MavlinkHeader> read_mavlink_header(ByteView bytes) noexcept {
  MavlinkHeader out;
  if (bytes.size() >= kFixed1 && bytes[0] == kStart1) {
    out.version = 1;
    out.size = kFixed1 + bytes[1];
    out.sequence = bytes[2];
    out.system = bytes[3];
    out.component = bytes[4];
    out.id = bytes[5];
  } else if (bytes.size() >= kFixed2 && bytes[0] == kStart2) {
    out.version = 2;
    out.has_signature = (bytes[2] & kSigned) != 0;
    out.size = kFixed2 + bytes[1] + (out.has_signature ? kSignature : 0);
    out.sequence = bytes[4];
    out.system = bytes[5];
    out.component = bytes[6];
    out.id = bytes[7] | std::uint32_t{bytes[8]} << 8 | std::uint32_t{bytes[9]} << 16;
  } else {
    return std::nullopt;
  }
  if (out.size > bytes.size()) return std::nullopt;
  if (out.has_signature) out.signing_link = bytes[out.size - kSignature];
  return out;
}

}  // namespace pqcmav
