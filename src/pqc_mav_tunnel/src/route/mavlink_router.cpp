// SPDX-License-Identifier: Apache-2.0
#include "route/mavlink_router.hpp"

#include <algorithm>
#include <span>

#include "route/mavlink_target.hpp"

namespace pqcmav {
namespace {

constexpr std::uint16_t who_of(std::uint8_t system, std::uint8_t component) noexcept {
  return static_cast<std::uint16_t>(system << 8 | component);
}

}  // namespace

void MavlinkRouter::hear(unsigned channel, std::uint8_t system, std::uint8_t component) noexcept {
  if (system == 0) return;  // nobody has that id, and it is everyone's address
  const auto who = who_of(system, component);
  const std::span used(known_.data(), used_);
  auto found = std::find_if(used.begin(), used.end(), [&](const Known& each) { return each.who == who; });
  if (found == used.end()) {
    auto* place =
        used_ < known_.size()
            ? &known_[used_++]
            : &*std::min_element(known_.begin(), known_.end(), [](auto& a, auto& b) { return a.heard < b.heard; });
    *place = Known{who, channel_bit(channel), ++heard_};
    return;
  }
  found->channels |= channel_bit(channel);
  found->heard = ++heard_;
}

void MavlinkRouter::forget(unsigned channel) noexcept {
  for (std::size_t i = 0; i < used_;) {
    known_[i].channels &= ~channel_bit(channel);
    if (known_[i].channels == 0)
      known_[i] = known_[--used_];
    else
      ++i;
  }
}

ChannelMask MavlinkRouter::route(unsigned from, const MavlinkHeader& header, ByteView frame,
                                 ChannelMask open) const noexcept {
  const auto others = open & ~channel_bit(from);
  const auto target = mavlink_target(header, frame);
  if (target.system == 0) return others;
  ChannelMask of_system = 0, of_component = 0;
  for (std::size_t i = 0; i < used_; ++i) {
    if (known_[i].who >> 8 != target.system) continue;
    of_system |= known_[i].channels;
    if ((known_[i].who & 0xff) == target.component) of_component |= known_[i].channels;
  }
  // A component that was never heard is a matter of its system, which may know it.
  const auto seen = target.component != 0 && of_component != 0 ? of_component : of_system;
  if (seen == 0) return others & channel_bit(kTunnelChannel);
  return others & seen;
}

}  // namespace pqcmav
