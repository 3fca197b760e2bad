// SPDX-License-Identifier: Apache-2.0
// What a telemetry radio says of itself (MAVLink RADIO_STATUS, 109), and how it is asked: SiK answers each HEARTBEAT that
// leaves its buffer. Nothing of it is authentic: it steers a rate within bounds, and no more.
#pragma once

#include <array>
#include <optional>

#include "bytes.hpp"

namespace pqcmav {

struct RadioStatus {
  std::uint8_t rssi = 0, remote_rssi = 0, free_percent = 0, noise = 0, remote_noise = 0;
  std::uint16_t errors = 0, fixed = 0;
};

/// Of a whole MAVLink message, version 1 or 2, of any system's radio (component 68); nothing of another message.
std::optional<RadioStatus> parse_radio_status(ByteView message) noexcept;

/// Whether a whole MAVLink message is a radio's own, as RADIO_STATUS is, and an ELRS receiver's RC_CHANNELS_OVERRIDE.
bool is_of_radio(ByteView message) noexcept;

inline constexpr std::size_t kRadioStatusSize = 17;
/// The word of a radio whose buffer has so much room, from system 51 component 68 as firmware of SiK radios sends it. In
/// MAVLink 1: it does not change which version the autopilot answers in, and autopilots take it unsigned.
ByteArray<kRadioStatusSize> radio_status(unsigned free_percent, std::uint8_t sequence) noexcept;

/// What a radio takes for a HEARTBEAT. `for_all`: with a right checksum, for radios that look at it; otherwise nobody
/// but the radio does anything with it.
class RadioHeartbeat {
 public:
  static constexpr std::size_t kMost = 21;
  ByteView next(bool for_all) noexcept;

 private:
  ByteArray<kMost> message_{};
  std::uint8_t sequence_ = 0;
};

}  // namespace pqcmav
