// SPDX-License-Identifier: Apache-2.0
// Which packets were overtaken so long ago that what they say is over: a command that somebody held back is not carried
// out. The packets' numbers alone say so, and when higher ones came. No clock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace pqcmav {

class LateGuard {
 public:
  static constexpr std::uint64_t kStep = 100'000'000;  // ns between two notes
  static constexpr std::size_t kSteps = 80;            // so far back it knows

  /// At least ten times a second: the key in use, and one above the highest of its numbers that came.
  void note(std::uint64_t key, std::uint64_t next, std::uint64_t now) noexcept {
    const auto step = now / kStep;
    if (key != key_) *this = {};
    key_ = key;
    if (count_ > 0 && steps_[last_] == step) return;
    last_ = (last_ + 1) % kSteps;
    steps_[last_] = step;
    next_[last_] = next;
    count_ += count_ < kSteps ? 1 : 0;
  }
  /// Was a higher number than this one here for `after` already?
  [[nodiscard]] bool is_late(std::uint64_t key, std::uint64_t sequence, std::uint64_t after,
                             std::uint64_t now) const noexcept {
    if (key != key_) return false;
    for (std::size_t i = 0; i < count_; ++i) {
      const auto at = (last_ + kSteps - i) % kSteps;
      if ((steps_[at] + 1) * kStep + after <= now) return sequence + 1 < next_[at];
    }
    return false;
  }

 private:
  std::uint64_t key_ = 0;
  std::array<std::uint64_t, kSteps> steps_{}, next_{};
  std::size_t last_ = 0, count_ = 0;
};

}  // namespace pqcmav
