// SPDX-License-Identifier: Apache-2.0
// A token bucket per source, in bounded memory.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace pqcmav {

class RateLimiter {
 public:
  RateLimiter(double burst, double per_second, std::size_t max_sources = 4096);
  /// May this source go on now? Charges nothing.
  [[nodiscard]] bool allows(const std::string& source, std::uint64_t now_ns);
  /// This source used one of its tokens.
  void charge(const std::string& source, std::uint64_t now_ns);
  [[nodiscard]] std::size_t sources() const noexcept { return buckets_.size(); }

 private:
  struct Bucket {
    double tokens;
    std::uint64_t at_ns;
  };
  void make_room(std::uint64_t now_ns);  // forgets full buckets first, then the oldest
  double burst_, per_second_;
  std::size_t max_sources_;
  std::unordered_map<std::string, Bucket> buckets_;
};

}  // namespace pqcmav
