// SPDX-License-Identifier: Apache-2.0
// How much a serial port holds: what was written may not have left yet, whatever the driver says (a USB adapter and a
// pseudo terminal say nothing). No clock: times are arguments, in ns.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pqcmav {

class LinePace {
 public:
  static constexpr std::uint64_t kMost = 20'000'000;  // in the port when a frame is put behind it

  explicit LinePace(std::uint32_t baud) noexcept : ns_per_byte_(10'000'000'000 / baud) {}  // a start and a stop bit

  void wrote(std::size_t bytes, std::uint64_t now) noexcept {
    free_at_ = std::max(free_at_, now) + bytes * ns_per_byte_;
  }
  /// When the next frame may be written: `now` or later. `queued`: what the driver says it holds.
  [[nodiscard]] std::uint64_t ready_at(std::size_t queued, std::uint64_t now) const noexcept {
    const auto empty_at = std::max(free_at_, now + queued * ns_per_byte_);
    return std::max(now, empty_at - std::min(empty_at, kMost));
  }
  /// What was written is gone, one way or the other.
  void forget() noexcept { free_at_ = 0; }

 private:
  std::uint64_t ns_per_byte_, free_at_ = 0;
};

}  // namespace pqcmav
