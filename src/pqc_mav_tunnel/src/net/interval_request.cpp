// SPDX-License-Identifier: Apache-2.0
#include "net/interval_request.hpp"

namespace pqcmav {
namespace {

// MAVLink 2: magic, length, two flags, sequence, system, component, id (3, little-endian), payload, checksum (2).
constexpr std::size_t kMavlinkHeader = 10, kMavlinkChecksum = 2;
constexpr std::uint8_t kMavlink2 = 0xFD;
constexpr std::uint8_t kOnboardComputer = 191;  // MAV_COMP_ID_ONBOARD_COMPUTER
constexpr std::uint8_t kCommandLong = 76;
constexpr std::uint16_t kSetMessageInterval = 511;
// Of COMMAND_LONG's payload: seven floats, the command; then target and confirmation, of which zeros may be left off.
constexpr std::size_t kCommandAt = 28, kLeastPayload = 30, kMostPayload = 33;

}  // namespace

bool is_interval_request(ByteView datagram) noexcept {
  if (datagram.size() < kMavlinkHeader + kLeastPayload + kMavlinkChecksum) return false;
  const std::size_t length = datagram[1];
  if (datagram[0] != kMavlink2 || datagram[2] != 0 || length < kLeastPayload || length > kMostPayload) return false;
  if (datagram.size() != kMavlinkHeader + length + kMavlinkChecksum) return false;
  if (datagram[6] != kOnboardComputer || datagram[7] != kCommandLong || datagram[8] != 0 || datagram[9] != 0)
    return false;
  const auto* command = datagram.data() + kMavlinkHeader + kCommandAt;
  return command[0] + 256 * command[1] == kSetMessageInterval;
}

}  // namespace pqcmav
