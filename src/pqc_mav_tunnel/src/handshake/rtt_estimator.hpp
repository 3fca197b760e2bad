// SPDX-License-Identifier: Apache-2.0
// Round trips of an attempt and the time-out made of them (docs/protocol.md section 5, rule 6).
#pragma once

#include <cstdint>
#include <optional>

namespace pqcmav {

/// All times in ns.
class RttEstimator {
 public:
  /// `least`: no time-out is shorter.
  explicit RttEstimator(std::uint64_t first_timeout, std::uint64_t least = 0) noexcept
      : first_timeout_(first_timeout), timeout_least_(least) {}
  void sample(std::uint64_t rtt) noexcept;
  [[nodiscard]] std::optional<std::uint64_t> srtt() const noexcept { return srtt_; }
  [[nodiscard]] std::uint64_t variation() const noexcept { return variation_; }
  [[nodiscard]] std::uint64_t least() const noexcept { return least_; }
  /// How long to wait after `timeouts` of them without progress.
  [[nodiscard]] std::uint64_t timeout(std::uint32_t timeouts) const noexcept;

 private:
  std::uint64_t first_timeout_, timeout_least_;
  std::optional<std::uint64_t> srtt_;
  std::uint64_t variation_ = 0, least_ = ~std::uint64_t{0};
};

/// `base`, for the first six times; each further one makes it 1.5 times as long, up to `most` or its own length.
std::uint64_t grown(std::uint64_t base, std::uint32_t times, std::uint64_t most) noexcept;

}  // namespace pqcmav
