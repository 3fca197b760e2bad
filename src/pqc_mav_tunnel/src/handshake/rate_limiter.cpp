// SPDX-License-Identifier: Apache-2.0
#include "handshake/rate_limiter.hpp"

#include <algorithm>

namespace pqcmav {
namespace {

double refilled(double tokens, std::uint64_t since_ns, std::uint64_t now_ns, double per_second, double burst) noexcept {
  if (now_ns <= since_ns) return tokens;
  return std::min(burst, tokens + static_cast<double>(now_ns - since_ns) * 1e-9 * per_second);
}

}  // namespace

RateLimiter::RateLimiter(double burst, double per_second, std::size_t max_sources)
    : burst_(burst), per_second_(per_second), max_sources_(std::max<std::size_t>(max_sources, 1)) {}

bool RateLimiter::allows(const std::string& source, std::uint64_t now_ns) {
  const auto found = buckets_.find(source);
  if (found == buckets_.end()) return burst_ >= 1.0;
  return refilled(found->second.tokens, found->second.at_ns, now_ns, per_second_, burst_) >= 1.0;
}

void RateLimiter::charge(const std::string& source, std::uint64_t now_ns) {
  const auto found = buckets_.find(source);
  if (found == buckets_.end()) {
    if (buckets_.size() >= max_sources_) make_room(now_ns);
    buckets_.emplace(source, Bucket{std::max(0.0, burst_ - 1.0), now_ns});
    return;
  }
  auto& bucket = found->second;
  bucket.tokens = std::max(0.0, refilled(bucket.tokens, bucket.at_ns, now_ns, per_second_, burst_) - 1.0);
  bucket.at_ns = std::max(bucket.at_ns, now_ns);
}

void RateLimiter::make_room(std::uint64_t now_ns) {
  // A full bucket says the same as none at all, so forgetting it costs nothing.
  std::erase_if(buckets_, [&](const auto& entry) {
    return refilled(entry.second.tokens, entry.second.at_ns, now_ns, per_second_, burst_) >= burst_;
  });
  if (buckets_.size() < max_sources_) return;
  buckets_.erase(std::min_element(buckets_.begin(), buckets_.end(),
                                  [](const auto& a, const auto& b) { return a.second.at_ns < b.second.at_ns; }));
}

}  // namespace pqcmav
