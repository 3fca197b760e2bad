// SPDX-License-Identifier: Apache-2.0
// What a guard found to endanger the link. It lasts only as long as somebody says it again: a guard that died knows
// nothing any more.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace pqcmav {

/// How long they last after they were last told.
inline constexpr std::uint64_t kDangersLast_s = 30;

/// From any thread; times are of a monotonic clock.
class Dangers {
 public:
  void tell(std::vector<std::string> lines, std::uint64_t now_ns) {
    const std::lock_guard lock(mutex_);
    lines_ = std::move(lines);
    told_ns_ = now_ns;
  }
  [[nodiscard]] std::vector<std::string> at(std::uint64_t now_ns) const {
    const std::lock_guard lock(mutex_);
    return now_ns - told_ns_ < kDangersLast_s * 1'000'000'000 ? lines_ : std::vector<std::string>{};
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::uint64_t told_ns_ = 0;
};

}  // namespace pqcmav
