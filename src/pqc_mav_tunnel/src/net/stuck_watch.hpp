// SPDX-License-Identifier: Apache-2.0
// Whether a line takes nothing any more, as under flow control: what waits for it then is out of date. No clock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pqcmav {

class StuckWatch {
 public:
  static constexpr std::uint64_t kAfter = 1'000'000'000, kNever = ~std::uint64_t{0};

  /// `left`: bytes that wait; `gone`: how many have left so far. True if some have waited for so long and none left.
  bool is_stuck(std::size_t left, std::uint64_t gone, std::uint64_t now) noexcept {
    if (left == 0 || left_ == 0 || gone != gone_) since_ = now;
    left_ = left;
    gone_ = gone;
    if (now < since_ + kAfter) return false;
    since_ = now;
    return true;
  }
  /// When to ask again, also if nothing else happens.
  [[nodiscard]] std::uint64_t due() const noexcept { return left_ == 0 ? kNever : since_ + kAfter; }

 private:
  std::size_t left_ = 0;
  std::uint64_t gone_ = 0, since_ = 0;
};

}  // namespace pqcmav
