// SPDX-License-Identifier: Apache-2.0
#include "handshake/datagram_limits.hpp"

#include <algorithm>

namespace pqcmav {
namespace {

constexpr std::uint64_t kWindowsPerSecond = 10;
constexpr std::uint32_t kReservedPart = 10;  // one in so many

std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/// What one owner has: an IPv4 address, or the /64 of an IPv6 one.
std::uint64_t network_of(const ByteArray<16>& source) noexcept {
  static constexpr ByteArray<12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), source.begin()))
    return std::uint64_t{0xffff} << 32 | load_be<std::uint32_t>(source.data() + kMapped.size());
  return load_be<std::uint64_t>(source.data());
}

}  // namespace

DatagramLimits::Bucket& DatagramLimits::Window::of(std::uint64_t network) noexcept {
  return buckets[mix(network ^ seed) % kBuckets];
}

void DatagramLimits::Window::clear(std::uint64_t new_seed) noexcept {
  std::ranges::fill(buckets, Bucket{});
  came = admitted = 0;
  seed = new_seed;
}

DatagramLimits::DatagramLimits(std::uint64_t seed, std::uint32_t per_second)
    : budget_(std::max<std::uint32_t>(per_second / kWindowsPerSecond, 1)),
      reserved_(budget_ / kReservedPart),
      state_(seed) {
  for (auto* sources : {&known_, &strangers_}) {
    sources->now.clear(random());
    sources->share = budget_;
  }
}

bool DatagramLimits::admit(const ByteArray<16>& source, bool known, std::uint64_t now_ns) {
  if (now_ns >= window_end_ns_) next_window(now_ns);
  auto& sources = known ? known_ : strangers_;
  auto& window = sources.now;
  const auto network = network_of(source);
  auto& bucket = window.of(network);
  ++bucket.came;
  ++window.came;
  const auto left = std::min(budget_ - known_.now.admitted - strangers_.now.admitted, sources.budget - window.admitted);
  if (bucket.admitted >= left) return false;
  const double came = std::max(bucket.came, sources.before.of(network).came);
  if (came > sources.share && static_cast<double>(random() >> 11) * 0x1p-53 * came >= sources.share) return false;
  ++bucket.admitted;
  ++window.admitted;
  return true;
}

void DatagramLimits::next_window(std::uint64_t now_ns) {
  const bool followed = window_end_ns_ != 0 && now_ns - window_end_ns_ < kWindowNs;
  // What those with priority needed is theirs before the others get any of it.
  known_.budget = budget_ - reserved_;
  strangers_.budget = budget_ - std::clamp(known_.now.came, reserved_, budget_ - reserved_);
  for (auto* sources : {&known_, &strangers_}) {
    set_share(*sources);
    std::swap(sources->now, sources->before);
    sources->now.clear(random());
    if (!followed) sources->before.clear(random());
  }
  window_end_ns_ = now_ns + kWindowNs;
}

/// The largest share with which the last window's datagrams, cut to it, would have left one more share free. Without
/// pressure it doubles from window to window: a flood that pauses for one must not find everything open.
void DatagramLimits::set_share(Sources& sources) const {
  if (sources.now.came <= sources.budget) {
    sources.share = std::min<double>(2 * sources.share, budget_);
    return;
  }
  std::vector<std::uint32_t> counts;
  for (const auto& bucket : sources.now.buckets)
    if (bucket.came > 0) counts.push_back(bucket.came);
  std::ranges::sort(counts);
  double left = sources.budget;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sources.share = left / static_cast<double>(counts.size() - i + 1);
    if (counts[i] >= sources.share) return;
    left -= counts[i];
  }
}

std::uint64_t DatagramLimits::random() noexcept { return mix(state_ += 0x9e3779b97f4a7c15u); }

}  // namespace pqcmav
