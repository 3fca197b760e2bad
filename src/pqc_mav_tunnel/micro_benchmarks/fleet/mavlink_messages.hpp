// SPDX-License-Identifier: Apache-2.0
// What an autopilot of the fleet says: MAVLink 2 that any reader takes, with the drone's and the message's number in it,
// so that the other end can tell what is missing (https://mavlink.io/en/messages/common.html).
#pragma once

#include <cstdint>
#include <optional>

#include "bytes.hpp"

namespace pqcmav::fleet {

struct MessageName {
  std::uint32_t drone = 0, number = 0;
  friend bool operator==(const MessageName&, const MessageName&) = default;
};

inline constexpr std::size_t kAttitudeSize = 40, kHeartbeatSize = 21;  // whole frames
inline constexpr std::size_t kMessageLargest = 1'400;

/// A datagram of at most `size` bytes, and at least kAttitudeSize: an ATTITUDE, which has the name, a HEARTBEAT where
/// there is room, and further ATTITUDEs. `out` has room for kMessageLargest; returns the used part.
ByteView write_message(MutableBytes out, std::size_t size, const MessageName& name) noexcept;
/// The name in a datagram that is intact; nullopt for any other.
std::optional<MessageName> read_message(ByteView datagram) noexcept;
/// What the ground answers a drone: the HEARTBEAT of a ground station, with the drone's number as its mode.
ByteView write_answer(MutableBytes out, std::uint8_t sequence, std::uint32_t drone) noexcept;
/// The drone's number in such an answer that is intact; nullopt for anything else.
std::optional<std::uint32_t> read_answer(ByteView datagram) noexcept;

}  // namespace pqcmav::fleet
