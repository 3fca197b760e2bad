// SPDX-License-Identifier: Apache-2.0
// How often an end says what nobody waits for, its LINK_REPORT and PROBE (docs/protocol.md section 11, Pace): once a
// second, and on a thin link that is full so seldom that they take no more than a share of what it sends. No clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "clock.hpp"
#include "constants.hpp"

namespace pqcmav {

class UpkeepPace {
 public:
  /// What a drone knows of the way that its data takes.
  struct Signs {
    std::uint64_t sent_bytes = 0;                     // since it began, with IP and UDP headers
    std::uint64_t left_out = 0;                       // datagrams that shaping replaced or dropped since it began
    std::optional<std::uint64_t> probe, probe_least;  // PROBE's newest and least round trip, ns
  };

  /// Asked once a second: is a report due?
  [[nodiscard]] bool due(const Signs& now) noexcept {
    const auto sent = std::max<std::uint64_t>(now.sent_bytes - std::min(before_.sent_bytes, now.sent_bytes), 1);
    const bool queues = now.probe && now.probe_least && *now.probe >= *now.probe_least + to_ns(kUpkeepQueue);
    const bool full = queues || now.left_out > before_.left_out;
    before_ = now;
    const auto share = (kUpkeepBytes * kUpkeepPart + sent - 1) / sent;  // seconds
    const auto every = full ? std::min(share, kUpkeepSeldom) : 1;
    seldom_ = every > 1;
    if (++seconds_ < every) return false;
    seconds_ = 0;
    return true;
  }
  /// Then a PROBE goes with the report, and none by itself.
  [[nodiscard]] bool seldom() const noexcept { return seldom_; }

 private:
  Signs before_{};
  std::uint64_t seconds_ = 0;
  bool seldom_ = false;
};

}  // namespace pqcmav
