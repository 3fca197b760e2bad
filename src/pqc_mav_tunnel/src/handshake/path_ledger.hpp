// SPDX-License-Identifier: Apache-2.0
// The addresses of an attempt: which are known and validated, and what may still be sent to the others
// (docs/protocol.md section 5, rule 3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "bytes.hpp"

namespace pqcmav {

class PathLedger {
 public:
  static constexpr std::size_t kPaths = 3;
  static constexpr std::uint64_t kHeaders = 28;  // IP and UDP

  /// `free`: nothing is limited (a drone, an attempt inside a session) and path 0 is where everything goes.
  explicit PathLedger(bool free) noexcept : free_(free) { paths_[0].known = free; }

  /// A tagged datagram of `size` bytes came.
  void on_received(std::uint8_t path, std::size_t size) noexcept {
    paths_[path].known = true;
    paths_[path].received += size + kHeaders;
  }
  void on_sent(std::uint8_t path, std::size_t size) noexcept { paths_[path].sent += size + kHeaders; }
  [[nodiscard]] bool may_send(std::uint8_t path, std::size_t size) const noexcept {
    const auto& to = paths_[path];
    return free_ || to.validated || (to.known && to.sent + size + kHeaders <= 3 * to.received);
  }
  void validate(std::uint8_t path) noexcept {
    paths_[path].known = paths_[path].validated = true;
    newest_ = path;
  }
  [[nodiscard]] bool known(std::uint8_t path) const noexcept { return paths_[path].known; }
  [[nodiscard]] std::optional<std::uint8_t> validated() const noexcept { return newest_; }
  [[nodiscard]] bool free() const noexcept { return free_; }

 private:
  struct Path {
    std::uint64_t received = 0, sent = 0;
    bool known = false, validated = false;
  };
  bool free_;
  std::array<Path, kPaths> paths_{};
  std::optional<std::uint8_t> newest_;
};

}  // namespace pqcmav
