// SPDX-License-Identifier: Apache-2.0
// When the drone sends copies of M1, and how long they are (docs/protocol.md section 5, rule 2).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "handshake/rtt_estimator.hpp"

namespace pqcmav {

class HelloSchedule {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::uint64_t kApart = 20'000'000, kApartByWire = 300'000'000;

  explicit HelloSchedule(std::uint64_t apart = kApart) noexcept : apart_(apart) {}

  struct Sizes {
    std::size_t first;
    std::size_t other;
    friend bool operator==(const Sizes&, const Sizes&) = default;
  };
  /// UDP payloads of the copies. `m`: of an unpadded one; `need`: what M2 takes. The three pay for M2 as far as that is
  /// cheap, the first one for as much as it can alone, so that the gcs need not wait for the second.
  static Sizes padded_sizes(std::size_t m, std::size_t need, std::size_t limit) noexcept {
    const auto least = std::min(m, limit);
    const auto each = (need + 2) / 3;
    const auto all = std::min(limit + m, each);
    const auto total = 3 * std::clamp(all > 2 * m ? all - 2 * m : 0, least, limit);
    const auto first = std::clamp(each, least, limit);
    return {first, std::clamp(total > first ? (total - first) / 2 : 0, least, limit)};
  }

  /// `copies` from `now` on, so far apart (sizes of 0: unpadded); then two unpadded ones per time-out.
  void start(std::uint32_t copies, Sizes sizes, std::uint64_t now, const RttEstimator& rtt) {
    copies_.clear();
    for (std::uint32_t i = 0; i < copies; ++i)
      copies_.push_back({now + i * apart_, i == 0 ? sizes.first : sizes.other});
    timeout_at_ = now + rtt.timeout(timeouts_);
  }
  /// Nothing goes before `at`, then two copies per time-out.
  void hold(std::uint64_t at) noexcept {
    copies_.clear();
    timeout_at_ = at;
    held_ = true;
  }
  void on_progress() noexcept { timeouts_ = 0; }
  [[nodiscard]] std::uint32_t timeouts() const noexcept { return timeouts_; }
  /// True when a time-out came, which asks for two more copies.
  bool timed_out(std::uint64_t now, const RttEstimator& rtt) {
    if (now < timeout_at_) return false;
    const bool real = !held_;
    held_ = false;
    if (real && timeouts_ < kTimeoutsMost) ++timeouts_;
    start(2, {0, 0}, now, rtt);
    return real;
  }
  /// Is a copy due? Its size, 0 for unpadded.
  std::optional<std::size_t> take(std::uint64_t now) noexcept {
    if (copies_.empty() || now < copies_.front().at) return std::nullopt;
    const auto size = copies_.front().size;
    copies_.pop_front();
    return size;
  }
  [[nodiscard]] std::uint64_t due() const noexcept {
    return copies_.empty() ? timeout_at_ : std::min(timeout_at_, copies_.front().at);
  }

 private:
  static constexpr std::uint32_t kTimeoutsMost = 100;
  struct Copy {
    std::uint64_t at;
    std::size_t size;
  };
  std::uint64_t apart_;
  std::deque<Copy> copies_;
  std::uint64_t timeout_at_ = kNever;
  std::uint32_t timeouts_ = 0;
  bool held_ = false;
};

}  // namespace pqcmav
