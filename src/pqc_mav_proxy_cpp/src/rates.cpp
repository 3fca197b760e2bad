// SPDX-License-Identifier: Apache-2.0
#include "rates.hpp"

#include <algorithm>
#include <utility>

namespace pqc_mav_proxy_cpp {

std::uint64_t counter(const pqcmav::NamedCounters& counters, std::string_view name) {
  const auto found =
      std::find_if(counters.begin(), counters.end(), [&](const auto& each) { return each.first == name; });
  return found == counters.end() ? 0 : found->second;
}

pqcmav::LinkRates RateMeter::update(const pqcmav::LinkStats& stats, double now_s) {
  static constexpr std::array<std::string_view, 4> kNames{"enc_tx_packets", "enc_tx_bytes", "enc_rx_packets",
                                                          "enc_rx_bytes"};
  Reading now{now_s, {}};
  std::transform(kNames.begin(), kNames.end(), now.counters.begin(),
                 [&](auto name) { return counter(stats.counters, name); });
  const auto [place, first] = last_.try_emplace(stats.drone_id, now);
  const auto before = std::exchange(place->second, now);
  const auto span = now_s - before.at_s;
  if (first || span <= 0) return {};
  const auto rate = [&](std::size_t i) {
    const auto grown = std::max(now.counters[i], before.counters[i]) - before.counters[i];
    return static_cast<double>(grown) / span;
  };
  return {rate(0), rate(1), rate(2), rate(3)};
}

}  // namespace pqc_mav_proxy_cpp
