// SPDX-License-Identifier: Apache-2.0
// Whether a line takes nothing any more, as under flow control: what waits for it then is out of date. No clock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pqcmav {

class StuckWatch {
 public:
  static constexpr std::uint64_t kAfter = 1'000'000'000, kNever = ~std::uint64_t{0};

  /// `written`: bytes that the port took so far; `held`: those of them that have not left; `waiting`: bytes behind them.
  /// True if some have waited for so long and none left: what is held is to be thrown away, and threw_away() to be told.
  bool is_stuck(std::size_t held, std::size_t waiting, std::uint64_t written, std::uint64_t now) noexcept {
    const auto left = held + waiting;
    const auto gone = written - held - thrown_;
    if (gone != gone_) blocked_ = false;
    if (left == 0 || left_ == 0 || gone != gone_) since_ = now;
    left_ = left;
    gone_ = gone;
    if (now < since_ + kAfter) return false;
    since_ = now;
    return blocked_ = true;
  }
  void threw_away(std::size_t bytes) noexcept { thrown_ += bytes; }
  /// It was stuck, and no byte has left since.
  [[nodiscard]] bool is_blocked() const noexcept { return blocked_; }
  /// When to ask again, also if nothing else happens.
  [[nodiscard]] std::uint64_t due() const noexcept { return left_ == 0 ? kNever : since_ + kAfter; }

 private:
  std::size_t left_ = 0;
  std::uint64_t gone_ = 0, since_ = 0, thrown_ = 0;
  bool blocked_ = false;
};

}  // namespace pqcmav
