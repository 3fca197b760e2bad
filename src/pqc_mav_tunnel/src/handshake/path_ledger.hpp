// SPDX-License-Identifier: Apache-2.0
// The addresses of an attempt: which of them answered, and what may still be sent to one that did not
// (docs/protocol.md section 5, rule 3).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "bytes.hpp"

namespace pqcmav {

class PathLedger {
 public:
  static constexpr std::size_t kPaths = 4;
  static constexpr std::uint64_t kHeaders = 28;  // IP and UDP

  /// `free`: nothing is limited (a drone, an attempt inside a session) and path 0 is where everything goes.
  explicit PathLedger(bool free) noexcept : free_(free) {}

  /// A tagged datagram of `size` bytes came.
  void on_received(std::uint8_t path, std::size_t size) noexcept { paths_[path].credit += 3 * (size + kHeaders); }
  void on_sent(std::uint8_t path, std::size_t size) noexcept {
    paths_[path].credit -= std::min<std::uint64_t>(paths_[path].credit, size + kHeaders);
  }
  /// So many bytes more, headers included, may go there before it answers.
  void lift(std::uint8_t path, std::uint64_t bytes) noexcept { paths_[path].credit += bytes; }
  [[nodiscard]] bool may_send(std::uint8_t path, std::size_t size) const noexcept {
    return free_ || paths_[path].answered != 0 || size + kHeaders <= paths_[path].credit;
  }
  void answered(std::uint8_t path) noexcept { paths_[path].answered = ++answers_; }
  [[nodiscard]] bool has_answered(std::uint8_t path) const noexcept { return paths_[path].answered != 0; }
  [[nodiscard]] bool any_answered() const noexcept { return answers_ != 0; }
  /// What is new goes to all who answered; until somebody did, to the first address alone.
  [[nodiscard]] bool is_target(std::uint8_t path) const noexcept {
    return any_answered() ? has_answered(path) : path == 0;
  }
  /// The place for an address that has just answered and has none: the next free one, or that of the one which did not
  /// answer or did so first. `used`: how many places are taken.
  [[nodiscard]] std::uint8_t place(std::size_t used) const noexcept {
    if (used < kPaths) return static_cast<std::uint8_t>(used);
    const auto victim = std::ranges::min_element(paths_, {}, &Path::answered);
    return static_cast<std::uint8_t>(victim - paths_.begin());
  }
  [[nodiscard]] bool free() const noexcept { return free_; }

 private:
  struct Path {
    std::uint64_t credit = 0;    // bytes
    std::uint64_t answered = 0;  // the how many-th answer it was, 0: none
  };
  bool free_;
  std::uint64_t answers_ = 0;
  std::array<Path, kPaths> paths_{};
};

}  // namespace pqcmav
