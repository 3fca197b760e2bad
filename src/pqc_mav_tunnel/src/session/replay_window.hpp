// SPDX-License-Identifier: Apache-2.0
// Sliding anti-replay window (RFC 6479 style bitmap of words, so that advancing never shifts the whole map).
#pragma once

#include <cstdint>
#include <vector>

#include "constants.hpp"

namespace pqcmav {

class ReplayWindow {
 public:
  enum class Verdict { fresh, replay, old };
  /// `bits` is a multiple of 64 within kWindowBitsMin..kWindowBitsMax; allocates here and never again.
  explicit ReplayWindow(std::size_t bits = kWindowBits);
  /// Says what the sequence is, without changing anything. Sequences >= kSequenceLimit are old.
  [[nodiscard]] Verdict check(std::uint64_t sequence) const noexcept;
  /// Marks a sequence whose packet verified. Returns true when it is the highest so far.
  bool accept(std::uint64_t sequence) noexcept;
  [[nodiscard]] std::uint64_t next_expected() const noexcept;  // highest + 1, 0 before the first

 private:
  std::vector<std::uint64_t> words_;  // one word more than the window, a power of two
  std::uint64_t bits_;
  std::uint64_t next_ = 0;
};

}  // namespace pqcmav
