// SPDX-License-Identifier: Apache-2.0
#include "rate_meter.hpp"

#include <utility>

namespace pqcmav {
namespace {

constexpr std::uint64_t kMeasureEveryNs = 900'000'000;  // a little less than those who ask once a second

}  // namespace

void RateMeter::measure(std::vector<LinkStats>& links, std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (now_ns - measured_ns_ >= kMeasureEveryNs) {
    const double span = static_cast<double>(now_ns - std::exchange(measured_ns_, now_ns)) / 1e9;
    const auto before = std::exchange(known_, {});
    for (const auto& link : links) {
      auto& [counted, rates] = known_[link.drone_id];
      const auto count = [&](std::string_view name) { return count_of(link.counters, name); };
      counted = {count("enc_tx_packets"), count("enc_tx_bytes"), count("enc_rx_packets"), count("enc_rx_bytes")};
      const auto last = before.find(link.drone_id);
      if (last == before.end()) continue;
      const auto rate = [&](std::size_t i) {
        const auto old = last->second.counted[i];  // larger: the drone went and came again
        return old > counted[i] ? 0 : static_cast<double>(counted[i] - old) / span;
      };
      rates = {rate(0), rate(1), rate(2), rate(3)};
    }
  }
  for (auto& link : links) {
    const auto known = known_.find(link.drone_id);
    link.rates = known == known_.end() ? LinkRates{} : known->second.rates;
  }
}

}  // namespace pqcmav
