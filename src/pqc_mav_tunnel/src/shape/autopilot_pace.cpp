// SPDX-License-Identifier: Apache-2.0
#include "shape/autopilot_pace.hpp"

#include <algorithm>

#include "nanoseconds.hpp"
#include "route/x25.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kEvery = kS, kAfterwards = 60 * kS;
constexpr unsigned kScarce = 50;  // per cent; ArduPilot and PX4 slow down below it

constexpr std::uint8_t kMavlink1 = 0xFE, kPayload = 9, kRadio = 51, kRadioComponent = 68, kRadioStatus = 109;
constexpr std::uint8_t kCrcExtra = 185;
constexpr std::uint8_t kUnknown = 255;  // signal strength

}  // namespace

bool AutopilotPace::due(unsigned free_percent, bool shaped, std::uint64_t now) noexcept {
  const bool scarce = free_percent < kScarce;
  if (shaped || scarce) until_ns_ = now + kAfterwards;
  if (now >= until_ns_) return false;
  if (scarce == scarce_ && now < next_ns_) return false;
  scarce_ = scarce;
  next_ns_ = now + kEvery;
  return true;
}

ByteArray<kRadioStatusSize> radio_status(unsigned free_percent, std::uint8_t sequence) noexcept {
  // rxerrors u16, fixed u16, rssi, remrssi, txbuf, noise, remnoise. A remrssi other than 0 would have ArduPilot count
  // on more of them: ArduPlane can take it for the ground station's word that it hears the aircraft.
  const auto room = static_cast<std::uint8_t>(std::min(free_percent, 100u));
  ByteArray<kRadioStatusSize> out{
      kMavlink1, kPayload, sequence, kRadio, kRadioComponent, kRadioStatus, 0, 0, 0, 0, kUnknown, 0, room, 0, 0};
  constexpr auto kSummed = kRadioStatusSize - 2;
  const auto crc = x25_add(x25(ByteView(out).subspan(1, kSummed - 1)), kCrcExtra);
  out[kSummed] = static_cast<std::uint8_t>(crc & 0xffu);
  out[kSummed + 1] = static_cast<std::uint8_t>(crc >> 8);
  return out;
}

}  // namespace pqcmav
