// SPDX-License-Identifier: Apache-2.0
// Which of several channels a MAVLink message goes to (https://mavlink.io/en/guide/routing.html): one for all goes to
// every channel but its own, one with a target to those on which that system and component has been heard. The tunnel
// is a channel, too, and the way out: a target that was heard nowhere may be beyond it.
#pragma once

#include <array>
#include <cstdint>

#include "bytes.hpp"
#include "shape/mavlink_walk.hpp"

namespace pqcmav {

using ChannelMask = std::uint32_t;
inline constexpr unsigned kTunnelChannel = 0, kMaxChannels = 32;
constexpr ChannelMask channel_bit(unsigned channel) noexcept { return ChannelMask{1} << channel; }

/// One thread; allocates nothing.
class MavlinkRouter {
 public:
  // So many systems' components at most; then the one that was heard least lately is forgotten.
  static constexpr std::size_t kKnownMax = 128;

  /// A message of this sender came on a channel.
  void hear(unsigned channel, std::uint8_t system, std::uint8_t component) noexcept;
  /// The channel is gone, and all that was heard there.
  void forget(unsigned channel) noexcept;
  /// The channels out of `open` to which a message that came on `from` goes.
  [[nodiscard]] ChannelMask route(unsigned from, const MavlinkHeader& header, ByteView frame,
                                  ChannelMask open) const noexcept;

 private:
  struct Known {
    std::uint16_t who = 0;  // system and component; 0 = a free place
    ChannelMask channels = 0;
    std::uint64_t heard = 0;
  };
  std::array<Known, kKnownMax> known_{};
  std::size_t used_ = 0;
  std::uint64_t heard_ = 0;
};

}  // namespace pqcmav
