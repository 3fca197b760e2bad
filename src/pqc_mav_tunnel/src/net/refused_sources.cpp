// SPDX-License-Identifier: Apache-2.0
#include "net/refused_sources.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace pqcmav {
namespace {

constexpr std::uint64_t kShowEveryNs = 500'000'000;
constexpr double kKept = 0.75;          // of the weight, at each of them
constexpr double kForgotten = 1.0 / 8;  // a datagram that came 3.6 s ago
constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
constexpr std::size_t kNetwork4 = 15, kNetwork6 = 6;  // bytes that are kept: a /24, and the /48 that a site has

bool is_mapped(const ByteArray<16>& address) noexcept {
  return std::equal(kMapped.begin(), kMapped.end(), address.begin());
}

std::string text_of(const ByteArray<16>& network) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_mapped(network)) {
    inet_ntop(AF_INET, network.data() + kMapped.size(), text.data(), text.size());
    return std::string(text.data()) + "/24";
  }
  inet_ntop(AF_INET6, network.data(), text.data(), text.size());
  return std::string(text.data()) + "/48";
}

}  // namespace

ByteArray<16> network_of(const SockAddr& source) noexcept {
  auto address = source.ip16();
  const auto kept = is_mapped(address) ? kNetwork4 : kNetwork6;
  std::fill(address.begin() + static_cast<std::ptrdiff_t>(kept), address.end(), std::uint8_t{0});
  return address;
}

void RefusedSources::add(const SockAddr& source) noexcept {
  const auto network = network_of(source);
  now_.sum += 1;
  Entry* free = nullptr;
  for (auto& entry : now_.entries) {
    if (entry.weight <= 0) {
      free = &entry;
    } else if (entry.network == network) {
      entry.weight += 1;
      return;
    }
  }
  // All full: the new one and the old ones cancel out until one of them is gone.
  double left = 1;
  if (free == nullptr) {
    free = std::min_element(now_.entries.begin(), now_.entries.end(),
                            [](const Entry& a, const Entry& b) { return a.weight < b.weight; });
    const auto cancelled = std::min(left, free->weight);
    for (auto& entry : now_.entries) entry.weight -= cancelled;
    left -= cancelled;
  }
  if (left > 0) *free = {network, left};
}

void RefusedSources::tick(std::uint64_t now) noexcept {
  if (now < next_ns_) return;
  next_ns_ = now + kShowEveryNs;
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) shown_ = now_;
  if (now_.sum <= 0) return;
  now_.sum *= kKept;
  for (auto& entry : now_.entries) entry.weight *= kKept;
  if (now_.sum < kForgotten) now_ = {};
}

RefusedSources::Summary RefusedSources::shown() const {
  const std::lock_guard lock(mutex_);
  return shown_;
}

std::optional<RefusedShare> RefusedSources::largest(std::span<const Summary> threads) {
  std::vector<Entry> all;
  double sum = 0;
  for (const auto& thread : threads) {
    sum += thread.sum;
    for (const auto& entry : thread.entries) {
      if (entry.weight <= 0) continue;
      const auto same =
          std::find_if(all.begin(), all.end(), [&](const Entry& each) { return each.network == entry.network; });
      if (same == all.end())
        all.push_back(entry);
      else
        same->weight += entry.weight;
    }
  }
  const auto most =
      std::max_element(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.weight < b.weight; });
  if (most == all.end() || most->weight < kLeastShare * sum) return std::nullopt;
  return RefusedShare{text_of(most->network), std::min(1.0, most->weight / sum)};
}

}  // namespace pqcmav
