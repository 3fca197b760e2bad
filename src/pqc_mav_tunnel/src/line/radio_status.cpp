// SPDX-License-Identifier: Apache-2.0
#include "line/radio_status.hpp"

#include <algorithm>

#include "route/x25.hpp"

namespace pqcmav {
namespace {

constexpr std::uint8_t kRadioSystem = 51, kRadioComponent = 68, kStatusId = 109, kStatusExtra = 185,
                       kHeartbeatExtra = 50;
constexpr std::size_t kStatusSize = 9, kHead1 = 6, kHead2 = 10, kHeartbeatSize = 9;

}  // namespace

bool is_of_radio(ByteView message) noexcept { return message[message[0] == 0xfd ? 6 : 4] == kRadioComponent; }

std::optional<RadioStatus> parse_radio_status(ByteView message) noexcept {
  if (message.size() < kHead1 + 2) return std::nullopt;
  const bool second = message[0] == 0xfd;
  const auto head = second ? kHead2 : kHead1;
  const std::size_t size = message[1];
  if (message.size() < head + size + 2 || size > kStatusSize || (!second && size != kStatusSize)) return std::nullopt;
  const bool is_one =
      second ? message[6] == kRadioComponent && message[7] == kStatusId && message[8] == 0 && message[9] == 0
             : message[4] == kRadioComponent && message[5] == kStatusId;
  const auto sum = x25_add(x25(message.subspan(1, head - 1 + size)), kStatusExtra);
  if (!is_one || sum != (message[head + size] | message[head + size + 1] << 8)) return std::nullopt;
  ByteArray<kStatusSize> field{};  // version 2 leaves zeros at the end out
  std::copy_n(message.begin() + static_cast<std::ptrdiff_t>(head), size, field.begin());
  const auto u16 = [&](std::size_t at) { return static_cast<std::uint16_t>(field[at] | field[at + 1] << 8); };
  return RadioStatus{field[4], field[5], field[6], field[7], field[8], u16(0), u16(2)};
}

ByteArray<kRadioStatusSize> radio_status(unsigned free_percent, std::uint8_t sequence) noexcept {
  // rxerrors u16, fixed u16, rssi (255: not known), remrssi, txbuf, noise, remnoise. A remrssi other than 0 would have
  // ArduPilot count on more of them: ArduPlane can take it for the ground station's word that it hears the aircraft.
  const auto room = static_cast<std::uint8_t>(std::min(free_percent, 100u));
  ByteArray<kRadioStatusSize> out{
      0xfe, kStatusSize, sequence, kRadioSystem, kRadioComponent, kStatusId, 0, 0, 0, 0, 255, 0, room, 0, 0};
  const auto sum = x25_add(x25(ByteView(out).subspan(1, kHead1 - 1 + kStatusSize)), kStatusExtra);
  out[kHead1 + kStatusSize] = static_cast<std::uint8_t>(sum & 0xffu);
  out[kHead1 + kStatusSize + 1] = static_cast<std::uint8_t>(sum >> 8);
  return out;
}

ByteView RadioHeartbeat::next(bool for_all) noexcept {
  // A companion's: type 18 (onboard controller), autopilot 8 (none), status 4 (active), MAVLink version 3.
  static constexpr ByteArray<kHeartbeatSize> kPayload{0, 0, 0, 0, 18, 8, 0, 4, 3};
  const std::size_t size = for_all ? kHeartbeatSize : 0;
  message_ = {0xfd, static_cast<std::uint8_t>(size), 0, 0, sequence_++, kRadioSystem, 191};
  if (for_all) std::copy(kPayload.begin(), kPayload.end(), message_.begin() + kHead2);
  const auto before = x25(ByteView(message_).subspan(1, kHead2 - 1 + size));
  auto sum = x25_add(before, kHeartbeatExtra);
  if (!for_all)
    while (x25_reachable(before, sum)) ++sum;  // no message at all has this one
  message_[kHead2 + size] = static_cast<std::uint8_t>(sum);
  message_[kHead2 + size + 1] = static_cast<std::uint8_t>(sum >> 8);
  return ByteView(message_).first(kHead2 + size + 2);
}

}  // namespace pqcmav
