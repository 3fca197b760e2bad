// SPDX-License-Identifier: Apache-2.0
// A rate in bytes on the air. No clock: times are arguments, in ns.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pqcmav {

class TokenBucket {
 public:
  /// Holds one datagram of 1,200 bytes with its IP and UDP headers.
  static constexpr std::int64_t kDepthBytes = 1'228;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  explicit TokenBucket(std::int64_t depth_bytes = kDepthBytes) noexcept
      : depth_bytes_(depth_bytes), credit_(depth_bytes * kByte) {}

  /// `bits_per_s` at most 10^9; 0: nothing comes in. Begins full; a change keeps what is there.
  void set_rate(std::uint64_t bits_per_s, std::uint64_t now) noexcept {
    fill(now);
    rate_ = static_cast<std::int64_t>(bits_per_s);
  }
  /// When so many bytes may go: `now` or later. What is longer than the bucket goes when that is full.
  [[nodiscard]] std::uint64_t ready_at(std::size_t bytes, std::uint64_t now) noexcept {
    fill(now);
    const auto need = most_needed(bytes) * kByte - credit_;
    if (need <= 0) return now;
    return rate_ == 0 ? kNever : now + static_cast<std::uint64_t>((need + rate_ - 1) / rate_);
  }
  /// How much may go at once after a pause; what is longer goes when the bucket is full.
  void set_depth(std::int64_t bytes) noexcept {
    depth_bytes_ = bytes;
    waiting_bytes_ = 0;
    credit_ = std::min(credit_, bytes * kByte);
  }
  /// While so many bytes wait, it holds as much besides: a timer that rings late loses nothing of the rate.
  void set_waiting(std::size_t bytes, std::uint64_t now) noexcept {
    fill(now);
    waiting_bytes_ = most_needed(bytes);
    credit_ = std::min(credit_, full());
  }
  /// Takes them out. What went without asking leaves a debt, of a second at most, or of one datagram: what goes on so
  /// would keep all else from ever leaving.
  void spend(std::size_t bytes) noexcept {
    const auto most = std::max(rate_ * kSecond, kDepthBytes * kByte);
    credit_ = std::max(credit_ - static_cast<std::int64_t>(bytes) * kByte, -most);
  }

 private:
  static constexpr std::int64_t kByte = 8'000'000'000;  // credit is counted in bits/s * ns
  static constexpr std::int64_t kSecond = 1'000'000'000;

  [[nodiscard]] std::int64_t most_needed(std::size_t bytes) const noexcept {
    return std::min(static_cast<std::int64_t>(bytes), depth_bytes_);
  }
  [[nodiscard]] std::int64_t full() const noexcept { return (depth_bytes_ + waiting_bytes_) * kByte; }
  void fill(std::uint64_t now) noexcept {
    const auto since = now - std::min(now, filled_);
    filled_ = std::max(now, filled_);
    if (rate_ == 0 || credit_ >= full()) return;
    const auto to_full = static_cast<std::uint64_t>((full() - credit_) / rate_);
    credit_ = since > to_full ? full() : credit_ + static_cast<std::int64_t>(since) * rate_;
  }

  std::int64_t depth_bytes_, rate_ = 0, credit_, waiting_bytes_ = 0;
  std::uint64_t filled_ = 0;
};

}  // namespace pqcmav
