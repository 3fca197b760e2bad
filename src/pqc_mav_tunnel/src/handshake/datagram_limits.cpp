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

std::uint32_t& DatagramLimits::Table::of(std::uint64_t network) noexcept {
  return counts[mix(network ^ seed) % kBuckets];
}

void DatagramLimits::Table::clear(std::uint64_t new_seed) noexcept {
  std::fill(counts.begin(), counts.end(), 0);
  total = 0;
  seed = new_seed;
}

DatagramLimits::DatagramLimits(std::uint64_t seed, std::uint32_t per_second)
    : budget_(std::max<std::uint32_t>(per_second / kWindowsPerSecond, 1)),
      reserved_(budget_ / kReservedPart),
      strangers_budget_(budget_ - reserved_),
      state_(seed) {
  for (auto* sources : {&known_, &strangers_}) {
    sources->now.clear(random());
    sources->share = budget_;
  }
}

bool DatagramLimits::admit(const ByteArray<16>& source, bool known, std::uint64_t now_ns) {
  if (now_ns >= window_end_ns_) next_window(now_ns);
  auto& sources = known ? known_ : strangers_;
  const auto network = network_of(source);
  auto& count = sources.now.of(network);
  ++count;
  ++sources.now.total;
  if (known_.admitted + strangers_.admitted >= budget_) return false;
  if (sources.admitted >= (known ? budget_ - reserved_ : strangers_budget_)) return false;
  // Both windows count: the last one knows a flood that goes on, this one a flood that begins.
  const double came = std::max(count, sources.before.of(network));
  if (came > sources.share && static_cast<double>(random() >> 11) * 0x1p-53 * came >= sources.share) return false;
  ++sources.admitted;
  return true;
}

void DatagramLimits::next_window(std::uint64_t now_ns) {
  const bool followed = now_ns - window_end_ns_ < kWindowNs && window_end_ns_ != 0;
  set_share(known_, budget_ - reserved_);
  // What those with priority needed goes to them before the others have any of it.
  strangers_budget_ = budget_ - std::clamp(known_.now.total, reserved_, budget_ - reserved_);
  set_share(strangers_, strangers_budget_);
  for (auto* sources : {&known_, &strangers_}) {
    std::swap(sources->now, sources->before);
    sources->now.clear(random());
    if (!followed) sources->before.clear(random());
    sources->admitted = 0;
  }
  window_end_ns_ = now_ns + kWindowNs;
}

/// The largest share with which the last window's datagrams, cut to it, would have stayed within the budget. Without
/// pressure it doubles from window to window: a flood that pauses for one must not find everything open.
void DatagramLimits::set_share(Sources& sources, std::uint32_t budget) const {
  if (sources.now.total <= budget) {
    sources.share = std::min<double>(2 * sources.share, budget_);
    return;
  }
  std::vector<std::uint32_t> counts;
  for (const auto count : sources.now.counts)
    if (count > 0) counts.push_back(count);
  std::ranges::sort(counts);
  double left = budget;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sources.share = left / static_cast<double>(counts.size() - i);
    if (counts[i] >= sources.share) return;
    left -= counts[i];
  }
}

std::uint64_t DatagramLimits::random() noexcept { return mix(state_ += 0x9e3779b97f4a7c15u); }

}  // namespace pqcmav
