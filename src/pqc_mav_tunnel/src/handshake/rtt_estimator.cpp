// SPDX-License-Identifier: Apache-2.0
#include "handshake/rtt_estimator.hpp"

#include <algorithm>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kTimeoutMost = 2'000 * kMs;
constexpr std::uint64_t kVariationLeast = 10 * kMs, kAckDelay = 10 * kMs;
constexpr std::uint32_t kLevelTimeouts = 6;

}  // namespace

void RttEstimator::sample(std::uint64_t rtt) noexcept {
  least_ = std::min(least_, rtt);
  if (!srtt_) {
    srtt_ = rtt;
    variation_ = rtt / 8;  // RFC 6298 begins at half: that costs a lossy first flight more than it saves
    return;
  }
  const auto off = *srtt_ > rtt ? *srtt_ - rtt : rtt - *srtt_;
  variation_ = (3 * variation_ + off) / 4;
  srtt_ = (7 * *srtt_ + rtt) / 8;
}

std::uint64_t RttEstimator::timeout(std::uint32_t timeouts) const noexcept {
  const auto base =
      srtt_ ? *srtt_ + std::max({2 * variation_, *srtt_ / 4, kVariationLeast}) + kAckDelay : first_timeout_;
  return grown(std::max(base, timeout_least_), timeouts, kTimeoutMost);
}

std::uint64_t grown(std::uint64_t base, std::uint32_t times, std::uint64_t most) noexcept {
  most = std::max(most, base);
  auto length = base;
  for (auto more = times; more > kLevelTimeouts && length < most; --more)
    length += std::max<std::uint64_t>(length / 2, 1);
  return std::min(length, most);
}

}  // namespace pqcmav
