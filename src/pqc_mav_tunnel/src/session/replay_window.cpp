// SPDX-License-Identifier: Apache-2.0
#include "session/replay_window.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {

// Sequence s lives in bit s % 64 of word (s / 64) % size. A window of n * 64 bits touches at most n + 1 words at a
// time, so with one word more than the window no live bit shares a word with a sequence that has left it; advancing
// only clears the words that are entered anew (RFC 6479).
ReplayWindow::ReplayWindow(std::size_t bits) : bits_(bits) {
  if (bits < kWindowBitsMin || bits > kWindowBitsMax || bits % 64 != 0) {
    throw TunnelError(Errc::config_invalid, "replay window of " + std::to_string(bits) +
                                                " bits: use a multiple of 64 from " + std::to_string(kWindowBitsMin) +
                                                " to " + std::to_string(kWindowBitsMax));
  }
  words_.assign(std::bit_ceil(bits / 64 + 1), 0);
}

ReplayWindow::Verdict ReplayWindow::check(std::uint64_t sequence) const noexcept {
  if (sequence >= kSequenceLimit) return Verdict::old;
  if (sequence >= next_) return Verdict::fresh;
  if (next_ - sequence > bits_) return Verdict::old;
  const auto word = words_[(sequence / 64) & (words_.size() - 1)];
  return (word >> (sequence % 64)) & 1 ? Verdict::replay : Verdict::fresh;
}

bool ReplayWindow::accept(std::uint64_t sequence) noexcept {
  if (check(sequence) != Verdict::fresh) return false;
  const auto mask = words_.size() - 1;
  const bool newest = sequence >= next_;
  if (newest) {
    // Words up to (next_ - 1) / 64 are in use; those after it, up to the word of `sequence`, still hold bits of a lap
    // ago.
    const auto first_unused = (next_ + 63) / 64;
    const auto target = sequence / 64;
    if (target >= first_unused) {
      const auto stale = std::min<std::uint64_t>(target - first_unused + 1, words_.size());
      for (std::uint64_t i = 0; i < stale; ++i) words_[(target - i) & mask] = 0;
    }
    next_ = sequence + 1;
  }
  words_[(sequence / 64) & mask] |= std::uint64_t{1} << (sequence % 64);
  return newest;
}

std::uint64_t ReplayWindow::next_expected() const noexcept { return next_; }

}  // namespace pqcmav
