// SPDX-License-Identifier: Apache-2.0
// When the receiver of an incomplete message acknowledges what it has (docs/protocol.md section 5, rule 4).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "handshake/rtt_estimator.hpp"
#include "nanoseconds.hpp"

namespace pqcmav {

class AckTimer {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  /// `awaited`: the other end may not go on before it hears of this fragment.
  void on_fragment(std::uint64_t now, bool awaited = false) noexcept {
    times_ = 0;
    due_ = ++fragments_ >= kEvery || awaited ? now : now + kQuiet;
  }
  /// `least`: before it is sent again.
  void on_sent(std::uint64_t now, std::optional<std::uint64_t> srtt, std::uint64_t least = 0) noexcept {
    const auto wait = std::max(least, srtt ? std::max(kRepeatLeast, *srtt + *srtt / 4) : kRepeatFirst);
    fragments_ = 0;
    due_ = now + grown(wait, times_, kRepeatMost);
    if (times_ < kTimesMost) ++times_;
  }
  /// How many were sent again while nothing came.
  [[nodiscard]] std::uint32_t in_vain() const noexcept { return times_ == 0 ? 0 : times_ - 1; }
  void stop() noexcept { *this = {}; }
  [[nodiscard]] std::uint64_t due() const noexcept { return due_; }

 private:
  static constexpr std::uint32_t kEvery = 8, kTimesMost = 100;
  static constexpr std::uint64_t kQuiet = 10 * kMs, kRepeatFirst = 250 * kMs, kRepeatLeast = 50 * kMs,
                                 kRepeatMost = 1'000 * kMs;
  std::uint32_t fragments_ = 0, times_ = 0;
  std::uint64_t due_ = kNever;
};

}  // namespace pqcmav
