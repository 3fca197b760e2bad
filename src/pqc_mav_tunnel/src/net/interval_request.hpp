// SPDX-License-Identifier: Apache-2.0
// The one thing that a reader of the plaintext's copies may ask of the autopilot: how often it sends a message. An
// ArduPilot that no ground station has asked for streams sends nothing but heartbeats, and the battery stays unknown.
#pragma once

#include <cstdint>

#include "bytes.hpp"

namespace pqcmav {

/// Is it exactly one MAVLink 2 frame, unsigned, with COMMAND_LONG SET_MESSAGE_INTERVAL from a companion computer? The
/// checksum is the autopilot's business. https://mavlink.io/en/guide/serialization.html
[[nodiscard]] bool is_interval_request(ByteView datagram) noexcept;

/// At most so many requests a second; what there is to ask is asked in one or two.
class RequestRate {
 public:
  static constexpr unsigned kMost = 10;
  [[nodiscard]] bool admits(std::uint64_t now) noexcept {
    if (used_ == 0 || now - begun_ns_ >= kWindowNs) {
      begun_ns_ = now;
      used_ = 0;
    }
    if (used_ == kMost) return false;
    ++used_;
    return true;
  }

 private:
  static constexpr std::uint64_t kWindowNs = 1'000'000'000;
  std::uint64_t begun_ns_ = 0;
  unsigned used_ = 0;
};

}  // namespace pqcmav
