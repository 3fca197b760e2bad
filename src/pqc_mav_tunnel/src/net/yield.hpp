// SPDX-License-Identifier: Apache-2.0
// Room for a rekey on a link that the tunnel's own data keeps saturated (docs/protocol.md section 7, Yield): when one
// end holds its data plane back, to what rate, and for how long. No clock: times are arguments, in ns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace pqcmav {

class Yield {
 public:
  static constexpr std::uint32_t kTimeouts = 3;
  static constexpr std::uint64_t kQueue = 500'000'000, kLongest = 20'000'000'000;

  /// What an end knows when a rekey of it stalls.
  struct Signs {
    std::uint32_t timeouts = 0;                       // of the rekey, without progress
    std::optional<std::uint64_t> probe, probe_least;  // PROBE's newest and least round trip
    std::uint32_t arriving_milli = 0;                 // packets per 1000 s that the peer's LINK_REPORT says arrive
  };

  /// Once per rekey: from here until over(), or kLongest.
  void consider(const Signs& signs, std::uint64_t now) noexcept {
    if (until_ != 0) return raise(signs.arriving_milli);
    if (signs.timeouts < kTimeouts || signs.arriving_milli == 0 || !signs.probe || !signs.probe_least) return;
    if (*signs.probe < *signs.probe_least + kQueue) return;
    until_ = now + kLongest;
    active_ = true;
    raise(signs.arriving_milli);
    credit_ = kPacket;
    credited_ = now;
  }
  /// The rekey has ended.
  void over() noexcept { *this = {}; }
  [[nodiscard]] bool active() const noexcept { return active_; }
  /// May a packet of the data plane go now?
  [[nodiscard]] bool admits(std::uint64_t now) noexcept {
    if (!active_) return true;
    if (now >= until_) {
      active_ = false;
      return true;
    }
    const auto since = std::min(now - std::min(now, credited_), kLongest);
    credited_ = std::max(now, credited_);
    // Packets come in small groups: a tenth of a second of them may go at once.
    credit_ = std::min(credit_ + since * rate_milli_, std::max(kPacket, rate_milli_ * kGroup));
    if (credit_ < kPacket) return false;
    credit_ -= kPacket;
    return true;
  }

 private:
  static constexpr std::uint64_t kPacket = 1'000'000'000'000;  // in units of ns * packets per 1000 s
  static constexpr std::uint64_t kGroup = 100'000'000;

  /// Held back, less arrives: what was reported before counts, or the rate would sink with each report.
  void raise(std::uint32_t arriving_milli) noexcept {
    rate_milli_ = std::max(rate_milli_, std::uint64_t{arriving_milli} * 3 / 4);
  }

  bool active_ = false;
  std::uint64_t until_ = 0, rate_milli_ = 0, credit_ = 0, credited_ = 0;
};

}  // namespace pqcmav
